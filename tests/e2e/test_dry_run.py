"""--dry-run: everything is checked and rendered, nothing is asked."""

from __future__ import annotations

import json
import urllib.request
from typing import Any


def test_a_dry_run_asks_nothing_and_its_request_can_be_posted_as_it_is(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Any
) -> None:
    task = make_task(40)
    command = ("--tasks", task.config, "--cfg", make_model(max_tokens=8, num_infers=2), "--output-dir", out)

    ran = run_here(*command, "--dry-run")

    assert ran.returncode == 0, ran.stderr
    assert endpoint.calls == []
    cells = ran.stdout.splitlines()[2].split()
    image_bytes = sum(len(task.image(f"{row}.png")) for row in range(40))
    assert cells == ["toy", "40", "80", "80", f"{2 * image_bytes:,}", str(out / "toy" / "dry_run")]
    assert "Nothing was sent." in ran.stdout
    files = sorted((out / "toy" / "dry_run").iterdir())
    assert [file.name for file in files] == ["request_1.json", "request_2.json", "request_3.json"]

    post = urllib.request.Request(
        f"{endpoint.url}/chat/completions", files[1].read_bytes(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(post) as reply:
        assert json.load(reply)["choices"][0]["message"]["content"] == "1"
    by_hand = endpoint.calls[0]
    endpoint.forget()
    assert run_here(*command, "--limit", "3").returncode == 0
    assert by_hand.body in [call.body for call in endpoint.calls]


def test_a_dry_run_needs_no_model_and_finds_bad_rows(
    endpoint: Any, make_task: Any, run_here: Any, out: Any
) -> None:
    good, bad = make_task(2, "good"), make_task(2, "bad", missing=["1.png"])

    assert run_here("--tasks", good.config, "--dry-run", "--output-dir", out).returncode == 0
    ran = run_here("--tasks", good.config, bad.config, "--dry-run", "--output-dir", out)

    assert ran.returncode == 1
    assert "1 of 2 rows cannot be asked" in ran.stderr
    assert ran.stdout.splitlines()[3].split() == ["bad", "-", "-", "-", "-", "failed"]
