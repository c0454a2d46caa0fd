"""PixMo-Count: pictures fetched from the web and checked against their digests; rows without one are dropped."""

from __future__ import annotations

import hashlib
import logging
from typing import Any

from flagharness.data import (
    Download,
    MediaStore,
    download_media,
    iter_hf_rows,
    split_folder,
    write_annotations,
    write_dropped,
)
from flagharness.errors import DataError, listing

logger = logging.getLogger("flagharness.tasks.pixmo_count")

COLUMNS = ["image_url", "image_sha256", "count", "label"]
QUESTION = (
    "How many {label} are there in the image? If the same instance appears more than once, it should be counted as "
    "multiple instances. Your final answer should be a single integer."
)


def process(cfg: Any) -> None:
    """Write a row for every picture that can still be had as it was, and dropped.json for the rest.

    Raises:
        DataError: Naming every record that is not as expected, or if no picture can be had.
    """
    out_dir = split_folder(cfg)
    records = list(iter_hf_rows(cfg.dataset_path, cfg.split, revision=cfg.get("revision"), columns=COLUMNS))
    problems = [f"record {n}: {why}" for n, record in enumerate(records) if (why := problem_of(record))]
    if problems:
        raise DataError(f"{cfg.dataset_path}: records that are not as expected:\n{listing(problems)}")
    digests = {record["image_url"]: record["image_sha256"] for record in records}
    fetched = download_media([record["image_url"] for record in records], MediaStore(out_dir), sha256=digests)
    downloads = [as_recorded(record, digests, each) for record, each in zip(records, fetched, strict=True)]
    write_dropped(out_dir / "dropped.json", downloads)
    rows = [
        row_of(number, record, download.path)
        for number, (record, download) in enumerate(zip(records, downloads, strict=True))
        if download.path is not None
    ]
    logger.info("%s: %d of %d rows kept (ids %s)", cfg.dataset_path, len(rows), len(records), digest_of(rows))
    write_annotations(out_dir, rows)


def problem_of(record: dict[str, Any]) -> str | None:
    """Return what keeps a record from becoming a row."""
    if not isinstance(record["count"], int) or record["count"] < 0:
        return f"count {record['count']!r} is no whole number of at least 0"
    for column in ("image_url", "image_sha256", "label"):
        if not isinstance(record[column], str) or not record[column].strip():
            return f"{column} is {record[column]!r}"
    return None


def as_recorded(record: dict[str, Any], digests: dict[str, str], download: Download) -> Download:
    """Drop a picture that was checked against another digest: two records name its address, and do not agree."""
    if download.path is None or digests[record["image_url"]].lower() == record["image_sha256"].lower():
        return download
    return Download(download.url, None, f"another record gives its SHA-256, not {record['image_sha256']}")


def row_of(number: int, record: dict[str, Any], img_path: str) -> dict[str, Any]:
    """Return the row of a record whose picture is there; its id is the record's number in the split."""
    return {
        "question_id": str(number),
        "question": QUESTION.format(label=record["label"].strip()),
        "question_type": "count",
        "answer": record["count"],
        "img_path": img_path,
        "sub_task": str(record["count"]),
        "label": record["label"].strip(),
    }


def digest_of(rows: list[dict[str, Any]]) -> str:
    """Return a digest of the ids, by which two sets of kept rows can be told apart.

    Example:
        >>> digest_of([{"question_id": "0"}, {"question_id": "2"}])
        'b60239929ec5'
    """
    ids = "\n".join(row["question_id"] for row in rows)
    return hashlib.sha256(ids.encode()).hexdigest()[:12]
