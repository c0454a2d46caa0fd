_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="MindCubeBench_tiny_raw_qa",
    md5="35f69fc3",
    split="tiny",
    processed_dataset_path="MindCubeBench_tiny_raw_qa",
    processor="process.py",
)

dataset = dict(type="VqaBaseDataset", config=config, name="mindcube")

register_evaluator = {"mindcube_evaluator.py": "MindCubeEvaluator"}
evaluator = dict(type="MindCubeEvaluator", grader="spatial_extract", detailed_keys=["category"])

meta = dict(
    aliases=["MindCubeBench_tiny_raw_qa"],
    rows=1040,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=28.36, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=32.40, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=60.09, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=57.50, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=67.40, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=83.8, source="OpenVLHarness, no tools"),
    ],
)
