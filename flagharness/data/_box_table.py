"""Grounding sets with one category a row: a table with the boxes in a cell, or files in the form of COCO."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flagharness.data._coco_file import read_coco
from flagharness.data._image_rows import parse_list
from flagharness.data._media_store import MediaStore
from flagharness.data._table import process_table
from flagharness.data._write import split_folder, write_annotations
from flagharness.errors import ConfigError, DataError, did_you_mean, listing

logger = logging.getLogger(__name__)

BOX_FORMATS = ("pixel_xyxy", "pixel_xywh", "norm1000_xyxy")
"""How a table may write boxes: corners or corner and size in pixels, or corners on a 0-1000 grid."""
CATEGORY_COLUMNS = ("category", "category_name", "class", "class_name", "label", "object")
TOLERANCE_PX = 1.0
PLACEHOLDERS = ("fg", "foreground", "object")
"""Names of the one category of COCO files that do not say what their boxes show."""
_ASKED = re.compile(r"instances of '(.+?)' in ")
_QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")


def process_box_table(
    cfg: Any, ask: Callable[[str], str], *, images: Sequence[str] = ("images",), names: str | None = None
) -> None:
    """Write a row per picture whose boxes of one category are asked for.

    The source is a table (see `process_table`) with the boxes in the column ``answer``, or a folder with the pictures
    and ``instances_{split}.json``, which may lie in ``annotations`` there. A table's own question is used as it
    stands. All boxes of a table are read as ``cfg.answer_box_format`` says; the format is never told from a single
    row.

    Args:
        ask: Makes the question for a category, where the source has none.
        images: Folders below the source in which the pictures of the COCO form may lie, tried in this order.
        names: A file below the source with a picture's name and its category on each line, a tab between; where it is
            there its names are taken, as the COCO file of some sets knows only one category, "fg".

    Raises:
        ConfigError: An unknown ``answer_box_format``.
        DataError: Naming all rows whose boxes cannot be what ``answer_box_format`` says, and which of the other
            formats no row contradicts.
    """
    if cfg.answer_box_format not in BOX_FORMATS:
        raise ConfigError(
            f"config.answer_box_format is {cfg.answer_box_format!r}; it is one of {', '.join(BOX_FORMATS)}."
            f"{did_you_mean(str(cfg.answer_box_format), BOX_FORMATS)}"
        )
    folder = Path(cfg.dataset_path).expanduser()
    name = f"instances_{cfg.split}.json"
    annotations = next((p for p in (folder / name, folder / "annotations" / name) if p.is_file()), None)
    if annotations is not None:
        known = _read_names(folder / names) if names and (folder / names).is_file() else {}
        _process_coco(cfg, annotations, ask, [folder / name for name in images], known)
        return
    seen: list[tuple[list[list[float]], int, int]] = []

    def row_of(row: dict[str, Any]) -> dict[str, Any]:
        boxes = parse_boxes(row["answer"])
        width, height = _size_of_row(row, split_folder(cfg), boxes, cfg.answer_box_format)
        seen.append((boxes, width, height))
        category = category_of(row)
        return {
            "question": row.get("question") or ask(category),
            "question_type": "bbox",
            "answer": [{"bbox": box} for box in boxes_in_pixels(boxes, cfg.answer_box_format, width, height)],
            "width": width,
            "height": height,
            "category": category,
        }

    try:
        process_table(cfg, row_of, required=["answer"])
    except DataError as error:
        raise DataError(f"{error}{_audit(seen, cfg.answer_box_format)}") from error
    fitting = [name for name, number in _contradictions(seen).items() if not number]
    if len(fitting) > 1:
        logger.warning(
            "%s: no row contradicts any of %s; the boxes are read as %s. Look at some on their pictures.",
            cfg.dataset_path, ", ".join(fitting), cfg.answer_box_format,
        )  # fmt: skip


def boxes_in_pixels(
    boxes: Sequence[Sequence[float]], box_format: str, width: int, height: int
) -> list[list[float]]:
    """Return true boxes as [x, y, width, height] in pixels.

    Raises:
        ValueError: A box has its corners the other way round, or lies outside the image by more than a pixel.

    Example:
        >>> boxes_in_pixels([[500, 0, 1000, 500]], "norm1000_xyxy", 200, 100)
        [[100.0, 0.0, 100.0, 50.0]]
    """
    placed = []
    for box in boxes:
        x1, y1, x2, y2 = (float(value) for value in box)
        if box_format == "pixel_xywh":
            x2, y2 = x1 + x2, y1 + y2
        elif box_format == "norm1000_xyxy":
            x1, x2, y1, y2 = x1 * width / 1000, x2 * width / 1000, y1 * height / 1000, y2 * height / 1000
        if x2 < x1 or y2 < y1:
            raise ValueError(f"box {list(box)} is no {box_format}: its second corner comes before its first")
        if min(x1, y1) < -TOLERANCE_PX or x2 > width + TOLERANCE_PX or y2 > height + TOLERANCE_PX:
            raise ValueError(
                f"box {list(box)} as {box_format} lies outside of the image ({width} x {height})"
            )
        placed.append([x1, y1, x2 - x1, y2 - y1])
    return placed


def parse_boxes(cell: Any) -> list[list[float]]:
    """Return the boxes in a cell: a list of lists of four numbers, or a text that spells one; one bare box is a list.

    Raises:
        ValueError: The cell holds something else.

    Example:
        >>> parse_boxes("[[1, 2, 3, 4.5]]"), parse_boxes("[1, 2, 3, 4]"), parse_boxes([])
        ([[1, 2, 3, 4.5]], [[1, 2, 3, 4]], [])
    """
    value = parse_list(cell.strip()) if isinstance(cell, str) else cell
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"answer {str(cell)[:60]!r} is no list of boxes")
    boxes = (
        [list(value)] if value and not isinstance(value[0], (list, tuple)) else [list(box) for box in value]
    )
    for box in boxes:
        if len(box) != 4 or not all(_is_number(number) for number in box):
            raise ValueError(f"box {box} is not four numbers")
    return boxes


def category_of(row: Mapping[str, Any]) -> str:
    """Return the category that a row asks for: its own column, else what its question has in quotes.

    Raises:
        ValueError: Neither is there; names the columns.

    Example:
        >>> category_of({"question": "Locate all instances of 'pill' in this image."})
        'pill'
        >>> category_of({"question": "Locate all instances of 'chef's hat' in this image."})
        "chef's hat"
    """
    for column in CATEGORY_COLUMNS:
        if str(row.get(column) or "").strip():
            return str(row[column]).strip()
    question = str(row.get("question") or "")
    quoted = _ASKED.search(question) or _QUOTED.search(question)
    if quoted is None:
        raise ValueError(
            f"no category: none of the columns {', '.join(CATEGORY_COLUMNS)}, and no quoted name in the question. "
            f"Columns: {', '.join(row)}"
        )
    return quoted[1]


def image_size(path: Path) -> tuple[int, int]:
    """Return width and height of a picture file in pixels, as they are stored."""
    from PIL import Image

    with Image.open(path) as image:
        width, height = image.size
    return width, height


def _size_of_row(
    row: Mapping[str, Any], folder: Path, boxes: Sequence[Sequence[float]], box_format: str
) -> tuple[int, int]:
    """Return the size of a row's picture; of one that cannot be read, the smallest that holds the row's boxes.

    Such a row is never asked, but its boxes stay in the truth, as boxes that were not found.
    """
    if row.get("data_error"):
        if box_format == "norm1000_xyxy":
            return 1000, 1000
        corners = [(b[0] + b[2], b[1] + b[3]) if box_format == "pixel_xywh" else (b[2], b[3]) for b in boxes]
        return (
            max([1, *(math.ceil(x) for x, _ in corners)]),
            max([1, *(math.ceil(y) for _, y in corners)]),
        )
    if not isinstance(row.get("img_path"), str):
        raise ValueError("it has several pictures, but boxes belong to one")
    return image_size(folder / row["img_path"])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _audit(seen: Sequence[tuple[list[list[float]], int, int]], chosen: str) -> str:
    """Say which formats the whole table could be in, so that the person can set the right one."""
    wrong = _contradictions(seen)
    if not wrong[chosen]:
        return ""
    counts = ", ".join(f"{name}: {number}" for name, number in wrong.items())
    return (
        f"\nRows that contradict each format, of {len(seen)}: {counts}. If another one fits all rows, look at some "
        f"boxes on their pictures and set config.answer_box_format."
    )


def _contradictions(seen: Sequence[tuple[list[list[float]], int, int]]) -> dict[str, int]:
    """Return for each format how many rows cannot be in it."""
    wrong = dict.fromkeys(BOX_FORMATS, 0)
    for boxes, width, height in seen:
        for box_format in BOX_FORMATS:
            try:
                boxes_in_pixels(boxes, box_format, width, height)
            except ValueError:
                wrong[box_format] += 1
    return wrong


def _read_names(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return {name: category.strip() for name, tab, category in (line.partition("\t") for line in lines) if tab}


def _process_coco(
    cfg: Any, file: Path, ask: Callable[[str], str], folders: Sequence[Path], names: Mapping[str, str]
) -> None:
    content = read_coco(file)
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    rows: list[dict[str, Any]] = []
    problems = []
    for image_id, image in content.images.items():
        name = str(image.get("file_name") or "")
        path = next((folder / name for folder in folders if name and (folder / name).is_file()), None)
        labels = (
            [names[name]] if name in names else list({box["label"]: 0 for box in content.boxes[image_id]})
        )
        if path is None:
            problems.append(f"image {image_id!r}: no file {name!r} in {', '.join(map(str, folders))}")
            continue
        if len(labels) != 1:
            problems.append(f"image {image_id!r} ({name}): boxes of {len(labels)} categories, expected one")
            continue
        if labels[0] in PLACEHOLDERS:
            problems.append(
                f"image {image_id!r} ({name}): category {labels[0]!r} does not name what to locate"
            )
            continue
        width, height = image_size(path)
        drawn_on = (image.get("width", width), image.get("height", height))
        if (width, height) != drawn_on:
            problems.append(
                f"image {image_id!r}: {path} is {width} x {height}, its boxes were drawn on "
                f"{drawn_on[0]} x {drawn_on[1]}"
            )
            continue
        rows.append(
            {
                "question_id": str(image_id),
                "question": ask(labels[0]),
                "question_type": "bbox",
                "answer": [{k: v for k, v in box.items() if k != "label"} for box in content.boxes[image_id]],
                "img_path": store.add(path.read_bytes(), name),
                "width": width,
                "height": height,
                "category": labels[0],
            }
        )
    if problems:
        raise DataError(f"{file}: {len(problems)} images cannot be used:\n{listing(problems)}")
    write_annotations(out_dir, rows)
