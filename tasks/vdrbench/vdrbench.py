config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="VDRBench",
    split="test",
    processed_dataset_path="VDRBench",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="vdrbench",
)

evaluator = dict(
    type="JudgedEvaluator", judge="judge_vdr", allowed=["judge_rs", "hle"], detailed_keys=["sub_task"]
)

request = dict(verbatim=True)

meta = dict(
    aliases=["VDRBench"],
    rows=500,
    modality="image",
    metric="judged accuracy",
    license="CC BY-NC-SA 4.0",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B-Instruct", accuracy=2.80, source="Osilly/Vision-DeepResearch, direct answer"),
        dict(
            model="Qwen3-VL-30B-A3B-Instruct",
            accuracy=3.80,
            source="Osilly/Vision-DeepResearch, direct answer",
        ),
        dict(model="GPT-5", accuracy=9.80, source="Osilly/Vision-DeepResearch, direct answer"),
        dict(model="Gemini-2.5 Pro", accuracy=8.00, source="Osilly/Vision-DeepResearch, direct answer"),
        dict(model="Claude-4-Sonnet", accuracy=2.00, source="Osilly/Vision-DeepResearch, direct answer"),
    ],
)
