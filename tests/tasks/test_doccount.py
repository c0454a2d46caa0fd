"""DocCount: released bytes and prompts to the letter, a strict answer tag, and checks of a local release."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.evaluator import BaseEvaluator
from flagharness.run import Prediction
from flagharness.task import Task

FOLDER = Path(__file__).parents[2] / "tasks" / "doccount"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"test_doccount_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


contract = load("doccount_evaluator")


@pytest.fixture(scope="module")
def evaluator() -> BaseEvaluator:
    found = Task(FOLDER / "doccount.py").evaluator
    assert found is not None
    return found


# --- the parser ---


@pytest.mark.parametrize(
    ("text", "value", "rule"),
    [
        ("Three and four, so 7.\n<answer>7</answer>\n", 7, "answer-tag"),
        ("<answer>7</answer> \n\t\n", 7, "answer-tag"),
        ("so <answer> 7 </answer>", 7, "answer-tag"),
        ("<answer>+7</answer>", 7, "answer-tag"),
        ("<answer>-7</answer>", -7, "answer-tag"),
        ("<answer>007</answer>", 7, "answer-tag"),
        ("<answer>7</answer>.", None, "text-after-tag"),
        ("<answer>7</answer>\n<answer>7</answer>", None, "several-tags"),
        ("<answer>6</answer>\n<answer>7</answer>", None, "several-tags"),
        ("<think><answer>7</answer></think>\n<answer>7</answer>", None, "several-tags"),
        ("I end with <answer>N</answer>.\n<answer>7</answer>", None, "several-tags"),
        ("<answer>seven</answer>", None, "no-integer-in-tag"),
        ("<answer>7.0</answer>", None, "no-integer-in-tag"),
        ("<answer></answer>", None, "no-integer-in-tag"),
        ("<answer>1,024</answer>", None, "no-integer-in-tag"),
        ("<answer>3-5</answer>", None, "no-integer-in-tag"),
        ("<answer>- 7</answer>", None, "no-integer-in-tag"),
        ("<answer>−7</answer>", None, "no-integer-in-tag"),
        ("<answer>٧</answer>", None, "no-integer-in-tag"),
        ("<answer>７</answer>", None, "no-integer-in-tag"),
        ("<answer>\n7\n</answer>", None, "no-integer-in-tag"),
        ("<answer>" + "9" * 5000 + "</answer>", None, "no-integer-in-tag"),
        ("**<answer>7</answer>**", None, "text-after-tag"),
        ("```\n<answer>7</answer>\n```", None, "text-after-tag"),
        ("7", None, "no-tag"),
        ("The answer is 7.", None, "no-tag"),
        ("\\boxed{7}", None, "no-tag"),
        ("<Answer>7</Answer>", None, "no-tag"),
        ("<answer>7", None, "unclosed-tag"),
        ("7</answer>", None, "unclosed-tag"),
        ("</answer>7<answer>", None, "unclosed-tag"),
        ("", None, "empty"),
        (" \n", None, "empty"),
    ],
)
def test_the_answer_contract(text: str, value: int | None, rule: str) -> None:
    found = contract.parse_answer(text)
    assert (found.value, found.rule) == (value, rule)
    if found.span:
        start, end = found.span
        assert int(text[start:end]) == value


@given(st.text(), st.integers(-(10**9), 10**9), st.text(" \n\t"))
def test_a_proper_tag_at_the_end_is_read_whatever_comes_before(text: str, value: int, tail: str) -> None:
    before = text.replace("answer", "")
    assert contract.parse_answer(f"{before}<answer>{value}</answer>{tail}").value == value
    assert contract.parse_answer(f"{before}<answer>{value}</answer>{tail}!").value is None


@given(st.text(alphabet="<>/answer7 \n.-") | st.text())
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    found = contract.parse_answer(text)
    assert (found.value is None) == (found.rule != "answer-tag")
    contract.last_integer(text)


def test_a_tag_only_in_the_reasoning_is_no_answer(evaluator: BaseEvaluator) -> None:
    prediction = Prediction("1", answer="So seven.", reason="<answer>7</answer>")
    verdict = evaluator.verdict_on({"question_id": "1", "answer": 7}, [prediction])
    assert (verdict.outcome, verdict.correct, verdict.answer) == ("unparsed", False, None)


# --- rows ---

PROMPT = (
    "Target class: {name}\n\nDefinition:\n  Any mark; <image> of one is none.\n\nQuestion:\nHow many?\n\n"
    "Reason about the image carefully before answering.\n\n"
    "The final line must contain exactly one integer in this format:\n<answer>N</answer>\n"
)


@pytest.fixture
def release(png: Callable[..., bytes]) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that makes up rows of a release, whose answers are their numbers from 0."""

    def rows(number: int, **fixed: Any) -> list[dict[str, Any]]:
        made = []
        for n in range(number):
            data = png(n, kind="JPEG")
            made.append(
                {
                    "sample_id": f"page-{n}",
                    "target_class": f"class {n % 2}",
                    "class_definition": "Any hand-made mark.",
                    "question": "How many?",
                    "prompt": f"Sheet {n}\n" + PROMPT.format(name=f"class {n % 2}"),
                    "answer": n,
                    "image": {"bytes": data, "path": f"{n}.jpg"},
                    "image_sha256": hashlib.sha256(data).hexdigest(),
                    **fixed,
                }
            )
        return made

    return rows


