"""Running a process.py: once per source and settings, whole or not at all."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flagharness.data import Preparation, cache_folder, file_digest, prepare, read_manifest
from flagharness.data._sources import note_source
from flagharness.errors import ConfigError, DataError

Process = Callable[[Any], Any]

_ROWS = [{"question_id": 1, "question": "q?", "answer": "A", "img_path": "img/1.png"}]


def _write_rows(cfg: Any, rows: Any = None) -> Path:
    folder = Path(cfg.processed_dataset_path, cfg.get("dataset_name") or "", cfg.get("split") or "")
    (folder / "img").mkdir(parents=True)
    (folder / "img" / "1.png").write_bytes(b"png")
    (folder / "data.json").write_text(json.dumps(_ROWS if rows is None else rows), encoding="utf-8")
    return folder


class _Source:
    """A process.py that counts its calls and writes some rows."""

    def __init__(self, body: Process = _write_rows) -> None:
        self.body = body
        self.calls: list[Any] = []

    def load(self) -> Process:
        return self.process

    def process(self, cfg: Any) -> None:
        self.calls.append(cfg)
        self.body(cfg)


@pytest.fixture
def processor(tmp_path: Path) -> Path:
    path = tmp_path / "task" / "process.py"
    path.parent.mkdir()
    path.write_text("def process(cfg): ...\n", encoding="utf-8")
    return path


@pytest.fixture
def make(tmp_path: Path, processor: Path) -> Callable[..., Preparation]:
    """Describe a preparation; keywords are laid over its config."""

    def make(**config: Any) -> Preparation:
        values = {
            "dataset_path": "org/toy",
            "processed_dataset_path": "toy",
            "split": "val",
            "processor": "process.py",
            **config,
        }
        return Preparation(config=values, processor=processor, cache=tmp_path / "cache")

    return make


def _files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".locks" not in path.parts
    )


# --- the ordinary way -----------------------------------------------------------------------------------------


def test_the_data_lies_where_the_contract_says_with_a_manifest(make: Any, tmp_path: Path) -> None:
    folder = prepare(make(), _Source().load)
    assert folder == tmp_path / "cache" / "toy" / "val"
    assert _files(tmp_path / "cache") == ["toy/val/data.json", "toy/val/img/1.png", "toy/val/manifest.json"]


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ({}, "toy/val"),
        ({"dataset_name": "sub"}, "toy/sub/val"),
        ({"dataset_name": "sub", "split": ""}, "toy/sub"),
        ({"split": ""}, "toy"),
        ({"split": None}, "toy"),
        ({"split": "a/b"}, "toy/a/b"),
        ({"processed_dataset_path": "deep/er/toy"}, "deep/er/toy/val"),
    ],
)
def test_name_and_split_are_parts_of_the_path(
    make: Any, tmp_path: Path, config: dict[str, Any], folder: str
) -> None:
    source = _Source()
    found = prepare(make(**config), source.load)
    assert found == tmp_path / "cache" / folder
    assert json.loads((found / "data.json").read_text(encoding="utf-8")) == _ROWS
    assert prepare(make(**config), source.load) == found
    assert len(source.calls) == 1


def test_an_absolute_path_is_taken_as_it_is(make: Any, tmp_path: Path) -> None:
    folder = prepare(make(processed_dataset_path=str(tmp_path / "elsewhere" / "toy")), _Source().load)
    assert folder == tmp_path / "elsewhere" / "toy" / "val"
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["toy"]


def test_the_default_cache_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLAGHARNESS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("FLAGHARNESS_CACHE", "")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == Path("/home/somebody/.cache/flagharness")


def test_process_gets_attributes_get_extra_keys_and_absolute_paths(make: Any, processor: Path) -> None:
    source = _Source()
    prepare(make(anno_file="x.json", names=["a"], deep={"er": 1}), source.load)
    [cfg] = source.calls
    assert (cfg.split, cfg.get("split"), cfg["split"]) == ("val", "val", "val")
    assert (cfg.anno_file, cfg.names, cfg.deep.er) == ("x.json", ["a"], 1)
    assert cfg.get("no_such_key") is None
    assert cfg.processor == str(processor)
    assert Path(cfg.processed_dataset_path).is_absolute()


def test_the_manifest_says_what_was_made_from_what(make: Any, processor: Path) -> None:
    def body(cfg: Any) -> None:
        note_source("org/toy", "abc123")
        _write_rows(cfg)

    preparation = make(token="sk-FAKE", n=np.int64(3))
    folder = prepare(preparation, _Source(body).load)
    manifest = read_manifest(folder)
    assert manifest is not None
    assert manifest["source"] == "org/toy"
    assert manifest["revisions"] == {"org/toy": "abc123"}
    assert manifest["rows"] == 1
    assert manifest["data_sha256"] == file_digest(folder / "data.json")
    assert manifest["settings"]["processor_sha256"] == file_digest(processor)
    assert manifest["settings"]["config"] == {
        "dataset_path": "org/toy",
        "processed_dataset_path": "toy",
        "split": "val",
        "token": "***",
        "n": 3,
    }
    assert {"prepared_at", "flagharness"} < set(manifest)


# --- when it is done again ------------------------------------------------------------------------------------


def test_prepared_data_is_used_without_even_importing_process(make: Any) -> None:
    prepare(make(), _Source().load)

    def load() -> Process:
        raise AssertionError("imported")

    prepare(make(), load)


@pytest.mark.parametrize(
    "change", [{"dataset_path": "org/other"}, {"new_key": 1}, {"revision": "v2"}, {"anno_file": None}]
)
def test_changed_settings_prepare_again(
    make: Any, change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source = _Source()
    prepare(make(anno_file="a.json"), source.load)
    caplog.clear()
    prepare(make(**{"anno_file": "a.json", **change}), source.load)
    prepare(make(**{"anno_file": "a.json", **change}), source.load)
    assert len(source.calls) == 2
    assert f"preparing (config.{next(iter(change))} changed)" in caplog.messages[0]


def test_a_changed_process_file_prepares_again(make: Any, processor: Path) -> None:
    source = _Source()
    prepare(make(), source.load)
    processor.write_text("def process(cfg): return 1\n", encoding="utf-8")
    prepare(make(), source.load)
    prepare(make(), source.load)
    assert len(source.calls) == 2


def test_another_way_to_write_the_place_of_process_is_no_change(make: Any) -> None:
    source = _Source()
    prepare(make(processor="process.py"), source.load)
    prepare(make(processor="./process.py"), source.load)
    assert len(source.calls) == 1


def test_a_process_that_changes_its_settings_does_not_prepare_for_ever(make: Any) -> None:
    def body(cfg: Any) -> None:
        cfg.names.append("more")
        cfg.deep.er = 2
        cfg.new = 3
        _write_rows(cfg)

    source = _Source(body)
    for _ in range(2):
        prepare(make(names=["a"], deep={"er": 1}), source.load)
    assert len(source.calls) == 1


def test_a_function_in_the_settings_counts_by_its_source(make: Any) -> None:
    source = _Source()
    keep_all, keep_some = (
        lambda row: True,
        lambda row: row["answer"],
    )
    for keep in (keep_all, keep_some, keep_some):
        prepare(make(keep=keep), source.load)
    assert len(source.calls) == 2


def test_force_prepares_again_and_leaves_one_folder(make: Any, tmp_path: Path) -> None:
    source = _Source()
    prepare(make(), source.load)
    folder = prepare(make(), source.load, force=True)
    assert len(source.calls) == 2
    assert [path.name for path in folder.parent.iterdir()] == ["val"]


def test_two_splits_do_not_disturb_each_other(make: Any, tmp_path: Path) -> None:
    for split in ("val", "test"):
        prepare(make(split=split), _Source().load)
    assert _files(tmp_path / "cache" / "toy")[::3] == ["test/data.json", "val/data.json"]


# --- what lay there before ------------------------------------------------------------------------------------


def test_data_made_by_another_tool_is_used_as_it_is(
    make: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "cache" / "toy" / "val"
    folder.mkdir(parents=True)
    (folder / "data.json").write_text("[]", encoding="utf-8")
    source = _Source()
    assert prepare(make(), source.load) == folder
    assert source.calls == []
    assert caplog.messages == [f"{folder}: prepared by another tool (no manifest.json); used as it is."]


def test_a_foreign_folder_is_put_aside_and_not_deleted(
    make: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "cache" / "toy" / "val"
    folder.mkdir(parents=True)
    (folder / "precious.txt").write_text("mine", encoding="utf-8")
    prepare(make(), _Source().load)
    assert (folder / "manifest.json").is_file()
    [aside] = [path for path in folder.parent.iterdir() if path != folder]
    assert (aside / "precious.txt").read_text(encoding="utf-8") == "mine"
    assert f"was put aside as {aside}" in caplog.text


def test_an_empty_folder_is_no_data_and_not_kept(make: Any, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "toy" / "val"
    folder.mkdir(parents=True)
    prepare(make(), _Source().load)
    assert [path.name for path in folder.parent.iterdir()] == ["val"]


@pytest.mark.parametrize("content", ["", "{", "[]", "\xff"])
def test_a_broken_manifest_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content, encoding="latin-1")
    assert read_manifest(tmp_path) is None
    assert read_manifest(tmp_path / "nowhere") is None


# --- paths in the data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", ["cache", "数据 cache"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_absolute_paths_point_to_where_the_data_ends_up(
    tmp_path: Path, processor: Path, cache: str, ascii_only: bool
) -> None:
    def body(cfg: Any) -> None:
        folder = _write_rows(cfg)
        rows = [{"question_id": 1, "question": f"{folder}", "img_path": [f"{folder}/img/1.png"]}]
        (folder / "data.json").write_text(json.dumps(rows, ensure_ascii=ascii_only), encoding="utf-8")

    config = {"processed_dataset_path": "toy", "split": "val"}
    preparation = Preparation(config=config, processor=processor, cache=tmp_path / cache)
    folder = prepare(preparation, _Source(body).load)
    [row] = json.loads((folder / "data.json").read_text(encoding="utf-8"))
    assert row == {"question_id": 1, "question": str(folder), "img_path": [f"{folder}/img/1.png"]}
    assert Path(row["img_path"][0]).is_file()


def test_files_outside_of_the_split_are_warned_of(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    def body(cfg: Any) -> None:
        _write_rows(cfg)
        Path(cfg.processed_dataset_path, "shared.txt").write_text("x", encoding="utf-8")

    prepare(make(), _Source(body).load)
    assert "1 files outside of the split's folder were not kept, shared.txt among them" in caplog.text


# --- failures -------------------------------------------------------------------------------------------------


def _write_nothing(cfg: Any) -> None: ...


def _write_elsewhere(cfg: Any) -> None:
    _write_rows(type(cfg)(cfg, split="other"))


def _write_bad_rows(cfg: Any) -> None:
    _write_rows(cfg, [{"question_id": 1}, {"question_id": 1}, {"question": 3}])


def _write_no_row(cfg: Any) -> None:
    _write_rows(cfg, [])


def _write_no_list(cfg: Any) -> None:
    _write_rows(cfg, {"a": 1})


def _write_half(cfg: Any) -> None:
    (_write_rows(cfg) / "data.json").write_text("[{", encoding="utf-8")


def _raise(cfg: Any) -> None:
    _write_rows(cfg)
    raise RuntimeError("no network")


def _raise_ours(cfg: Any) -> None:
    raise DataError("org/toy: no such split 'val'")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (_write_nothing, "returned without writing {cfg.processed_dataset_path}/val/data.json"),
        (_write_elsewhere, "returned without writing {cfg.processed_dataset_path}/val/data.json"),
        (
            _write_bad_rows,
            "bad rows in data.json:\n  row 2 (question_id 1): question_id is that of row 1 too\n  row 3",
        ),
        (_write_no_row, "data.json holds no row"),
        (_write_no_list, "wrote no usable data.json: "),
        (_write_half, "wrote no usable data.json: "),
        (_raise, "process(cfg) failed, nothing was kept: RuntimeError: no network"),
        (_raise_ours, "org/toy: no such split 'val'"),
    ],
)
def test_a_process_that_fails_is_named_and_leaves_nothing(
    make: Any, tmp_path: Path, processor: Path, body: Process, problem: str
) -> None:
    with pytest.raises(DataError) as caught:
        prepare(make(), _Source(body).load)
    assert str(caught.value).startswith(f"{processor}: ")
    assert problem in str(caught.value)
    assert _files(tmp_path / "cache") == []
    source = _Source()
    prepare(make(), source.load)
    assert len(source.calls) == 1


def test_a_failure_keeps_the_data_that_was_there(make: Any) -> None:
    folder = prepare(make(), _Source().load)
    before = (folder / "data.json").read_bytes()
    with pytest.raises(DataError):
        prepare(make(), _Source(_raise).load, force=True)
    assert (folder / "data.json").read_bytes() == before
    assert read_manifest(folder) is not None


def test_an_interrupted_process_leaves_nothing_and_the_next_run_prepares(make: Any, tmp_path: Path) -> None:
    def interrupted(cfg: Any) -> None:
        _write_rows(cfg)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(make(), _Source(interrupted).load)
    assert _files(tmp_path / "cache") == []
    source = _Source()
    prepare(make(), source.load)
    assert len(source.calls) == 1


def test_a_killed_preparation_is_never_taken_for_a_finished_one(
    make: Any, tmp_path: Path, processor: Path
) -> None:
    script = f"""
        import os, signal
        from pathlib import Path
        from flagharness.data import Preparation, prepare

        def process(cfg):
            folder = Path(cfg.processed_dataset_path, "val")
            folder.mkdir()
            (folder / "data.json").write_text('[{{"question_id": 1}}]')
            os.kill(os.getpid(), signal.SIGKILL)

        config = {{"processed_dataset_path": "toy", "split": "val"}}
        prepare(Preparation(config, Path({str(processor)!r}), Path({str(tmp_path / "cache")!r})), lambda: process)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, env={**os.environ})
    assert killed.returncode == -9
    source = _Source()
    folder = prepare(make(), source.load)
    assert len(source.calls) == 1
    assert json.loads((folder / "data.json").read_text(encoding="utf-8")) == _ROWS


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, processor: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    config = {"processed_dataset_path": "toy", "split": "val"}
    preparation = Preparation(config=config, processor=processor, cache=tmp_path / "file")
    with pytest.raises(ConfigError, match=r"cannot write the data cache.*Set FLAGHARNESS_CACHE"):
        prepare(preparation, _Source().load)


