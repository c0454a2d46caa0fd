config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="MMSearch",
    split="test",
    processed_dataset_path="MMSearch",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="mmsearch",
)

evaluator = dict(
    type="JudgedEvaluator",
    judge="judge_vdr",
    allowed=["judge_rs", "hle"],
    detailed_keys=["sub_task", "subfield"],
)

request = dict(verbatim=True)

meta = dict(
    aliases=["MMSearch"],
    rows=171,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=14.04, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=20.47, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=36.84, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=40.94, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=55.56, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=67.25, source="OpenVLHarness, no tools"),
    ],
)