@pytest.fixture
def prepared(run_here: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Return a function that prepares a release: (the command's end, the rows of data.json)."""

    def prepare(source: Any, *options: str) -> tuple[Any, list[dict[str, Any]]]:
        ran = run_here(
            "prepare", "--tasks", "DocCount", "--cfg-options", f"config.dataset_path={source}", *options
        )
        data = tmp_path / "cache" / "DocCount" / "test" / "data.json"
        return ran, json.loads(data.read_text(encoding="utf-8")) if data.is_file() else []

    return prepare


def test_rows_keep_prompt_picture_and_digest_as_released(
    prepared: Any, write_parquet: Any, release: Any, tmp_path: Path
) -> None:
    rows = release(3)
    ran, made = prepared(write_parquet("r.parquet", rows))
    assert ran.returncode == 0, ran.stderr
    assert made[:2] == [
        {
            "question_id": f"page-{n}",
            "question": rows[n]["prompt"],
            "question_type": "count",
            "answer": n,
            "img_path": f"img/page-{n}.jpg",
            "img_sha256": rows[n]["image_sha256"],
            "target_class": f"class {n}",
            "class_definition": "Any hand-made mark.",
            "counting_question": "How many?",
        }
        for n in range(2)
    ]
    stored = tmp_path / "cache" / "DocCount" / "test" / "img" / "page-2.jpg"
    assert stored.read_bytes() == rows[2]["image"]["bytes"]


def test_columns_may_have_other_names_and_bytes_may_stand_alone(
    prepared: Any, write_parquet: Any, release: Any
) -> None:
    rows = [
        {
            "sample_id": row["sample_id"],
            "prompt": row["prompt"],
            "class": row["target_class"],
            "how_many": str(row["answer"]),
            "image": row["image"]["bytes"],
            "sha256": f"sha256:{row['image_sha256'].upper()}",
        }
        for row in release(2)
    ]
    file = write_parquet("r.parquet", rows)
    ran, _ = prepared(file)
    assert ran.returncode == 1
    assert "answer (accepted: answer, answer_int" in ran.stderr
    assert "Columns found: sample_id, prompt, class, how_many, image, sha256" in ran.stderr
    ran, made = prepared(file, 'config.columns.answer=["how_many"]')
    assert ran.returncode == 0, ran.stderr
    assert [row["answer"] for row in made] == [0, 1]
    assert "class_definition" not in made[0]
    assert not any("data_error" in row for row in made)


def test_everything_that_is_wrong_with_a_release_is_told_at_once(
    prepared: Any, write_parquet: Any, release: Any
) -> None:
    rows = release(6)
    for row in rows:
        row["answer"] = str(row["answer"])
    rows[1]["sample_id"] = "page-0"
    rows[2]["answer"] = "7.5"
    rows[3]["prompt"] = " "
    rows[4]["image_sha256"] = "0" * 64
    rows[5]["image_sha256"] = "abc"
    ran, made = prepared(write_parquet("r.parquet", rows))
    assert (ran.returncode, made) == (1, [])
    for problem in (
        "row 2 (sample_id 'page-0'): its sample_id is that of row 1 too",
        "row 3 (sample_id 'page-2'): answer '7.5' is no whole number",
        "row 4 (sample_id 'page-3'): prompt is missing",
        "row 6 (sample_id 'page-5'): sha256 'abc' is no SHA-256",
        "'page-4': the picture's SHA-256 is",
    ):
        assert problem in ran.stderr
    assert "row 1 (" not in ran.stderr


@pytest.mark.parametrize("answer", [None, -1, 2.5])
def test_a_typed_answer_that_is_no_count_is_told(
    prepared: Any, write_parquet: Any, release: Any, answer: Any
) -> None:
    ran, _ = prepared(write_parquet("r.parquet", release(1, answer=answer)))
    assert ran.returncode == 1
    assert f"answer {answer!r} is no whole number" in ran.stderr


# --- a local release, without a request ---


def test_a_dry_run_checks_a_local_release_named_by_a_pattern(
    run_here: Any, write_parquet: Any, release: Any, tmp_path: Path
) -> None:
    rows = release(5)
    write_parquet("data/test-00000-of-00002.parquet", rows[:3])
    write_parquet("data/test-00001-of-00002.parquet", rows[3:])
    write_parquet("data/other.parquet", [{"a": 1}])
    ran = run_here(
        "--tasks", "doccount", "--cfg-options", "config.dataset_path=data/test-*.parquet", "--dry-run"
    )
    assert ran.returncode == 0, ran.stderr
    assert "the data holds 5 rows, the benchmark 442" in ran.output
    made = json.loads((tmp_path / "cache" / "DocCount" / "test" / "data.json").read_text(encoding="utf-8"))
    assert [row["question_id"] for row in made] == [f"page-{n}" for n in range(5)]


def test_a_dry_run_names_pictures_that_are_not_the_released_ones(
    run_here: Any, write_parquet: Any, release: Any
) -> None:
    rows = release(4)
    rows[1]["image_sha256"] = "0" * 64
    rows[2]["image"] = {"bytes": None, "path": None}
    rows[3]["image"]["bytes"] = b"no picture"
    rows[3]["image_sha256"] = hashlib.sha256(b"no picture").hexdigest()
    file = write_parquet("r.parquet", rows)
    ran = run_here("--tasks", "doccount", "--cfg-options", f"config.dataset_path={file}", "--dry-run")
    assert ran.returncode == 1
    assert "3 of 4 rows cannot be asked" in ran.stderr
    assert "row 2 (question_id 'page-1'): the picture's SHA-256 is" in ran.stderr
    assert "row 3 (question_id 'page-2'): the row has no picture" in ran.stderr
    assert "row 4 (question_id 'page-3'): Medium 'page-3' is none" in ran.stderr


@pytest.mark.parametrize(
    ("classes", "instances", "notes"),
    [
        (4, 2555, []),
        (3, 2555, ["the data has 3 classes, the release 4"]),
        (4, 2554, ["the answers add up to 2,554 instances, those of the release to 2,555"]),
    ],
)
def test_classes_and_instances_of_a_full_release_are_only_noted(
    classes: int, instances: int, notes: list[str], evaluator: BaseEvaluator, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"question_id": str(n), "answer": 5, "target_class": f"class {n % classes}"} for n in range(442)]
    rows[0]["answer"] = instances - 5 * 441
    with caplog.at_level("WARNING", "flagharness.tasks.doccount"):
        assert evaluator.problems(rows) == []
    assert [record.getMessage() for record in caplog.records] == [f"DocCount: {note}." for note in notes]
    named = {str(row["question_id"]): row for row in rows}
    result = evaluator.aggregate([evaluator.verdict_on(row, [None]) for row in rows], named)
    assert result.get("note", "") == "; ".join(notes)
    assert contract.release_notes({name: named[name] for name in list(named)[:441]}) == []


def test_rows_whose_answer_is_no_integer_cannot_be_scored(evaluator: BaseEvaluator) -> None:
    rows = [{"question_id": "a", "answer": 3}, {"question_id": "b", "answer": "3"}, {"question_id": "c"}]
    assert len(evaluator.problems(rows)) == 2


# --- runs ---


def sheet(call: Any) -> int:
    return int(call.text.split("\n")[0].removeprefix("Sheet "))


def test_the_request_is_the_picture_and_the_prompt_to_the_letter_and_nothing_else(
    run_benchmark: Any, golden_requests: Any, write_parquet: Any, release: Any
) -> None:
    rows = release(2)
    rows[1]["prompt"] = (
        "  Sheet 1\n<image 9> {{ x }}\t\n\n"  # nothing is trimmed, read as a mark or filled in
    )
    done = run_benchmark(
        "DocCount",
        write_parquet("r.parquet", rows),
        lambda call: "<answer>1</answer>",
        name="doccount",
        system_prompt="Be brief.",
        max_long_side=4,
        max_image_size=100,
    )
    assert done.ran.returncode == 0, done.ran.stderr
    golden_requests("doccount", done.calls)
    for call, row in zip(done.calls, rows, strict=True):
        assert [message["role"] for message in call.body["messages"]] == ["user"]
        assert [part["type"] for part in call.parts] == ["image_url", "text"]
        assert call.images == [("image/jpeg", row["image"]["bytes"])]
        assert call.parts[1]["text"] == row["prompt"]
    assert (
        "doccount: its protocol allows no max_image_size, max_long_side, system_prompt; not used."
        in done.ran.stderr
    )


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {"temperature": 1, "top_p": 0.95, "max_tokens": 32768}),
        ({"temperature": 0.2}, {"temperature": 0.2, "top_p": 0.95, "max_tokens": 32768}),
        ({"top_p": 0.5}, {"temperature": 1, "top_p": 0.5, "max_tokens": 32768}),
        ({"max_tokens": 99}, {"temperature": 1, "top_p": 0.95, "max_tokens": 99}),
        (
            {"extra_body": {"max_completion_tokens": 77}},
            {"temperature": 1, "top_p": 0.95, "max_completion_tokens": 77},
        ),
    ],
)
def test_the_model_config_may_replace_each_sampling_value(
    settings: dict[str, Any], sent: dict[str, Any], run_benchmark: Any, write_parquet: Any, release: Any
) -> None:
    done = run_benchmark(
        "DocCount", write_parquet("r.parquet", release(1)), lambda call: "<answer>0</answer>",
        name="doccount", **settings,
    )  # fmt: skip
    (call,) = done.calls
    assert {key: value for key, value in call.body.items() if key not in ("model", "messages")} == sent


