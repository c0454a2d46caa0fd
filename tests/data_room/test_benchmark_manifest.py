"""Benchmark manifests: what is wrong is told by its place, and the rows come out as the mapping says."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.data import load_annotations, process_manifest, read_benchmark_manifest
from flagharness.errors import ConfigError, DataError

SIGNS: dict[str, Any] = {
    "name": "Signs",
    "release_date": "2025-02-03",
    "subsets": {
        "main": {
            "language": ["en", "zh"],
            "modalities": ["multi_image"],
            "task_type": "short_answer_qa",
            "score_pipeline": ["rule-match"],
            "score_params": {"string_match": "equals"},
            "score_protocol": {"note": "made up"},
            "prompt_template": "Look: <image>\n{{question}}\nTown: {{ place.town }} ({{ year }})",
            "prompt_template_source": {"origin": "made up"},
            "mapping_from_source": {
                "media": {"from": "photos", "type": "list", "min_items": 1, "max_items": 3},
                "id": {"from": "key", "note": "unique"},
                "question": {"from": "q", "type": "string"},
                "answer": {"from": "a", "type": "list", "min_items": 1},
                "extra": {
                    "year": {"from": "year", "type": "integer"},
                    "question_type": {"from": "kind", "optional": True},
                    "place": {"town": {"from": "town"}, "at": {"lat": {"from": "lat", "type": "number"}}},
                },
                "source": {"format": "jsonl", "url": {"test": "https://example.org/signs"}},
            },
        },
        "plain": {
            "prompt_template": "{{ question }}",
            "mapping_from_source": {"question": {"from": "q"}, "answer": {"from": "a", "optional": True}},
        },
    },
}
MAPPING = "subsets.main.mapping_from_source"


@pytest.fixture
def manifest_file(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the manifest, with the value at a dotted place replaced (REMOVED: left out)."""

    def write(place: str = "", value: Any = None) -> Path:
        made = copy.deepcopy(SIGNS)
        *parents, last = place.split(".")
        here = made
        for parent in parents:
            here = here[parent]
        if value is REMOVED:
            del here[last]
        elif place:
            here[last] = value
        path = tmp_path / "task" / "manifest.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(made), encoding="utf-8")
        return path

    return write


REMOVED = object()

# --- reading ---


def test_a_manifest_is_read_into_records(manifest_file: Any) -> None:
    manifest = read_benchmark_manifest(manifest_file())
    assert (manifest.name, manifest.release_date, list(manifest.subsets)) == (
        "Signs",
        "2025-02-03",
        ["main", "plain"],
    )
    main = manifest.subset("main")
    assert (main.language, main.modalities, main.task_type) == (
        ["en", "zh"],
        ["multi_image"],
        "short_answer_qa",
    )
    assert (main.score_pipeline, main.string_match) == (["rule-match"], "equals")
    assert main.media is not None
    assert (main.media.column, main.media.min_items, main.media.max_items) == ("photos", 1, 3)
    assert list(main.fields) == [
        "id",
        "question",
        "answer",
        "year",
        "question_type",
        "place.town",
        "place.at.lat",
    ]
    assert main.fields["question_type"].optional
    assert main.source["url"] == {"test": "https://example.org/signs"}
    assert manifest.subset("plain").media is None


