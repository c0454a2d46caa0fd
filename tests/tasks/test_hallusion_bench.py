"""HallusionBench: three forms of the data, and the three accuracies on the real groups."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError
from flagharness.evaluator import BaseEvaluator
from flagharness.run import Prediction
from flagharness.task import Task

FOLDER = Path(__file__).parents[2] / "tasks" / "hallusion_bench"
REAL = Path(__file__).parents[1] / "data" / "hallusionbench.json"
KEYS = ("category", "subcategory", "set_id", "figure_id", "question_id")


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture(scope="module")
def evaluator() -> BaseEvaluator:
    found = Task(FOLDER / "hallusion_bench.py").evaluator
    assert found is not None
    return found


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Callable[[Path], list[dict[str, Any]]]:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "hallusion_bench.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        return load_annotations([tmp_path / "made" / "image" / "data.json"])

    return run


def record(key: str, answer: str = "1", **other: Any) -> dict[str, Any]:
    """A row of the original: the key is category, subcategory, set, figure and question."""
    named = dict(zip(KEYS, key.split("_"), strict=True))
    file = f"./{named['category']}/{named['subcategory']}/{named['set_id']}_{named['figure_id']}.png"
    return {
        **named,
        "visual_input": "1",
        "sample_note": "x",
        "question": f"Is it red, {key}?",
        "gt_answer": answer,
        "gt_answer_details": "It is.",
        "filename": file,
        **other,
    }


def table_row(key: str, image: bytes | str, answer: str = "Yes") -> dict[str, Any]:
    category, subcategory = key.split("_")[:2]
    return {
        "index": f"hallusion_{key}",
        "image": image,
        "question": f"Is it red, {key}?",
        "answer": answer,
        "category": category,
        "l2-category": f"{category}_{subcategory}",
    }


def annotation(key: str, answer: str = "Yes", figure_rows: int = 1, question_rows: int = 1) -> dict[str, Any]:
    """A row as process.py makes it."""
    category, subcategory, set_id, figure_id, question_number = key.split("_")
    return {
        "question_id": key,
        "question": f"Is it red, {key}?",
        "question_type": "yes-no",
        "answer": answer,
        "category": category,
        "subcategory": subcategory,
        "l2-category": f"{category}_{subcategory}",
        "set_id": set_id,
        "figure_id": figure_id,
        "question_number": question_number,
        "figure_rows": figure_rows,
        "question_rows": question_rows,
    }


@pytest.fixture
def write_original(tmp_path: Path, png: Callable[..., bytes]) -> Callable[..., Path]:
    """Return a function that writes the original file and a picture for every file name in it."""

    def write(records: Sequence[Mapping[str, Any]], pictures: str = ".") -> Path:
        folder = tmp_path / "HallusionBench"
        for number, name in enumerate(dict.fromkeys(row["filename"] for row in records if row["filename"])):
            path = folder / pictures / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(number))
        file = folder / "HallusionBench.json"
        file.write_text(json.dumps(list(records)), encoding="utf-8")
        return file

    return write


def score(
    evaluator: BaseEvaluator, rows: Sequence[Mapping[str, Any]], replies: Sequence[Any]
) -> dict[str, Any]:
    """Metrics of replies; a list is several inferences of one row, None a missing answer."""
    annotations = {str(row["question_id"]): row for row in rows}
    verdicts = []
    for (key, row), reply in zip(annotations.items(), replies, strict=True):
        several = reply if isinstance(reply, list) else [reply]
        predictions = [None if text is None else Prediction(key, answer=text) for text in several]
        verdicts.append(evaluator.verdict_on(row, predictions))
    return evaluator.aggregate(verdicts, annotations)


# --- the data ---------------------------------------------------------------------------------------------------


def test_the_table_says_its_groups_in_the_index(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path
) -> None:
    rows = [
        table_row("VD_ocr_0_0_0", png(0)),
        table_row("VD_ocr_0_1_0", png(1), "No"),
        table_row("VD_ocr_0_1_1", "hallusion_VD_ocr_0_1_0", "no"),
        table_row("VS_ocr_0_0_0", png(3)),
        table_row("VS_chart_1_0_0", ""),
    ]
    made = processed(write_tsv("HallusionBench.tsv", rows))
    assert [row["question_id"] for row in made] == [row["index"] for row in rows[:4]]
    assert made[0] == {
        "question_id": "hallusion_VD_ocr_0_0_0",
        "img_path": "img/hallusion_VD_ocr_0_0_0.png",
        "question": "Is it red, VD_ocr_0_0_0?",
        "question_type": "yes-no",
        "answer": "Yes",
        "category": "VD",
        "subcategory": "ocr",
        "l2-category": "VD_ocr",
        "set_id": "0",
        "figure_id": "0",
        "question_number": "0",
        "figure_rows": 1,
        "question_rows": 2,
    }
    assert made[2] == {
        "question_id": "hallusion_VD_ocr_0_1_1",
        "img_path": "img/hallusion_VD_ocr_0_1_0.png",
        "question": "Is it red, VD_ocr_0_1_1?",
        "question_type": "yes-no",
        "answer": "No",
        "category": "VD",
        "subcategory": "ocr",
        "l2-category": "VD_ocr",
        "set_id": "0",
        "figure_id": "1",
        "question_number": "1",
        "figure_rows": 2,
        "question_rows": 1,
    }
    # the other category's ocr is a group of its own
    assert (made[3]["figure_rows"], made[3]["question_rows"]) == (1, 1)
    assert json.loads((tmp_path / "made" / "image" / "skipped.json").read_text(encoding="utf-8")) == [
        {"index": "hallusion_VS_chart_1_0_0", "reason": "the row has neither image nor image_path"}
    ]


def test_bad_rows_of_the_table_are_told_at_once(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row("VD_ocr_0_0_0", png(0), "maybe"),
        {**table_row("VD_ocr_0_0_1", png(1)), "index": "17"},
        table_row("VD_ocr_0_0_2", png(2)),
    ]
    with pytest.raises(DataError) as caught:
        processed(write_tsv("HallusionBench.tsv", rows))
    assert "2 rows are not as expected" in str(caught.value)
    assert "answer 'maybe' is neither yes nor no" in str(caught.value)
    assert "index '17' does not end in <VD or VS>_<subcategory>_<set>_<figure>_<question>" in str(
        caught.value
    )


def test_hub_rows_have_their_groups_in_columns(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        {**record("VD_video_3_1_0", "0"), "image": {"bytes": png(0), "path": None}},
        {**record("VD_video_3_2_0", "1"), "image": {"bytes": png(1), "path": None}},
    ]
    file = write_parquet("hub/data/image-00000-of-00001.parquet", rows)
    made = processed(file)
    assert made[0] == {
        "question_id": "VD_video_3_1_0",
        "img_path": "img/0.png",
        "question": "Is it red, VD_video_3_1_0?",
        "question_type": "yes-no",
        "answer": "No",
        "category": "VD",
        "subcategory": "video",
        "l2-category": "VD_video",
        "set_id": "3",
        "figure_id": "1",
        "question_number": "0",
        "visual_input": "1",
        "figure_rows": 1,
        "question_rows": 2,
    }
    assert made[1]["answer"] == "Yes"
    assert processed(file.parents[1]) == made  # the folder of it, by its split `image`


@pytest.mark.parametrize("pictures", [".", "hallusion_bench"])
@pytest.mark.parametrize("by_folder", [True, False])
def test_the_original_file_has_its_pictures_beside_it(
    processed: Callable[..., Any],
    write_original: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
    pictures: str,
    by_folder: bool,
) -> None:
    records = [
        record("VD_ocr_0_0_0"),
        record("VD_ocr_0_0_1", "0"),
        record("VS_ocr_0_1_0", filename=None, visual_input="0"),
    ]
    file = write_original(records, pictures)
    made = processed(file.parent if by_folder else file)
    assert [(row["question_id"], row["answer"], row["img_path"]) for row in made] == [
        ("VD_ocr_0_0_0", "Yes", "img/VD_ocr_0_0.png"),
        ("VD_ocr_0_0_1", "No", "img/VD_ocr_0_0.png"),
    ]
    assert (tmp_path / "made" / "image" / "img" / "VD_ocr_0_0.png").read_bytes() == png(0)
    skipped = json.loads((tmp_path / "made" / "image" / "skipped.json").read_text(encoding="utf-8"))
    assert [row["index"] for row in skipped] == ["VS_ocr_0_1_0"]


def test_a_picture_of_the_original_that_is_missing_stays_in_the_denominator(
    processed: Callable[..., Any], write_original: Callable[..., Path]
) -> None:
    file = write_original([record("VD_ocr_0_0_0"), record("VD_ocr_0_1_0")])
    (file.parent / "VD" / "ocr" / "0_1.png").unlink()
    made = processed(file)
    assert [row["question_id"] for row in made] == ["VD_ocr_0_0_0", "VD_ocr_0_1_0"]
    assert "0_1.png" in made[1]["data_error"]


def test_bad_rows_of_the_original_are_told(
    processed: Callable[..., Any], write_original: Callable[..., Path]
) -> None:
    records = [record("VD_ocr_0_0_0", "2"), record("XX_ocr_0_0_0"), record("VD_ocr_0_0_1")]
    with pytest.raises(DataError) as caught:
        processed(write_original(records))
    assert "row 'VD_ocr_0_0_0': answer '2' is neither yes nor no" in str(caught.value)
    assert "row 'XX_ocr_0_0_0': index 'XX_ocr_0_0_0' does not end in" in str(caught.value)
    assert "2 rows are not as expected" in str(caught.value)


# --- the real groups --------------------------------------------------------------------------------------------


@pytest.fixture
def real_rows(
    processed: Callable[..., Any], write_original: Callable[..., Path], read_json: Callable[..., Any]
) -> list[dict[str, Any]]:
    """The 951 real rows, with questions and pictures that are made up."""
    records = [{**row, "question": f"Question {number}?"} for number, row in enumerate(read_json(REAL))]
    made = processed(write_original(records))
    assert isinstance(made, list)
    return made


def test_the_real_data_is_951_rows_and_178_without_a_picture(
    real_rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert len(real_rows) == 951
    assert len(json.loads((tmp_path / "made" / "image" / "skipped.json").read_text(encoding="utf-8"))) == 178
    assert Counter(row["l2-category"] for row in real_rows) == {
        "VD_video": 170,
        "VD_illusion": 144,
        "VD_math": 108,
        "VD_ocr": 89,
        "VD_figure": 80,
        "VS_chart": 130,
        "VS_table": 112,
        "VS_map": 64,
        "VS_ocr": 54,
    }
    assert len({row["img_path"] for row in real_rows}) == 346


@pytest.mark.parametrize(
    ("reply", "accuracies", "mean"),
    [
        ("No", (550 / 951, 42 / 346, 91 / 455), 29.9909),
        ("Yes", (401 / 951, 25 / 346, 21 / 455), 18.0023),
        ("I cannot say.", (0, 0, 0), 0.0),
    ],
)
def test_blind_answers_score_what_is_known_of_them(
    real_rows: list[dict[str, Any]],
    evaluator: BaseEvaluator,
    reply: str,
    accuracies: tuple[float, ...],
    mean: float,
) -> None:
    result = score(evaluator, real_rows, [reply] * 951)
    found = [result[key] for key in ("aAcc", "fAcc", "qAcc", "mean_acc")]
    assert found == pytest.approx([*(100 * share for share in accuracies), mean], abs=1e-4)
    assert (result["n"], result["n_figures"], result["n_questions"]) == (951, 346, 455)
    assert "partial" not in result


def test_blind_answers_score_what_is_known_of_them_in_each_category(
    real_rows: list[dict[str, Any]], evaluator: BaseEvaluator
) -> None:
    by_category = score(evaluator, real_rows, ["No"] * 951)["detailed"]["category"]
    for category, shares in {
        "VD": ((342, 591), (24, 230), (43, 277)),
        "VS": ((208, 360), (18, 116), (48, 178)),
    }.items():
        block = by_category[category]
        found = [block["aAcc"], block["fAcc"], block["qAcc"]]
        assert found == pytest.approx([100 * right / whole for right, whole in shares], abs=1e-4)
        assert (block["n"], block["n_figures"], block["n_questions"]) == tuple(whole for _, whole in shares)


def test_all_right_is_100_in_all_three(real_rows: list[dict[str, Any]], evaluator: BaseEvaluator) -> None:
    result = score(evaluator, real_rows, [row["answer"] for row in real_rows])
    assert [result[key] for key in ("aAcc", "fAcc", "qAcc", "mean_acc")] == [100.0] * 4


def test_the_first_32_real_rows_are_partial_and_the_rest_of_their_groups_is_named(
    real_rows: list[dict[str, Any]], evaluator: BaseEvaluator
) -> None:
    result = score(evaluator, real_rows[:32], ["No"] * 32)
    assert result["partial"] is True
    named = [*result["incomplete"]["figures"], *result["incomplete"]["questions"]]
    assert named
    assert all(name.startswith(("VD/", "VS/")) for name in named)


# --- the metrics ------------------------------------------------------------------------------------------------


def test_both_ocr_are_groups_of_their_own(evaluator: BaseEvaluator) -> None:
    rows = [annotation("VD_ocr_0_0_0"), annotation("VS_ocr_0_0_0")]
    result = score(evaluator, rows, ["Yes", "No"])
    assert (result["n_figures"], result["n_questions"]) == (2, 2)
    assert [result[key] for key in ("aAcc", "fAcc", "qAcc")] == [50.0, 50.0, 50.0]


def test_a_row_without_an_answer_breaks_its_figure_and_its_question(evaluator: BaseEvaluator) -> None:
    rows = [
        annotation(key, figure_rows=2, question_rows=2)
        for key in ("VD_map_0_0_0", "VD_map_0_0_1", "VD_map_0_1_0", "VD_map_0_1_1")
    ]
    result = score(evaluator, rows, ["yes", "yes", None, "yes"])
    assert [result[key] for key in ("aAcc", "fAcc", "qAcc")] == [75.0, 50.0, 50.0]
    assert result["mean_acc"] == pytest.approx(58.3333)
    assert (result["accuracy"], result["accuracy_answered"], result["range"]) == (75.0, 100.0, [75.0, 100.0])


def test_each_inference_counts_by_itself(evaluator: BaseEvaluator) -> None:
    rows = [annotation("VD_map_0_0_0", figure_rows=2), annotation("VD_map_0_0_1", figure_rows=2)]
    # inference 0: both right; 1: one right; the figure is right in one of two, the questions in 2 and 1 of two
    result = score(evaluator, rows, [["yes", "yes"], ["yes", "no"]])
    assert [result[key] for key in ("aAcc", "fAcc", "qAcc")] == [75.0, 50.0, 75.0]


def test_the_interval_of_the_rows_is_not_shown_for_the_mean(evaluator: BaseEvaluator) -> None:
    result = score(evaluator, [annotation("VD_map_0_0_0")], ["yes"])
    assert (result["headline"], result["ci95"]) == ("mean_acc", None)
    assert result["aAcc_ci95"] == [20.65, 100.0]


def test_no_rows_at_all_give_no_number(evaluator: BaseEvaluator) -> None:
    result = score(evaluator, [], [])
    assert (result["mean_acc"], result["fAcc"], result["detailed"]) == (
        None,
        None,
        {"category": {}, "l2-category": {}},
    )


_REPLIES = st.lists(st.sampled_from(["yes", "no", "", None]), min_size=8, max_size=8)
_ROWS = [
    annotation(f"VD_map_0_{figure}_{question}", figure_rows=4, question_rows=2)
    for figure in range(2)
    for question in range(4)
]


@given(replies=_REPLIES)
def test_groups_are_right_no_more_often_than_rows(
    evaluator: BaseEvaluator, replies: list[str | None]
) -> None:
    result = score(evaluator, _ROWS, replies)
    # groups of equal size: a group that is right has all of its rows among those that are
    assert result["fAcc"] <= result["aAcc"] + 1e-9
    assert result["qAcc"] <= result["aAcc"] + 1e-9
    assert (result["fAcc"] == 100) is (result["qAcc"] == 100) is (result["aAcc"] == 100)


@given(replies=_REPLIES, order=st.permutations(range(8)))
def test_the_order_of_rows_does_not_matter(
    evaluator: BaseEvaluator, replies: list[str | None], order: list[int]
) -> None:
    result = score(evaluator, _ROWS, replies)
    shuffled = score(evaluator, [_ROWS[place] for place in order], [replies[place] for place in order])
    assert [result[key] for key in ("aAcc", "fAcc", "qAcc", "mean_acc")] == [
        shuffled[key] for key in ("aAcc", "fAcc", "qAcc", "mean_acc")
    ]


# --- a run ------------------------------------------------------------------------------------------------------


def run_rows(png: Callable[..., bytes]) -> list[dict[str, Any]]:
    keys = ["VD_map_0_0_0", "VD_map_0_0_1", "VD_map_0_1_0", "VD_map_0_1_1", "VS_ocr_0_0_0", "VS_ocr_1_0_0"]
    return [
        *(table_row(key, png(number), "Yes") for number, key in enumerate(keys)),
        table_row("VS_ocr_2_0_0", ""),
    ]


def test_a_run_gives_the_three_accuracies_over_all_rows(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    replies = {
        "VD_map_0_0_0": "Yes",
        "VD_map_0_0_1": "**Yes**",
        "VD_map_0_1_0": "Yes, it is.",
        "VD_map_0_1_1": "No",
        "VS_ocr_0_0_0": "Yes, no other is there.",
    }

    def reply(call: Any) -> Any:
        key = call.text.removeprefix("Is it red, ").removesuffix("?")
        return replies.get(key) or endpoint.fails(400)

    run = run_benchmark(
        "HallusionBench", write_tsv("HallusionBench.tsv", run_rows(png)), reply, name="hallusion_bench"
    )
    # 3 of 6 rows are right. Of the figures VD_map 0_0 is right, 0_1 and both of VS_ocr are not: 1 of 4. Of the
    # questions VD_map 0_?_0 is right, 0_?_1 and both of VS_ocr are not: 1 of 4.
    result = run.files.result
    assert run.ran.returncode == 3
    assert [result[key] for key in ("aAcc", "fAcc", "qAcc")] == [50.0, 25.0, 25.0]
    assert (result["headline"], result["mean_acc"]) == ("mean_acc", 33.3333)
    assert (run.files.summary["metric"], run.files.summary["score"]) == ("mean_acc", 33.3333)
    assert result["partial"] is False
    assert run.files.counts == {"total": 6, "answered": 5, "request_errors": 1, "parse_failures": 1}
    assert result["note"] == "the data holds 6 rows, the benchmark 951"
    assert result["detailed"]["l2-category"]["VD_map"]["aAcc"] == 75.0
    golden_requests("hallusion_bench", [run.calls[0], run.calls[1]])


def test_a_run_of_some_rows_is_partial_by_its_groups_as_well(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    run = run_benchmark(
        "hallusion_bench",
        write_tsv("HallusionBench.tsv", run_rows(png)),
        lambda call: "Yes",
        "--limit",
        3,
    )
    assert run.files.result["partial"] is True
    assert run.files.result["incomplete"] == {
        "figures": ["VD/map/0/1 (1 of 2)"],
        "questions": ["VD/map/0/1 (1 of 2)"],
    }
    assert run.files.result["mean_acc"] == 100.0


def test_a_line_can_be_added_to_the_question(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    source = write_tsv("HallusionBench.tsv", run_rows(png)[:1])
    run = run_benchmark(
        "hallusion_bench",
        None,
        lambda call: "Yes",
        "--cfg-options",
        f"config.dataset_path={source}",
        "dataset.prompt_template.post_prompt=Answer YES or NO.",
    )
    assert run.calls[0].text == "Is it red, VD_map_0_0_0?\nAnswer YES or NO."


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 1)
