_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="hle",
    split="test",
    processed_dataset_path="hle",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    name="hle_mm",
)

evaluator = dict(
    type="JudgedEvaluator", judge="judge_vdr", allowed=["judge_rs", "hle"], detailed_keys=["sub_task"]
)

request = dict(verbatim=True)

meta = dict(
    aliases=["hle"],
    rows=330,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=6.36, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=10.00, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=20.00, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=25.15, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=36.67, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=41.52, source="OpenVLHarness, no tools"),
    ],
)
