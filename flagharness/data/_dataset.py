"""Dataset types: prepared rows as samples that are ready to ask."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagharness.data._annotations import check_rows, load_annotations
from flagharness.errors import ConfigError, DataError, did_you_mean, listing
from flagharness.prompt import build_question
from flagharness.registry import DATASETS, PROMPTS

logger = logging.getLogger(__name__)


@DATASETS.register_module()
class VqaBaseDataset:
    """Questions with images, or text alone; the type to start with.

    Args:
        name: The task's name.
        data_root: Folder of the annotation file and the media.
        anno_file: Annotation file(s) inside ``data_root``, or absolute; several are concatenated.
        config: The task's ``config`` dict, when the data was made by a process.py.
        prompt_template: ``dict(type="PromptTemplate", ...)``; without it the question is sent as it is.
        base_dir: The task's folder.
        debug, with_label, cache_dir: Accepted for task folders that set them.

    Raises:
        DataError: An unreadable annotation file, or bad rows, all of them named.
    """

    def __init__(
        self,
        *,
        name: str,
        data_root: str | Path | None = None,
        anno_file: str | Sequence[str] = "data.json",
        config: Mapping[str, Any] | None = None,
        prompt_template: Mapping[str, Any] | None = None,
        base_dir: str | None = None,
        debug: bool = False,
        with_label: bool = False,
        cache_dir: str | None = None,
        **unread: Any,
    ) -> None:
        if data_root is None:
            raise ConfigError(f"dataset {name}: neither `config` with a process.py nor `data_root` is set.")
        known = ("name", "data_root", "anno_file", "config", "prompt_template", "with_label")
        for key in unread:
            logger.warning("dataset %s: nothing reads `%s`.%s", name, key, did_you_mean(key, known))
        self.name = name
        self.data_root = Path(data_root)
        self.config = config
        self.base_dir = base_dir
        self.with_label = with_label
        self.anno_files = [
            self.data_root / file for file in ([anno_file] if isinstance(anno_file, str) else anno_file)
        ]
        self.annotations = load_annotations(self.anno_files)
        problems = [*check_rows(self.annotations), *self.row_problems()]
        if problems:
            files = ", ".join(map(str, self.anno_files))
            raise DataError(f"{files}: {len(problems)} bad rows:\n{listing(problems)}")
        root = str(self.data_root)
        for row in self.annotations:
            row["data_root"] = root
        self.prompt_template = self._build_template(prompt_template)

    def _build_template(self, template: Mapping[str, Any] | None) -> Any:
        if template is None:
            return None
        options = dict(template)
        kind = options.pop("type", "PromptTemplate")
        return PROMPTS.find(kind, {}, f"dataset {self.name}: prompt_template.type")(**options)

    def row_problems(self) -> list[str]:
        """Return what this dataset type cannot ask, a line per row; subclasses add their own demands."""
        return []

    def __len__(self) -> int:
        return len(self.annotations)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return one sample: ``question_id`` (text), ``question`` (the prompt), ``type``, ``img_path`` (absolute
        paths), and ``video_path``, ``audio_path`` and ``img_sha256`` where the row has them."""
        row = self.annotations[index]
        item: dict[str, Any] = {
            "question_id": str(row["question_id"]),
            "question": self.build_prompt(index),
            "type": row.get("question_type"),
            "img_path": self._paths(row.get("img_path")),
        }
        for key in ("video_path", "audio_path"):
            if row.get(key):
                item[key] = self._paths(row[key])
        if row.get("img_sha256"):
            item["img_sha256"] = row["img_sha256"]
        if self.with_label:
            item["label"] = row.get("answer")
        return item

    def build_prompt(self, index: int) -> str:
        """Return the prompt text of one row, with its ``<image N>`` marks."""
        row = self.annotations[index]
        question = build_question(row)
        if self.prompt_template is None:
            return question
        # A flat copy: prompt functions may change it, and the row itself must stay what it is.
        shown = {**row, "question": question}
        prompt: str = self.prompt_template.build_prompt(shown)
        return prompt

    def get_annotation(self) -> dict[str, dict[str, Any]]:
        """Return every row, with the ``data_root`` it came from, by its question_id (text)."""
        return {str(row["question_id"]): row for row in self.annotations}

    def meta_info(self) -> dict[str, Any]:
        """Return name, length and type of the data."""
        return {"name": self.name, "length": len(self), "type": "vqa"}

    def _paths(self, value: str | Sequence[str] | None) -> list[str]:
        paths = [value] if isinstance(value, str) else value or []
        return [str(self.data_root / path) for path in paths]


@DATASETS.register_module()
class VideoDataset(VqaBaseDataset):
    """Questions about videos: every row has a ``video_path`` (or a list); images are left out."""

    def row_problems(self) -> list[str]:
        return [
            f"row {number} (question_id {row.get('question_id')!r}): no `video_path`"
            for number, row in enumerate(self.annotations, start=1)
            if isinstance(row, dict) and not row.get("video_path")
        ]

    def __getitem__(self, index: int) -> dict[str, Any]:
        item = super().__getitem__(index)
        item["img_path"] = []
        return item

    def meta_info(self) -> dict[str, Any]:
        """Return name, length and type of the data."""
        return {**super().meta_info(), "type": "video_qa"}
