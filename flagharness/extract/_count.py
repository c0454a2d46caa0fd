"""The strict count parse."""

from __future__ import annotations

import re

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import boxed, last_match, visible_part

_GROUPS = r"(?:,[0-9]{3}(?![0-9]))*"  # a comma between a digit and exactly three digits separates thousands
_NUMBER = re.compile(rf"((?<!\w)-)?([0-9]+{_GROUPS})(\.[0-9]+{_GROUPS})?")
_MAX_DIGITS = 18  # more do not fit a 64-bit integer, and count nothing


def extract_count(text: str) -> Extraction[int]:
    r"""Read a count by the strict rule: the last number of the reply, or of its last box.

    What follows the reasoning counts; if it holds a closed `\boxed{...}`, only the content of the last one does.
    Thousands separators are removed. The last number decides, and must be written as a whole number of at least 0:
    number words, fractions ("3.0" too) and negative numbers read as nothing, and no earlier number takes their place.
    A minus sign belongs to a number unless it follows a word character, so "3-5" ends in 5.

    Args:
        text: The whole reply.

    Returns:
        The count, by rule "boxed" or "last_number".

    Example:
        >>> extract_count("There are 12 cats and 1,003 dogs.")
        Extraction(value=1003, rule='last_number', span=(22, 27))
        >>> extract_count("about 7.5").value, extract_count("four").rule
        (None, 'unparsed')
    """
    part = visible_part(text)
    if part is None:
        return Extraction(None, "unfinished_reasoning")
    if not part.text:
        return Extraction(None, "no_response")
    box = boxed(part, closed=True)
    rule = "last_number"
    if box is not None:
        part, rule = box, "boxed"
    last = last_match(_NUMBER, part.text.replace("\u2212", "-"))
    if last is None or last[1] or last[3]:
        return Extraction(None, "unparsed")
    digits = last[2].replace(",", "").lstrip("0") or "0"
    if len(digits) > _MAX_DIGITS:
        return Extraction(None, "unparsed")
    return Extraction(int(digits), rule, part.span(last.start(), last.end()))
