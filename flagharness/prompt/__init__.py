"""From an annotation to a prompt, and from a prompt to its texts and pictures in order."""

from __future__ import annotations

from flagharness.prompt._instructions import default_instruction
from flagharness.prompt._language import Language, detect_language
from flagharness.prompt._locate import locate_categories, locate_category
from flagharness.prompt._marks import Place, split_marks
from flagharness.prompt._option_list import option_list_prompt
from flagharness.prompt._question import build_question, option_labels
from flagharness.prompt._template import PromptTemplate

__all__ = [
    "Language",
    "Place",
    "PromptTemplate",
    "build_question",
    "default_instruction",
    "detect_language",
    "locate_categories",
    "locate_category",
    "option_labels",
    "option_list_prompt",
    "split_marks",
]
