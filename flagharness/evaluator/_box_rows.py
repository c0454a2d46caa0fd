"""What a row of a box task asks and what its truth is: reading it, and telling what is wrong with it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flagharness.errors import did_you_mean

Row = Mapping[str, Any]
Xywh = tuple[float, float, float, float]

FREQUENCIES = ("r", "c", "f")
OUTSIDE_TOLERANCE_PX = 1.0
"""How far a true box may reach over the edge of its image: rounding, and corners that count from 1."""


class TrueBox(NamedTuple):
    """One box of the truth, in pixels of the original file."""

    category: str
    bbox: Xywh
    area: float
    iscrowd: int
    ignore: int

    @property
    def counts(self) -> bool:
        """Whether the box is to be found; a crowd or an ignored box is neither found nor missed."""
        return not (self.iscrowd or self.ignore)


def categories_of(row: Row) -> list[str]:
    """Return the names that the row asks for."""
    return [row["category"]] if row.get("category") is not None else list(row["categories"])


def category_for(label: str | None, row: Row) -> str | None:
    """Return the asked category that a label of a reply means, or None if it is none of them.

    Case and space around a label do not matter. A row that asks for one ``category`` takes every box, whatever its
    label; a row with ``categories`` takes a box without a label only if there is but one name.

    Example:
        >>> category_for(" Dog ", {"categories": ["dog", "person"]})
        'dog'
        >>> category_for(None, {"categories": ["dog", "person"]}) is None
        True
        >>> category_for("cat", {"category": "dog"})
        'dog'
    """
    if row.get("category") is not None:
        return str(row["category"])
    names = categories_of(row)
    if label is None:
        return names[0] if len(names) == 1 else None
    return next((name for name in names if _folded(name) == _folded(label)), None)


def true_boxes(row: Row) -> list[TrueBox]:
    """Return the truth of a row that has no problems."""
    return [
        TrueBox(
            category=_category_of_truth(box, row) or "",
            bbox=(float(x), float(y), float(width), float(height)),
            area=float(box["area"]) if box.get("area") is not None else float(width) * float(height),
            iscrowd=int(bool(box.get("iscrowd"))),
            ignore=int(bool(box.get("ignore"))),
        )
        for box in row["answer"]
        for x, y, width, height in [box["bbox"]]
    ]


def image_key(row: Row) -> Hashable:
    """Return what rows about one image share; without ``image_id`` every row has an image of its own."""
    image = row.get("image_id")
    return ("row", str(row["question_id"])) if image is None else ("image", str(image))


def row_problems(row: Row, *, hidden: bool, federated: bool) -> list[str]:
    """Return why a row cannot be scored.

    Args:
        hidden: No row of the data has an answer, so the truth is not looked at.
        federated: The row must say what the federated protocol needs.
    """
    problems = _size_problems(row) + _category_problems(row)
    if federated:
        if not isinstance(row.get("category"), str):
            problems.append("the lvis protocol takes one `category` a row")
        if row.get("frequency") not in FREQUENCIES:
            problems.append(f"`frequency` must be one of r, c, f, got {row.get('frequency')!r}")
    if problems or hidden:
        return problems
    return list(_truth_problems(row))


def set_problems(rows: Sequence[Row], group_by: str | None) -> Iterator[tuple[int, str]]:
    """Yield (position from 0, problem) for rows that contradict an earlier one; the rows have no other problems."""
    sizes: dict[Hashable, tuple[int, tuple[int, int]]] = {}
    asked: dict[Hashable, int] = {}
    frequencies: dict[str, tuple[int, Any]] = {}
    for index, row in enumerate(rows):
        image = (row.get(group_by) if group_by else None, image_key(row))
        size = (row["width"], row["height"])
        first, known = sizes.setdefault(image, (index, size))
        if known != size:
            yield index, f"width and height differ from row {first + 1}, which is about the same image"
        for name in categories_of(row):
            earlier = asked.setdefault((image, name), index)
            if earlier != index:
                yield index, f"category {name!r} of this image is asked in row {earlier + 1} too"
        if row.get("category") is not None and row.get("frequency") is not None:
            first, frequency = frequencies.setdefault(row["category"], (index, row["frequency"]))
            if frequency != row["frequency"]:
                yield index, f"frequency of {row['category']!r} differs from row {first + 1}"


def _size_problems(row: Row) -> list[str]:
    return [
        f"`{key}` must be the image's {key} in pixels, a whole number above 0, got {row.get(key)!r}"
        for key in ("width", "height")
        if not isinstance(row.get(key), int) or isinstance(row.get(key), bool) or row[key] < 1
    ]


def _category_problems(row: Row) -> list[str]:
    one, many = row.get("category"), row.get("categories")
    if one is None and many is None:
        return ["neither `category` (one name) nor `categories` (a list of names)"]
    if one is not None:
        if many is not None:
            return ["both `category` and `categories`: which of them is asked?"]
        return [] if isinstance(one, str) and one else [f"`category` must be a name, got {one!r}"]
    if not isinstance(many, list) or not many or not all(isinstance(name, str) and name for name in many):
        return [f"`categories` must be a list of names, got {many!r:.80}"]
    folded = [_folded(name) for name in many]
    return [
        f"categories name {name!r} twice; case and space around a name do not tell two apart"
        for position, name in enumerate(many)
        if _folded(name) in folded[:position]
    ]


def _truth_problems(row: Row) -> Iterator[str]:
    answer = row.get("answer")
    if not isinstance(answer, list) or not all(isinstance(box, Mapping) for box in answer):
        yield (
            f"`answer` must be a list of {{'bbox': [x, y, width, height]}}, empty for none there, got {answer!r:.80}"
        )
        return
    for number, box in enumerate(answer, start=1):
        problem = _box_problem(box.get("bbox"))
        if problem:
            yield f"box {number}: {problem}"
        if _category_of_truth(box, row) is None:
            names = categories_of(row)
            label = box.get("label")
            hint = did_you_mean(label, names) if isinstance(label, str) else ""
            yield f"box {number}: label {label!r} is none of the asked {', '.join(names)}.{hint}"
        area = box.get("area")
        if area is not None and (not is_number(area) or area < 0):
            yield f"box {number}: area must be a number of at least 0, got {area!r}"
        for flag in ("iscrowd", "ignore"):
            if box.get(flag) not in (None, 0, 1):
                yield f"box {number}: {flag} must be 0 or 1, got {box[flag]!r}"


def _box_problem(bbox: Any) -> str | None:
    if not isinstance(bbox, (list, tuple)) or len(bbox) != 4 or not all(map(is_number, bbox)):
        return f"bbox must be four finite numbers [x, y, width, height], got {bbox!r:.80}"
    if bbox[2] < 0 or bbox[3] < 0:
        return f"bbox {list(bbox)} has a negative width or height; it is [x, y, width, height], not corners"
    return None


def boxes_outside(row: Row) -> list[str]:
    """Describe the true boxes that reach out of the image by more than a pixel; the row has no other problem."""
    return [
        f"bbox {list(box.bbox)} leaves the image of {row['width']} x {row['height']}; it is [x, y, width, height] in "
        f"pixels of the original file"
        for box in true_boxes(row)
        if min(box.bbox[0], box.bbox[1]) < -OUTSIDE_TOLERANCE_PX
        or box.bbox[0] + box.bbox[2] > row["width"] + OUTSIDE_TOLERANCE_PX
        or box.bbox[1] + box.bbox[3] > row["height"] + OUTSIDE_TOLERANCE_PX
    ]


def _category_of_truth(box: Mapping[str, Any], row: Row) -> str | None:
    label = box.get("label")
    if label is None:
        return category_for(None, row)
    if not isinstance(label, str):
        return None
    return next((name for name in categories_of(row) if _folded(name) == _folded(label)), None)


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()
