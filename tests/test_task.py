"""A task: the classes it names, its data, its samples."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.errors import ConfigError, DataError
from flagharness.evaluator import BaseEvaluator
from flagharness.registry import DATASETS, EVALUATORS, Registry, registering_into
from flagharness.task import Sample, Task

Write = Callable[[str, str], Path]

_ROWS = [
    {"question_id": 1, "question": "How many?", "answer": 3, "question_type": "count", "img_path": "1.png"},
    {
        "question_id": "b",
        "question": "And here?",
        "answer": 0,
        "question_type": "count",
        "img_path": ["1.png", "2.png"],
    },
]
_EVALUATOR = "evaluator = dict(type='BaseEvaluator')\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file below a task folder of this test; prepared data goes to a cache of this test."""
    monkeypatch.setenv("FLAGHARNESS_CACHE", str(tmp_path / "cache"))

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


def _dataset(**options: Any) -> str:
    return (
        f"dataset = dict(**{ {'type': 'VqaBaseDataset', 'name': 'toy', 'data_root': 'data', **options}!r})\n"
    )


def _open(write: Write, config: str, rows: Any = None, **arguments: Any) -> Task:
    write("toy/data/data.json", json.dumps(_ROWS if rows is None else rows))
    task = Task(write("toy/toy.py", config), **arguments)
    task.open()
    return task


def _refusal(write: Write, config: str, kind: type[Exception] = ConfigError, **arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        _open(write, config, **arguments)
    return str(caught.value)


# --- data and samples -----------------------------------------------------------------------------------------


def test_a_sample_is_the_prompt_and_absolute_media(write: Write) -> None:
    task = _open(write, _dataset() + _EVALUATOR)
    data = task.folder / "data"
    assert task.question_ids() == ["1", "b"]
    assert task.sample(0) == Sample("1", "How many?", (data / "1.png",))
    assert task.sample(1).images == (data / "1.png", data / "2.png")
    assert list(task.annotations) == ["1", "b"]
    assert task.annotations["1"]["answer"] == 3
    assert task.annotations["1"]["data_root"] == str(data)
    assert len(task.data_digest) == 32
    assert task.manifest is None


def test_the_prompt_template_makes_the_text(write: Write) -> None:
    config = """
        def post(annotation, **kwargs):
            return f"({annotation['question_type']}) {{{{x}}}}"

        dataset = dict(
            type="VqaBaseDataset", name="toy", data_root="data",
            prompt_template=dict(type="PromptTemplate", pre_prompt="Look: ", post_prompt=post),
        )
    """
    assert _open(write, config).sample(0).text == "Look: How many?\n(count) {{x}}"


def test_several_annotation_files_are_read_one_after_the_other(write: Write, tmp_path: Path) -> None:
    write("toy/data/a.json", json.dumps(_ROWS[:1]))
    elsewhere = write("elsewhere.json", json.dumps(_ROWS[1:]))
    task = _open(write, _dataset(anno_file=["a.json", str(elsewhere)]))
    assert task.question_ids() == ["1", "b"]
    assert task.data_digest.count("+") == 1


def test_the_digest_follows_the_data(write: Write) -> None:
    first = _open(write, _dataset()).data_digest
    assert _open(write, _dataset()).data_digest == first
    assert _open(write, _dataset(), rows=_ROWS[:1]).data_digest != first


def test_a_data_root_is_looked_for_in_the_working_directory_then_beside_the_config(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _open(write, _dataset()).dataset.data_root == tmp_path / "toy" / "data"
    write("data/data.json", json.dumps(_ROWS))
    assert _open(write, _dataset()).dataset.data_root == tmp_path / "data"


def test_a_data_root_from_the_command_line_wins_over_everything(write: Write, tmp_path: Path) -> None:
    write("other/data.json", json.dumps(_ROWS[:1]))
    config = _dataset(config={"processed_dataset_path": "toy", "processor": "process.py", "split": "val"})
    task = _open(write, config, data_root=str(tmp_path / "other"))
    assert task.question_ids() == ["1"]
    assert task.prepare() is None


def test_a_data_root_that_is_not_there_names_every_place_that_was_tried(write: Write) -> None:
    message = _refusal(write, _dataset(data_root="nowhere"))
    assert "data_root 'nowhere': no such folder: " in message
    assert f"{Path.cwd() / 'nowhere'} or " in message
    assert message.endswith("/toy/nowhere.")


def test_bad_rows_are_all_named(write: Write) -> None:
    rows = [{"question_id": 1}, {"question_id": 1}, {"question": 3}]
    message = _refusal(write, _dataset(), DataError, rows=rows)
    assert "bad rows:" in message
    assert "row 2 (question_id 1): question_id is that of row 1 too" in message
    assert "row 3 (question_id None): question_id is missing" in message


def test_a_dataset_with_neither_source_is_refused(write: Write) -> None:
    assert "neither `config` with a process.py nor `data_root` is set" in _refusal(
        write, _dataset(data_root=None)
    )


def test_unread_dataset_keys_are_warned_of(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    _open(write, _dataset(anno_fil="x.json"))
    assert caplog.messages == ["dataset toy: nothing reads `anno_fil`. Did you mean 'anno_file'?"]


# --- preparation ----------------------------------------------------------------------------------------------

_PROCESS = """
    from pathlib import Path
    from helpers import ROWS
    import json

    def process(cfg):
        import helpers
        folder = Path(cfg.processed_dataset_path, cfg.get("dataset_name") or "", cfg.split)
        folder.mkdir(parents=True)
        (folder / "data.json").write_text(json.dumps(helpers.ROWS))
"""


def _prepared(**config: Any) -> str:
    values = {"processed_dataset_path": "toy", "split": "val", "processor": "process.py", **config}
    return _dataset(data_root=None, config=values)


def test_data_is_prepared_by_the_process_file_with_its_siblings(write: Write, tmp_path: Path) -> None:
    write("toy/process.py", _PROCESS)
    write("toy/helpers.py", f"ROWS = {_ROWS!r}\n")
    task = _open(write, _prepared(dataset_name="sub"))
    assert task.prepare() == tmp_path / "cache" / "toy" / "sub" / "val"
    assert task.question_ids() == ["1", "b"]
    assert task.manifest is not None
    assert task.manifest["rows"] == 2


def test_the_process_file_may_lie_in_another_task_folder(write: Write) -> None:
    write("other/process.py", _PROCESS)
    write("other/helpers.py", f"ROWS = {_ROWS!r}\n")
    write("toy/helpers.py", "ROWS = []\n")
    assert len(_open(write, _prepared(processor="../other/process.py")).dataset) == 2


def test_prepared_data_is_used_without_importing_the_process_file(write: Write) -> None:
    write("toy/process.py", _PROCESS)
    write("toy/helpers.py", f"ROWS = {_ROWS!r}\n")
    _open(write, _prepared())
    write("toy/helpers.py", "raise RuntimeError('imported')\n")
    assert len(_open(write, _prepared()).dataset) == 2


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"processor": None}, "dataset.config.processor must be a non-empty string, got None"),
        (
            {"processed_dataset_path": 3},
            "dataset.config.processed_dataset_path must be a non-empty string, got 3",
        ),
        ({"processor": "nowhere.py"}, "nowhere.py: no such file"),
        ({"split": "../x"}, "dataset.config.split must be a relative folder name without '..', got '../x'"),
        ({"split": "/tmp/x"}, "dataset.config.split must be a relative folder name"),
        ({"split": 2024}, "dataset.config.split must be a relative folder name without '..', got 2024"),
        ({"dataset_name": "a/../../b"}, "dataset.config.dataset_name must be a relative folder name"),
    ],
)
def test_a_preparation_that_cannot_be_is_refused_at_once(
    write: Write, config: dict[str, Any], problem: str
) -> None:
    write("toy/process.py", _PROCESS)
    with pytest.raises(ConfigError) as caught:
        Task(write("toy/toy.py", _prepared(**config)))
    assert problem in str(caught.value)


