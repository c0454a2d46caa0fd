config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="FSC147_val",
    split="val",
    processed_dataset_path="FSC147",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question holds the instruction
    name="fsc147",
)

evaluator = dict(type="CountEvaluator", detailed_keys=["sub_task"])

meta = dict(
    aliases=["FSC147_val"],
    rows=1286,
    modality="image",
    metric="exact-match accuracy (strict count parse)",
    license="MIT (annotations); pictures for research only",
    needs_judge=False,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=15.32, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=18.97, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=22.16, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=28.69, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=38.72, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=36.78, source="OpenVLHarness, no tools"),
    ],
)
