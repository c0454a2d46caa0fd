"""The judged benchmarks: what each asks the model, what its judge is shown, and what comes out."""

from __future__ import annotations

import base64
import doctest
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import find_task_config, load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError
from flagharness.judge import FAMILIES
from flagharness.task import Task

TASKS = Path(__file__).parents[2] / "tasks"
VDR = ["judge_vdr", "judge_rs", "hle"]
BENCHMARKS: dict[str, tuple[str, int, list[str]]] = {
    "mmsearch": ("MMSearch", 171, VDR),
    "mmsearch_plus": ("MMSearchPlus", 311, VDR),
    "realxbench": ("RealXBench", 194, ["judge_vdr", "judge_rs", "realxbench"]),
    "fvqa": ("FVQA_test", 1800, VDR),
    "fvqa_300": ("FVQA_test_300", 300, VDR),
    "hle_mm": ("hle", 330, VDR),
    "browsecomp_vl": ("BrowseCompVL", 399, VDR),
    "simplevqa": ("SimpleVQA", 2025, ["simplevqa"]),
    "simplevqa_300": ("SimpleVQA_300", 300, ["hle", "judge_vdr", "judge_rs"]),
    "mmbrowsecomp": ("MMBrowseComp", 243, ["judge_vdr", "judge_rs", "mmbrowsecomp"]),
    "vdrbench": ("VDRBench", 500, VDR),
    "visbrowse_bench": ("VisBrowseBench", 169, ["judge_vdr", "judge_rs", "vbb"]),
    "infoseek": ("Infoseek_GDM_test", 2000, VDR),
    "infoseek_300": ("Infoseek_GDM_test_300", 300, VDR),
    "encyclopedic_vqa": ("EncyclopedicVQA_test", 1960, VDR),
    "encyclopedic_vqa_300": ("EncyclopedicVQA_test_300", 300, VDR),
    "freak_vqa": ("FREAK_VQA", 799, ["freak"]),
}
SUBSETS = ("fvqa_300", "infoseek_300", "encyclopedic_vqa_300")
WITHOUT_SUBSETS = [name for name in BENCHMARKS if name not in SUBSETS]
SHORT = "Please directly provide a short answer to the question."
YES = {
    "judge_vdr": "correct: yes\nreasoning: it is stated",
    "hle": "extracted_final_answer: x\nreasoning: the same\ncorrect: yes\nconfidence: 90",
    "simplevqa": '{"0": "正确"}',
    "freak": "A",
}
NO = {
    "judge_vdr": "correct: no\nreasoning: another",
    "hle": "extracted_final_answer: y\nreasoning: another\ncorrect: no\nconfidence: 40",
    "simplevqa": '{"0": "错误"}',
    "freak": "B",
}


def encrypted(text: str, passphrase: str) -> str:
    """Return a text as the authors of three benchmarks publish theirs."""
    key = hashlib.sha256(passphrase.encode()).digest()
    data = bytes(byte ^ pad for byte, pad in zip(text.encode(), cycle(key), strict=False))
    return base64.b64encode(data).decode()


@pytest.fixture
def processed(
    load_process: Callable[[Path], ModuleType], tmp_path: Path
) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that runs a task's process.py on a file and returns the rows it wrote."""

    def run(task: str, source: Path | str, **own: Any) -> list[dict[str, Any]]:
        path = find_task_config(task)
        config = load_task_config(path).dataset["config"]
        given = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made"), **own}
        place = {"processor": str(path.parent / "process.py")}
        load_process(path.parent).process(ConfigDict({**config, **given, **place}))
        return load_annotations([tmp_path / "made" / str(config["split"]) / "data.json"])

    return run


