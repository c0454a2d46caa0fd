"""What an extractor returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extraction(Generic[T]):
    """An answer read out of a text, or the reason why none was read.

    Attributes:
        value: The answer; None when nothing could be read.
        rule: The rule that read the value: "answer_tag", "boxed", "json", "cue", "whole_reply", "leading_label",
            "last_line", "mention", "option_text", "words", "last_number" or "number_word"; of boxes "box_tokens",
            "json", "literal", "objects", "lists" or "empty_list". When the value is None,
            the reason: "no_response" (nothing visible), "unfinished_reasoning" (cut off inside its reasoning),
            "invalid_choice" (commits to a label the row does not have), "ambiguous" (several answers and no final
            one), "unparsed" (everything else).
        span: Where the value stands: start and end character in the text the extractor was given. None when the
            value is.
    """

    value: T | None
    rule: str
    span: tuple[int, int] | None = None
