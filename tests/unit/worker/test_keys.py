"""What a result key depends on, and what it does not."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.job import Done, Job, JobResult, WorkerInfo
from deltann.outcome import Outcome
from deltann.service import Kind
from deltann.worker.code import code_version, package_of
from deltann.worker.keys import once_key, result_key, toolchain_of

PLAIN = Kind(
    "k", Data, "m:f", failure=Outcome.RUN_FAILED, toolchain=lambda params: ("pydantic", "no-such-distribution")
)
BOUND = Kind("k", Data, "m:f", failure=Outcome.RUN_FAILED, device_bound=True)
HERE = WorkerInfo(host="a", pool="cpu", device="Zen 4", pid=1)
REF = ArtifactRef(digest="a" * 64, size=1, name="x")
OTHER = ArtifactRef(digest="b" * 64, size=1, name="x")


def job(**change: object) -> Job:
    base = {"index": 3, "kind": "k", "params": {"a": 1}, "queue": "q", "job_id": "j", "sources": {"s": REF}}
    return Job.model_validate(base | change)


def need(ref: ArtifactRef = REF, **data: object) -> JobResult:
    return JobResult.model_validate(
        {"kind": "n", "result_key": "r", "outcome": "ok", "artifacts": {"model": ref}, "data": data}
    )


def key(of: Job | None = None, kind: Kind = PLAIN, worker: WorkerInfo = HERE, **change: object) -> str:
    known: dict[str, object] = {"inputs": {"model": need()}, "toolchain": {"t": "1"}}
    return result_key(kind, of or job(), worker=worker, **(known | change))  # type: ignore[arg-type]


def test_position_label_and_queue_do_not_count() -> None:
    assert key(job(index=9, label="other", queue="p", job_id="o", phase=2)) == key()


@pytest.mark.parametrize(
    "changed",
    [
        key(job(params={"a": 2})),
        key(job(sources={"s": OTHER})),
        key(job(sources={"t": REF})),
        key(inputs={"model": need(OTHER)}),
        key(inputs={"model": need(info={"classes": 10})}),
        key(toolchain={"t": "2"}),
        key(after=[Done(outcome=Outcome.OK, result_key="r")]),
        key(context="c"),
    ],
)
def test_whatever_the_result_depends_on_counts(changed: str) -> None:
    assert changed != key()


def test_other_data_of_a_need_does_not_count() -> None:
    assert key(inputs={"model": need(seconds=1.0)}) == key(inputs={"model": need(seconds=2.0)})


def test_the_device_counts_only_for_kinds_bound_to_it() -> None:
    elsewhere = WorkerInfo(host="b", pool="lab", device="A78", pid=2)
    assert key(worker=elsewhere) == key()
    assert key(kind=BOUND, worker=elsewhere) != key(kind=BOUND)
    assert key(kind=BOUND, worker=WorkerInfo(host="b", pool="cpu", device="Zen 4")) == key(kind=BOUND)


def test_toolchain_names_versions_and_what_is_missing() -> None:
    expected = {
        package_of(PLAIN.handler): code_version(PLAIN.handler),
        "no-such-distribution": "none",
        "pydantic": version("pydantic"),
    }
    assert toolchain_of(PLAIN, None) == expected


def test_once_keys_are_apart_from_the_key_and_from_each_other() -> None:
    assert len({key(), once_key(key(), "s", 1), once_key(key(), "s", 2), once_key(key(), "t", 1)}) == 4
