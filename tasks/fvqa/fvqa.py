_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="FVQA_test",
    split="test",
    processed_dataset_path="FVQA_test",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    name="fvqa",
)

evaluator = dict(type="JudgedEvaluator", judge="judge_vdr", allowed=["judge_rs", "hle"])

request = dict(verbatim=True)

meta = dict(
    aliases=["FVQA_test"],
    rows=1800,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=28.39, source="OpenVLHarness, no tools"),
    ],
)
