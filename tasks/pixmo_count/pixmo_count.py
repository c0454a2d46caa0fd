config = dict(
    dataset_path="allenai/pixmo-count",
    split="validation",
    processed_dataset_path="PixmoCount",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question holds the instruction
    name="pixmo_count",
)

evaluator = dict(type="CountEvaluator", detailed_keys=["sub_task"])

meta = dict(
    aliases=["PixmoCount_val"],
    rows=534,
    modality="image",
    metric="exact-match accuracy (strict count parse)",
    license="ODC-BY (annotations); pictures on the web under terms of their own",
    needs_judge=False,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=74.53, source="OpenVLHarness, no tools, 534 rows"),
        dict(model="Qwen3-VL-32B", accuracy=79.59, source="OpenVLHarness, no tools, 534 rows"),
        dict(model="GPT-5", accuracy=76.03, source="OpenVLHarness, no tools, 534 rows"),
        dict(model="GPT-6 Luna", accuracy=78.65, source="OpenVLHarness, no tools, 534 rows"),
        dict(model="GPT-6 Sol", accuracy=89.14, source="OpenVLHarness, no tools, 534 rows"),
        dict(model="Kimi K3", accuracy=91.39, source="OpenVLHarness, no tools, 534 rows"),
    ],
)
