dataset = dict(
    prompt_template=dict(
        type="PromptTemplate",
        post_prompt="Please directly provide a short answer to the question.",
    )
)
