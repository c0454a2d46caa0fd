config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="MMBrowseComp",
    split="test",
    processed_dataset_path="MMBrowseComp",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="mmbrowsecomp",
)

evaluator = dict(
    type="JudgedEvaluator",
    judge="judge_vdr",
    allowed=["judge_rs", "mmbrowsecomp"],
    detailed_keys=["sub_task", "level"],
)

request = dict(verbatim=True)

meta = dict(
    aliases=["MMBrowseComp"],
    rows=243,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
