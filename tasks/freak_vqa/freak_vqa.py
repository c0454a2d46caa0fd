config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="FREAK_VQA",
    split="test",
    processed_dataset_path="FREAK_VQA",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="freak_vqa",
)

evaluator = dict(type="JudgedEvaluator", judge="freak")

request = dict(verbatim=True)

meta = dict(
    aliases=["FREAK_VQA"],
    rows=799,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=44.68, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=44.06, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=45.93, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=44.81, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=54.94, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=52.6, source="OpenVLHarness, no tools"),
    ],
)
