config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="RealXBench",
    split="test",
    processed_dataset_path="RealXBench",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="realxbench",
)

evaluator = dict(
    type="JudgedEvaluator", judge="judge_vdr", allowed=["judge_rs", "realxbench"], detailed_keys=["sub_task"]
)

request = dict(verbatim=True)

meta = dict(
    aliases=["RealXBench"],
    rows=194,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=22.16, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=24.74, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=34.54, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=20.62, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=36.08, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=51.03, source="OpenVLHarness, no tools"),
    ],
)
