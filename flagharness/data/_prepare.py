"""Running a task's process.py once per source and settings, so that half-made data is never taken for data."""

from __future__ import annotations

import copy
import datetime
import glob
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagharness import __version__
from flagharness.config import place_of, snapshot
from flagharness.data._annotations import check_rows, load_annotations
from flagharness.data._sources import record_sources
from flagharness.data._table import local_table
from flagharness.data._use import replacing_data
from flagharness.data._write import write_json
from flagharness.errors import FOREIGN_FAILURES, ConfigError, DataError, FlagHarnessError, listing

logger = logging.getLogger(__name__)

MANIFEST = "manifest.json"
_DATA_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".txt")
_MOST_FILES = 20_000


@dataclass(frozen=True)
class Preparation:
    """What is to be prepared: the task's ``config`` dict, its process.py, and where the result goes."""

    config: Mapping[str, Any]
    processor: Path
    cache: Path
    """What a relative ``processed_dataset_path`` is relative to."""

    @property
    def folder(self) -> Path:
        """The finished data folder: ``{processed_dataset_path}/[{dataset_name}/]{split}``."""
        return self._root / (self.config.get("dataset_name") or "") / (self.config.get("split") or "")

    @property
    def _root(self) -> Path:
        return self.cache / Path(str(self.config["processed_dataset_path"])).expanduser()

    def settings(self) -> dict[str, Any]:
        """Return everything that decides what process.py writes; a change of it means preparing again."""
        processor = hashlib.sha256(self.processor.read_bytes()).hexdigest()
        plain = {key: snapshot(value, key) for key, value in self.config.items() if key != "processor"}
        return {"config": plain, "processor_sha256": processor, "local_files": self._local_files()}

    def _local_files(self) -> dict[str, str]:
        """Fingerprint what lies on this machine and may be read: data beside process.py, and what the config names.

        Small files by their content, larger ones by size and time of change.
        """
        beside = self.processor.parent
        found = [path for path in beside.iterdir() if path.suffix in _DATA_ENDINGS and path.is_file()]
        for value in self.config.values():
            found.extend(_named_files(value, beside))
        table = local_table(self.config, beside)
        if table is not None and table.resolve() != beside:
            found.append(table)
        return {os.path.relpath(path, beside): _fingerprint(path) for path in sorted(set(found))}


def _named_files(value: Any, beside: Path) -> list[Path]:
    """Return the file or folder, or the files of the pattern, that a config value names."""
    if not isinstance(value, str) or not value or "\0" in value or len(value) > 1024:
        return []
    for path in (beside / Path(value).expanduser(), Path.cwd() / Path(value).expanduser()):
        if glob.has_magic(value):
            if files := sorted(glob.glob(str(path), recursive=True)):
                return [Path(file) for file in files]
        elif path.exists() and path.resolve() != beside:
            return [path]
    return []


def _fingerprint(path: Path) -> str:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())[:_MOST_FILES]
        lines = "\n".join(f"{file.relative_to(path)} {_fingerprint(file)}" for file in files)
        return f"{len(files)} files {hashlib.sha256(lines.encode()).hexdigest()[:16]}"
    facts = path.stat()
    return file_digest(path)[:16] if facts.st_size <= 1 << 20 else f"{facts.st_size}-{facts.st_mtime_ns}"


def cache_folder() -> Path:
    """Return where prepared data lies: ``$FLAGHARNESS_CACHE``, else ``~/.cache/flagharness``."""
    return Path(os.environ.get("FLAGHARNESS_CACHE") or "~/.cache/flagharness").expanduser().absolute()