def test_a_process_file_without_process_is_named(write: Write) -> None:
    write("toy/process.py", "def proces(cfg): ...\n")
    message = _refusal(write, _prepared())
    assert "process.py defines no function `process`" in message


# --- registered classes ---------------------------------------------------------------------------------------

_OWN_EVALUATOR = """
    from flagharness.evaluator import BaseEvaluator
    from flagharness.registry import EVALUATORS
    {decorator}
    class Own(BaseEvaluator):
        number = {number}
"""


@pytest.mark.parametrize("decorator", ["", "@EVALUATORS.register_module()"], ids=["plain", "decorated"])
def test_two_tasks_with_one_class_name_each_get_their_own(write: Write, decorator: str) -> None:
    tasks = []
    for number in (1, 2):
        write(f"toy{number}/own.py", _OWN_EVALUATOR.format(decorator=decorator, number=number))
        config = _dataset() + "register_evaluator = {'own.py': 'Own'}\nevaluator = dict(type='Own')\n"
        tasks.append(Task(write(f"toy{number}/toy.py", config)))
    assert [task.evaluator.number for task in tasks] == [1, 2]  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="'Own', which is not registered"):
        EVALUATORS.find("Own", {}, "evaluator.type")


def test_a_class_registered_twice_in_one_task_is_refused_and_both_are_named(write: Write) -> None:
    for name in ("one.py", "two.py"):
        write(f"toy/{name}", _OWN_EVALUATOR.format(decorator="@EVALUATORS.register_module()", number=1))
    config = _dataset() + _EVALUATOR + "register_evaluator = {'one.py': 'Own', 'two.py': 'Own'}\n"
    message = _refusal(write, config)
    assert "'Own' is registered twice as evaluator by one task" in message
    assert "_one.Own" in message
    assert "_two.Own" in message


