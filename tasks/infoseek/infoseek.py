_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="Infoseek_GDM_test",
    split="test",
    processed_dataset_path="Infoseek_GDM_test",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    name="infoseek",
)

evaluator = dict(type="JudgedEvaluator", judge="judge_vdr", allowed=["judge_rs", "hle"])

request = dict(verbatim=True)

meta = dict(
    aliases=["Infoseek_GDM_test"],
    rows=2000,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
