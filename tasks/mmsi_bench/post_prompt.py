import re

from flagharness.prompt import option_labels

SELECT = (
    "Answer with the option's letter from the given choices directly. Enclose the option's letter within ``."
)


def prompt(annotation):
    """The question, its options on one line unless it lists them itself, and the request for a letter."""
    labels = option_labels(len(annotation["options"]))
    lines = "".join(f"\n{label}. {text}" for label, text in zip(labels, annotation["options"], strict=True))
    question = annotation["question"].removesuffix(lines)  # which the dataset appends
    hint = f"Hint: {annotation['hint']}\n" if annotation.get("hint") else ""
    if re.search(r"\bOptions:\s*A:", question):
        return f"{hint}{question}\n{SELECT}"
    options = "".join(f"{label}: {text}, " for label, text in zip(labels, annotation["options"], strict=True))
    return f"{hint}{question}\nOptions: {options}\n{SELECT}"


dataset = dict(prompt_template=dict(type="PromptTemplate", prompt_func=prompt))
