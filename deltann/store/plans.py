"""A plan as bytes: JSON with a line for each job, so that a large one is read without making an object of every job."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_core import from_json

from deltann.job import PackedJobs, Plan

_BEFORE, _BETWEEN, _AFTER = b',"jobs":[\n', b",\n", b"\n]}"


def pack_plan(plan: Plan) -> bytes:
    """The JSON of a plan. Strings in JSON hold no line break, so that one stands between jobs alone."""
    jobs = plan.jobs if isinstance(plan.jobs, PackedJobs) else PackedJobs(plan.jobs)
    about = plan.model_dump_json(exclude={"jobs"}).encode()
    return about.removesuffix(b"}") + _BEFORE + _BETWEEN.join(jobs.lines()) + _AFTER


def unpack_plan(data: bytes) -> Plan | None:
    """The plan that :func:`pack_plan` has written; None where these bytes are laid out in another way, or cut short.

    Its jobs are read when they are asked for; what is no job is found then.
    """
    first = data.find(b"\n") + 1
    if not first or not data[:first].endswith(_BEFORE) or not data.endswith(_AFTER):
        return None
    about = from_json(data[: first - len(_BEFORE)] + b"}")
    return Plan.model_validate({**about, "jobs": PackedJobs.of_lines(_lines(data, first))})


def _lines(data: bytes, start: int) -> Iterator[bytes]:
    """The text of each job, one after the other: all at once would be a copy of the whole plan."""
    last = len(data) - len(_AFTER)
    while start < last:
        end = data.find(_BETWEEN, start, last)
        end = last if end < 0 else end
        yield data[start:end]
        start = end + len(_BETWEEN)
