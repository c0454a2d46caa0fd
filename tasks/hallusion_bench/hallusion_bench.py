config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="HallusionBench",
    md5="0c23ac0d",
    split="image",  # of the hub's form; of the table it is only a label
    processed_dataset_path="HallusionBench",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question alone
    name="hallusion_bench",
)

register_evaluator = {"hallusion_bench_evaluator.py": "HallusionBenchEvaluator"}
evaluator = dict(
    type="HallusionBenchEvaluator", fallback="option_extract", detailed_keys=["category", "l2-category"]
)

request = dict(verbatim=True)  # some questions hold a "<"

meta = dict(
    aliases=["HallusionBench"],
    rows=951,
    modality="image",
    metric="mean of aAcc, fAcc and qAcc",
    license="BSD-3-Clause",
    needs_judge="optional",
    published=[
        dict(model="Qwen3-VL-8B", accuracy=57.76, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", accuracy=61.66, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", accuracy=62.95, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", accuracy=62.97, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", accuracy=72.77, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", accuracy=69.6, source="OpenVLHarness, no tools"),
    ],
)