def test_a_run_scores_strictly_and_reports_per_class(
    run_benchmark: Any, endpoint: Any, write_parquet: Any, release: Any, out: Path
) -> None:
    # 0 right; 1 right, its reasoning apart; 2 a full stop: unreadable; 3 another number; 4 a bare number:
    # unreadable, though the last integer is right; 5 a tag in the reasoning only: unreadable; 6 empty; 7 refused.
    # 2 of 8: 25 %. Class 0 (rows 0, 2, 4, 6): 1 of 4; class 1: 1 of 4. By the last integer 0, 1, 2 and 4: 50 %.
    replies = [
        "None at all.\n<answer>0</answer>\n",
        endpoint.says("<answer>1</answer>", reasoning_content="<answer>9</answer>"),
        "<answer>2</answer>.",
        "<answer>4</answer>",
        "I count 4",
        endpoint.says("Five.", reasoning_content="<answer>5</answer>"),
        endpoint.says("", finish_reason="length"),
        endpoint.fails(400),
    ]
    done = run_benchmark(
        "DocCount", write_parquet("r.parquet", release(8)), lambda call: replies[sheet(call)],
        name="doccount", max_retries=0,
    )  # fmt: skip
    assert done.ran.returncode == 3
    result = done.files.result
    assert (result["accuracy"], result["correct"], result["n"]) == (25.0, 2, 8)
    classes = result["detailed"]["target_class"]
    assert {name: (block["accuracy"], block["n"]) for name, block in classes.items()} == {
        "class 0": (25.0, 4),
        "class 1": (25.0, 4),
    }
    assert result["failures"] == {"no-tag": 2, "no_response": 1, "request_error": 1, "text-after-tag": 1}
    diagnostic = result["diagnostic_last_integer"]
    assert (diagnostic["correct"], diagnostic["n"], diagnostic["accuracy"]) == (4, 8, 50.0)
    assert "not the protocol" in diagnostic["note"]
    assert done.files.counts == {
        "total": 8, "answered": 7, "request_errors": 1, "parse_failures": 4, "truncated": 1,
    }  # fmt: skip
    assert done.files.summary["metric"] == "accuracy"
    report = (out / "doccount" / "doccount_summary.md").read_text(encoding="utf-8")
    for line in (
        "Exact-count accuracy **25.00 %** (2 of 8)",
        "Note: the data holds 8 rows, the benchmark 442.",
        "| class 0 | 1 | 4 | 25.00 % |",
        "| class 1 | 1 | 4 | 25.00 % |",
        "7 of 8 questions were answered; 1 requests failed",
        "- text-after-tag: 1",
        "## Diagnostic, not the protocol: last integer",
        "4 of 8 would be correct (50.00 %). Do not report this as the score.",
    ):
        assert line in report


