from flagharness.prompt import option_list_prompt

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="VStarBench",
    md5="b18854d7",
    split="test",
    processed_dataset_path="VStarBench",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", prompt_func=option_list_prompt),
    name="vstar",
)

evaluator = dict(type="BaseEvaluator", fallback="option_extract", detailed_keys=["category"])

request = dict(verbatim=True)  # the prompt ends in a blank and a new line

meta = dict(
    aliases=["VStarBench"],
    rows=191,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=83.24, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=85.34, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=72.80, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=82.72, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=91.10, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=90.6, source="OpenVLHarness, no tools"),
    ],
)
