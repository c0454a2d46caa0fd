"""OCRBench: rows by the manifest, containment with the rule for formulas, a score out of 1,000."""

from __future__ import annotations

import base64
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flagharness.config import load_task_config
from flagharness.data import load_annotations, read_benchmark_manifest
from flagharness.evaluator import BaseEvaluator
from flagharness.run import Prediction
from flagharness.task import Task

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "tasks" / "ocrbench"
REAL = json.loads((CHECKOUT / "tests" / "data" / "ocrbench.json").read_text(encoding="utf-8"))["rows"]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ocrbench_process", FOLDER / "process.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def evaluator() -> BaseEvaluator:
    found = Task(FOLDER / "ocrbench.py").evaluator
    assert found is not None
    return found


@pytest.fixture(scope="module")
def real_rows(module: ModuleType) -> dict[str, dict[str, Any]]:
    """The 1,000 real annotations as rows of data.json."""
    rows = {}
    for number, record in enumerate(REAL):
        hub = module.with_hub_columns(record)
        rows[str(number)] = {
            "question_id": str(number),
            "question": hub["question"],
            "answer": hub["answer"],
            "source_question_type": hub["question_type"],
            "source_dataset": hub["dataset"],
        }
    return rows


def result_of(
    evaluator: BaseEvaluator, rows: dict[str, dict[str, Any]], reply: Callable[[dict[str, Any]], str | None]
) -> dict[str, Any]:
    verdicts = []
    for name, row in rows.items():
        text = reply(row)
        prediction = None if text is None else Prediction(name, answer=text)
        verdicts.append(evaluator.verdict_on(row, [prediction]))
    return evaluator.aggregate(verdicts, rows)


@pytest.mark.parametrize(
    ("reply", "hits"),
    [
        (lambda row: row["answer"][0], 1000),
        (lambda row: row["answer"][0].upper(), 903),
        (lambda row: row["answer"][0].replace(" ", ""), 770),
        (lambda row: f"The text in the picture is: {row['answer'][0]}. That is all.", 1000),
        (lambda row: row["answer"][-1], 1000),
        (lambda row: "", 0),
        (lambda row: None, 0),
        (lambda row: row["question"], 10),
    ],
    ids=["first", "upper case", "no spaces", "sentence", "last", "empty", "failed", "question"],
)
def test_the_real_annotations_score_as_they_should(
    evaluator: BaseEvaluator, real_rows: dict[str, dict[str, Any]], reply: Any, hits: int
) -> None:
    result = result_of(evaluator, real_rows, reply)
    assert (result["headline"], result["final_score"], result["out_of"]) == ("final_score", hits, 1000)
    assert (result["hits"], result["n"], result["accuracy"]) == (hits, 1000, hits / 10)
    assert sum(line["hits"] for line in result["categories"].values()) == hits
    assert "partial" not in result
    assert "projected_per_1000" not in result


def test_the_ten_categories_and_the_sum_of_text_recognition(
    evaluator: BaseEvaluator, real_rows: dict[str, dict[str, Any]]
) -> None:
    vqa_only = result_of(
        evaluator, real_rows, lambda row: row["answer"][0] if "VQA" in row["source_question_type"] else "?!"
    )
    assert {name: (line["hits"], line["n"]) for name, line in vqa_only["categories"].items()} == {
        "Regular Text Recognition": (0, 50),
        "Irregular Text Recognition": (0, 50),
        "Artistic Text Recognition": (0, 50),
        "Handwriting Recognition": (0, 50),
        "Digit String Recognition": (0, 50),
        "Non-Semantic Text Recognition": (0, 50),
        "Scene Text-centric VQA": (200, 200),
        "Doc-oriented VQA": (200, 200),
        "Key Information Extraction": (0, 200),
        "Handwritten Mathematical Expression Recognition": (0, 100),
    }
    assert vqa_only["text_recognition"] == {"hits": 0, "n": 300}
    assert vqa_only["detailed"]["source_dataset"]["HME100k"]["n"] == 100
    everything = result_of(evaluator, real_rows, lambda row: row["answer"][0])
    assert everything["text_recognition"] == {"hits": 300, "n": 300}


