from flagharness.prompt import option_list_prompt

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="RealWorldQA",
    md5="4de008f5",
    split="test",
    processed_dataset_path="RealWorldQA",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", prompt_func=option_list_prompt),
    name="realworldqa",
)

evaluator = dict(type="BaseEvaluator", fallback="option_extract")

request = dict(verbatim=True)  # the prompt ends in a blank and a new line

meta = dict(
    aliases=["RealWorldQA"],
    rows=765,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=71.37, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=78.82, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=82.80, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=72.81, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=84.58, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=83.8, source="OpenVLHarness, no tools"),
    ],
)
