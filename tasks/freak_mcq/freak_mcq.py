from flagharness.prompt import option_list_prompt

config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="FREAK_MCQ",
    split="test",
    processed_dataset_path="FREAK_MCQ",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", prompt_func=option_list_prompt),
    name="freak_mcq",
)

register_evaluator = {"freak_mcq_evaluator.py": "FreakChoiceEvaluator"}
evaluator = dict(type="FreakChoiceEvaluator", fallback="option_extract", detailed_keys=["category"])

request = dict(verbatim=True)  # the prompt ends in a blank and a new line

meta = dict(
    aliases=["FREAK_MCQ"],
    rows=994,
    modality="image",
    metric="option accuracy",
    license="see the data set card",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=36.42, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=44.06, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=44.37, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=49.40, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=61.77, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=52.9, source="OpenVLHarness, no tools"),
    ],
)
