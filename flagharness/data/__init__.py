"""What a process.py needs: rows in, media stored, data.json written.

`datasets`, `pyarrow` and `requests` are imported at their first use.
"""

from __future__ import annotations

from flagharness.data._annotations import QUESTION_TYPES, check_rows, load_annotations, read_json_rows
from flagharness.data._benchmark_manifest import (
    BenchmarkManifest,
    BenchmarkSubset,
    SourceField,
    read_benchmark_manifest,
)
from flagharness.data._benchmark_rows import process_manifest
from flagharness.data._box_table import image_size, process_box_table
from flagharness.data._cells import decrypt, sample_positions, short_answer_row, text_of, texts_of, verl_row
from flagharness.data._coco_file import CocoFile, read_coco
from flagharness.data._dataset import VideoDataset, VqaBaseDataset
from flagharness.data._download import Download, download_media, read_dropped, write_dropped
from flagharness.data._hf import SourceInfo, iter_hf_rows, resolve_source
from flagharness.data._image_rows import ImageTable, decode_image_cell, parse_list, store_images
from flagharness.data._media_store import MediaStore
from flagharness.data._prepare import (
    Preparation,
    cache_folder,
    file_digest,
    is_prepared,
    prepare,
    read_manifest,
)
from flagharness.data._table import letter_of, options_of, process_table
from flagharness.data._tsv import read_image_tsv, read_tsv
from flagharness.data._use import DataInUse
from flagharness.data._write import split_folder, write_annotations, write_json

__all__ = [
    "QUESTION_TYPES",
    "BenchmarkManifest",
    "BenchmarkSubset",
    "CocoFile",
    "DataInUse",
    "Download",
    "ImageTable",
    "MediaStore",
    "Preparation",
    "SourceField",
    "SourceInfo",
    "VideoDataset",
    "VqaBaseDataset",
    "cache_folder",
    "check_rows",
    "decode_image_cell",
    "decrypt",
    "download_media",
    "file_digest",
    "image_size",
    "is_prepared",
    "iter_hf_rows",
    "letter_of",
    "load_annotations",
    "options_of",
    "parse_list",
    "prepare",
    "process_box_table",
    "process_manifest",
    "process_table",
    "read_benchmark_manifest",
    "read_coco",
    "read_dropped",
    "read_image_tsv",
    "read_json_rows",
    "read_manifest",
    "read_tsv",
    "resolve_source",
    "sample_positions",
    "short_answer_row",
    "split_folder",
    "store_images",
    "text_of",
    "texts_of",
    "verl_row",
    "write_annotations",
    "write_dropped",
    "write_json",
]
