from flagharness.prompt import option_labels


def prompt(annotation):
    """Question, options, and the request for a letter, each under its heading."""
    labelled = list(zip(option_labels(len(annotation["options"])), annotation["options"], strict=True))
    appended = "".join(f"\n{label}. {text}" for label, text in labelled)
    question = annotation["question"].removesuffix(appended)
    options = "\n".join(f"{label}: {text}" for label, text in labelled)
    return (
        f"Question: {question}\nOptions:\n{options}\nGive me the answer letter directly. The best answer is:"
    )


dataset = dict(prompt_template=dict(type="PromptTemplate", prompt_func=prompt))
