config = dict(
    dataset_path="Jayant-Sravan/CountQA",
    split="test",
    processed_dataset_path="CountQA",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(
        type="PromptTemplate",
        post_prompt="Your final answer should be a single integer.",
    ),
    name="countqa",
)

evaluator = dict(type="CountEvaluator", detailed_keys=["sub_task", "categories"])

meta = dict(
    aliases=["CountQA"],
    rows=1528,
    modality="image",
    metric="exact-match accuracy (strict count parse)",
    license="see the data set card",
    needs_judge=False,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=32.00, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=44.70, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=38.48, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=71.27, source="OpenVLHarness, no tools"),
    ],
)
