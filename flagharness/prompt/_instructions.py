"""The instruction that follows a question when its task names none.

The English ones for multiple-choice and for short answers are the fixed instructions of the LLaVA evaluation
protocol (haotian-liu/LLaVA, docs/Evaluation.md). Free answers of any length want ``post_prompt=""``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from flagharness.prompt._language import Language


class _Instruction(NamedTuple):
    en: str
    zh: str


_SHORT_ANSWER = _Instruction(
    "Answer the question using a single word or phrase.",
    "请用一个词或短语回答问题。",
)
_SEVERAL_BLANKS = _Instruction(
    "Fill in the blanks in order, with one word or phrase each, separated by commas.",
    "请按顺序填写各空，每空一个词或短语，用逗号分隔。",
)
_BY_TYPE = {
    "multiple-choice": _Instruction(
        "Answer with the option's letter from the given choices directly.",
        "请直接回答所选选项的字母。",
    ),
    "multiple-response": _Instruction(
        "Several options may be correct. Answer with the letters of all correct options directly.",
        "可能有多个正确选项，请直接回答所有正确选项的字母。",
    ),
    "yes-no": _Instruction(
        "Answer yes or no.",
        "请回答“是”或“否”。",
    ),
    "cloze": _Instruction(
        "Give only what is missing, as a single word or phrase.",
        "请只给出空缺处的词或短语。",
    ),
    "count": _Instruction(
        "Your final answer should be a single integer.",
        "最终答案应为一个整数。",
    ),
    "number": _Instruction(
        "Your final answer should be a single number.",
        "最终答案应为一个数。",
    ),
    "bbox": _Instruction(
        "Answer with the bounding box as [x1, y1, x2, y2].",
        "请以 [x1, y1, x2, y2] 的形式给出边界框。",
    ),
}
_FILL_TYPES = ("fill-in-the-blank", "fill-blank", "cloze")
_BLANK = re.compile(r"_{2,}|(?:\\_){2,}|\\underline\{|[（(]\s+[）)]|（）")


def default_instruction(question_type: str | None, question: str, language: Language) -> str:
    r"""The instruction for a question type.

    Args:
        question_type: A documented type. short-answer, open, one blank to fill, None and any unknown type ask for
            a single word or phrase.
        question: The question; the blanks in it are counted for the types that fill them: ``__`` or longer,
            ``\underline{``, or empty parentheses.
        language: The language of the instruction.

    Example:
        >>> default_instruction("count", "How many birds are there?", "en")
        'Your final answer should be a single integer.'
        >>> default_instruction("fill-blank", "A triangle has ___ sides and ___ corners.", "en")
        'Fill in the blanks in order, with one word or phrase each, separated by commas.'
    """
    if question_type in _FILL_TYPES and len(_BLANK.findall(question)) > 1:
        instruction = _SEVERAL_BLANKS
    else:
        instruction = _BY_TYPE.get(question_type or "", _SHORT_ANSWER)
    return instruction.zh if language == "zh" else instruction.en