@pytest.fixture
def write_jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a JSONL file."""

    def write(name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def table_rows(png: Callable[..., bytes], rows: int = 4) -> list[dict[str, Any]]:
    return [
        {"index": n, "image": png(n), "question": f"Question {n}: which city?", "answer": f"Rome {n}"}
        for n in range(rows)
    ]


# --- what the configs say ---


def test_every_benchmark_that_takes_a_judge_is_here() -> None:
    folders = {path.parent.name for path in TASKS.glob("*/*.py") if '"JudgedEvaluator"' in path.read_text()}
    assert folders == {find_task_config(name).parent.name for name in BENCHMARKS}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_name_rows_and_families_are_those_of_the_protocol(name: str) -> None:
    alias, rows, families = BENCHMARKS[name]
    path = find_task_config(alias)
    config = load_task_config(path)
    assert (path.stem, config.name, config.meta["rows"]) == (name, name, rows)
    assert (config.dataset["config"]["table"], config.meta["needs_judge"]) == (alias, True)
    assert config.evaluator is not None
    assert [config.evaluator["judge"], *config.evaluator.get("allowed", [])] == families


@pytest.mark.parametrize("name", ["fvqa", "infoseek", "encyclopedic_vqa", "hle_mm"])
def test_the_short_answer_benchmarks_ask_for_one(name: str) -> None:
    template = load_task_config(find_task_config(name)).dataset["prompt_template"]
    assert template["post_prompt"] == SHORT


@pytest.mark.parametrize("name", sorted({find_task_config(name).parent.name for name in BENCHMARKS}))
def test_the_examples_in_process_py_hold(name: str, load_process: Callable[[Path], ModuleType]) -> None:
    module = load_process(TASKS / name)
    assert doctest.testmod(module).failed == 0


# --- from table to score ---


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name != "freak_vqa"])
def test_a_run_asks_the_model_and_the_judge(
    name: str,
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    make_judge: Callable[..., Path],
    judge_endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    alias, rows, families = BENCHMARKS[name]
    family = families[0]
    said = YES[family], NO[family]
    judge_endpoint.script = lambda call: said["Town 2" in call.text or "Town 0" in call.text]
    table = table_rows(png, 300 if name in SUBSETS else 4)
    run = run_benchmark(
        alias,
        write_tsv(f"{alias}.tsv", table),
        lambda call: "Rome 3" if call.asked == 3 else f"Town {call.asked}",
        "--judge",
        make_judge(),
        *(["--limit", 4] if name in SUBSETS else []),
        name=name,
    )
    result = run.files.result
    # row 1 by the judge's word and row 3 by an exact match; rows 0 and 2 are found wrong
    assert run.ran.returncode == 0, run.ran.output
    assert (result["accuracy"], result["judged"], result["complete"]) == (50.0, 4, True)
    assert result["obtained_by"]["judge"]["family"] == family
    if name not in SUBSETS:
        assert f"the data holds 4 rows, the benchmark {rows:,}" in result["note"]
    assert len(judge_endpoint.calls) == 1 + 3  # the question before the run, and no call for the exact match
    asked = next(call for call in judge_endpoint.calls if "Town 1" in call.text)
    assert "Question 1: which city?" in asked.text
    assert "Rome 1" in asked.text
    assert SHORT not in asked.text
    golden_requests(name, run.calls[:2])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_judge_family_of_another_benchmark_is_refused(
    name: str,
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    make_judge: Callable[..., Path],
    endpoint: Any,
    judge_endpoint: Any,
) -> None:
    alias, _, families = BENCHMARKS[name]
    judge_endpoint.script = lambda call: YES.get(families[0])
    other = next(family for family in FAMILIES if family not in families)
    source = write_tsv(f"{alias}.tsv", table_rows(png, 300 if name in SUBSETS else 1))
    run = run_benchmark(
        alias, source, lambda call: "Rome", "--judge", make_judge(judge_prompt=other), name=name
    )
    if len(families) == 1:  # its family is fixed, and judge_prompt does not apply
        assert run.ran.returncode == 0, run.ran.output
        assert run.files.result["obtained_by"]["judge"]["family"] == families[0]
    else:
        assert run.ran.returncode == 2
        assert other in run.ran.stderr
        assert all(family in run.ran.stderr for family in families)
        assert endpoint.calls == []


def judge_text(name: str, row: dict[str, Any], answer: str = "An answer.") -> str:
    """Return what the judge of a task is asked about a row."""
    evaluator = Task(find_task_config(name)).evaluator
    assert evaluator is not None
    question = evaluator.judge_question(row, answer)
    assert question is not None
    return FAMILIES[evaluator.judge_families[0]].text(question)


# --- the sources ---


def test_mmsearch_takes_the_rows_with_a_picture_and_all_alternatives(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    def row(number: int, **other: Any) -> dict[str, Any]:
        return {
            "sample_id": f"news_{number}",
            "query": "Who is this?",
            "query_image": {"bytes": png(number), "path": None},
            "image_search_result": {"bytes": png(99), "path": None},
            "timestamp": "2024-07-01",
            "area": "news",
            "subfield": "sports",
            "gt_requery": "who",
            "gt_answer": "Ana Lima",
            "alternative_gt_answers": ["A. Lima", "Ana Lima"],
            **other,
        }

    rows = [row(0), row(1, query_image=None), row(2, alternative_gt_answers=[], area="knowledge")]
    made = processed("mmsearch", write_parquet("end2end.parquet", rows), table=None)
    assert made == [
        {
            "question_id": "news_0",
            "img_path": "img/news_0.png",
            "question": "Who is this?",
            "question_type": "short-answer",
            "answer": "Ana Lima",
            "answers": ["Ana Lima", "A. Lima"],
            "answer_mode": "any",
            "source_row": 0,
            "sub_task": "news",
            "subfield": "sports",
            "timestamp": "2024-07-01",
        },
        {
            "question_id": "news_2",
            "img_path": "img/news_2.png",
            "question": "Who is this?",
            "question_type": "short-answer",
            "answer": "Ana Lima",
            "answers": ["Ana Lima"],
            "answer_mode": "any",
            "source_row": 2,
            "sub_task": "knowledge",
            "subfield": "sports",
            "timestamp": "2024-07-01",
        },
    ]
    assert "Any one of these is accepted:\n- Ana Lima\n- A. Lima" in judge_text("mmsearch", made[0])


def mmsearch_plus_row(png: Callable[..., bytes], key: str = "MMSearch-Plus", **other: Any) -> dict[str, Any]:
    return {
        "question": encrypted("Which team, and when?", key),
        "answer": [encrypted("Ajax", key), encrypted("AFC Ajax", key)],
        "num_images": 2,
        "arxiv_id": encrypted("2401.00001", key),
        "video_url": encrypted("https://example.org", key),
        "category": "Sports",
        "difficulty": "difficult",
        "subtask": "visual",
        **{f"img_{n}": {"bytes": png(n), "path": None} for n in (1, 2)},
        **dict.fromkeys(("img_3", "img_4", "img_5")),
        **other,
    }


def test_mmsearch_plus_is_decrypted_and_its_pictures_keep_their_order(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [mmsearch_plus_row(png), mmsearch_plus_row(png, num_images=1)]
    source = write_parquet("plus.parquet", rows)
    made = processed("mmsearch_plus", source, table=None, split="test")
    assert [row["img_path"] for row in made] == [["img/0_1.png", "img/0_2.png"], "img/1.png"]
    assert made[0] | {"img_path": None} == {
        "question_id": "0",
        "img_path": None,
        "question": "Which team, and when?",
        "question_type": "short-answer",
        "answer": "Ajax",
        "answers": ["Ajax", "AFC Ajax"],
        "answer_mode": "any",
        "source_row": 0,
        "sub_task": "Sports",
        "difficulty": "difficult",
        "subtask": "visual",
    }


def test_what_cannot_be_decrypted_is_never_asked(
    processed: Callable[..., Any],
    write_parquet: Callable[..., Path],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
) -> None:
    rows = [mmsearch_plus_row(png), mmsearch_plus_row(png, key="another")]
    with pytest.raises(
        DataError, match=r"row 2 \(index '1'\): cannot be decrypted, is the pass phrase right"
    ):
        processed("mmsearch_plus", write_parquet("plus.parquet", rows), table=None)
    still = {**table_rows(png, 1)[0], "question": encrypted("Which team is this, and when did it win?", "x")}
    with pytest.raises(DataError, match="the question is encrypted"):
        processed("mmsearch_plus", write_tsv("MMSearchPlus.tsv", [still]))


def test_lists_in_a_table_are_alternatives(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {**table_rows(png, 1)[0], "answer": "['1996', \"MCMXCVI\"]", "category": "Sports"}
    (made,) = processed("mmsearch_plus", write_tsv("MMSearchPlus.tsv", [row]))
    assert (made["answer"], made["answers"], made["answer_mode"]) == ("1996", ["1996", "MCMXCVI"], "any")


def visbrowse_row(number: int, images: list[str], answers: list[str]) -> dict[str, Any]:
    canary = "visbrowse-bench:key"
    return {
        "id": number,
        "question": encrypted(f"Which lines cross, {number}?", canary),
        "image": images,
        "answer": [encrypted(answer, canary) for answer in answers],
        "domain": "Travel",
        "sub_domain": "Trains",
        "canary": canary,
    }


def test_visbrowse_takes_the_pictures_of_the_clone_and_requires_every_part(
    processed: Callable[..., Any],
    write_jsonl: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    pictures = tmp_path / "clone" / "VisBrowse_Bench_images"
    pictures.mkdir(parents=True)
    for name in ("1.png", "2_1.png", "2_2.png"):
        (pictures / name).write_bytes(png(len(name)))
    link = "https://example.org/VisBrowse_Bench_images/1.png"
    rows = [visbrowse_row(1, [link], ["M1"]), visbrowse_row(68, ["2_1.png", "2_2.png"], ["M1", "M4"])]
    one, two = processed("visbrowse_bench", write_jsonl("clone/data/VisBrowse-Bench.jsonl", rows))
    assert (one["question_id"], one["question"], one["answers"]) == ("1", "Which lines cross, 1?", ["M1"])
    assert (two["answer"], two["answers"], two["answer_mode"]) == ("M1; M4", ["M1", "M4"], "all")
    assert (two["sub_task"], two["sub_domain"]) == ("Travel", "Trains")
    assert two["img_path"] == [f"img/VisBrowse_Bench_images_2_{n}.png" for n in (1, 2)]
    assert "All of these parts are required:\n- M1\n- M4" in judge_text("visbrowse_bench", two)


def verl_rows(png: Callable[..., bytes]) -> list[dict[str, Any]]:
    def row(number: int, candidates: str | None) -> dict[str, Any]:
        return {
            "prompt": [{"role": "user", "content": f"<image>Which country, {number}?"}],
            "images": [{"bytes": png(number)}],
            "reward_model": {
                "ground_truth": "United States",
                "candidate_answers": candidates,
                "style": "rule",
            },
            "data_source": "fvqa_test",
            "image_urls": ["https://example.org/1.jpg"],
        }

    return [row(0, '["USA", "🇺🇸", "United States"]'), row(1, None)]


@pytest.mark.parametrize("name", ["fvqa", "infoseek"])
def test_rows_made_for_training_keep_the_truth_first_and_all_candidates(
    name: str, processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    one, two = processed(name, write_parquet("test.parquet", verl_rows(png)))
    assert one == {
        "question_id": "0",
        "img_path": "img/0.png",
        "question": "Which country, 0?",
        "question_type": "short-answer",
        "answer": "United States",
        "answers": ["United States", "USA", "🇺🇸"],
        "answer_mode": "any",
        "source_row": 0,
    }
    assert two["answers"] == ["United States"]


def test_infoseek_takes_its_own_column_of_equivalents(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {**table_rows(png, 1)[0], "answer": '["Loire"]', "answer_eval": '["Loire", "Loire River", "Q1469"]'}
    (made,) = processed("infoseek", write_tsv("Infoseek_GDM_test.tsv", [row]))
    assert made["answers"] == ["Loire", "Loire River", "Q1469"]


def test_encyclopedic_vqa_keeps_alternatives_and_parts_apart(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {
        **table_rows(png, 1)[0],
        "answer": "oak&&ash|Quercus and Fraxinus",
        "question_original": "Which trees does the stag beetle live on?",
        "question_type": "multi_answer",
        "dataset_name": "inaturalist",
    }
    (made,) = processed("encyclopedic_vqa", write_tsv("EncyclopedicVQA_test.tsv", [row]))
    assert made["answers"] == [["oak", "ash"], "Quercus and Fraxinus"]
    assert (made["answer"], made["sub_task"]) == ("oak; ash", "multi_answer")
    assert "stag beetle" not in json.dumps(made)
    shown = judge_text("encyclopedic_vqa", made)
    assert "Any one of these is accepted:\n- all of these parts: oak; ash\n- Quercus and Fraxinus" in shown


def hle_row(number: int, answer: str) -> dict[str, Any]:
    return {
        "prompt": f"Which of these, {number}?\n\nAnswer Choices:\nA. [1, 2]\nB. [3]",
        "source": "HLE",
        "lang": "en",
        "task": "hle/Computer Science/AI",
        "file_path": f"/home/x/hle_imgs/file_{number}.jpeg",
        "rationale": "Because the sum is seven.",
        "answers": [[answer]],
        "question_id": number + 1,
    }


def test_hle_undoes_the_list_in_a_list_and_shows_nobody_the_rationale(
    processed: Callable[..., Any],
    write_jsonl: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    (tmp_path / "hle_imgs").mkdir()
    for number in range(2):
        (tmp_path / "hle_imgs" / f"file_{number}.jpeg").write_bytes(png(number, kind="JPEG"))
    made = processed("hle_mm", write_jsonl("hle.jsonl", [hle_row(0, "B"), hle_row(1, "[1, 2]")]))
    assert [row["answers"] for row in made] == [["B"], ["[1, 2]"]]  # one answer, not two
    assert (made[0]["sub_task"], made[0]["source_id"]) == ("Computer Science/AI", 1)
    assert "seven" not in json.dumps(made)


def test_an_answer_of_the_hle_table_that_looks_like_a_list_is_one_answer(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {**table_rows(png, 1)[0], "answer": "[3, 1, 2]"}
    (made,) = processed("hle_mm", write_tsv("hle.tsv", [row]))
    assert made["answers"] == ["[3, 1, 2]"]


def test_browsecomp_vl_takes_both_levels_and_rows_that_ask_alike(
    processed: Callable[..., Any],
    write_jsonl: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    def row(place: str, answer: str) -> dict[str, Any]:
        return {
            "question": "When?",
            "image_path": f"browsecomp-vl/{place}",
            "answers": [answer],
            "domain": "Art",
        }

    for place in ("images/level1/0.jpg", "images/level2/0.jpg", "images/level2/1.jpg"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(png(len(place), kind="JPEG"))
    write_jsonl("bc_vl_level1.jsonl", [row("images/level1/0.jpg", "Dawn")])
    write_jsonl(
        "bc_vl_level2.jsonl", [row("images/level2/0.jpg", "Midnight."), row("images/level2/1.jpg", "Noon.")]
    )
    made = processed("browsecomp_vl", tmp_path / "bc_vl_level*.jsonl", table=None)
    assert [row["sub_task"] for row in made] == ["level1", "level2", "level2"]
    assert [(row["question_id"], row["answer"]) for row in made] == [
        ("0", "Dawn"),
        ("1", "Midnight."),
        ("2", "Noon."),
    ]
    assert len({row["img_path"] for row in made}) == 3


def simplevqa_row(number: int, image: bytes, language: str) -> dict[str, Any]:
    return {
        "data_id": number,
        "image": base64.b64encode(image).decode(),
        "question": f"In which year, {number}?",
        "answer": "1889",
        "language": language,
        "original_category": "Architecture",
        "source": "wiki",
        "image_description": "The Eiffel Tower.",
        "atomic_question": "What is this?",
        "atomic_fact": "The Eiffel Tower",
    }


def test_simplevqa_shows_the_model_nothing_that_describes_the_picture(
    processed: Callable[..., Any], write_jsonl: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [simplevqa_row(1011, png(1), "CN"), simplevqa_row(1012, png(2), "EN")]
    made = processed("simplevqa", write_jsonl("simplevqa.jsonl", rows), table=None)
    assert [(row["question_id"], row["sub_task"], row["category"]) for row in made] == [
        ("1011", "CN", "Architecture"),
        ("1012", "EN", "Architecture"),
    ]
    assert "Eiffel" not in json.dumps(made)


def test_the_300_of_simplevqa_are_ids_1012_to_1311(
    processed: Callable[..., Any], write_jsonl: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [simplevqa_row(n, png(n), "CN" if n < 1012 else "EN") for n in range(1005, 1320)]
    made = processed("simplevqa_300", write_jsonl("simplevqa.jsonl", rows), table=None)
    assert [row["question_id"] for row in made] == [str(n) for n in range(1012, 1312)]
    rows[10]["language"] = "CN"
    with pytest.raises(DataError, match="data_id 1015 is in language 'CN'"):
        processed("simplevqa_300", write_jsonl("simplevqa.jsonl", rows), table=None)


def mmbrowsecomp_row(number: int, images: list[str], question: str | None = None) -> dict[str, Any]:
    canary = "mmbrowsecomp:key"
    text = question or f"Give the answer and the way to it.\nQuestion: Which year, {number}?"
    return {
        "id": number,
        "images": images,
        "question": encrypted(text, canary),
        "answer": encrypted("[1789]", canary),
        "checklist": [encrypted(item, canary) for item in ("Names the\npainting.", "Names the year.")],
        "checklist_property": "1,2",
        "source": ["https://example.org"],
        "category": "Art",
        "subtask": "Painting",
        "level": 2,
        "canary": canary,
    }


def test_mmbrowsecomp_keeps_rows_without_a_picture_and_fetches_linked_ones(
    processed: Callable[..., Any],
    write_jsonl: Callable[..., Path],
    png: Callable[..., bytes],
    file_server: Callable[[Mapping[str, bytes]], str],
    tmp_path: Path,
) -> None:
    base = file_server({"/7.png": png(7), "/8.png": png(8)})
    (tmp_path / "clone" / "MMBC_images").mkdir(parents=True)
    (tmp_path / "clone" / "MMBC_images" / "5.png").write_bytes(png(5))
    rows = [
        mmbrowsecomp_row(1, []),
        mmbrowsecomp_row(5, [f"{base}/5.png"]),
        mmbrowsecomp_row(9, [f"{base}/7.png"]),
        mmbrowsecomp_row(1315, [f"{base}/8.png", f"{base}/7.png"]),
        mmbrowsecomp_row(12, [f"{base}/gone.png"]),
    ]
    made = processed("mmbrowsecomp", write_jsonl("clone/data/MMBrowseComp.jsonl", rows))
    alone, cloned, one, two, gone = made
    assert cloned["img_path"] == "img/MMBC_images_5.png"
    assert (alone["img_path"], alone["question_id"], alone["answers"]) == ([], "1", ["[1789]"])
    assert alone["question"].startswith("Give the answer")
    assert alone["judge_question"] == "Which year, 1?"
    assert alone["checklist"] == ["Names the painting.", "Names the year."]
    assert (alone["sub_task"], alone["subtask"], alone["level"]) == ("Art", "Painting", 2)
    assert isinstance(one["img_path"], str)
    assert two["img_path"][1] == one["img_path"]
    assert "gone.png" in gone["data_error"]  # it stays in the denominator, and the run says so before it asks
    shown = judge_text("mmbrowsecomp", alone)
    assert "Which year, 1?" in shown
    assert "way to it" not in shown


def test_a_question_of_mmbrowsecomp_without_a_picture_is_asked_as_text(
    run_benchmark: Callable[..., Any],
    write_jsonl: Callable[..., Path],
    make_judge: Callable[..., Path],
    judge_endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    judge_endpoint.script = lambda call: (
        "CHECKLIST_SCORE: 1/2\nCHECKLIST_RESULT: [1, 0]\nOVERALL_CORRECTNESS: YES"
        if "Which year" in call.text
        else "CHECKLIST_SCORE: 1/1\nCHECKLIST_RESULT: [1]\nOVERALL_CORRECTNESS: YES"
    )
    run = run_benchmark(
        "mmbrowsecomp",
        write_jsonl("MMBrowseComp.jsonl", [mmbrowsecomp_row(1, []), mmbrowsecomp_row(2, [])]),
        lambda call: f"The year of {call.asked}",
        "--judge",
        make_judge(judge_prompt="mmbrowsecomp"),
    )
    result = run.files.result
    assert run.ran.returncode == 0, run.ran.output
    assert (result["accuracy"], result["strict_accuracy"], result["checklist_score"]) == (100.0, 0.0, 50.0)
    asked = next(call for call in judge_endpoint.calls if "Which year, 2?" in call.text)
    assert "1. Names the painting.\n2. Names the year." in asked.text
    golden_requests("mmbrowsecomp_text", run.calls)


@pytest.mark.parametrize("written", ["image_id:1 Question: Who?", "image_id: 1 \n Question: Who?", "Who?"])
def test_vdrbench_takes_the_number_for_tools_off_the_question(
    written: str, processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {
        "id": "v7",
        "question": written,
        "answer": "Zaha Hadid",
        "images": [{"bytes": png(1), "path": None}],
        "image_caption": "A building by Zaha Hadid",
    }
    (made,) = processed("vdrbench", write_parquet("testmini.parquet", [row]), table=None)
    assert (made["question_id"], made["question"], made["answers"]) == ("v7", "Who?", ["Zaha Hadid"])
    assert "caption" not in json.dumps(made)


@pytest.mark.parametrize("name", sorted({find_task_config(name).parent.name for name in BENCHMARKS}))
def test_rows_without_question_or_truth_are_told(
    name: str, processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = table_rows(png, 3)
    rows[0]["answer"] = " "
    rows[1]["question"] = ""
    with pytest.raises(DataError) as caught:
        processed(name, write_tsv(f"{BENCHMARKS[name][0]}.tsv", rows))
    assert "row 1 (index '0'): no true answer" in str(caught.value)
    assert "row 2 (index '1'): the question is empty" in str(caught.value)


# --- the fixed subsets ---


@pytest.mark.parametrize("name", SUBSETS)
def test_the_subset_is_drawn_from_the_full_table_and_from_no_other(
    name: str, processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    full = load_task_config(find_task_config(name)).dataset["config"]["sample"]["of"]
    rows = [
        {"index": n + 5, "image": png(0) if n == 0 else "5", "question": f"Which, {n}?", "answer": "x"}
        for n in range(full)
    ]
    made = processed(name, write_tsv("full.tsv", rows))
    assert len(made) == 300
    drawn = sum(row["source_row"] for row in made)
    assert drawn == {1800: 267_243, 2000: 301_566, 1960: 298_949}[full]
    assert all(int(row["question_id"]) == row["source_row"] + 5 for row in made)
    with pytest.raises(DataError, match=f"the subset of 300 is drawn from {full:,} in their order"):
        processed(name, write_tsv("short.tsv", rows[:-1]))
    own = processed(name, write_tsv("own.tsv", [{**row, "image": png(1)} for row in rows[:300]]))
    assert [row["source_row"] for row in own] == list(range(300))


@pytest.mark.parametrize("name", WITHOUT_SUBSETS)
@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"answer": {"a": 1}}, r"no text but \{'a': 1\}"),
        ({"question": ["Which city?"]}, r"the question is no text but \['Which city\?'\]"),
    ],
)
def test_a_cell_of_another_kind_never_becomes_a_question_or_a_truth(
    name: str,
    cells: dict[str, Any],
    said: str,
    processed: Callable[..., list[dict[str, Any]]],
    write_jsonl: Callable[..., Path],
    png: Callable[..., bytes],
) -> None:
    row = {"index": 0, "image": base64.b64encode(png(0)).decode(), "question": "Which?", "answer": "Rome"}
    source = write_jsonl("x.jsonl", [{**row, **cells}])
    with pytest.raises(DataError, match=rf"1 rows are not as expected:\n.*row 1 \(index '0'\): .*{said}"):
        processed(name, source, table=None)
