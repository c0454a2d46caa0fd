BOXES = (
    "The values represent the bounding box coordinates normalized to a 0-1000 scale, with the top-left corner "
    "as the origin of the image."
)
LETTER = "Answer with the option's letter from the given choices directly."
WORD = "Please answer the question using a single word or phrase."


def prompt(annotation):
    """The question after an empty line, and the request that its kind of task has."""
    question, kind = annotation["question"], annotation["question_type"]
    if kind == "number":
        return f"\n{question}\n{WORD}"
    if kind == "multiple-choice":
        note = BOXES if annotation["task"] in ("position_matching", "camera_motion_infer") else ""
        return f"\n{question}\n{note}\n{LETTER}"
    return f"\n{question}\n\n"  # a change of view: the question says how to answer


dataset = dict(prompt_template=dict(type="PromptTemplate", prompt_func=prompt))
