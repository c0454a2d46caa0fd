_base_ = "encyclopedic_vqa.py"

dataset = dict(
    name="encyclopedic_vqa_300",
    config=dict(
        table="EncyclopedicVQA_test_300",
        processed_dataset_path="EncyclopedicVQA_test_300",
        sample=dict(n=300, of=1960, seed=42),  # what is taken of a full table
    ),
)

meta = dict(
    aliases=["EncyclopedicVQA_test_300"],
    rows=300,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
