_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="EmbSpatialBench",
    md5="a836cfd8",
    split="test",
    processed_dataset_path="EmbSpatialBench",
    processor="process.py",
)

dataset = dict(type="VqaBaseDataset", config=config, name="embspatial")

evaluator = dict(type="BaseEvaluator", grader="spatial_extract", detailed_keys=["data_source", "relation"])

request = dict(verbatim=True)

meta = dict(
    aliases=["EmbSpatialBench"],
    rows=3640,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=78.37, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=80.54, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=81.29, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=70.82, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=80.60, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=83.7, source="OpenVLHarness, no tools"),
    ],
)
