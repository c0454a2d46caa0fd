config = dict(
    dataset_path="../bccd_count",  # from this folder: photographs and labels are shipped once
    split="test",
    processed_dataset_path="bccd_bbox",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question says how to answer
    name="bccd_bbox",
)

evaluator = dict(type="BoxEvaluator", count_errors=True)

meta = dict(
    aliases=[],
    rows=72,
    modality="image",
    metric="box AP (COCO, order-free)",
    license="MIT",
    needs_judge=False,
    published=[],
)
