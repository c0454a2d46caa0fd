config = dict(
    dataset_path="adopd/DocCount",
    split="test",
    processed_dataset_path="DocCount",
    processor="process.py",
    columns=dict(  # each field under the names that the release may use for it; the first that is there counts
        sample_id=["sample_id", "id"],
        prompt=["prompt", "model_prompt"],
        answer=["answer", "answer_int", "ground_truth", "gt_answer", "count"],
        image=["image", "image_bytes", "jpeg", "jpg"],
        sha256=["image_sha256", "sha256", "img_sha256", "image_hash"],
        target_class=["target_class", "class_name", "class", "category"],
        class_definition=["class_definition", "definition"],
        question=["question", "counting_question"],
    ),
)

dataset = dict(type="VqaBaseDataset", config=config, name="doccount")

request = dict(
    sampling=dict(temperature=1, top_p=0.95, max_tokens=32768),
    verbatim=True,
    system_prompt=False,
    original_media=True,
)

register_evaluator = {"doccount_evaluator.py": "DocCountEvaluator"}
evaluator = dict(type="DocCountEvaluator", detailed_keys=["target_class"])

meta = dict(
    aliases=["DocCount"],
    rows=442,
    modality="image",
    metric="exact-count accuracy over all 442 questions (strict answer tag)",
    license="CC BY-NC-ND 4.0",
    needs_judge=False,
    published=[
        dict(model="Kimi K2.5", accuracy=72.85, source="DocCount authors, one run"),
        dict(model="Qwen3.6 35B A3B", accuracy=72.17, source="DocCount authors, one run"),
        dict(model="Qwen3.5 397B A17B", accuracy=70.81, source="DocCount authors, one run"),
        dict(model="GPT-5.5", accuracy=68.78, source="DocCount authors, one run"),
        dict(model="Claude Sonnet 4.5", accuracy=68.10, source="DocCount authors, one run"),
        dict(model="GPT-5.2", accuracy=66.29, source="DocCount authors, one run"),
        dict(model="GLM-4.6V", accuracy=64.48, source="DocCount authors, one run"),
        dict(model="Gemma 4 31B IT", accuracy=60.86, source="DocCount authors, one run"),
    ],
)
