"""A small service with kinds of its own: arithmetic, and every way to fail. Imported by workers and their children."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.digest import digest_value
from deltann.errors import JobFailure
from deltann.job import Job, JobResult, Plan
from deltann.outcome import Outcome
from deltann.service import JobContext, Kind, Produced, Service
from deltann.spec.models import Study
from deltann.store.layout import read_all_done, read_results


class Value(Data):
    value: float = 0.0
    seconds: float = 0.0
    trace: str = ""


class Report(Data):
    pass


def add(params: Value, context: JobContext) -> Produced:
    """value + the values of all needs, after a while; leaves a line per run in the file ``trace``."""
    _trace(params, context)
    time.sleep(params.seconds)
    total = params.value + sum(float(json.loads(context.fetch(role).read_text())) for role in context.inputs)
    out = context.workdir / "value"
    out.write_text(json.dumps(total))
    print(f"added {total}")
    return Produced({**{role: context.put(out) for role in ("value", "left", "right")}}, {"total": total})


def read(params: Value, context: JobContext) -> Produced:
    return Produced(data={"text": context.fetch("value").read_text()})


def warm(params: Value, context: JobContext) -> Produced:
    context.warm["runs"] = context.warm.get("runs", 0) + 1
    return Produced(data={"pid": os.getpid(), "runs": context.warm["runs"], "omp": os.environ["OMP_NUM_THREADS"]})


def crash(params: Value, context: JobContext) -> Produced:
    _trace(params, context)
    print("about to crash", flush=True)
    os.kill(os.getpid(), int(params.value) or signal.SIGSEGV)
    time.sleep(60)
    raise AssertionError


def leave(params: Value, context: JobContext) -> Produced:
    os._exit(7)


def hang(params: Value, context: JobContext) -> Produced:
    """Hang, with a grandchild in a session of its own that hangs too."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=params.value == 1
    )
    if params.trace:
        Path(params.trace).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)
    raise AssertionError


def hoard(params: Value, context: JobContext) -> Produced:
    hoarded = bytearray(300 << 20)
    hoarded[::4096] = b"x" * len(hoarded[::4096])
    time.sleep(60)
    raise AssertionError


def numbers(params: Value, context: JobContext) -> Produced:
    import numpy as np

    return Produced(
        data={"nan": float("nan"), "inf": np.float32("inf"), "one": np.int64(1), "list": np.array([1.5, np.nan])}
    )


def fail(params: Value, context: JobContext) -> Produced:
    _trace(params, context)
    if params.value == 1:
        raise MemoryError("no room")
    try:
        raise ValueError("from inside")
    except ValueError as error:
        raise JobFailure(Outcome.CONVERT_FAILED, "export", "The exporter does not know the operator.") from error


def wrapped(params: Value, context: JobContext) -> Produced:
    """Fail as a handler does that takes whatever happens for its framework's failure."""
    _trace(params, context)
    try:
        context.fetch("value")
        (context.workdir / "out").write_bytes(bytes(int(params.value)))
    except Exception as error:
        raise JobFailure(Outcome.COMPILE_FAILED, "compile", "the compiler failed") from error
    return Produced(data={"total": params.value})


def abort(params: Value, context: JobContext) -> Produced:
    """Die as native code does that finds a disk full."""
    _trace(params, context)
    try:
        (context.workdir / "out").write_bytes(bytes(int(params.value)))
    except OSError:
        os.abort()
    return Produced(data={"total": params.value})


def slow(params: Value, context: JobContext) -> Produced:
    time.sleep(params.seconds)
    return Produced(data={"total": params.value, "pid": os.getpid()})


def forsake(params: Value, context: JobContext) -> Produced:
    """Hang, with a grandchild that its own parent has left, in a session of its own."""
    code = "import subprocess as s; print(s.Popen(['sleep', '600'], start_new_session=True, stdout=-3, stderr=-3).pid)"
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    Path(params.trace).write_text(f"{os.getpid()} {left.strip()}")
    time.sleep(600)
    raise AssertionError


