_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="ERQA",
    md5="40d45d4f",
    split="test",
    processed_dataset_path="ERQA",
    processor="process.py",
)

dataset = dict(type="VqaBaseDataset", config=config, name="erqa")

evaluator = dict(type="BaseEvaluator", grader="spatial_extract", detailed_keys=["category"])

meta = dict(
    aliases=["ERQA"],
    rows=400,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=44.00, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=44.75, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=60.00, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=55.25, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=66.50, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=63.8, source="OpenVLHarness, no tools"),
    ],
)
