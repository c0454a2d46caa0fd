"""The command line: arguments to a RunSpec, sub-commands, exit status; nothing else.

Nothing heavy is imported here: `--help` and a mistyped option answer at once.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagharness import __version__
from flagharness.errors import ConfigError, FlagHarnessError, did_you_mean

if TYPE_CHECKING:
    from flagharness.config import JudgeConfig, ModelConfig
    from flagharness.engine import RunSpec

EXIT_TEXT = """\
exit status: 0 every sample answered and scored; 1 a task failed; 2 the command or a config is wrong;
3 scored, but some samples have no answer; 130 interrupted, the journal is safe.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    commands: dict[str, Callable[[list[str]], int]] = {
        "prepare": _prepare,
        "list": _list,
        "check": _check,
        "judge-audit": _judge_audit,
    }
    try:
        if arguments and arguments[0] in commands:
            return commands[arguments[0]](arguments[1:])
        if arguments and not arguments[0].startswith("-"):
            near = did_you_mean(arguments[0], commands)
            raise ConfigError(
                f"no command '{arguments[0]}'.{near} Commands: {', '.join(commands)}; or --tasks ..."
            )
        return _run(arguments)
    except FlagHarnessError as error:
        _say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        _say("Interrupted.")
        return 130
    except BrokenPipeError:
        return 1
    except OSError as error:
        _say(f"error: {error}. What was answered is safe in the run directory.")
        return 1


def _run(arguments: list[str]) -> int:
    options = _run_parser().parse_args(arguments)
    _set_up_logging(options.debug, options.quiet)
    spec = _run_spec(options)

    from flagharness.engine import Engine
    from flagharness.report import dry_run_table, summary_table

    engine = Engine(spec)
    status = engine.run()
    if spec.dry_run:
        _out(dry_run_table(engine.runs, engine.volumes, spec))
    else:
        _out(summary_table({run.label: engine.summary["tasks"][run.label] for run in engine.runs}))
        _out(f"Results: {spec.output_dir}")
    return status


def _run_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="flagharness",
        description="Measure a vision-language model on benchmarks, each a folder under tasks/.",
        epilog="commands: flagharness list | check TASK ... | prepare --tasks TASK ... |\n"
        "          judge-audit RUN_DIR --labels FILE\n" + EXIT_TEXT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--version", action="version", version=f"flagharness {__version__}")
    add(
        "--tasks",
        nargs="+",
        required=True,
        metavar="TASK",
        help="task configs: paths, or names such as countqa",
    )
    model = parser.add_argument_group("the model (over what --cfg says)")
    model.add_argument(
        "--cfg", "-c", metavar="JSON", help="model config: a file, a shipped name, or JSON text"
    )
    model.add_argument("--model", metavar="NAME", help="model name")
    model.add_argument("--url", help="endpoint: base URL or full chat-completions URL")
    model.add_argument("--api-key", "--api_key", metavar="KEY", help="better: ${NAME} in the config")
    model.add_argument("--model-type", "--model_type", metavar="T", help="http, or my_model.py:MyModel")
    model.add_argument("--backend", help=argparse.SUPPRESS)
    model.add_argument("--extra-args", "--extra_args", help=argparse.SUPPRESS)
    model.add_argument("--num-workers", "--num_workers", type=int, metavar="N", help="requests in flight (8)")
    model.add_argument("--num-infers", "--num_infers", type=int, metavar="N", help="answers per question (1)")
    model.add_argument("--temperature", type=float, metavar="T")
    model.add_argument(
        "--use-cache", "--use_cache", action="store_true", default=None, help=argparse.SUPPRESS
    )
    model.add_argument(
        "--judge-config", "--judge_config", "--judge", metavar="YAML",
        help="the judge of benchmarks that need one: a file, or a shipped name such as judge.yaml",
    )  # fmt: skip
    what = parser.add_argument_group("what to do")
    what.add_argument("--try-run", "--try_run", action="store_true", help="the first 32 samples of each task")
    what.add_argument("--limit", type=int, metavar="N", help="the first N samples of each task")
    what.add_argument(
        "--dry-run", "--dry_run", action="store_true", help="check and render everything, ask nothing"
    )
    what.add_argument(
        "--without-infer", "--without_infer", "--wi", "-wi", action="store_true",
        help="score again what lies in --output-dir; no request to the model",
    )  # fmt: skip
    what.add_argument("--skip", action="store_true", help="leave out tasks that are finished in --output-dir")
    what.add_argument(
        "--overwrite", action="store_true", help="start over; the old run is put aside, not deleted"
    )
    what.add_argument(
        "--skip-bad-rows", "--skip_bad_rows", action="store_true",
        help="ask the rest when some rows cannot be asked; they count as wrong",
    )  # fmt: skip
    what.add_argument(
        "--retry-parse-failures", "--retry_parse_failures", action="store_true",
        help="ask again what was answered unreadably; the result says so",
    )  # fmt: skip
    where = parser.add_argument_group("where")
    where.add_argument(
        "--output-dir", "--output_dir", metavar="DIR", help="run directory (results/<model name>)"
    )
    where.add_argument("--data-root", "--data_root", metavar="DIR", help="take the data from this folder")
    where.add_argument(
        "--cfg-options", "--cfg_options", nargs="+", metavar="KEY=VALUE", default=[],
        help="change values of the task configs, e.g. dataset.config.split=val",
    )  # fmt: skip
    say = parser.add_argument_group("what to say")
    say.add_argument(
        "--debug", action="store_true", help="log every prompt, media list, response and verdict"
    )
    say.add_argument(
        "--quiet", "-q", action="store_true", help="no progress line, only warnings and the result"
    )
    return parser


