config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="SimpleVQA",
    split="test",
    processed_dataset_path="SimpleVQA",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="simplevqa",
)

evaluator = dict(type="JudgedEvaluator", judge="simplevqa", detailed_keys=["sub_task", "category"])

request = dict(verbatim=True)

meta = dict(
    aliases=["SimpleVQA"],
    rows=2025,
    modality="image",
    metric="share graded correct",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="GPT-6 Sol", accuracy=60.30, source="OpenVLHarness, no tools"),
    ],
)
