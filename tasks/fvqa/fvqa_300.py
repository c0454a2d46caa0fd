_base_ = "fvqa.py"

dataset = dict(
    name="fvqa_300",
    config=dict(
        table="FVQA_test_300",
        processed_dataset_path="FVQA_test_300",
        sample=dict(n=300, of=1800, seed=42),  # what is taken of a full table
    ),
)

meta = dict(
    aliases=["FVQA_test_300"],
    rows=300,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
