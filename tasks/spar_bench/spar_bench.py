_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="SparBench_tiny",
    md5="c435e186",
    split="test",
    processed_dataset_path="SparBench_tiny",
    processor="process.py",
)

dataset = dict(type="VqaBaseDataset", config=config, name="spar_bench")

register_evaluator = {"spar_bench_evaluator.py": "SparEvaluator"}
evaluator = dict(type="SparEvaluator", grader="spatial_extract")

request = dict(verbatim=True)  # the prompt begins with a new line

meta = dict(
    aliases=["SparBench_tiny"],
    rows=1000,
    modality="image",
    metric="mean of 20 task scores (accuracy, MRA, or view change)",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=39.55, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=46.98, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=50.12, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=45.51, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=55.36, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=60.5, source="OpenVLHarness, no tools"),
    ],
)
