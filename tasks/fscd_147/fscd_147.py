config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="FSCD_147_bbox_val",
    split="val",
    answer_box_format="pixel_xyxy",  # not verified; see the README
    processed_dataset_path="FSCD_147",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question says how to answer
    name="fscd_147",
)

evaluator = dict(type="BoxEvaluator", count_errors=True, class_agnostic=True)

meta = dict(
    aliases=["FSCD_147_bbox_val"],
    rows=1286,
    modality="image",
    metric="box AP (COCO, order-free)",
    license="research only",
    needs_judge=False,
    published=[
        dict(model="Qwen3-VL-8B", AP_as_emitted=1.79, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", AP_as_emitted=2.88, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", AP_as_emitted=0.16, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", AP_as_emitted=5.56, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", AP_as_emitted=8.36, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", AP_as_emitted=7.88, source="OpenVLHarness, no tools"),
    ],
)
