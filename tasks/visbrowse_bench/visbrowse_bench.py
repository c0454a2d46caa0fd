config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="VisBrowseBench",
    split="test",
    processed_dataset_path="VisBrowseBench",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="visbrowse_bench",
)

evaluator = dict(
    type="JudgedEvaluator",
    judge="judge_vdr",
    allowed=["judge_rs", "vbb"],
    detailed_keys=["sub_task", "sub_domain"],
)

request = dict(verbatim=True)

meta = dict(
    aliases=["VisBrowseBench"],
    rows=169,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