def test_a_dataset_and_an_evaluator_may_share_a_name_and_a_file(write: Write) -> None:
    write(
        "toy/own.py",
        """
        from flagharness.data import VqaBaseDataset
        from flagharness.evaluator import BaseEvaluator

        class Own(VqaBaseDataset): ...

        class Scores(BaseEvaluator): ...
        """,
    )
    write("toy/own_evaluator.py", "from own import Scores as Own\n")
    config = (
        _dataset(type="Own")
        + "register_dataset = {'own.py': 'Own'}\n"
        + "register_evaluator = {'own.py': 'Scores', 'own_evaluator.py': 'Own'}\n"
        + "evaluator = dict(type='Own')\n"
    )
    task = _open(write, config)
    assert type(task.dataset).__name__ == "Own"
    assert type(task.evaluator).__name__ == "Scores"


def test_an_evaluator_finds_its_siblings_and_its_own_folder(write: Write) -> None:
    write("toy/helpers.py", "def right(): return 1\n")
    write(
        "toy/own.py",
        """
        from pathlib import Path
        from flagharness.evaluator import BaseEvaluator

        class Own(BaseEvaluator):
            def resource(self):
                from helpers import right
                return right(), Path(__file__).parent == Path(self.base_dir)
        """,
    )
    config = _dataset() + "register_evaluator = {'own.py': 'Own'}\nevaluator = dict(type='Own')\n"
    evaluator: Any = _open(write, config).evaluator
    assert evaluator.resource() == (1, True)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            _dataset() + "evaluator = dict(type='BaseEvalutor')\n",
            "evaluator.type is 'BaseEvalutor', which is not registered. Did you mean 'BaseEvaluator'? Registered: ",
        ),
        (
            _dataset(type="VqaBaseDatset") + _EVALUATOR,
            "dataset.type is 'VqaBaseDatset', which is not registered. Did you mean 'VqaBaseDataset'? Registered: ",
        ),
        (
            _dataset(prompt_template={"type": "PromptTemplat"}),
            "prompt_template.type is 'PromptTemplat', which is not registered. Did you mean 'PromptTemplate'?",
        ),
        (
            _dataset() + _EVALUATOR + "register_evaluator = {'own.py': 'Ownn'}\n",
            "own.py: no class 'Ownn'. Did you mean 'Own'?",
        ),
        (
            _dataset() + _EVALUATOR + "register_evaluator = {'nowhere.py': 'Own'}\n",
            "nowhere.py: no such file",
        ),
        (
            _dataset() + "register_evaluator = {'plain.py': 'Plain'}\nevaluator = dict(type='Plain')\n",
            "Plain is no subclass of flagharness.evaluator.BaseEvaluator",
        ),
        (
            _dataset()
            + "register_evaluator = {'strict.py': 'Strict'}\nevaluator = dict(type='Strict', limt=3)\n",
            "Did you mean 'limit'? It takes limit.",
        ),
        (
            _dataset()
            + "register_evaluator = {'strict.py': 'Strict'}\nevaluator = dict(type='Strict', limit=-1)\n",
            "evaluator: Strict cannot be built: ValueError: limit is below 0",
        ),
    ],
)
def test_a_class_that_cannot_be_used_is_told_with_the_nearest_name(
    write: Write, config: str, problem: str
) -> None:
    write("toy/own.py", _OWN_EVALUATOR.format(decorator="", number=1))
    write("toy/plain.py", "class Plain: ...\n")
    write(
        "toy/strict.py",
        """
        from flagharness.evaluator import BaseEvaluator

        class Strict(BaseEvaluator):
            def __init__(self, limit=0):
                if limit < 0:
                    raise ValueError("limit is below 0")
                super().__init__()
        """,
    )
    assert problem in _refusal(write, config)


def test_a_dataset_of_its_own_needs_no_base_class(write: Write) -> None:
    write(
        "toy/own.py",
        """
        class Own:
            def __init__(self, name, number):
                self.number = number
            def __len__(self):
                return 2
            def __getitem__(self, index):
                return {"question_id": index, "question": f"{index} of {self.number}?", "img_path": "/x.png"}
            def get_annotation(self):
                return {str(n): {"question_id": n, "answer": n} for n in range(2)}
        """,
    )
    config = "register_dataset = {'own.py': 'Own'}\ndataset = dict(type='Own', name='toy', number=7)\n"
    task = _open(write, config)
    assert task.question_ids() == ["0", "1"]
    assert task.sample(1) == Sample("1", "1 of 7?", (Path("/x.png"),))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "class Own:\n    def __init__(self, name): ...\n    def __len__(self): return 0\n",
            "Own has no `__getitem__`",
        ),
        (
            "class Own:\n    def __init__(self, name): ...\n    def __len__(self): return 2\n"
            "    def __getitem__(self, i): ...\n    def get_annotation(self): return {'1': {}}\n",
            "2 samples but 1 annotations: question_id must be unique",
        ),
    ],
)
def test_a_dataset_that_lacks_something_is_refused(write: Write, text: str, problem: str) -> None:
    write("toy/own.py", text)
    config = "register_dataset = {'own.py': 'Own'}\ndataset = dict(type='Own', name='toy')\n"
    assert problem in _refusal(write, config)


