"""What the harness costs over a bare asyncio + aiohttp loop that sends the same bodies to the same local server.

    python tools/bench/overhead.py                 # everything: about two minutes
    python tools/bench/overhead.py --requests 500  # a look

Every figure is set against a floor measured in the same run, because machines differ and are noisy. Rates are
those of the asking itself, from the first request to the last answer; CPU and memory are those of the whole
process, start-up and scoring included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
IMAGE_BYTES = 200 * 1024
DISTINCT_IMAGES = 64

TARGET_RATIO_AT_50_MS = 0.95
TARGET_MEMORY_GROWTH_MB = 60
TARGET_HELP_CPU_S = 0.4
TARGET_SMALL_RUN_S = 3.0


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    output: str


def measure(command: list[str], **environment: str) -> Cost:
    """Run a command to its end and account for it as a whole."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **environment}, cwd=ROOT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        out.seek(0)
        text = out.read().decode()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{text}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def make_task(folder: Path, rows: int) -> Path:
    """Write a task of ``rows`` counting questions over photographs of 200 KB."""
    from PIL import Image

    images = folder / "img"
    if not images.is_dir():
        images.mkdir(parents=True)
        for number in range(DISTINCT_IMAGES):
            noise = Image.frombytes("RGB", (480, 320), random.Random(number).randbytes(480 * 320 * 3))
            path = images / f"{number}.jpg"
            noise.save(path, quality=85)
            path.write_bytes(path.read_bytes().ljust(IMAGE_BYTES, b"\0"))  # padding behind the end is legal
    data = [
        {
            "question_id": number,
            "question": f"How many cells are in picture {number}?",
            "question_type": "count",
            "answer": 12,
            "img_path": f"img/{number % DISTINCT_IMAGES}.jpg",
        }
        for number in range(rows)
    ]
    name = f"bench_{rows}"
    (folder / f"{name}.json").write_text(json.dumps(data))
    config = folder / f"{name}.py"
    config.write_text(
        f"dataset = dict(type='VqaBaseDataset', data_root={str(folder)!r}, anno_file='{name}.json', name='{name}')\n"
        f"evaluator = dict(type='BaseEvaluator')\n"
    )
    return config


def run_harness(config: Path, url: str, workers: int, output: Path) -> tuple[Cost, float]:
    """Run the command line on a fresh output folder; returns its cost and the seconds it spent asking."""
    cost = measure(
        [
            *(sys.executable, "-m", "flagharness", "--tasks", str(config), "--model", "m", "--url", url),
            *("--num-workers", str(workers), "--output-dir", str(output), "--quiet"),
        ]
    )
    summary = json.loads((output / "summary.json").read_text())
    return cost, summary["tasks"][config.stem]["time_s"]


def run_bare(config: Path, url: str, workers: int) -> tuple[Cost, float]:
    """Run the bare loop over the same rows; returns its cost and the seconds it spent asking."""
    cost = measure(
        [sys.executable, str(HERE / "bare_loop.py"), str(config.with_suffix(".json")), url, str(workers)]
    )
    return cost, float(cost.output.split()[-1])


class Server:
    """The local endpoint in a process of its own, answering after ``latency_ms``."""

    def __init__(self, latency_ms: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "endpoint.py"), str(latency_ms)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3, help="pairs per latency; the median ratio counts")
    parser.add_argument(
        "--large", type=int, default=20_000, help="rows of the memory comparison; 0 leaves it out"
    )
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    missed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        config = make_task(folder, options.requests)
        print(
            f"{options.requests} requests, one {IMAGE_BYTES // 1024} KB JPEG each, {options.workers} in flight"
        )
        print(
            "latency  round  bare req/s  ours req/s  ratio  bare CPU s/1000  ours CPU s/1000  bare MB  ours MB"
        )
        peak = 0.0
        for latency_ms in (0, 50):
            ratios = []
            with Server(latency_ms) as server:
                for number in range(options.rounds):
                    bare, bare_s = run_bare(config, server.url, options.workers)
                    ours, ours_s = run_harness(
                        config, server.url, options.workers, folder / f"{latency_ms}-{number}"
                    )
                    ratios.append(bare_s / ours_s)
                    peak = max(peak, ours.peak_mb)
                    per_1000 = 1000 / options.requests
                    print(
                        f"{latency_ms:4d} ms  {number + 1:5d}  {options.requests / bare_s:10.0f}  "
                        f"{options.requests / ours_s:10.0f}  {ratios[-1]:5.3f}  {bare.cpu_s * per_1000:15.2f}  "
                        f"{ours.cpu_s * per_1000:15.2f}  {bare.peak_mb:7.0f}  {ours.peak_mb:7.0f}"
                    )
            median = sorted(ratios)[len(ratios) // 2]
            print(f"{latency_ms:4d} ms  median ratio {median:.3f}")
            if latency_ms == 50 and median < TARGET_RATIO_AT_50_MS:
                missed.append(f"ratio at 50 ms is {median:.3f}, below {TARGET_RATIO_AT_50_MS}")
        with Server(0) as server:
            if options.large:
                config = make_task(folder, options.large)
                large, _ = run_harness(config, server.url, options.workers, folder / "large")
                growth = large.peak_mb - peak
                print(
                    f"peak memory: {peak:.0f} MB at {options.requests}, {large.peak_mb:.0f} MB at {options.large}"
                )
                if growth > TARGET_MEMORY_GROWTH_MB:
                    missed.append(f"memory grows by {growth:.0f} MB, more than {TARGET_MEMORY_GROWTH_MB}")
            small = min(
                run_harness(make_task(folder, 32), server.url, 8, folder / f"small-{n}")[0].wall_s
                for n in range(3)
            )
        print(f"32 rows, instant endpoint, whole command: {small:.2f} s")
        if small > TARGET_SMALL_RUN_S:
            missed.append(f"32 rows take {small:.2f} s, more than {TARGET_SMALL_RUN_S}")
    help_cpu = min(measure([sys.executable, "-m", "flagharness", "--help"]).cpu_s for _ in range(5))
    print(f"--help: {help_cpu:.2f} s of CPU")
    if help_cpu > TARGET_HELP_CPU_S:
        missed.append(f"--help takes {help_cpu:.2f} s of CPU, more than {TARGET_HELP_CPU_S}")
    for line in missed:
        print(f"MISSED: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
