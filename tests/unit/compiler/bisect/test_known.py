from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from deltann_compiler.bisect.known import Differing, known_to_differ

from deltann.job import Job, JobResult
from deltann.kinds.bisect import BisectParams, Setting
from deltann.outcome import Outcome
from deltann.preprocess.steps import Recipe
from deltann.service import JobContext
from deltann.store import LocalStore

PARAMS = BisectParams(a=Setting(level=0), b=Setting(level=4), recipe=Recipe(name="none"))
RIGHT = np.array([[0.0, 4.0], [3.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]], np.float32)


def context(folder: Path, *answers: dict[str, np.ndarray]) -> JobContext:
    store, inputs = LocalStore(folder / "store"), {}
    for role, arrays in zip(("answers_a", "answers_b"), answers, strict=False):
        path = folder / f"{role}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        refs = {"outputs": store.put_path(path)}
        inputs[role] = JobResult(kind="execute", result_key=role, outcome=Outcome.OK, artifacts=refs)
    job = Job(index=0, kind="bisect", params={}, queue="compiler", job_id="0")
    return JobContext(store=store, sweep="s", job=job, inputs=inputs, workdir=folder, cache=folder / "cache")


def answers(outputs: np.ndarray, keep: bool = True, **more: np.ndarray) -> dict[str, np.ndarray]:
    known = {"labels": outputs.argmax(axis=1)[:, None], "valid": np.isfinite(outputs).all(axis=1)}
    return {**known, **({"outputs": outputs} if keep else {}), **more}


def test_without_answers_nothing_is_known(tmp_path: Path) -> None:
    assert known_to_differ(PARAMS, context(tmp_path)) is None


def test_the_worst_inputs_come_first_and_are_few(tmp_path: Path) -> None:
    other = RIGHT * np.array([1.0, 1.5, 1.01, 2.0, 1.2, 1.1], np.float32)[:, None]
    found = known_to_differ(PARAMS, context(tmp_path, answers(RIGHT), answers(other)))
    assert found is not None
    assert (found.positions, found.n) == ((3, 1, 4, 5), 6)
    assert found.error == pytest.approx(np.sqrt(2)), "1 is off by 1, of a root mean square of 1 / √2"


def test_where_outputs_were_not_kept_labels_tell(tmp_path: Path) -> None:
    other = RIGHT.copy()
    other[2] = other[2][::-1]
    found = known_to_differ(PARAMS, context(tmp_path, answers(RIGHT, keep=False), answers(other, keep=False)))
    assert found is not None
    assert found.positions == (2,)


def test_an_answer_that_one_alone_has_differs(tmp_path: Path) -> None:
    other = RIGHT.copy()
    other[1, 0] = np.nan
    found = known_to_differ(PARAMS, context(tmp_path, answers(RIGHT), answers(other)))
    assert found is not None
    assert (found.positions, found.error) == ((1,), float("inf"))


def test_where_all_agree_the_job_says_so(tmp_path: Path) -> None:
    found = known_to_differ(PARAMS, context(tmp_path, answers(RIGHT), answers(RIGHT + np.float32(1e-6))))
    assert isinstance(found, Differing)
    assert found.positions == ()
    (said,) = found.agreeing(PARAMS).comparisons
    assert (said.a, said.b, said.n, said.symptom, said.differing) == ("level 0", "level 4", 6, None, ())
    assert said.error is not None
    assert 0 < said.error < 1e-5