def prepare(
    preparation: Preparation, load_process: Callable[[], Callable[[Any], Any]], *, force: bool = False
) -> Path:
    """Make sure that the data folder exists and return it.

    ``process(cfg)`` writes into a staging folder; only when it returned, and its data.json holds, is the result
    renamed into place with a manifest (source, settings, revision, rows, digest). Another process that wants the
    same data waits. Data whose settings or process.py have changed since is prepared anew, and so is everything
    with ``force``; what lay there is removed if a manifest says that we made it, else put aside.

    Args:
        load_process: Imports process.py and returns its ``process``; called only when it is needed, so that
            prepared data is used without touching the source or the network.

    Raises:
        DataError: process.py failed or left no usable data.json. Nothing is left behind.
    """
    from filelock import FileLock, Timeout

    folder = preparation.folder
    if not force and is_prepared(preparation):
        return folder
    locks = preparation.cache / ".locks"
    try:
        locks.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{preparation.cache}: cannot write the data cache: {error}. Set FLAGHARNESS_CACHE."
        ) from error
    lock = FileLock(locks / f"{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        logger.info("%s: another process prepares this data; waiting for it.", folder)
        lock.acquire()
    try:
        changes = _changes(preparation)  # once more: whoever held the lock may have done the work
        if changes or force:
            logger.info("%s: preparing (%s)", folder, ", ".join(changes) or "--force")
            _prepare_now(preparation, load_process())
    finally:
        lock.release()
    return folder


def is_prepared(preparation: Preparation) -> bool:
    """Whether the data folder holds what this preparation would make."""
    return not _changes(preparation)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a prepared data folder, None where there is none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def _changes(preparation: Preparation) -> list[str]:
    """Return why the data has to be prepared; nothing when what lies there is what is wanted."""
    folder = preparation.folder
    manifest = read_manifest(folder)
    if manifest is None:
        if (folder / "data.json").is_file():
            logger.warning("%s: prepared by another tool (no %s); used as it is.", folder, MANIFEST)
            return []
        return ["not there yet"]
    old, new = manifest.get("settings") or {}, preparation.settings()
    before, after = old.get("config", {}), new["config"]
    changes = [
        f"config.{key} changed" for key in sorted({*before, *after}) if before.get(key) != after.get(key)
    ]
    if old.get("processor_sha256") != new["processor_sha256"]:
        changes.append(f"{preparation.processor.name} changed")
    files_before, files_after = old.get("local_files", {}), new["local_files"]
    changed = [
        file
        for file in sorted({*files_before, *files_after})
        if files_before.get(file) != files_after.get(file)
    ]
    if changed and not changes:  # another source has other files, which is no news
        changes.append(f"{changed[0]}{f' and {len(changed) - 1} more files' if changed[1:] else ''} changed")
    return changes


def _prepare_now(preparation: Preparation, process: Callable[[Any], Any]) -> None:
    from mmengine.config import ConfigDict

    folder = preparation.folder
    # Beside its destination, so that the last step is a rename whatever is mounted where.
    staging = preparation._root.with_name(f".{preparation._root.name}.staging-{os.getpid()}")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    settings = preparation.settings()
    cfg = ConfigDict(copy.deepcopy(dict(preparation.config)))  # process.py may change what it is given
    cfg.processed_dataset_path = str(staging)
    cfg.processor = str(preparation.processor)
    here = Path.cwd()
    try:
        with record_sources() as sources:
            try:
                process(cfg)
            except FlagHarnessError as error:
                raise type(error)(f"{preparation.processor}: {error}") from error
            except FOREIGN_FAILURES as error:
                place = place_of(error, preparation.processor)
                raise DataError(
                    f"{place}: process(cfg) failed, nothing was kept: {type(error).__name__}: {error}"
                ) from error
            finally:
                os.chdir(here)  # the run's relative paths must stay what they were
        made = staging / folder.relative_to(preparation._root)
        rows = _check_made(preparation, made)
        manifest = {
            "source": preparation.config.get("dataset_path"),
            "revisions": sources,
            "settings": settings,
            "rows": rows,
            "data_sha256": file_digest(made / "data.json"),
            "prepared_at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "flagharness": __version__,
        }
        write_json(made / MANIFEST, manifest)
        with replacing_data(folder, preparation.cache):
            _move_into_place(made, folder)
        left = sorted(str(path.relative_to(staging)) for path in staging.rglob("*") if path.is_file())
        if left:
            logger.warning(
                "%s: %d files outside of the split's folder were not kept, %s among them.",
                preparation.processor, len(left), left[0],
            )  # fmt: skip
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    logger.info("%s: %d rows prepared.", folder, rows)


def _check_made(preparation: Preparation, made: Path) -> int:
    data = made / "data.json"
    if not data.is_file():
        raise DataError(
            f"{preparation.processor}: process(cfg) returned without writing "
            f"{{cfg.processed_dataset_path}}/{preparation.folder.relative_to(preparation._root)}/data.json."
        )
    # A process.py may have written absolute paths; they must not point into a folder that is about to move.
    text = before = data.read_bytes()
    for ascii_only in (False, True):
        old, new = (json.dumps(str(p), ensure_ascii=ascii_only)[1:-1] for p in (made, preparation.folder))
        text = text.replace(old.encode(), new.encode())
    if text != before:
        data.write_bytes(text)
    try:
        rows = load_annotations([data])
    except DataError as error:
        raise DataError(
            f"{preparation.processor}: process(cfg) wrote no usable data.json: {error}"
        ) from error
    problems = check_rows(rows)
    if problems:
        raise DataError(
            f"{preparation.processor}: {len(problems)} bad rows in data.json:\n{listing(problems)}"
        )
    if not rows:
        raise DataError(f"{preparation.processor}: data.json holds no row.")
    return len(rows)


def _move_into_place(made: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        ours = (folder / MANIFEST).is_file()
        aside = folder.with_name(f"{folder.name}.old-{os.getpid()}")
        folder.rename(aside)
        made.rename(folder)
        if ours:
            _keep_other_splits(aside, folder)
            shutil.rmtree(aside)
        elif any(aside.iterdir()):
            logger.warning("%s: what lay here was not made by us and was put aside as %s.", folder, aside)
        else:
            aside.rmdir()
        return
    made.rename(folder)


def _keep_other_splits(old: Path, new: Path) -> None:
    """Without a split the data folder holds those of other splits: what they prepared is not ours to remove."""
    for manifest in sorted(old.rglob(MANIFEST)):
        other = manifest.parent
        target = new / other.relative_to(old)
        if other != old and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            other.rename(target)


def file_digest(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
