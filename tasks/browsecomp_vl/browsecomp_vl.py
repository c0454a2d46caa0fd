config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="BrowseCompVL",
    split="test",
    processed_dataset_path="BrowseCompVL",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="browsecomp_vl",
)

evaluator = dict(
    type="JudgedEvaluator",
    judge="judge_vdr",
    allowed=["judge_rs", "hle"],
    detailed_keys=["sub_task", "domain"],
)

request = dict(verbatim=True)

meta = dict(
    aliases=["BrowseCompVL"],
    rows=399,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=21.05, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=28.82, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=42.11, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=39.10, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=43.86, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=51.63, source="OpenVLHarness, no tools"),
    ],
)
