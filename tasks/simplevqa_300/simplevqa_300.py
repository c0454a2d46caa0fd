config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="SimpleVQA_300",
    split="test",
    processed_dataset_path="SimpleVQA_300",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="simplevqa_300",
)

evaluator = dict(
    type="JudgedEvaluator", judge="hle", allowed=["judge_vdr", "judge_rs"], detailed_keys=["category"]
)

request = dict(verbatim=True)

meta = dict(
    aliases=["SimpleVQA_300"],
    rows=300,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[
        dict(model="Qwen3-VL-8B", accuracy=54.33, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=59.00, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=66.33, source="OpenVLHarness, no tools"),
    ],
)
