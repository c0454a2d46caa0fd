config = dict(
    dataset_path="photos",  # beside process.py
    split="test",
    processed_dataset_path="bccd_count",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(
        type="PromptTemplate",
        post_prompt="Your final answer should be a single integer.",
    ),
    name="bccd_count",
)

evaluator = dict(type="CountEvaluator", detailed_keys=["sub_task"])

meta = dict(
    aliases=[],
    rows=72,
    modality="image",
    metric="exact-match accuracy (strict count parse)",
    license="MIT",
    needs_judge=False,
    published=[],
)
