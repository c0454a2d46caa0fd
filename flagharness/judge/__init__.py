"""Judges: models that decide whether an answer is right - what they are asked, how they are read, what they said."""

from flagharness.judge._chat import GPT, ApiResponse, ApiUsage
from flagharness.judge._families import FAMILIES
from flagharness.judge._family import GRADES, JudgeFamily, Reading
from flagharness.judge._panel import Panel, opinion_of
from flagharness.judge._question import JudgeQuestion, accepted_texts, reference_text
from flagharness.judge._reading import Unreadable
from flagharness.judge._ruling import OPEN_STATUSES, STATUSES, Opinion, Ruling, decided_by_rule, ruling_of

__all__ = [
    "FAMILIES",
    "GPT",
    "GRADES",
    "OPEN_STATUSES",
    "STATUSES",
    "ApiResponse",
    "ApiUsage",
    "JudgeFamily",
    "JudgeQuestion",
    "Opinion",
    "Panel",
    "Reading",
    "Ruling",
    "Unreadable",
    "accepted_texts",
    "decided_by_rule",
    "opinion_of",
    "reference_text",
    "ruling_of",
]
