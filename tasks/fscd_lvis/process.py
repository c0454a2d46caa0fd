"""FSCD-LVIS: the table with its questions, or the authors' COCO file and pictures."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_box_table
from flagharness.prompt import locate_category


def process(cfg: Any) -> None:
    """Write one row per picture, with all boxes of the one kind of thing it is asked for."""
    process_box_table(cfg, locate_category, images=("images/all_images", "images", "."))
