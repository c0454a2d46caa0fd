"""The judge families: what each is told and what it may say.

The prompts are our own words for the published decision rules; ``origin`` names the sources.
"""

from __future__ import annotations

from flagharness.judge import _readers as readers
from flagharness.judge._family import JudgeFamily

_QUESTION_REFERENCE_ANSWER = (
    "The question:\n{{question}}\n\nThe correct answer:\n{{reference}}\n\nThe candidate's answer:\n{{answer}}"
)

_TWO_LINES = "Reply with exactly two lines:\ncorrect: <yes or no>\nreasoning: <why, in one or two sentences>"

_ALL = (
    JudgeFamily(
        name="judge_vdr",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The candidate's answer", "The report"),
        task=(
            "Decide whether a report answers a question rightly. It does if the correct answer is stated "
            "somewhere in it and the report agrees with it; the form does not matter, and neither does "
            "what else the report says. It does not if the correct answer is missing, or if the report "
            "contradicts it."
        ),
        form=_TWO_LINES,
        read=readers.read_correct_line,
        origin="Osilly/Vision-DeepResearch, rllm/rllm/rewards/deepresearch_reward.py",
        final_answer=True,
    ),
    JudgeFamily(
        name="judge_rs",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER,
        task=(
            "Decide whether the candidate's final answer means the same as the correct answer. Other "
            "spellings of a name, other units of the same quantity and another layout are the same; "
            "anything that is missing from it, or that contradicts the correct answer, makes it wrong."
        ),
        form=_TWO_LINES,
        read=readers.read_correct_line,
        origin="not public",
        verified=False,
        final_answer=True,
    ),
    JudgeFamily(
        name="hle",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The candidate's answer", "The response"),
        task=(
            "Find the final answer of a response and decide whether it is the correct answer. A small "
            "deviation of a number is allowed; any ambiguity, inconsistency or difference in meaning is "
            "not. Compare only: do not solve the problem, and do not argue for another answer."
        ),
        form=(
            "Reply with exactly four lines:\n"
            "extracted_final_answer: <the final answer of the response, or None if it has none>\n"
            "reasoning: <why it is or is not the correct answer, in one or two sentences>\n"
            "correct: <yes or no>\n"
            "confidence: <the confidence in percent that the response states, 0 to 100; 100 if it states "
            "none>"
        ),
        read=readers.read_hle,
        origin="Alibaba-NLP/DeepResearch, WebAgent/WebWatcher/infer/evaluation/evaluate_hle_official.py",
    ),
    JudgeFamily(
        name="realxbench",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The correct answer", "The reference answer"),
        task=(
            "Decide whether the candidate's answer is consistent with the reference answer; whether the "
            "reference is true is not the question. First see what kind of question it is. A description "
            "has to hold the key points of the reference with the same meaning. A derivation or proof "
            "needs the same conclusion, and a derivation only where the reference has one. A choice, a "
            "blank, a classification or a yes-no question needs the same label or value. With several "
            'sub-questions all have to agree. Layout, LaTeX, letter case and units ("6", "six", "6 '
            'trees") do not matter. Do not look into the numbering of pictures.'
        ),
        form=(
            "Think inside <think></think>. Then end with one word in a box:\n"
            "<最终结果>\n\\boxed{Yes or No}\n</最终结果>"
        ),
        read=readers.read_box,
        origin=(
            "Visual-Agent/DeepEyesV2, reinforcement_learning/verl/utils/reward_score/verify_prompt.md "
            "(the nearest public one)"
        ),
        verified=False,
        final_answer=True,
    ),
    JudgeFamily(
        name="mmbrowsecomp",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER + "\n\nThe checklist:\n{{checklist}}",
        task=(
            "Decide two things. First, for every item of the checklist, whether the candidate's answer "
            "meets it fully (1) or not (0). Second, whether the answer agrees with the correct answer in "
            "content."
        ),
        form=(
            "Reply with exactly three lines, the number of items that are met being the number of ones:\n"
            "CHECKLIST_SCORE: <items met>/<items>\n"
            "CHECKLIST_RESULT: [<0 or 1 for every item, separated by commas>]\n"
            "OVERALL_CORRECTNESS: <YES or NO>"
        ),
        read=readers.read_checklist,
        origin="MMBrowseComp/MM-BrowseComp, src/eval.py",
        exact_match_decides=False,
    ),
    JudgeFamily(
        name="vbb",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER,
        task="Decide whether the candidate's answer means the same as the correct answer.",
        form="Reply with one word: yes or no.",
        read=readers.read_yes_no,
        origin="ZhengboZhang/VisBrowse-Bench, eval.py",
    ),
    JudgeFamily(
        name="simplevqa",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The candidate's answer", "Candidate 0"),
        task=(
            "Grade a candidate answer by the correct answer.\n"
            "正确 (correct): all important content of the correct answer is there and nothing "
            "contradicts it. Language, letter case, order, transliteration and another name of the same "
            "thing do not matter; hedging is fine if the content is right; what the question implies may "
            "be left out; where the correct answer holds more than was asked, only what was asked is "
            "needed.\n"
            "错误 (incorrect): a statement contradicts the correct answer, hedged or not.\n"
            "未尝试 (not attempted): important content is missing and nothing contradicts the correct "
            'answer: a refusal, "cannot tell", N/A.\n'
            "A number has to agree with the correct answer; leaving out its last decimals is fine (for "
            '3518.17, 3518 and 3518.1 are 正确 and 3520 is 错误). "About ..." or "more than ..." is '
            "未尝试."
        ),
        form='Reply with one JSON object and nothing else: {"0": "<正确, 错误 or 未尝试>"}',
        read=readers.read_simplevqa,
        origin=(
            "SimpleVQA/SimpleVQA, llm_as_a_vqa_judger.py; open-compass/VLMEvalKit, "
            "vlmeval/dataset/utils/simplevqa.py"
        ),
        empty_grade="not_attempted",
        caps_output=False,
    ),
    JudgeFamily(
        name="freak",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The correct answer", "The standard answer"),
        task=(
            "Decide whether the candidate's final answer is consistent with the standard answer, which "
            "is never to be doubted. Mistakes on the way do not matter. Equivalent expressions are "
            "right, units that were added too; a box around the answer means nothing; a question of "
            "several parts needs all of them.\n"
            "A: correct, consistent with the standard answer.\n"
            "B: incorrect, not consistent with it.\n"
            "C: invalid, an answer that is cut off, repeats itself, is irrelevant or refuses."
        ),
        form="Reply with one letter: A, B or C.",
        read=readers.read_validity,
        origin="open-compass/VLMEvalKit, vlmeval/dataset/utils/verifier.py",
    ),
    JudgeFamily(
        name="spatial_extract",
        version=1,
        material=(
            "The question:\n{{question}}\n\nIts options:\n{{options}}\n\n"
            "The standard answer:\n{{reference}}\n\nThe response:\n{{answer}}"
        ),
        task=(
            "Find the final answer of a response in its shortest form (the letter of an option, a "
            "number), then grade it by the standard answer, which is never to be doubted. Do not imagine "
            "the pictures that the text mentions.\n"
            "A: correct, consistent with the standard answer. Equivalent expressions are right, units "
            "that were added too.\n"
            "B: incorrect.\n"
            "C: invalid: cut off, repeating itself, irrelevant, refusing, or without an answer."
        ),
        form=(
            "Reply with exactly one line: the grade, a tab, the extracted answer; without an answer: C, "
            "a tab, N/A."
        ),
        read=readers.read_extracted_grade,
        origin="open-compass/VLMEvalKit, vlmeval/dataset/utils/spatial_bench/llm_extract.py",
        exact_match_decides=False,
        empty_grade="invalid",
    ),
    JudgeFamily(
        name="option_extract",
        version=1,
        material=("The question:\n{{question}}\n\nIts options:\n{{options}}\n\nThe response:\n{{answer}}"),
        task=(
            "Say which option a response chooses, by the label of the option. Do not answer the question "
            "yourself, and do not ask whether the response is right. A response that describes one option "
            "in other words chooses it; one that refuses, chooses several or fits none chooses nothing."
        ),
        form='Reply with one label alone, or with the word "none".',
        read=readers.read_option,
        origin="open-compass/VLMEvalKit, vlmeval/dataset/utils/multiple_choice.py and yorn.py",
        exact_match_decides=False,
        empty_grade="invalid",
    ),
    JudgeFamily(
        name="binary",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER,
        task=(
            "Decide whether the candidate's answer is right. It is if it gives the correct answer, "
            "however worded, and commits to it. It is not if it gives another, contradicts itself, "
            "leaves out a part that was asked for, or gives none."
        ),
        form=(
            "Reply with exactly two lines:\n"
            "reasoning: <why, in one sentence>\n"
            "verdict: <correct or incorrect>"
        ),
        read=readers.read_binary,
        origin="flagharness",
    ),
    JudgeFamily(
        name="extract_compare",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The correct answer", "The standard answer"),
        task=(
            "Find the final answer of a response (for a choice its letter), then decide whether it is "
            "consistent with the standard answer. A choice needs the same option, named by its letter or "
            "by its content. Anything else needs the same meaning: 0.5 m and 50 cm are the same, an open "
            "and a closed interval are not. A response without an answer is not consistent."
        ),
        form=(
            "Reply with exactly two lines:\n"
            "extracted_answer: <the answer, or null>\n"
            "judgement: <1 or 0; 1 if they are consistent>"
        ),
        read=readers.read_judgement,
        origin="flageval-baai/FlagEvalMM, flagevalmm/evaluator/extract_evaluator.py (extract_compare)",
    ),
    JudgeFamily(
        name="simpleqa",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER,
        task=(
            "Grade an answer by the correct answer.\n"
            "A: correct. It holds all important information of the correct answer and nothing that "
            "contradicts it; case, order, spelling of names and hedging do not matter, what the question "
            "implies may be left out, and where the correct answer holds more than was asked, only what "
            "was asked is needed. A number has to be right to the last significant figure of the correct "
            "answer.\n"
            "B: incorrect. A statement contradicts the correct answer, hedged or not.\n"
            'C: not attempted. Important information is missing and nothing contradicts it; also "about '
            '..." for a number.'
        ),
        form="Reply with one letter: A, B or C.",
        read=readers.read_attempts,
        origin=(
            "openai/simple-evals, simpleqa_eval.py; flageval-baai/FlagEvalMM, "
            "flagevalmm/evaluator/extract_evaluator.py"
        ),
        empty_grade="not_attempted",
    ),
    JudgeFamily(
        name="open_judgement",
        version=1,
        material=_QUESTION_REFERENCE_ANSWER.replace("The correct answer", "The true answer"),
        task=(
            "Decide whether the candidate's answer is consistent with the true answer. Other words, "
            "units and more detail that does not contradict are consistent. A wrong statement, a missing "
            "part, a contradiction, an answer to another question, and a number that is only near "
            "(54.584 for 54) are not."
        ),
        form=(
            "Reply with two lines:\n"
            "Reasoning: <why, in one or two sentences>\n"
            "Judgement: <1 or 0; 1 if they are consistent>"
        ),
        read=readers.read_judgement,
        origin="flageval-baai/FlagEvalMM, flagevalmm/evaluator/open_evaluator.py",
    ),
)
FAMILIES: dict[str, JudgeFamily] = {family.name: family for family in _ALL}
"""All families by name."""