def test_a_subset_must_be_named_where_there_are_several(manifest_file: Any) -> None:
    manifest = read_benchmark_manifest(manifest_file())
    with pytest.raises(ConfigError, match=r"name one in config.subset. Subsets: main, plain"):
        manifest.subset()
    with pytest.raises(ConfigError, match=r"no subset 'mian'\. Did you mean 'main'"):
        manifest.subset("mian")
    assert read_benchmark_manifest(manifest_file("subsets.plain", REMOVED)).subset().name == "main"


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (f"{MAPPING}.media.min_items", "1", f"{MAPPING}.media.min_items: must be a whole number"),
        (f"{MAPPING}.media.min_items", True, f"{MAPPING}.media.min_items: must be a whole number"),
        (f"{MAPPING}.media.min_items", -1, f"{MAPPING}.media.min_items: must be a whole number of at least 0"),
        (f"{MAPPING}.media.min_items", 4, f"{MAPPING}.media.min_items: is 4, more than max_items, 3"),
        (f"{MAPPING}.media.min_itmes", 1, "Did you mean 'min_items'"),
        (f"{MAPPING}.media.type", "lsit", f"{MAPPING}.media.type: 'lsit' is not known. Did you mean 'list'"),
        (f"{MAPPING}.media.type", REMOVED, f"{MAPPING}.media.min_items: counts the items of a list"),
        (f"{MAPPING}.media.from", REMOVED, f"{MAPPING}.media.from: is missing"),
        (f"{MAPPING}.question", "q", f"{MAPPING}.question: must be an object"),
        (f"{MAPPING}.question.from", 3, f"{MAPPING}.question.from: must be a text, got 3"),
        (f"{MAPPING}.answer.optional", "yes", f"{MAPPING}.answer.optional: must be true or false"),
        (f"{MAPPING}.qestion", {"from": "q"}, f"{MAPPING}.qestion: nothing reads this key. Did you mean 'question'"),
        (f"{MAPPING}.extra.place.town", {"form": "town"}, f"{MAPPING}.extra.place.town.from: is missing"),
        (f"{MAPPING}.extra.year", 7, f"{MAPPING}.extra.year: must be an object, got 7"),
        (f"{MAPPING}.extra.answer", {"from": "x"}, f"{MAPPING}.extra.answer: there is a field answer outside"),
        (f"{MAPPING}.source.url", {"test": 1}, f"{MAPPING}.source.url: must be a text"),
        (MAPPING, REMOVED, f"{MAPPING}: is missing"),
        ("subsets.main.prompt_template", REMOVED, "subsets.main.prompt_template: is missing"),
        (
            "subsets.main.prompt_template",
            "<image>{{ qestion }}",
            "subsets.main.prompt_template: there is no field 'qestion'. Did you mean 'question'? Known: id, "
            "question, year, question_type, place.town, place.at.lat.",
        ),
        ("subsets.main.prompt_template", "{{ question | upper }}", "there is no field 'question | upper'"),
        ("subsets.main.prompt_template", "{% if x %}{{ question }}", "'{%' is not understood"),
        ("subsets.main.prompt_template", "{{ question", "'{{' is not understood"),
        ("subsets.main.prompt_template", "{{ answer }}", "would tell the model the truth"),
        ("subsets.plain.prompt_template", "<image>{{ question }}", "has no media"),
        ("subsets.main.score_pipeline", ["exact"], "subsets.main.score_pipeline[0]: 'exact' is not known"),
        ("subsets.main.score_pipeline", "rule-match", "subsets.main.score_pipeline: must be a list of texts"),
        ("subsets.main.score_params.string_match", "contain", "Did you mean 'contains'"),
        ("subsets.main.score_params", REMOVED, "subsets.main.score_params.string_match: rule-match needs one of"),
        ("subsets.main.language", [1], "subsets.main.language: must be a list of texts"),
        ("subsets", {}, "subsets: holds no subset"),
        ("subsets", REMOVED, "subsets: is missing"),
        ("name", 7, "name: must be a text, got 7"),
        ("release_date", "May 2026", "release_date: must be a date"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_place(manifest_file: Any, place: str, value: Any, said: str) -> None:
    path = manifest_file(place, value)
    with pytest.raises(ConfigError) as caught:
        read_benchmark_manifest(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_everything_that_is_wrong_is_told_at_once(manifest_file: Any) -> None:
    broken = {
        "prompt_template": "{{ x }}",
        "mapping_from_source": {"media": {"type": "text"}},
        "language": "en",
    }
    with pytest.raises(ConfigError, match="4 problems") as caught:
        read_benchmark_manifest(manifest_file("subsets.main", broken))
    assert "Known: none." in str(caught.value)


def test_unknown_keys_that_only_describe_are_logged_with_the_nearest_name(
    manifest_file: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "flagharness"):
        read_benchmark_manifest(manifest_file("subsets.main.score_protocoll", {"note": "x"}))
    assert (
        "subsets.main.score_protocoll: nothing reads this key. Did you mean 'score_protocol'" in caplog.text
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b'{"name": "a", "name": "b"}', "the key 'name' stands twice"),
        (b"[]", "the manifest: must be an object"),
    ],
)
def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"m\.json") as caught:
        read_benchmark_manifest(path)
    assert said in str(caught.value)
    with pytest.raises(ConfigError, match="cannot read the manifest"):
        read_benchmark_manifest(tmp_path / "absent.json")


