config = dict(
    dataset_path="photos",  # beside process.py
    split="test",
    processed_dataset_path="raccoon_bbox",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question says how to answer
    name="raccoon_bbox",
)

evaluator = dict(type="BoxEvaluator", count_errors=True)

meta = dict(
    aliases=["raccoon"],
    rows=33,
    modality="image",
    metric="box AP (COCO, order-free)",
    license="MIT as the repository states it; photographs from the web, for testing only",
    needs_judge=False,
    published=[],
)