def test_fewer_rows_have_no_final_score_but_a_projection_and_the_names_of_what_is_absent(
    evaluator: BaseEvaluator, real_rows: dict[str, dict[str, Any]]
) -> None:
    some = {str(number): real_rows[str(number)] for number in range(32)}  # all of the first category
    result = result_of(evaluator, some, lambda row: row["answer"][0] if int(row["question_id"]) < 8 else "?")
    assert (result["headline"], result["projected_per_1000"]) == ("projected_per_1000", 250.0)
    assert (result["hits"], result["n"], result["partial"]) == (8, 32, True)
    assert "final_score" not in result
    assert len(result["absent_categories"]) == 9
    assert "Regular Text Recognition" not in result["absent_categories"]
    assert "absent_categories" not in result_of(
        evaluator, {k: v for k, v in real_rows.items() if k != "0"}, lambda row: ""
    )


def test_with_several_inferences_a_sample_counts_as_its_share_of_hits(
    evaluator: BaseEvaluator, real_rows: dict[str, dict[str, Any]]
) -> None:
    verdicts = [
        evaluator.verdict_on(row, [Prediction(name, answer=row["answer"][0]), Prediction(name, answer="?!")])
        for name, row in real_rows.items()
    ]
    result = evaluator.aggregate(verdicts, real_rows)
    assert result["final_score"] == 500
    verdicts[0] = evaluator.verdict_on(real_rows["0"], [None, None])
    assert evaluator.aggregate(verdicts, real_rows)["final_score"] == 499.5


def test_the_config_says_of_scoring_what_the_manifest_says() -> None:
    config = load_task_config(FOLDER / "ocrbench.py")
    subset = read_benchmark_manifest(FOLDER / "manifest.json").subset("main")
    assert config.evaluator is not None
    assert config.evaluator["score_pipeline"] == list(subset.score_pipeline) == ["exact-match", "rule-match"]
    assert config.evaluator["string_match"] == subset.string_match == "contains"
    assert (config.meta["rows"], config.meta["aliases"]) == (1000, ["OCRBench"])


# --- rows and runs ---

QUESTIONS = [
    ("IIIT5K", "Regular Text Recognition", "what is written in the image?", ["CENTRE"]),
    ("docVQA", "Doc-oriented VQA", "What is the date?", ["12 May", "May 12", "12/05"]),
    ("HME100k", "Handwritten Mathematical Expression Recognition", "Write the formula.", ["B a = 4\n"]),
    ("svt", "Irregular Text Recognition", "what does 东门 say?", ["East Gate"]),
    ("SROIE", "Key Information Extraction", "what is the total? Answer:", ["5.00"]),
    ("ORAND", "Digit String Recognition", "what is the number in the image?", ["0012"]),
]


def hub_rows(png: Callable[..., bytes]) -> list[dict[str, Any]]:
    return [
        {
            "dataset": dataset,
            "question": question,
            "question_type": category,
            "answer": answers,
            "image": {"bytes": png(number, kind="JPEG" if number % 2 else "PNG"), "path": f"{number}.x"},
        }
        for number, (dataset, category, question, answers) in enumerate(QUESTIONS)
    ]


def data_of(tmp_path: Path) -> list[dict[str, Any]]:
    return load_annotations([tmp_path / "cache" / "OCRBench" / "test" / "data.json"])


def test_rows_of_the_hub_become_rows_of_ours(
    run_here: Any, write_parquet: Any, png: Any, tmp_path: Path
) -> None:
    file = write_parquet("ocr.parquet", hub_rows(png))
    ran = run_here("prepare", "--tasks", "OCRBench", "--cfg-options", f"config.dataset_path={file}")
    assert ran.returncode == 0, ran.stderr
    rows = {row["question_id"]: row for row in data_of(tmp_path)}
    assert list(rows) != sorted(rows)  # not in the order of the source
    assert sorted(rows) == ["0", "1", "2", "3", "4", "5"]
    assert rows["1"] == {
        "question_id": "1",
        "question_type": "short-answer",
        "question": "<image>What is the date?",
        "answer": ["12 May", "May 12", "12/05"],
        "source_question_type": "Doc-oriented VQA",
        "source_dataset": "docVQA",
        "img_path": "img/1.jpg",
    }
    assert rows["2"] == {
        "question_id": "2",
        "question_type": "short-answer",
        "question": "<image>Write the formula.",
        "answer": ["B a = 4\n"],
        "source_question_type": "Handwritten Mathematical Expression Recognition",
        "source_dataset": "HME100k",
        "img_path": "img/2.png",
    }
    stored = tmp_path / "cache" / "OCRBench" / "test" / "img" / "1.jpg"
    assert stored.read_bytes() == png(1, kind="JPEG")


