"""Candidates run in a child process under limits: whatever becomes of it, there is an answer or a failure."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deltann.errors import JobFailure, StoreError
from deltann.job import Job
from deltann.kinds.bisect import Symptom
from deltann.layers.layout import relative_error
from deltann.outcome import Outcome
from deltann.worker.children import Children
from deltann.worker.process import Ended
from deltann.worker.wire import Reply
from deltann_compiler.bisect.candidate import ANSWERS, CANDIDATE, DEVICE, CandidateParams
from deltann_compiler.bisect.pipeline import Pipeline

_MEMORY_MB = 8_192
_LEAST_S, _TIMES = 60.0, 10.0
"""A candidate has at least so long, and so many times what the slowest one took that gave an answer."""
_SYMPTOMS: dict[str, Symptom] = {
    Outcome.COMPILE_FAILED: "compile_failed",
    Outcome.RUN_FAILED: "run_failed",
    Outcome.CRASHED: "crashed",
    Outcome.TIMED_OUT: "timed_out",
}


@dataclass(frozen=True)
class Case:
    """A model and what it is fed.

    Args:
        model: an .onnx of known shapes.
        inputs: its inputs in order, [n, …] each.
    """

    model: Path
    inputs: Path


@dataclass(frozen=True)
class Failure:
    """No answer."""

    symptom: Symptom
    message: str


Answer = tuple[np.ndarray, ...] | Failure
"""Outputs in order, [n, …] each."""


@dataclass(frozen=True)
class Shown:
    """What an answer shows against another: how, on which of the inputs, and the error of each, infinite for NaN."""

    symptom: Symptom | None
    errors: tuple[float, ...]
    message: str = ""


def held(a: Answer, b: Answer, tolerance: float) -> Shown | None:
    """What b shows against a; None where a is no answer."""
    if isinstance(a, Failure):
        return None
    if isinstance(b, Failure):
        return Shown(b.symptom, (), b.message)
    n = len(a[0])
    if [one.shape for one in a] != [one.shape for one in b]:
        shapes = " against ".join(str([list(one.shape[1:]) for one in side]) for side in (a, b))
        return Shown("differs", (float("inf"),) * n, f"outputs of other shapes: {shapes}")
    errors = tuple(
        max(relative_error(one[place], two[place]) for one, two in zip(a, b, strict=True)) for place in range(n)
    )
    return Shown("differs" if max(errors) > tolerance else None, errors)


@dataclass
class Trials:
    """Runs candidates; each is run once.

    Args:
        children: of the candidates' service.
        target: its text.
        folder: to work in.
        limit_s: of one candidate; once some have answered, many times what they took is as good as never.
    """

    children: Children
    target: str
    folder: Path
    limit_s: float
    made: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    _known: dict[tuple[Case, Pipeline], Answer] = field(default_factory=dict)
    _cases: int = 0
    _longest_s: float = 0.0

    @property
    def limit(self) -> float:
        """Seconds after which the next candidate counts as one that never ends."""
        patience = max(_LEAST_S, _TIMES * self._longest_s)
        return min(self.limit_s, patience) if self._longest_s else self.limit_s

    def case(self, model: Any, inputs: Sequence[np.ndarray]) -> Case:
        """Write a model and its inputs, [n, …] each, where a child can read them."""
        import onnx

        self._cases += 1
        folder = self.folder / f"case{self._cases}"
        folder.mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        named: dict[str, Any] = {str(place): values for place, values in enumerate(inputs)}
        np.savez(folder / "inputs.npz", **named)
        return Case(folder / "model.onnx", folder / "inputs.npz")

    def forget(self, case: Case) -> None:
        """Remove a case that has nothing to show: a large model is cut many times."""
        shutil.rmtree(case.model.parent)
        self._known = {key: answer for key, answer in self._known.items() if key[0] != case}

    def answer(self, case: Case, built: Pipeline) -> Answer:
        """What a build answers.

        Raises:
            JobFailure: where this machine cannot run such a build.
            StoreError: where the machine failed.
        """
        key = (case, built)
        if key not in self._known:
            self._known[key] = self.build(case, built, case.model.parent / f"build{self.made}")
        return self._known[key]

    def build(self, case: Case, built: Pipeline, out: Path, *, keep: bool = False) -> Answer:
        """The same, with what it wrote in a folder that is made."""
        out.mkdir()
        params = CandidateParams(
            model=str(case.model),
            inputs=str(case.inputs),
            out=str(out),
            target=self.target,
            rows=built.rows,
            schedule=built.schedule,
            keep=keep,
        )
        job = Job(
            index=self.made, kind=CANDIDATE.name, params=params.model_dump(mode="json"), queue="", job_id=str(self.made)
        )
        self.made += 1
        began = time.monotonic()
        end, log = self.children.run(
            "bisect", job, {}, affinity="tvm", threads=1, seconds=self.limit, memory_mb=_MEMORY_MB
        )
        assert end is not None, "nothing gives up here"
        outcome, stage, message = _told(end)
        if outcome == Outcome.OK:
            self._longest_s = max(self._longest_s, time.monotonic() - began)
            with np.load(out / ANSWERS, allow_pickle=False) as arrays:
                return tuple(arrays[str(place)] for place in range(len(arrays.files)))
        if stage in (DEVICE, "target"):
            raise JobFailure(outcome, stage, message)
        print(f"candidate {self.made}: {outcome}: {message}\n{log.decode(errors='replace')[-2000:]}", flush=True)
        self.failed[outcome] += 1
        return Failure(_SYMPTOMS.get(outcome, "compile_failed"), message)


def _told(end: Reply | Ended) -> tuple[Outcome, str, str]:
    """Outcome, stage and message of a candidate.

    Raises:
        StoreError: where its end says nothing of it.
    """
    if isinstance(end, Ended):
        return end.outcome, "", end.message
    if end.trouble is not None:
        raise StoreError(end.trouble)
    return (end.outcome, end.error.stage, end.error.message) if end.error else (end.outcome, "", "")
