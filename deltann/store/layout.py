"""Which keys the objects of sweeps and results have, and how they are read and written.

A *graph* is a plan with its done records: ``<sid>/resolve`` and ``<sid>`` are the two graphs of the sweep ``<sid>``.

======================================  ==============================================================
``active/<sid>``                        there while the sweep is to be worked on
``submitted/<sid>``                     name and time of the first submission; apart, to list sweeps without their jobs
``sweeps/<sid>/study``                  the staged study
``sweeps/<sid>/cancelled``              there once it is cancelled
``sweeps/<sid>/ended``                  the last :class:`deltann.sweep.SweepStatus`, once it has ended
``sweeps/<graph>/plan``                 the :class:`deltann.job.Plan`
``sweeps/<graph>/done/<i>``             the :class:`deltann.job.Done` of job i
``sweeps/<graph>/lost/<i>``               the end of the log of job i, whose worker was killed over it
``results/<result key>``                the :class:`deltann.job.JobResult`, shared by all sweeps
======================================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

from deltann.errors import NotFoundError
from deltann.job import Done, JobResult, Plan
from deltann.store.base import ArtifactStore
from deltann.store.plans import pack_plan, unpack_plan

SUBMITTED = "submitted/"
_READERS = 16
_AT_ONCE = 4096
_T = TypeVar("_T")
_R = TypeVar("_R")
_Record = TypeVar("_Record", bound=BaseModel)


def resolve_graph(sid: str) -> str:
    """The graph of a sweep's resolve jobs."""
    return f"{sid}/resolve"


def sweep_of(graph: str) -> str:
    """The sweep that a graph is of."""
    return graph.partition("/")[0]


def active_key(sid: str) -> str:
    """Where it stands that a sweep is to be worked on."""
    return f"active/{sid}"


def sweep_key(sid: str, name: str) -> str:
    """The key of a sweep's ``study``, ``submitted``, ``cancelled`` or ``ended``."""
    return f"{SUBMITTED}{sid}" if name == "submitted" else f"sweeps/{sid}/{name}"


def plan_key(graph: str) -> str:
    """The key of a graph's plan."""
    return f"sweeps/{graph}/plan"


def done_key(graph: str, index: int) -> str:
    """The key of a job's done record."""
    return f"sweeps/{graph}/done/{index}"


def lost_key(graph: str, index: int) -> str:
    """Where the log of a job lies whose worker was killed over it."""
    return f"sweeps/{graph}/lost/{index}"


def result_object_key(result_key: str) -> str:
    """The key of a stored result."""
    return f"results/{result_key}"


def read_plan(store: ArtifactStore, graph: str) -> Plan | None:
    """The plan of a graph, or None where it is not planned yet."""
    data = store.get(plan_key(graph))
    if data is None:
        return None
    return unpack_plan(data) or (None if _torn(data) else Plan.model_validate_json(data))


def read_done(store: ArtifactStore, graph: str, index: int) -> Done | None:
    """The done record of a job, or None where it is not settled."""
    return _read(store, done_key(graph, index), Done)


def write_done(store: ArtifactStore, graph: str, index: int, done: Done) -> Done:
    """Settle a job unless it is settled already; the record that now stands."""
    return _write(store, done_key(graph, index), done)


def read_all_done(store: ArtifactStore, graph: str) -> dict[int, Done]:
    """Every done record of a graph by job index."""
    prefix = f"sweeps/{graph}/done/"
    indices = [int(key.removeprefix(prefix)) for key in store.list(prefix)]
    found = _each(indices, lambda index: read_done(store, graph, index))
    return {index: done for index, done in zip(indices, found, strict=True) if done is not None}


def read_result(store: ArtifactStore, result_key: str) -> JobResult | None:
    """A stored result, or None where there is none."""
    return _read(store, result_object_key(result_key), JobResult)


def read_results(store: ArtifactStore, done: dict[int, Done]) -> dict[int, JobResult]:
    """The results of all settled jobs that have one.

    Raises:
        NotFoundError: if a done record names a result that is not in the store.
    """
    with_key = {index: record.result_key for index, record in done.items() if record.result_key is not None}
    found = _each(with_key.values(), lambda key: read_result(store, key))
    missing = [index for index, result in zip(with_key, found, strict=True) if result is None]
    if missing:
        raise NotFoundError(f"The results of jobs {missing[:5]} are named but not in the store {store.url}.")
    return {index: result for index, result in zip(with_key, found, strict=True) if result is not None}


def write_result(store: ArtifactStore, result: JobResult) -> JobResult:
    """Store a result unless there is one under its key; the result that now stands."""
    return _write(store, result_object_key(result.result_key), result)


def replace_result(store: ArtifactStore, result: JobResult) -> JobResult:
    """Store a result in the place of one that may not be used."""
    store.put(result_object_key(result.result_key), result.model_dump_json().encode())
    return result


def write_plan(store: ArtifactStore, graph: str, plan: Plan) -> Plan:
    """Write the plan of a graph unless it is planned already; the plan that now stands."""
    data = pack_plan(plan)
    if store.put_if_absent(plan_key(graph), data):
        return plan
    there = read_plan(store, graph)
    if there is not None:
        return there
    store.put(plan_key(graph), data)
    return plan


def _read(store: ArtifactStore, key: str, kind: type[_Record]) -> _Record | None:
    """A record, or None where there is none: a host that loses its power may leave one empty or cut short."""
    data = store.get(key)
    return None if data is None or _torn(data) else kind.model_validate_json(data)


def _write(store: ArtifactStore, key: str, record: _Record) -> _Record:
    """Write a record unless there is one; the record that now stands: ``record`` itself where it was the first."""
    data = record.model_dump_json().encode()
    if store.put_if_absent(key, data):
        return record
    there = store.get(key)
    if there is not None and not _torn(there):
        return type(record).model_validate_json(there)
    store.put(key, data)
    return record


def _torn(data: bytes) -> bool:
    """Whether these bytes are no JSON at all. What another version wrote is whole, and stays an error."""
    try:
        from_json(data)
    except ValueError:
        return True
    return False


def _each(items: Iterable[_T], read: Callable[[_T], _R]) -> list[_R]:
    found: list[_R] = []
    with ThreadPoolExecutor(_READERS) as pool:
        for some in _batched(items, _AT_ONCE):  # each that waits in the pool takes more than what is read
            found += pool.map(read, some)
    return found


def _batched(items: Iterable[_T], size: int) -> Iterator[tuple[_T, ...]]:
    """Items in tuples of so many, the last of which may be shorter (Python has this from 3.12 on)."""
    rest = iter(items)
    while some := tuple(islice(rest, size)):
        yield some
