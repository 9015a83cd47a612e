"""Measures how much faster two executors of a pool finish the execute stage of a label-only sweep than one.

usage: bench/executors.py [SPEC] [--rounds N] [--json]

The study (bench/executors.yaml where none is named) is run without timings, once to resolve, convert and compile
everything, then with one and with two executors in turn, each time with one photo less, so that every label is computed
anew and nothing else is. The stage lasts from the start of its first job to the end of its last. The target is 1.7.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path

from deltann.embedded import EmbeddedStack, WorkerSpec
from deltann.service import ready_loaders
from deltann.spec.load import load_study
from deltann.spec.models import Gates, Study
from deltann.staging import stage
from deltann.store.layout import read_all_done, read_plan

HERE = Path(__file__).resolve().parent
TARGET = 1.7


def stage_seconds(home: Path, study: Study, base: Path, executors: int) -> float:
    """Run the study; how long its execute stage lasted."""
    workers = [
        WorkerSpec(service="converter"),
        WorkerSpec(service="compiler", count=os.cpu_count() or 1),
        WorkerSpec(service="executor", pool="cpu", count=executors),
        WorkerSpec(service="analyzer"),
    ]
    with EmbeddedStack(home, workers) as stack:
        stack.wait_ready()
        sid = stack.backend.submit(stage(study, base, stack.store, loaders=ready_loaders()))
        *_, end = stack.backend.watch(sid)
        if end.state != "done":
            raise SystemExit(f"The sweep ended as {end.state}: {end.error}")
        plan, done = read_plan(stack.store, sid), read_all_done(stack.store, sid)
    assert plan is not None
    records = [done[job.index] for job in plan.jobs if job.kind == "execute"]
    return max(record.finished for record in records) - min(record.started for record in records)


def measure(spec: Path, rounds: int) -> dict[str, float]:
    study = load_study(spec).model_copy(update={"timing": None, "gates": Gates()})
    total = study.data.limit or 200
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory(prefix="deltann-bench-") as folder:
        for turn in range(2 * rounds + 1):
            data = study.data.model_copy(update={"limit": total - turn})
            executors = 1 + turn % 2
            took = stage_seconds(Path(folder), study.model_copy(update={"data": data}), spec.parent, executors)
            if turn:
                seconds[executors].append(took)
    one, two = statistics.median(seconds[1]), statistics.median(seconds[2])
    return {"one_s": one, "two_s": two, "faster": one / two}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", nargs="?", type=Path, default=HERE / "executors.yaml")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    row = measure(options.spec, options.rounds)
    if options.json:
        print(json.dumps(row))
        return
    print(f"execute stage: one executor {row['one_s']:.1f} s, two {row['two_s']:.1f} s")
    print(f"{row['faster']:.2f} times as fast (target {TARGET})")


if __name__ == "__main__":
    main()
