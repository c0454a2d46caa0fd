from flagharness.prompt import locate_category


def ask(annotation):
    """Ask for a category by its name, written with spaces."""
    return locate_category(annotation["category"].replace("_", " "))


config = dict(
    dataset_path="{{$LVIS_GT_PATH:lvis_v1_val.json}}",
    split="val",
    images_root="{{$COCO_IMAGES:coco}}",  # the folder with train2017/ and val2017/
    processed_dataset_path="LVIS_federated",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", prompt_func=ask),
    name="lvis_federated",
)

evaluator = dict(type="BoxEvaluator", protocol="lvis")

meta = dict(
    aliases=["LVIS_bbox_val_federated"],
    rows=None,
    modality="image",
    metric="box AP (LVIS, federated, order-free)",
    license="CC BY 4.0 (annotations); pictures of COCO 2017",
    needs_judge=False,
    published=[],
)
