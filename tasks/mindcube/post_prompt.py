from flagharness.prompt import option_labels


def prompt(annotation):
    """The question as it is, pictures at their marks; it lists its options itself."""
    options = annotation.get("options") or []
    labels = option_labels(len(options))
    lines = "".join(f"\n{label}. {text}" for label, text in zip(labels, options, strict=True))
    return annotation["question"].removesuffix(lines)  # which the dataset appends


dataset = dict(prompt_template=dict(type="PromptTemplate", prompt_func=prompt))
