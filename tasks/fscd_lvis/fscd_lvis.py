config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="FSCD_LVIS_bbox_val",
    split="test",
    answer_box_format="pixel_xyxy",  # not verified; see the README
    processed_dataset_path="FSCD_LVIS",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question says how to answer
    name="fscd_lvis",
)

evaluator = dict(type="BoxEvaluator", count_errors=True, class_agnostic=True)

meta = dict(
    aliases=["FSCD_LVIS_bbox_val"],
    rows=1181,
    modality="image",
    metric="box AP (COCO, order-free)",
    license="research only",
    needs_judge=False,
    published=[
        dict(model="Qwen3-VL-8B", AP_as_emitted=1.47, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", AP_as_emitted=1.79, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", AP_as_emitted=2.04, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", AP_as_emitted=2.95, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", AP_as_emitted=5.17, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", AP_as_emitted=7.15, source="OpenVLHarness, no tools"),
    ],
)
