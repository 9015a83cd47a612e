"""A plan as bytes and its jobs in little memory, against the plain objects."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltann.job import Job, PackedJobs, Plan
from deltann.store.plans import pack_plan, unpack_plan

TEXTS = st.text(max_size=20)


def job(index: int, text: str = "", **more: object) -> Job:
    return Job.model_validate(
        {"index": index, "kind": "k", "params": {"text": text}, "queue": "q", "job_id": str(index), **more}
    )


@given(st.lists(TEXTS, max_size=30), st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_a_plan_comes_back_as_it_was_and_is_plain_json(texts: list[str], context: dict[str, str]) -> None:
    jobs = tuple(job(index, text, label=text, after=range(index)) for index, text in enumerate(texts))
    plan = Plan(jobs=jobs, context=context)
    data = pack_plan(plan)
    assert data == pack_plan(Plan(jobs=PackedJobs(jobs), context=context))
    assert unpack_plan(data) == plan
    assert Plan.model_validate_json(data) == plan
    assert json.loads(data) == plan.model_dump(mode="json")


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 600])
def test_packed_jobs_are_a_sequence(count: int) -> None:
    jobs = [job(index, "x\n,\n") for index in range(count)]
    packed = PackedJobs(jobs)
    assert len(packed) == count
    assert list(packed) == jobs
    assert [packed[index] for index in reversed(range(count))] == jobs[::-1]
    assert packed == tuple(jobs)
    assert tuple(jobs) == packed
    assert packed != (*jobs, job(count))
    assert list(packed[-3:]) == jobs[-3:]
    with pytest.raises(IndexError):
        packed[count]
    packed.append(job(count))
    assert packed[-1] == job(count)


def test_a_plan_of_packed_jobs_is_written_as_one_of_objects() -> None:
    jobs = tuple(job(index) for index in range(300))
    assert Plan(jobs=PackedJobs(jobs)).model_dump_json() == Plan(jobs=jobs).model_dump_json()


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: bytes(len(data))], ids=["cut", "empty", "zeros"]
)
def test_what_is_cut_short_or_laid_out_otherwise_is_not_read(damage: Callable[[bytes], bytes]) -> None:
    assert unpack_plan(damage(pack_plan(Plan(jobs=(job(0), job(1)))))) is None
    assert unpack_plan(Plan(jobs=(job(0),)).model_dump_json().encode()) is None


def test_many_jobs_take_little_memory() -> None:
    """A study's execute jobs take 650 bytes each as JSON; a million of them have to fit beside everything else."""
    tracemalloc.start()
    packed = PackedJobs(
        job(index, f"mobilenet_v2 keras → onnx @tvm O{index % 5}", needs={"module": index // 200})
        for index in range(4096)
    )
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used / len(packed) < 100
