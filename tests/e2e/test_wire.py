"""What reaches the endpoint: the pictures' own bytes, the text, the settings, and nothing else."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest


def test_a_run_sends_the_files_own_bytes_and_writes_what_a_user_reads(
    endpoint: Any, make_task: Any, make_model: Any, run_cli: Any, files_of: Any, out: Any, read_json: Any
) -> None:
    rows = [
        {"question_id": 7, "question": "How many 猫 are there? 3 🐱", "answer": 3, "img_path": "a.jpg"},
        {
            "question_id": "b",
            "question": "How many 4?",
            "answer": 4,
            "img_path": ["b.png", "c.webp", "d.gif"],
        },
        {"question_id": "text", "question": "Say 5.", "answer": 6},
    ]
    rows = [{**row, "question_type": "count", "sub_task": "x"} for row in rows]
    task = make_task(rows, evaluator={"type": "BaseEvaluator", "detailed_keys": ["sub_task"]})
    # What the file is called does not decide what it is.
    task.data.joinpath("b.png").write_bytes(task.image("a.jpg"))

    ran = run_cli("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    calls = sorted(endpoint.calls, key=lambda call: call.asked)
    assert [call.path for call in calls] == ["/v1/chat/completions"] * 3
    assert [set(call.body) for call in calls] == [{"model", "messages"}] * 3
    assert all("Authorization" not in call.headers for call in calls)
    assert calls[0].images == [("image/jpeg", task.image("a.jpg"))]
    assert calls[0].text == "How many 猫 are there? 3 🐱\nYour final answer should be a single integer."
    assert calls[1].images == [
        ("image/jpeg", task.image("b.png")),
        ("image/webp", task.image("c.webp")),
        ("image/gif", task.image("d.gif")),
    ]
    assert calls[2].body["messages"] == [{"role": "user", "content": calls[2].text}]

    files = files_of()
    assert [row["question_id"] for row in files.predictions] == ["7", "b", "text"]
    first = files.predictions[0]
    assert first["question"] == calls[0].text
    assert (first["answer"], first["reason"], first["status"], first["error"]) == ("3", "", "ok", None)
    assert first["usage"]["completion_tokens"] == 2
    assert (first["finish_reason"], first["response_id"], first["model"]) == ("stop", "reply-1", "served")
    assert sorted(row["question_id"] for row in files.journal) == ["7", "b", "text"]
    verdict = files.evaluated[0]
    assert (verdict["raw_answer"], verdict["answer"], verdict["label"], verdict["correct"]) == (
        "3",
        3,
        3,
        True,
    )
    assert files.evaluated[2]["correct"] is False
    assert files.result["accuracy"] == 66.67
    assert files.counts == {"total": 3, "answered": 3}
    assert files.result["detailed"]["sub_task"]["x"]["n"] == 3
    assert files.result["partial"] is False
    assert files.result["tokens"] == {"prompt": 30, "completion": 6}
    assert files.summary["requests"] == {"asked": 3, "kept": 0, "retries": 0}
    assert files.summary["score"] == 66.67
    assert read_json(out / "summary.json")["model"] == "m"
    digest = hashlib.sha256(task.data.joinpath("data.json").read_bytes()).hexdigest()
    assert digest.startswith(files.config["data"]["digest"])
    assert files.config["model"]["model_name"] == "m"
    assert "66.67" in ran.stdout
    assert ran.stdout.rstrip().endswith(f"Results: {out}")


def test_what_is_set_is_sent_and_null_takes_a_field_out(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Any, files_of: Any
) -> None:
    settings = {"temperature": 0, "top_p": 0.9, "max_tokens": 16, "seed": 0, "stop": ["\n"], "max_retries": 0}
    model = make_model(
        **settings,
        reasoning={"effort": "low"},
        extra_body={"top_k": 5, "top_p": None},
        system_prompt="Be brief.",
    )

    ran = run_here(
        "--tasks", make_task(1).config, "--cfg", model, "--temperature", "0.5", "--output-dir", out
    )

    assert ran.returncode == 0, ran.stderr
    body = dict(endpoint.calls[0].body)
    assert body.pop("messages")[0] == {"role": "system", "content": "Be brief."}
    assert body == {
        "model": "m",
        "temperature": 0.5,
        "max_tokens": 16,
        "seed": 0,
        "stop": ["\n"],
        "reasoning": {"effort": "low"},
        "top_k": 5,
    }
    assert files_of().config["model"]["temperature"] == 0.5


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_body_is_what_the_openai_package_would_send(
    stream: bool, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Any
) -> None:
    import openai

    done = [
        'data: {"choices": [{"delta": {"content": "1"}, "finish_reason": "stop"}]}',
        "",
        "data: [DONE]",
        "",
    ]
    endpoint.script = lambda call: endpoint.streams(*done) if stream else "1"
    settings = {
        "temperature": 0.2,
        "top_p": 0.5,
        "max_tokens": 9,
        "seed": 3,
        "stop": "é",
        "system_prompt": "Ü 数",
    }
    rows = [
        {"question_id": 1, "question": '<image 1> "1" of \\ 🐱\t<image 2>?', "img_path": ["a.jpg", "b.png"]}
    ]
    task = make_task(rows, evaluator=None)
    model = make_model(**settings, stream=stream, api_key="sk-x", extra_body={"top_k": 5})

    ran = run_here("--tasks", task.config, "--cfg", model, "--output-dir", out)
    assert ran.returncode == 0, ran.stderr
    ours = endpoint.calls[0]
    del settings["system_prompt"]
    further: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    with openai.OpenAI(base_url=endpoint.url, api_key="sk-x", max_retries=0) as client:
        client.chat.completions.create(
            model="m", messages=ours.body["messages"], extra_body={"top_k": 5}, **settings, **further
        )

    theirs = endpoint.calls[1]
    assert ours.body == theirs.body
    assert ours.path == theirs.path
    for header in ("Authorization", "Content-Type", "Accept"):
        assert ours.headers[header] == theirs.headers[header]
    assert [kind for kind, _ in ours.images] == ["image/jpeg", "image/png"]
    assert [part["type"] for part in ours.parts] == ["image_url", "text", "image_url", "text"]
    assert ours.body["messages"][0] == {"role": "system", "content": "Ü 数"}


def test_every_form_of_the_url_reaches_the_same_path(
    hard_case: Any, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, tmp_path: Any
) -> None:
    case = hard_case("BL-099")
    task = make_task(1)
    for number, form in enumerate(case["input"]["url_ends"]):
        model = make_model(url=endpoint.host + form)
        ran = run_here("--tasks", task.config, "--cfg", model, "--output-dir", tmp_path / f"out{number}")
        assert ran.returncode == 0, ran.stderr
    assert [call.path for call in endpoint.calls] == [case["expected"]["path"]] * 4


def test_several_endpoints_share_the_requests(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    all_there = endpoint.gate()

    def script(call: Any) -> Any:
        reply = endpoint.says(str(call.asked))
        return reply.opening(all_there) if call.number == 3 else reply.held_by(all_there)

    endpoint.script = script
    model = make_model(url=[f"{endpoint.host}/{name}/v1" for name in ("a", "b")], num_workers=4, timeout=20)

    ran = run_here("--tasks", make_task(4).config, "--cfg", model, "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    ends = sorted(call.path for call in endpoint.calls)
    assert ends == [*["/a/v1/chat/completions"] * 2, *["/b/v1/chat/completions"] * 2]
    assert files_of().result["accuracy"] == 100.0
