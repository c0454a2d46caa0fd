"""Answer extraction: reads the answer out of a response's text. Pure functions, standard library only.

Every function returns an `Extraction`: the value, the rule that read it, and where in the text it stands. Nothing is
ever guessed: a text that states no answer gives the value None together with the reason.
"""

from flagharness.extract._box_space import BBOX_SPACES, PixelBoxes, boxes_to_pixels, space_suspicion
from flagharness.extract._boxes import Box, extract_boxes
from flagharness.extract._choice import extract_choice, extract_choices
from flagharness.extract._count import extract_count
from flagharness.extract._extraction import Extraction
from flagharness.extract._number import extract_number, extract_numbers
from flagharness.extract._short_answer import extract_short_answer
from flagharness.extract._yes_no import extract_yes_no

__all__ = [
    "BBOX_SPACES",
    "Box",
    "Extraction",
    "PixelBoxes",
    "boxes_to_pixels",
    "extract_boxes",
    "extract_choice",
    "extract_choices",
    "extract_count",
    "extract_number",
    "extract_numbers",
    "extract_short_answer",
    "extract_yes_no",
    "space_suspicion",
]
