_base_ = "post_prompt.py"

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="EncyclopedicVQA_test",
    split="test",
    processed_dataset_path="EncyclopedicVQA_test",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    name="encyclopedic_vqa",
)

evaluator = dict(
    type="JudgedEvaluator", judge="judge_vdr", allowed=["judge_rs", "hle"], detailed_keys=["sub_task"]
)

request = dict(verbatim=True)

meta = dict(
    aliases=["EncyclopedicVQA_test"],
    rows=1960,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