# --- two at once ----------------------------------------------------------------------------------------------


def test_two_that_want_the_same_data_at_once_prepare_it_once(
    make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    begun, second_waits = threading.Event(), threading.Event()

    class _Hears(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "another process prepares this data; waiting for it" in record.getMessage():
                second_waits.set()

    def slow(cfg: Any) -> None:
        begun.set()
        assert second_waits.wait(30)
        _write_rows(cfg)

    source = _Source(slow)
    results: list[Path] = []
    caplog.set_level(logging.INFO)
    logger, hears = logging.getLogger("flagharness"), _Hears()
    logger.addHandler(hears)
    try:
        threads = [
            threading.Thread(target=lambda: results.append(prepare(make(), source.load))) for _ in range(2)
        ]
        threads[0].start()
        assert begun.wait(30)
        threads[1].start()
        for thread in threads:
            thread.join(30)
    finally:
        logger.removeHandler(hears)
    assert len(source.calls) == 1
    assert results == [make().folder] * 2


def test_a_changed_local_source_prepares_again(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "a.txt").write_text("one")
    (folder / "labels.csv").write_text("a,1\n")
    (folder / "process.py").write_text("")
    config = {"processed_dataset_path": "local", "split": "test", "dataset_path": "pictures"}
    preparation = Preparation(config=config, processor=folder / "process.py", cache=tmp_path / "cache")
    runs: list[str] = []

    def process(cfg: Any) -> None:
        runs.append((folder / "labels.csv").read_text())
        target = Path(cfg.processed_dataset_path) / cfg.split
        target.mkdir(parents=True)
        (target / "data.json").write_text('[{"question_id": 1, "question": "?"}]')

    for change in (None, None, "labels.csv", None, "pictures/a.txt", "pictures/b.txt", None):
        if change:
            (folder / change).write_text("changed")
        prepare(preparation, lambda: process)
    assert len(runs) == 4


def test_preparing_without_a_split_leaves_other_splits_alone(tmp_path: Path) -> None:
    processor = tmp_path / "process.py"
    processor.write_text("")

    def process(cfg: Any) -> None:
        target = Path(cfg.processed_dataset_path) / (cfg.get("split") or "")
        target.mkdir(parents=True, exist_ok=True)
        (target / "data.json").write_text('[{"question_id": 1, "question": "?"}]')

    for split in ("", "val"):
        config = {"processed_dataset_path": "both", "split": split}
        prepare(Preparation(config=config, processor=processor, cache=tmp_path / "c"), lambda: process)
    whole = Preparation(
        config={"processed_dataset_path": "both", "split": ""}, processor=processor, cache=tmp_path / "c"
    )
    prepare(whole, lambda: process, force=True)
    assert (tmp_path / "c" / "both" / "val" / "data.json").is_file()
    assert (tmp_path / "c" / "both" / "val" / "manifest.json").is_file()
