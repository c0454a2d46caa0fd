"""FSCD-147: the table with its questions, or the authors' COCO file and the pictures of FSC-147."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_box_table
from flagharness.prompt import locate_category


def process(cfg: Any) -> None:
    """Write one row per picture, with all boxes of the one kind of thing it shows."""
    process_box_table(
        cfg, locate_category, images=("images_384_VarV2", "images", "."), names="ImageClasses_FSC147.txt"
    )