def test_the_authors_file_gives_the_same_rows(
    run_here: Any, write_parquet: Any, png: Any, tmp_path: Path
) -> None:
    parquet = write_parquet("ocr.parquet", hub_rows(png))
    run_here("prepare", "--tasks", "OCRBench", "--cfg-options", f"config.dataset_path={parquet}")
    wanted = [{**row, "img_path": None} for row in data_of(tmp_path)]
    records = []
    for number, (dataset, category, question, answers) in enumerate(QUESTIONS):
        picture = tmp_path / "OCR" / dataset / "test" / "1.png"
        picture.parent.mkdir(parents=True)
        picture.write_bytes(png(number))
        records.append(
            {
                "dataset_name": dataset,
                "id": 7,  # not unique
                "image_path": f"{dataset}/test/1.png",
                "question": question,
                "answers": answers if len(answers) > 1 else answers[0],
                "type": category,
            }
        )
    (tmp_path / "OCR" / "OCRBench.json").write_text(json.dumps(records), encoding="utf-8")
    ran = run_here(
        "prepare", "--tasks", "OCRBench", "--cfg-options", f"config.dataset_path={tmp_path}/OCR/OCRBench.json"
    )
    assert ran.returncode == 0, ran.stderr
    rows = data_of(tmp_path)
    assert [{**row, "img_path": None} for row in rows] == wanted
    folder = tmp_path / "cache" / "OCRBench" / "test"
    for row in rows:
        assert (folder / row["img_path"]).read_bytes() == png(int(row["question_id"]))


def test_rows_that_are_not_as_the_manifest_says_are_all_told(
    run_here: Any, write_parquet: Any, png: Any, tmp_path: Path
) -> None:
    rows = hub_rows(png)
    rows[1]["question"] = None
    rows[3]["image"] = None
    file = write_parquet("ocr.parquet", rows)
    ran = run_here("prepare", "--tasks", "OCRBench", "--cfg-options", f"config.dataset_path={file}")
    assert ran.returncode == 1
    assert "row 2: question (column 'question'): is missing" in ran.stderr
    assert "row 4: media (column 'image'): 0 items, fewer than min_items, 1" in ran.stderr
    assert "row 1:" not in ran.stderr


def test_a_run_scores_by_containment_and_says_that_it_is_no_full_benchmark(
    run_benchmark: Any, golden_requests: Any, endpoint: Any, write_parquet: Any, png: Any
) -> None:
    # 0 in a sentence: right. 1 its second alternative, in capitals: right. 2 the formula without spaces: right.
    # 3 empty: wrong. 4 refused by the endpoint: wrong. 5 other digits: wrong. 3 of 6: 50 %, 500 of 1,000.
    replies = {
        QUESTIONS[0][2]: "It says Centre.",
        QUESTIONS[1][2]: "MAY 12",
        QUESTIONS[2][2]: "$Ba=4$",
        QUESTIONS[3][2]: "",
        QUESTIONS[4][2]: endpoint.fails(400),
        QUESTIONS[5][2]: "12",
    }
    done = run_benchmark(
        "OCRBench", write_parquet("ocr.parquet", hub_rows(png)), lambda call: replies[call.text],
        name="ocrbench", max_retries=0,
    )  # fmt: skip
    assert done.ran.returncode == 3
    result = done.files.result
    assert (result["hits"], result["n"], result["projected_per_1000"]) == (3, 6, 500.0)
    assert "final_score" not in result
    assert (result["accuracy"], result["partial"]) == (50.0, True)
    assert "the data holds 6 rows, the benchmark 1,000" in result["note"]
    # An endpoint that says nothing has not answered.
    assert done.files.counts == {"total": 6, "answered": 4, "request_errors": 2}
    assert done.files.summary["metric"] == "projected_per_1000"
    assert result["text_recognition"] == {"hits": 1, "n": 3}
    assert {row["question_id"]: row["outcome"] for row in done.files.evaluated} == {
        "0": "correct", "1": "correct", "2": "correct", "3": "request_error", "4": "request_error", "5": "wrong",
    }  # fmt: skip
    calls = sorted(done.calls, key=lambda call: call.text)
    golden_requests("ocrbench", calls[:3])
    assert all([part["type"] for part in call.parts] == ["image_url", "text"] for call in done.calls)


def test_pictures_as_text_are_read_too(run_benchmark: Any, endpoint: Any, png: Any, tmp_path: Path) -> None:
    rows = [{**row, "image": base64.b64encode(row["image"]["bytes"]).decode()} for row in hub_rows(png)]
    file = tmp_path / "ocr.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run_benchmark("OCRBench", file, lambda call: "centre", name="ocrbench")
    assert done.ran.returncode == 0
    assert done.files.result["hits"] == 1
    assert {call.images[0][1] for call in done.calls} == {row["image"]["bytes"] for row in hub_rows(png)}