# --- the evaluator's options ----------------------------------------------------------------------------------


def test_options_of_the_evaluator_reach_it(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    config = (
        _dataset() + "evaluator = dict(type='BaseEvaluator', detailed_keys=['a'], start_method='spawn')\n"
    )
    evaluator = _open(write, config).evaluator
    assert evaluator is not None
    assert evaluator.detailed_keys == ["a"]
    assert evaluator.base_dir is not None
    assert caplog.messages == []


def test_eval_func_names_a_file_with_get_result(write: Write) -> None:
    write("toy/helpers.py", "ACCURACY = 7\n")
    write(
        "toy/evaluate.py",
        "from helpers import ACCURACY\ndef get_result(annotations, predictions): return ACCURACY\n",
    )
    task = _open(write, _dataset() + "evaluator = dict(type='BaseEvaluator', eval_func='evaluate.py')\n")
    assert task.evaluator is not None
    assert task.evaluator.eval_func is not None
    assert task.evaluator.eval_func({}, []) == 7  # type: ignore[comparison-overlap]


def test_eval_func_without_get_result_is_named(write: Write) -> None:
    write("toy/evaluate.py", "x = 1\n")
    config = _dataset() + "evaluator = dict(type='BaseEvaluator', eval_func='evaluate.py')\n"
    assert "evaluate.py defines no function `get_result`" in _refusal(write, config)


@pytest.mark.parametrize("text", ["", "evaluator = dict(type='BaseEvaluator', skip=True)\n"])
def test_a_task_may_have_nothing_to_score_with(write: Write, text: str) -> None:
    assert _open(write, _dataset() + text).evaluator is None


def test_skip_that_is_false_skips_nothing(write: Write) -> None:
    config = _dataset() + "evaluator = dict(type='BaseEvaluator', skip=False)\n"
    assert isinstance(_open(write, config).evaluator, BaseEvaluator)


def test_overrides_reach_dataset_and_evaluator(write: Write) -> None:
    task = _open(
        write, _dataset() + _EVALUATOR, overrides={"dataset.name": "other", "evaluator.detailed_keys": ["x"]}
    )
    assert task.name == "other"
    assert task.evaluator is not None
    assert task.evaluator.detailed_keys == ["x"]


def test_the_record_of_a_task_is_json_without_secrets(write: Write) -> None:
    config = """
        def post(annotation, **kwargs): return "x"

        dataset = dict(
            type="VqaBaseDataset", name="toy", data_root="data", cache_dir=None, with_label=True,
            prompt_template=dict(type="PromptTemplate", post_prompt=post),
        )
        evaluator = dict(type="BaseEvaluator", detailed_keys={"b", "a"})
        meta = dict(version=1, hf_token="hf_FAKE")
    """
    record = _open(write, config).describe()
    assert json.loads(json.dumps(record)) == record
    assert record["meta"] == {"version": 1, "hf_token": "***"}
    assert record["dataset"]["prompt_template"]["post_prompt"]["callable"].endswith("post")
    assert record["evaluator"]["detailed_keys"] == ["a", "b"]


# --- registries -----------------------------------------------------------------------------------------------


def test_what_is_registered_inside_the_block_stays_in_its_scope() -> None:
    registry, scope = Registry("toy"), {}  # type: ignore[var-annotated]

    class One: ...

    class Two: ...

    registry.register_module(module=One)
    with registering_into(scope):
        registry.register_module(module=Two)
        registry.register_module(name="another", module=Two)
        registry.register_module(name=["One"], module=Two)
    assert registry.find("One", {}, "x") is One
    assert registry.find("One", scope, "x") is Two
    assert registry.find("Two", scope, "x") is registry.find("another", scope, "x") is Two
    with pytest.raises(ConfigError, match=r"x is 'Two', which is not registered\. Registered: One\."):
        registry.find("Two", {}, "x")


@pytest.mark.parametrize("name", [None, 3, ["VqaBaseDataset"], ""])
def test_a_name_that_is_no_text_is_not_registered(name: Any) -> None:
    with pytest.raises(ConfigError, match="which is not registered"):
        DATASETS.find(name, {}, "dataset.type")
