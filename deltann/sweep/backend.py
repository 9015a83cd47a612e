"""Sweeps over a store and a queue that this process can reach itself."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis

from deltann import tracing
from deltann.errors import NotFoundError
from deltann.kinds.train import TRAIN
from deltann.queue import connect, names
from deltann.queue.connection import explained
from deltann.spec.models import Study
from deltann.store import ArtifactStore
from deltann.store.layout import (
    SUBMITTED,
    active_key,
    done_key,
    plan_key,
    read_all_done,
    read_plan,
    resolve_graph,
    result_object_key,
    sweep_key,
    write_plan,
)
from deltann.sweep.environment import environment
from deltann.sweep.model import Submitted, SweepStatus
from deltann.sweep.observe import ANALYSIS, read_status
from deltann.sweep.planner import Planner, StudyPlanner

_LOOK_S = 0.5


class LocalBackend:
    """Implements :class:`deltann.sweep.SweepBackend`. A dispatcher somewhere does the rest.

    Args:
        store: the artifact store.
        redis_url: of the queue.
        planner: makes plans of studies.
    """

    def __init__(self, store: ArtifactStore, redis_url: str, planner: Planner | None = None) -> None:
        self._store, self._url = store, redis_url
        self._planner = planner or StudyPlanner()
        self._redis = connect(redis_url)

    def submit(self, study: Study) -> str:
        """Submit a staged study. A finished sweep is left alone; a failed or cancelled one is taken up again.

        Under other versions than last time it is another sweep: see :mod:`deltann.sweep.environment`.

        Raises:
            InputError: if the study cannot be planned.
            StoreError: if the store is not there.
            QueueError: if Redis is not there.
        """
        study = study.model_copy(update={"environment": environment()})
        sid = self._planner.sweep_id(study)
        with tracing.span("submit", sweep=sid, study=study.name):
            self._submit(sid, study)
        return sid

    def _submit(self, sid: str, study: Study) -> None:
        plan = self._planner.resolve(study)
        with explained(self._url):
            self._redis.ping()
        store = self._store
        store.put(sweep_key(sid, "study"), study.model_dump_json(by_alias=True).encode())
        submitted = Submitted(name=study.name, time=time.time())
        store.put_if_absent(sweep_key(sid, "submitted"), submitted.model_dump_json().encode())
        write_plan(store, resolve_graph(sid), plan)
        ended = read_status(store, sid)
        if ended.state == "done":
            return
        if ended.ended or store.exists(sweep_key(sid, "cancelled")):
            self._reopen(sid)
        store.put(active_key(sid), b"")
        with explained(self._url):
            self._redis.delete(names.attempts(sid), names.attempts(resolve_graph(sid)), names.status(sid))
            self._redis.rpush(names.SETTLED, names.WAKE)

    def status(self, sid: str) -> SweepStatus:
        """How far a sweep is: from the dispatcher while it works on it, else from the store.

        Raises:
            NotFoundError: if there is no such sweep.
        """
        if not self._store.exists(sweep_key(sid, "ended")):
            try:
                text = self._redis.get(names.status(sid))
            except redis.RedisError:
                text = None  # the store knows less of the present, but enough
            if isinstance(text, str):
                return SweepStatus.model_validate_json(text)
        return read_status(self._store, sid)

    def list_sweeps(self) -> list[SweepStatus]:
        """All sweeps, the latest first."""
        found = [key.removeprefix(SUBMITTED) for key in self._store.list(SUBMITTED)]
        return sorted((self.status(sid) for sid in found), key=lambda status: -status.started)

    def cancel(self, sid: str) -> None:
        """Stop a sweep; what is computed is kept, and submitting it again goes on.

        Raises:
            NotFoundError: if there is no such sweep.
        """
        if read_status(self._store, sid).ended:
            return
        self._store.put_if_absent(sweep_key(sid, "cancelled"), b"{}")
        with explained(self._url):
            self._redis.rpush(names.SETTLED, names.WAKE)

    def watch(self, sid: str) -> Iterator[SweepStatus]:
        """The status now and at every change, until the sweep has ended."""
        last: SweepStatus | None = None
        while True:
            status = self.status(sid)
            if status != last:
                yield status
            if status.ended:
                return
            last = status
            time.sleep(_LOOK_S)

    def fetch_report(self, sid: str, out: Path) -> Path:
        """Write the report of a finished sweep into the folder ``out``, which is made where it is missing.

        Raises:
            NotFoundError: if there is no such sweep, or no report of it.
        """
        status = self.status(sid)
        if status.report is None:
            raise NotFoundError(
                f"The sweep {sid} has no report: it is {status.state}. {status.error or 'Wait until it is done.'}"
            )
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self._store.materialise(status.report, Path(folder)), out, dirs_exist_ok=True)
        return out

    def _reopen(self, sid: str) -> None:
        """Take up a sweep that failed or was cancelled: what stopped it as a whole is tried again.

        That is what could not be resolved, and an analysis that failed; failures of variants are findings, and stay; so
        are those of trainings, once a sweep is planned without their models.
        """
        store = self._store
        planned = store.exists(plan_key(sid))
        for graph in (resolve_graph(sid), sid):
            plan = read_plan(store, graph)
            for index, done in read_all_done(store, graph).items():
                kind = plan.jobs[index].kind if plan is not None else None
                retried = kind == ANALYSIS if graph == sid else not (planned and kind == TRAIN)
                if retried and not done.outcome.usable:
                    if done.result_key is not None:
                        store.delete(result_object_key(done.result_key))
                    store.delete(done_key(graph, index))
        store.delete(sweep_key(sid, "cancelled"))
        store.delete(sweep_key(sid, "ended"))
