config = dict(
    dataset_path="uclanlp/OpenVLHarness-Evaluation-Datasets",
    table="ODinW13_bbox_val_qwen3",
    split="val",
    annotations_root="{{$GLIP_ROOT:}}",  # where the 13 annotation files of a table lie
    processed_dataset_path="ODinW13",
    processor="process.py",
)

dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the question says how to answer
    name="odinw13",
)

evaluator = dict(
    type="BoxEvaluator",
    group_by="domain",
    groups=[
        "AerialMaritimeDrone",
        "Aquarium",
        "CottontailRabbits",
        "EgoHands",
        "NorthAmericaMushrooms",
        "Packages",
        "PascalVOC",
        "pistols",
        "pothole",
        "Raccoon",
        "ShellfishOpenImages",
        "thermalDogsAndPeople",
        "VehiclesOpenImages",
    ],
)

meta = dict(
    aliases=["ODinW13_bbox_val_qwen3"],
    rows=4938,
    modality="image",
    metric="box AP (COCO, order-free), mean of 13 domains",
    license="one per domain; see the README",
    needs_judge=False,
    published=[
        dict(model="Qwen3-VL-8B", AP_as_emitted=39.80, source="OpenVLHarness, no tools"),
        dict(model="Qwen3-VL-32B", AP_as_emitted=42.39, source="OpenVLHarness, no tools"),
        dict(model="GPT-5", AP_as_emitted=46.27, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Luna", AP_as_emitted=33.76, source="OpenVLHarness, no tools"),
        dict(model="GPT-6 Sol", AP_as_emitted=40.86, source="OpenVLHarness, no tools"),
        dict(model="Kimi K3", AP_as_emitted=44.35, source="OpenVLHarness, no tools"),
    ],
)
