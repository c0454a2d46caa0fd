"""The run directory: who may write, what is finished, predictions that lie there in whatever layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from flagharness.errors import ConfigError, DataError
from flagharness.run import (
    Journal,
    Prediction,
    SavedPredictions,
    TaskFolder,
    merge_inferences,
    only_writer,
    summary_lock,
    write_json,
)


@pytest.fixture
def folder(tmp_path: Path) -> TaskFolder:
    folder = TaskFolder(tmp_path, "toy")
    folder.items.mkdir(parents=True)
    return folder


def _saved(folder: TaskFolder) -> SavedPredictions:
    return SavedPredictions(folder, Journal(folder.items))


def _answers(saved: SavedPredictions, question_id: str) -> list[str | None]:
    found = [saved.get(question_id, k) for k in range(saved.num_infers)]
    return [prediction.answer if prediction else None for prediction in found]


# --- predictions made elsewhere -------------------------------------------------------------------------------


def test_one_file_per_question_is_read(folder: TaskFolder) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    for number, answer in (("1", "A"), ("2", "B")):
        record = {"question_id": number, "question": "q?", "answer": answer, "reason": "", "usage": usage}
        write_json(folder.items / f"{number}.json", record)
    saved = _saved(folder)
    assert (len(saved), saved.num_infers, saved.source) == (2, 1, "prediction files")
    assert saved.get("2", 0) == Prediction("2", question="q?", answer="B", usage=usage)
    assert saved.get("3", 0) is None


def test_the_file_of_all_predictions_comes_before_the_single_ones(folder: TaskFolder) -> None:
    write_json(folder.items / "1.json", {"question_id": "1", "answer": "old"})
    write_json(folder.predictions, [{"question_id": 1, "answer": "new"}, {"question_id": 2, "answer": "B"}])
    saved = _saved(folder)
    assert [_answers(saved, q) for q in "12"] == [["new"], ["B"]]


def test_a_record_with_prompt_instead_of_question_is_read(folder: TaskFolder) -> None:
    write_json(folder.predictions, [{"question_id": "1", "answer": "A", "prompt": "q?"}])
    assert _saved(folder).get("1", 0) == Prediction("1", question="q?", answer="A")


def test_several_inferences_of_one_record_are_taken_apart(folder: TaskFolder) -> None:
    record = {
        "question_id": "1",
        "question": "q?",
        "answer": {"inference_0": "A", "inference_1": "B", "inference_2": ""},
        "reason": ["r0", "r1", "r2"],
        "usage": [{"total_tokens": 1}, {"total_tokens": 2}, None],
    }
    write_json(folder.predictions, [record])
    saved = _saved(folder)
    assert saved.num_infers == 3
    assert saved.get("1", 1) == Prediction(
        "1", question="q?", answer="B", reason="r1", usage={"total_tokens": 2}, inference=1
    )
    assert saved.get("1", 2) == Prediction("1", question="q?", reason="r2", inference=2)


def test_lists_shorter_than_the_answers_are_no_error(folder: TaskFolder) -> None:
    record = {"question_id": "1", "answer": {"inference_0": "A", "inference_1": "B"}, "reason": ["r0"]}
    write_json(folder.items / "1.json", record)
    assert _saved(folder).get("1", 1) == Prediction("1", answer="B", inference=1)


def test_failures_written_into_answers_are_failures(folder: TaskFolder) -> None:
    write_json(folder.predictions, [{"question_id": "1", "answer": "Error code: 500 - x"}])
    prediction = _saved(folder).get("1", 0)
    assert prediction is not None
    assert not prediction.ok


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"question_id": "1"}', "expected a JSON list of predictions"),
        ('[{"question_id": "1"}, {"answer": "A"}]', "row 1: not a prediction"),
        ('[{"question_id": "1"}, {"question_id": 1}]', "row 1: question_id '1' occurs twice"),
        ('[{"question_id": "1", "answer": {"first": "A"}}]', "row 0: answer key 'first' is not of the form"),
        ('[{"question_id": "1"', "not a readable JSON file"),
    ],
)
def test_a_broken_prediction_file_is_refused_with_its_place(
    folder: TaskFolder, content: str, problem: str
) -> None:
    folder.predictions.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        _saved(folder)
    assert str(caught.value).startswith(str(folder.predictions))
    assert problem in str(caught.value)


def test_a_broken_single_file_is_named(folder: TaskFolder) -> None:
    (folder.items / "7.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"items/7\.json: not a readable JSON file"):
        _saved(folder)


def test_an_empty_folder_has_no_predictions(folder: TaskFolder) -> None:
    saved = _saved(folder)
    assert (len(saved), saved.source, saved.num_infers) == (0, "nothing", 1)
    assert saved.get("1", 0) is None


# --- our own --------------------------------------------------------------------------------------------------


def test_the_journal_comes_before_all_files(folder: TaskFolder) -> None:
    write_json(
        folder.predictions, [{"question_id": "1", "answer": "old"}, {"question_id": "2", "answer": "old"}]
    )
    journal = Journal(folder.items)
    journal.append(Prediction("1", answer="new"))
    journal.append(Prediction("1", answer="second", inference=1))
    journal.close()
    saved = _saved(folder)
    assert (saved.source, saved.num_infers, len(saved)) == ("journal", 2, 2)
    assert _answers(saved, "1") == ["new", "second"]
    assert saved.get("2", 0) is None


@pytest.mark.parametrize("answers", [["A"], ["A", "B"], ["A", "", "C"]])
def test_what_we_write_for_a_question_is_read_back(folder: TaskFolder, answers: list[str]) -> None:
    predictions = [
        Prediction(
            "1",
            question="q?",
            answer=answer,
            reason=f"r{k}",
            usage={"total_tokens": k},
            finish_reason="stop",
            latency_s=0.5,
            response_id=f"id{k}",
            request_hash=f"{k:032x}",
            inference=k,
        )
        for k, answer in enumerate(answers)
    ]
    write_json(folder.predictions, [merge_inferences(predictions)])
    saved = _saved(folder)
    assert [saved.get("1", k) for k in range(saved.num_infers)] == predictions


def test_one_failed_inference_does_not_take_the_others_with_it(folder: TaskFolder) -> None:
    error = {"type": "timeout", "message": "x", "http_status": None, "attempts": 1}
    predictions = [
        Prediction("1", answer="A", finish_reason="stop"),
        Prediction("1", status="error", error=error, inference=1),
    ]
    row = merge_inferences(predictions)
    assert row["answer"] == {"inference_0": "A", "inference_1": ""}
    assert (row["status"], row["error"]) == ("error", error)
    write_json(folder.predictions, [row])
    saved = _saved(folder)
    found = [saved.get("1", k) for k in (0, 1)]
    assert [prediction.ok for prediction in found if prediction] == [True, False]


def test_one_inference_is_a_plain_record() -> None:
    prediction = Prediction("1", answer="A")
    assert merge_inferences([prediction]) == prediction.to_json()


# --- one writer -----------------------------------------------------------------------------------------------


def test_a_second_writer_of_a_task_is_refused(tmp_path: Path) -> None:
    with only_writer(tmp_path / "out", "toy"):
        with (
            pytest.raises(ConfigError, match="another flagharness is writing this task"),
            only_writer(tmp_path / "out", "toy"),
        ):
            pass
        with only_writer(tmp_path / "out", "other"):
            pass
    with only_writer(tmp_path / "out", "toy"):
        pass


def test_a_writer_that_failed_gives_the_task_free(tmp_path: Path) -> None:
    with pytest.raises(KeyError), only_writer(tmp_path, "toy"):
        raise KeyError
    with only_writer(tmp_path, "toy"):
        pass


def test_an_output_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(ConfigError, match=r"--output-dir .*cannot write there"),
        only_writer(tmp_path / "file" / "out", "toy"),
    ):
        pass


def test_the_summary_can_be_held_one_after_the_other(tmp_path: Path) -> None:
    for _ in range(2):
        with summary_lock(tmp_path):
            pass


# --- what lies there ------------------------------------------------------------------------------------------


def test_files_lie_where_the_contract_says(tmp_path: Path) -> None:
    folder = TaskFolder(tmp_path, "toy")
    names = [folder.config, folder.items, folder.predictions, folder.evaluated, folder.result]
    assert [path.relative_to(tmp_path).as_posix() for path in names] == [
        "toy/toy_config.json",
        "toy/items",
        "toy/toy.json",
        "toy/toy_evaluated.json",
        "toy/toy_result.json",
    ]


@pytest.mark.parametrize("content", [None, "{", "[1]", "3", "\x00"])
def test_a_file_that_is_no_json_object_reads_as_none(folder: TaskFolder, content: str | None) -> None:
    if content is not None:
        folder.result.write_text(content, encoding="utf-8")
    assert folder.read_json(folder.result) is None


def test_starting_over_puts_the_old_run_aside_each_time(folder: TaskFolder) -> None:
    for content in ("first", "second"):
        folder.path.mkdir(exist_ok=True)
        folder.result.write_text(content, encoding="utf-8")
        folder.start_over()
        assert not folder.path.exists()
    folder.start_over()
    aside = [folder.path.with_name(f"toy.old-{n}") / "toy_result.json" for n in (1, 2)]
    assert [path.read_text(encoding="utf-8") for path in aside] == ["first", "second"]
