_base_ = "infoseek.py"

dataset = dict(
    name="infoseek_300",
    config=dict(
        table="Infoseek_GDM_test_300",
        processed_dataset_path="Infoseek_GDM_test_300",
        sample=dict(n=300, of=2000, seed=42),  # what is taken of a full table
    ),
)

meta = dict(
    aliases=["Infoseek_GDM_test_300"],
    rows=300,
    modality="image",
    metric="judged accuracy",
    license="see the data set card",
    needs_judge=True,
    published=[],
)