def _run_spec(options: argparse.Namespace) -> RunSpec:
    from flagharness.engine import TRY_RUN_SAMPLES, RunSpec

    if options.limit is not None and options.limit < 1:
        raise ConfigError(f"--limit must be at least 1, got {options.limit}.")
    for one, other in (
        ("without_infer", "overwrite"),
        ("without_infer", "dry_run"),
        ("without_infer", "retry_parse_failures"),
        ("overwrite", "skip"),
    ):
        if getattr(options, one) and getattr(options, other):
            raise ConfigError(
                f"--{one.replace('_', '-')} and --{other.replace('_', '-')} exclude each other."
            )
    limits = [n for n in (options.limit, TRY_RUN_SAMPLES if options.try_run else None) if n is not None]
    model = _model_config(options)
    return RunSpec(
        tasks=options.tasks,
        model=model,
        output_dir=_output_dir(options, model),
        limit=min(limits, default=None),
        data_root=options.data_root,
        overrides=dict(_key_value(text) for text in options.cfg_options),
        dry_run=options.dry_run,
        without_infer=options.without_infer,
        overwrite=options.overwrite,
        skip=options.skip,
        skip_bad_rows=options.skip_bad_rows,
        judge=_judge_config(options.judge_config),
        retry_parse_failures=options.retry_parse_failures,
        quiet=options.quiet,
    )


def _model_config(options: argparse.Namespace) -> ModelConfig | None:
    from flagharness.config import load_model_config

    overrides = {
        "model_name": options.model,
        "url": options.url,
        "api_key": options.api_key,
        "model_type": options.model_type,
        "backend": options.backend,
        "extra_args": options.extra_args,
        "num_workers": options.num_workers,
        "num_infers": options.num_infers,
        "temperature": options.temperature,
        "use_cache": options.use_cache,
    }
    if options.cfg is None and options.model is None:
        given = [key for key, value in overrides.items() if value is not None]
        if given and not options.without_infer:
            raise ConfigError(f"--{given[0].replace('_', '-')} needs a model: give --cfg or --model.")
        return None
    return load_model_config(options.cfg, overrides)


def _judge_config(source: str | None) -> JudgeConfig | None:
    from flagharness.config import load_judge_config

    return load_judge_config(source) if source is not None else None