def test_a_picture_that_is_not_the_released_one_is_never_sent(
    run_benchmark: Any, write_parquet: Any, release: Any
) -> None:
    rows = release(3)
    rows[1]["image_sha256"] = rows[0]["image_sha256"]
    file = write_parquet("r.parquet", rows)
    refused = run_benchmark("DocCount", file, lambda call: f"<answer>{sheet(call)}</answer>", name="doccount")
    assert (refused.ran.returncode, refused.calls) == (1, [])
    assert "row 2 (question_id 'page-1'): the picture's SHA-256 is" in refused.ran.stderr
    done = run_benchmark(
        "DocCount", file, lambda call: f"<answer>{sheet(call)}</answer>", "--skip-bad-rows", name="doccount"
    )
    assert done.ran.returncode == 3
    assert [sheet(call) for call in done.calls] == [0, 2]
    assert done.files.counts == {"total": 3, "answered": 2, "data_errors": 1}
    assert (done.files.result["accuracy"], done.files.result["failures"]) == (66.67, {"data_error": 1})


def test_a_picture_that_changes_after_it_was_prepared_is_refused_too(
    run_benchmark: Any, run_here: Any, write_parquet: Any, release: Any, png: Any, tmp_path: Path
) -> None:
    file = write_parquet("r.parquet", release(2))
    run_here("prepare", "--tasks", "DocCount", "--cfg-options", f"config.dataset_path={file}")
    (tmp_path / "cache" / "DocCount" / "test" / "img" / "page-1.jpg").write_bytes(png(9, kind="JPEG"))
    done = run_benchmark("DocCount", file, lambda call: "<answer>0</answer>", name="doccount")
    assert (done.ran.returncode, done.calls) == (1, [])
    assert "page-1.jpg: not the file that was released (SHA-256)" in done.ran.stderr


def test_with_several_inferences_scores_are_means(evaluator: BaseEvaluator) -> None:
    row = {"question_id": "1", "answer": 7, "target_class": "a"}
    verdict = evaluator.verdict_on(
        row, [Prediction("1", answer="<answer>7</answer>"), Prediction("1", answer="7"), None, None]
    )
    result = evaluator.aggregate([verdict], {"1": row})
    assert (result["accuracy"], result["correct"]) == (25.0, 0.25)
    assert result["diagnostic_last_integer"]["accuracy"] == 50.0
    assert result["failures"] == {"missing": 2, "no-tag": 1}
