_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="MMSIBench_wo_circular",
    md5="548c5f33",
    split="test",
    processed_dataset_path="MMSIBench_wo_circular",
    processor="process.py",
)

dataset = dict(type="VqaBaseDataset", config=config, name="mmsi_bench")

evaluator = dict(type="BaseEvaluator", grader="spatial_extract", detailed_keys=["category"])

request = dict(verbatim=True)

meta = dict(
    aliases=["MMSIBench_wo_circular"],
    rows=1000,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=31.60, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=35.00, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=41.20, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=36.30, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=49.80, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=46.5, source="OpenVLHarness, no tools"),
    ],
)
