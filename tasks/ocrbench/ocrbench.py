config = dict(
    dataset_path="echo840/OCRBench",
    manifest="manifest.json",
    subset="main",
    split="test",
    processed_dataset_path="OCRBench",
    processor="process.py",
)

dataset = dict(type="VqaBaseDataset", config=config, name="ocrbench")

register_evaluator = {"ocrbench_evaluator.py": "OCRBenchEvaluator"}
evaluator = dict(
    type="OCRBenchEvaluator",
    score_pipeline=["exact-match", "rule-match"],
    string_match="contains",
    detailed_keys=["source_dataset"],
)

meta = dict(
    aliases=["OCRBench"],
    rows=1000,
    modality="image",
    metric="final score: hits of 1,000 (any answer contained in the reply)",
    license="MIT (questions and answers); the pictures come from 25 data sets with terms of their own",
    needs_judge=False,
    published=[],
)