def _output_dir(options: argparse.Namespace, model: ModelConfig | None) -> Path:
    if options.output_dir is not None:
        return Path(options.output_dir).expanduser()
    if model is None:
        if options.without_infer:
            raise ConfigError("--without-infer needs --output-dir: the run directory to score again.")
        return Path("results") / "dry-run"
    if model.output_dir:
        return Path(model.output_dir).expanduser()
    # "org/name" stays two folders, so that org-a/m and org-b/m do not collide; no part may climb out.
    parts = [part for part in model.model_name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return Path("results", *parts)


def _key_value(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"--cfg-options {text}: expected KEY=VALUE.")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def _prepare(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="flagharness prepare", description="Get and convert the data of tasks; nothing is asked."
    )
    parser.add_argument("--tasks", nargs="+", required=True, metavar="TASK")
    parser.add_argument("--force", action="store_true", help="prepare again even if the data is there")
    parser.add_argument("--cfg-options", "--cfg_options", nargs="+", metavar="KEY=VALUE", default=[])
    parser.add_argument("--quiet", "-q", action="store_true")
    options = parser.parse_args(arguments)
    _set_up_logging(False, options.quiet)

    from flagharness.config import find_task_config
    from flagharness.task import Task

    overrides = dict(_key_value(text) for text in options.cfg_options)
    tasks = [Task(find_task_config(name), overrides) for name in options.tasks]
    status = 0
    for task in tasks:
        try:
            folder = task.prepare(force=options.force)
        except FlagHarnessError as error:
            _say(f"error: {task.name}: {error}")
            status = 1
            continue
        _out(f"{task.name}: {folder or 'uses data_root; there is nothing to prepare'}")
    return status


def _list(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="flagharness list", description="The tasks that a bare name can reach."
    )
    parser.add_argument("--json", action="store_true", help="all that the configs say of themselves, as JSON")
    options = parser.parse_args(arguments)

    from flagharness.report import list_tasks, task_table

    tasks = list_tasks()
    _out(json.dumps(tasks, indent=2, ensure_ascii=False) if options.json else task_table(tasks))
    return 0


def _check(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="flagharness check",
        description="Check task folders: the config loads, README and meta are there, the golden cases come out.",
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="task configs: paths, folders or names")
    parser.add_argument("--all", action="store_true", help="every task that a bare name can reach")
    options = parser.parse_args(arguments)
    if bool(options.tasks) == options.all:
        raise ConfigError("flagharness check: name tasks, or give --all.")
    _set_up_logging(False, False)

    from flagharness.check import check_task
    from flagharness.config import all_task_configs, find_task_config

    paths = all_task_configs() if options.all else [find_task_config(name) for name in options.tasks]
    checks = [check_task(path) for path in paths]
    for check in checks:
        _out(
            f"{'ok' if not check.problems else 'FAILED':6}  {check.path.stem}  ({check.golden_cases} golden cases)"
        )
        for problem in check.problems:
            _out(f"        {problem}")
    return 1 if any(check.problems for check in checks) else 0


def _judge_audit(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="flagharness judge-audit",
        description="Hold the judges' verdicts of a run against the labels of people; nothing is asked.",
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="the --output-dir of a run")
    parser.add_argument(
        "--labels",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSONL, JSON, CSV or TSV with question_id and verdict (correct, incorrect, not_attempted, invalid), "
        "and, where needed, task and inference",
    )
    parser.add_argument("--task", help="only this task")
    parser.add_argument(
        "--judge", help="only this judge: its id, 'majority', or 'rule' for what took no call"
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    options = parser.parse_args(arguments)

    _set_up_logging(debug=False, quiet=False)
    from flagharness.report import audit_judges, audit_table

    audits = audit_judges(options.run_dir, options.labels, options.task, options.judge)
    as_json = json.dumps([audit.to_json() for audit in audits], indent=2, ensure_ascii=False)
    _out(as_json if options.json else audit_table(audits))
    return 0


def _set_up_logging(debug: bool, quiet: bool) -> None:
    level = logging.DEBUG if debug else logging.WARNING if quiet else logging.INFO
    handler = _TerminalHandler()
    handler.setFormatter(logging.Formatter("%(levelname).1s %(message)s" if debug else "%(message)s"))
    ours = logging.getLogger("flagharness")
    ours.handlers[:] = [handler]
    ours.setLevel(level)
    ours.propagate = False


class _TerminalHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to stderr without tearing the progress line."""

    def emit(self, record: logging.LogRecord) -> None:
        tqdm = sys.modules.get("tqdm")
        if tqdm is None:
            super().emit(record)
            return
        with tqdm.tqdm.external_write_mode(file=sys.stderr):
            super().emit(record)


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")


def _out(message: str) -> None:
    sys.stdout.write(message + "\n")
    sys.stdout.flush()