# --- rows ---


def picture(number: int) -> bytes:
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (8, 6), (number * 40, 0, 0)).save(file, "PNG")
    return file.getvalue()


def sign(number: int, photos: int = 1, **fixed: Any) -> dict[str, Any]:
    return {
        "key": f"s{number}",
        "q": f"What does sign {number} say?",
        "a": [f"STOP {number}", "HALT"],
        "photos": [f"photos/{number + k}.png" for k in range(photos)],
        "year": 2000 + number,
        "kind": "traffic",
        "town": "Ulm",
        "lat": 48.4,
        **fixed,
    }


@pytest.fixture
def run_process(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that processes rows by the manifest beside process.py and returns data.json."""

    def run(rows: list[dict[str, Any]], subset: str = "main", **options: Any) -> list[dict[str, Any]]:
        folder = tmp_path / "task"
        (folder / "photos").mkdir(exist_ok=True)
        for number in range(6):
            (folder / "photos" / f"{number}.png").write_bytes(picture(number))
        (folder / "signs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        cfg = ConfigDict(
            dataset_path="signs.jsonl",
            manifest="manifest.json",
            subset=subset,
            split="test",
            processed_dataset_path=str(tmp_path / "out"),
            processor=str(folder / "process.py"),
        )
        process_manifest(cfg, **options)
        return load_annotations([tmp_path / "out" / "test" / "data.json"])

    return run


def test_rows_are_mapped_and_the_prompt_has_its_pictures_where_the_template_puts_them(
    manifest_file: Any, run_process: Any, tmp_path: Path
) -> None:
    manifest_file()
    assert run_process([sign(0), sign(1, photos=2)]) == [
        {
            "question_id": "s0",
            "question_type": "short-answer",
            "question": "Look: <image>\nWhat does sign 0 say?\nTown: Ulm (2000)",
            "answer": ["STOP 0", "HALT"],
            "year": 2000,
            "source_question_type": "traffic",
            "place": {"town": "Ulm", "at": {"lat": 48.4}},
            "img_path": "img/photos_0.png",
        },
        {
            "question_id": "s1",
            "question_type": "short-answer",
            "question": "Look: <image><image>\nWhat does sign 1 say?\nTown: Ulm (2001)",
            "answer": ["STOP 1", "HALT"],
            "year": 2001,
            "source_question_type": "traffic",
            "place": {"town": "Ulm", "at": {"lat": 48.4}},
            "img_path": ["img/photos_1.png", "img/photos_2.png"],
        },
    ]
    assert (tmp_path / "out" / "test" / "img" / "photos_2.png").read_bytes() == picture(2)


def test_what_a_value_holds_is_not_read_as_a_template(manifest_file: Any, run_process: Any) -> None:
    manifest_file()
    [row] = run_process([sign(0, q="Say {{ place.town }} and {% x %}")])
    assert "Say {{ place.town }} and {% x %}\nTown: Ulm" in row["question"]


def test_every_row_that_is_not_as_the_manifest_says_is_told(manifest_file: Any, run_process: Any) -> None:
    manifest_file()
    rows = [
        sign(0),
        sign(1, q=None),
        sign(2, a=[]),
        sign(3, photos=4),
        sign(4, photos=0),
        sign(5, year="soon"),
        sign(5, a="STOP"),
        sign(5, town=None, lat=True),
        sign(5, key=1.5),
        sign(0),
        sign(5, kind=None),
    ]
    with pytest.raises(DataError) as caught:
        run_process(rows)
    for said in (
        "row 2: question (column 'q'): is missing",
        "row 3: answer (column 'a'): is missing",
        "row 4: media (column 'photos'): 4 items, more than max_items, 3",
        "row 5: media (column 'photos'): 0 items, fewer than min_items, 1",
        "row 6: year (column 'year'): expected integer, got str 'soon'",
        "row 7: answer (column 'a'): expected list, got str 'STOP'",
        "row 8: place.town (column 'town'): is missing",
        "row 8: place.at.lat (column 'lat'): expected number, got bool 'True'",
        "row 9: id (column 'key'): expected text or integer, got float '1.5'",
        "row 10: id 's0' is that of row 1 too",
    ):
        assert said in str(caught.value)
    assert "row 1:" not in str(caught.value)
    assert "row 11:" not in str(caught.value)


def test_a_source_without_a_column_is_told_once_with_those_found(
    manifest_file: Any, run_process: Any
) -> None:
    manifest_file()
    rows = [{("question" if name == "q" else name): cell for name, cell in sign(n).items()} for n in (0, 1)]
    with pytest.raises(DataError, match=r"column 'q' \(field question\) is missing.*Columns: key, question"):
        run_process(rows)


def test_a_broken_picture_keeps_its_row_as_a_data_error(manifest_file: Any, run_process: Any) -> None:
    manifest_file()
    good, bad = run_process([sign(0), {**sign(1), "photos": ["photos/absent.png"]}])
    assert "data_error" not in good
    assert bad["question_id"] == "s1"
    assert "data_error" in bad


def test_rows_without_ids_are_numbered_and_need_no_picture_where_the_manifest_has_none(
    manifest_file: Any, run_process: Any
) -> None:
    manifest_file()
    assert run_process([{"q": "One?", "a": 1}, {"q": "Two?", "a": None}], subset="plain") == [
        {"question_id": "0", "question_type": "short-answer", "question": "One?", "answer": 1},
        {"question_id": "1", "question_type": "short-answer", "question": "Two?"},
    ]


def test_rows_may_be_adapted_and_shuffled_once_and_for_all(manifest_file: Any, run_process: Any) -> None:
    manifest_file()
    rows = [{"text": f"{n}?", "a": n} for n in range(20)]
    made = run_process(rows, subset="plain", shuffle=True, adapt=lambda row: {**row, "q": row["text"]})
    assert [row["answer"] for row in made] != list(range(20))
    assert sorted(row["answer"] for row in made) == list(range(20))
    assert all(row["question"] == f"{row['answer']}?" for row in made)
    again = run_process(rows, subset="plain", shuffle=True, adapt=lambda row: {**row, "q": row["text"]})
    assert again == made


def test_several_marks_stand_for_one_picture_each(manifest_file: Any, run_process: Any) -> None:
    manifest_file("subsets.main.prompt_template", "<image> or <image>: {{ question }}")
    [row] = run_process([sign(0, photos=2)])
    assert row["question"] == "<image> or <image>: What does sign 0 say?"
    with pytest.raises(DataError, match="the template has 2 <image> marks, the row 3 pictures"):
        run_process([sign(0, photos=3)])


def test_an_optional_picture_leaves_no_mark(manifest_file: Any, run_process: Any) -> None:
    manifest_file(f"{MAPPING}.media", {"from": "photos", "type": "list", "optional": True, "min_items": 1})
    shown, bare = run_process([sign(0), sign(1, photos=0)])
    assert (shown["img_path"], shown["question"][:13]) == ("img/photos_0.png", "Look: <image>")
    assert "img_path" not in bare
    assert bare["question"].startswith("Look: \n")


def test_a_prompt_that_needs_an_absent_value_is_told(manifest_file: Any, run_process: Any) -> None:
    manifest_file("subsets.main.prompt_template", "{{ question }} {{ question_type }}")
    with pytest.raises(
        DataError, match=r"row 2: prompt: the template names question_type, which is not there"
    ):
        run_process([sign(0), sign(1, kind=None)])


def test_cells_of_a_tsv_that_spell_a_value_become_it(manifest_file: Any, tmp_path: Path) -> None:
    import base64

    manifest_file()
    photo = base64.b64encode(picture(0)).decode()
    cells = {**sign(0), "a": "['STOP', 'HALT']", "lat": "4.5e1", "photos": photo}
    table = tmp_path / "signs.tsv"
    table.write_text("\t".join(cells) + "\n" + "\t".join(map(str, cells.values())) + "\n", encoding="utf-8")
    cfg = ConfigDict(
        dataset_path=str(table),
        manifest=str(tmp_path / "task" / "manifest.json"),
        subset="main",
        split="test",
        processed_dataset_path=str(tmp_path / "out"),
    )
    process_manifest(cfg)
    [row] = load_annotations([tmp_path / "out" / "test" / "data.json"])
    assert (row["answer"], row["year"], row["place"]["at"]["lat"]) == (["STOP", "HALT"], 2000, 45.0)
    assert row["img_path"] == "img/s0.png"


def test_a_config_without_a_manifest_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config.manifest must name a benchmark manifest, got None"):
        process_manifest(ConfigDict(dataset_path="x", split="", processed_dataset_path=str(tmp_path)))


# --- a whole task ---

CONFIG = """\
config = dict(
    dataset_path="signs.jsonl",
    manifest="manifest.json",
    subset="main",
    split="test",
    processed_dataset_path="signs",
    processor="process.py",
)
dataset = dict(type="VqaBaseDataset", config=config, name="signs")
evaluator = dict(type="ManifestEvaluator", score_pipeline=["rule-match"], string_match="equals")
"""
PROCESS = """\
from flagharness.data import process_manifest

def process(cfg):
    process_manifest(cfg)
"""


def test_a_manifest_a_config_of_ten_lines_and_three_of_python_are_a_task(
    manifest_file: Any, run_process: Any, run_here: Any, make_model: Any, endpoint: Any, files_of: Any,
    out: Path, tmp_path: Path,
) -> None:  # fmt: skip
    manifest_file()
    run_process([sign(0), sign(1, photos=2), sign(2)])  # writes the source beside process.py
    (tmp_path / "task" / "signs.py").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "task" / "process.py").write_text(PROCESS, encoding="utf-8")
    # 0 an alternative in other case: right; 1 inside a sentence, where the manifest says equals: wrong; 2 right.
    replies = {0: " halt\n", 1: "It says STOP 1", 2: "stop 2"}
    endpoint.script = lambda call: replies[int(call.text.split("sign ")[1][0])]
    ran = run_here(
        "--tasks", tmp_path / "task" / "signs.py", "--cfg", make_model(num_workers=1), "--output-dir", out
    )
    assert ran.returncode == 0, ran.stderr
    assert files_of("signs").result["accuracy"] == 66.67
    call = next(call for call in endpoint.calls if "sign 1" in call.text)
    assert [part["type"] for part in call.parts] == ["text", "image_url", "image_url", "text"]
    assert [data for _, data in call.images] == [picture(1), picture(2)]
    assert call.text == "Look: \nWhat does sign 1 say?\nTown: Ulm (2001)"
