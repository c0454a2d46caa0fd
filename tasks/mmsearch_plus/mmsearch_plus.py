config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="MMSearchPlus",
    split="test",
    processed_dataset_path="MMSearchPlus",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="mmsearch_plus",
)

evaluator = dict(
    type="JudgedEvaluator",
    judge="judge_vdr",
    allowed=["judge_rs", "hle"],
    detailed_keys=["sub_task", "difficulty"],
)

request = dict(verbatim=True)

meta = dict(
    aliases=["MMSearchPlus"],
    rows=311,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=1.29, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=2.57, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=10.93, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=5.79, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=16.72, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=23.47, source="OpenVLHarness, no tools"),
    ],
)