def chatter(params: Value, context: JobContext) -> Produced:
    for line in range(40_000):
        print(f"line {line:06d}")
    subprocess.run([sys.executable, "-c", "print('from a grandchild')"], check=True)
    return Produced()


def analyze(params: Report, context: JobContext) -> Produced:
    done = read_all_done(context.store, context.sweep)
    results = read_results(context.store, done)
    table = {str(i): result.data.get("total") for i, result in sorted(results.items())}
    folder = context.workdir / "report"
    folder.mkdir()
    (folder / "report.json").write_text(json.dumps(table))
    return Produced({"report": context.put(folder)}, {"gates_ok": True, "summary": [f"{len(results)} results"]})


def _trace(params: Value, context: JobContext) -> None:
    if params.trace:
        with Path(params.trace).open("a") as file:
            file.write(f"{context.job.kind} {params.value}\n")


def _kind(name: str, **more: Any) -> Kind:
    return Kind(name, Value, f"deltann_arithmetic:{name}", failure=Outcome.RUN_FAILED, **more)


SERVICE = Service(
    "arithmetic",
    (
        _kind("add", toolchain=lambda params: ("numpy", "a-distribution-that-is-not-there")),
        _kind("read"),
        _kind("warm", affinity=lambda params: f"group {params.value:g}"),
        _kind("crash"),
        _kind("leave"),
        _kind("hang", seconds=2.0),
        _kind("hoard", memory_mb=150),
        _kind("numbers"),
        _kind("fail"),
        _kind("chatter"),
        _kind("wrapped", affinity=lambda params: "wrapped"),
        _kind("abort"),
        _kind("slow", affinity=lambda params: "slow"),
        _kind("forsake", seconds=30.0),
        Kind("analyze", Report, "deltann_arithmetic:analyze", failure=Outcome.RUN_FAILED),
        Kind("alone", Value, "deltann_arithmetic:add", failure=Outcome.RUN_FAILED, exclusive=True, device_bound=True),
    ),
)
NAME = "deltann_arithmetic:SERVICE"


class Graph:
    """Builds plans of this service's jobs."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def job(
        self,
        kind: str,
        value: float = 0.0,
        *needs: int,
        after: tuple[int, ...] = (),
        phase: int = 0,
        seconds: float = 0.0,
        trace: str = "",
        sources: Mapping[str, ArtifactRef] | None = None,
        queue: str = "arithmetic",
    ) -> int:
        params: dict[str, JsonValue] = {} if kind == "analyze" else {"value": value, "seconds": seconds, "trace": trace}
        index = len(self.jobs)
        roles = ("value", "left", "right")
        self.jobs.append(
            Job(
                index=index,
                kind=kind,
                params=params,
                queue=queue,
                job_id=digest_value([kind, params, index]),
                needs=dict(zip(roles, needs, strict=False)),
                after=after,
                phase=phase,
                sources=dict(sources or {}),
                label=f"{kind} {value:g}",
            )
        )
        return index

    def plan(self) -> Plan:
        return Plan(jobs=tuple(self.jobs))


def study(name: str, **graph: Any) -> Study:
    """A study that only carries a name and, in its data source, what the test planner builds."""
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": name,
            "models": [{"name": "m", "natives": [{"source": "none"}], "preprocessing": ["none"]}],
            "data": {"source": json.dumps(graph)},
        }
    )


class ArithmeticPlanner:
    """Plans from the JSON in ``data.source``: ``resolve`` and ``sweep`` are lists of calls of Graph.job."""

    def sweep_id(self, study: Study) -> str:
        return f"{study.name}-{digest_value(study)[:8]}"

    def resolve(self, study: Study) -> Plan:
        return _graph(json.loads(study.data.source).get("resolve", [["add", 1.0]]))

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        return _graph(json.loads(study.data.source)["sweep"])


def _graph(calls: list[list[Any]]) -> Plan:
    graph = Graph()
    for call in calls:
        more = call[-1] if isinstance(call[-1], dict) else {}
        positional = call[:-1] if isinstance(call[-1], dict) else call
        if "after" in more:
            more["after"] = tuple(more["after"])
        graph.job(*positional, **more)
    return graph.plan()
