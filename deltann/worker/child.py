"""The child process: runs handlers, one job after the other, and may crash or hang without harm.

usage: python -m deltann.worker.child SERVICE STORE_URL CACHE REPLY_FD

SERVICE is the name of an installed service or ``module:ATTRIBUTE``. Requests are lines on standard input; replies are
lines on the file descriptor REPLY_FD, because standard output and error are the job's log.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from deltann.errors import CorruptArtifactError, JobFailure, StoreAwayError, StoreError
from deltann.job import JobError
from deltann.outcome import Outcome
from deltann.service import JobContext, Kind, Produced, Service, find_service
from deltann.store import ArtifactStore, open_store
from deltann.worker.reaper import descendants
from deltann.worker.trouble import chain, passing, trouble_of
from deltann.worker.wire import Reply, Request, to_plain

_PR_SET_CHILD_SUBREAPER = 36


def _handler(kind: Kind) -> Callable[[Any, JobContext], Produced]:
    module, _, function = kind.handler.partition(":")
    handler: Callable[[Any, JobContext], Produced] = getattr(import_module(module), function)
    return handler


def answer(service: Service, store: ArtifactStore, cache: Path, warm: dict[str, Any], request: Request) -> Reply:
    """Run one job and say how it went; whatever a handler raises becomes part of the answer."""
    kind = service.kind(request.job.kind)
    began = time.monotonic()
    try:
        params = kind.params.model_validate(request.job.params)
        context = JobContext(
            store=store,
            sweep=request.sweep,
            job=request.job,
            inputs=request.inputs,
            workdir=Path(request.workdir),
            cache=cache,
            pool=request.pool,
            trusted=request.trusted,
            warm=warm,
        )
        produced = _handler(kind)(params, context)
        return Reply(
            outcome=produced.outcome,
            artifacts=dict(produced.artifacts),
            data=to_plain(produced.data),
            error=produced.error,
            work_seconds=time.monotonic() - began,
        )
    except BaseException as error:
        _print(error)
        reply = _failed(kind, error, (Path(request.workdir), cache))
    return reply.model_copy(update={"work_seconds": time.monotonic() - began})


def _failed(kind: Kind, error: BaseException, folders: tuple[Path, ...]) -> Reply:
    """What a handler's error means: trouble, which is no result; a failure of the moment; or a finding."""
    trouble = trouble_of(error, folders)
    if trouble is not None:
        away = any(isinstance(one, StoreAwayError) for one in chain(error))
        return Reply(outcome=kind.failure, trouble=trouble, away=away)
    corrupt = next((one for one in chain(error) if isinstance(one, CorruptArtifactError)), None)
    if corrupt is not None:
        return Reply(outcome=kind.failure, error=_error(corrupt, "fetch"), repeatable=False)
    repeatable = not passing(error)
    if isinstance(error, JobFailure):
        told = _error(error.__cause__ or error, error.stage, error.message)
        return Reply(outcome=error.outcome, error=told, repeatable=repeatable)
    return Reply(outcome=kind.failure, error=_error(error, kind.name), repeatable=repeatable)


def _print(error: BaseException) -> None:
    """Into the log, as far as its disk takes it."""
    with suppress(OSError):
        traceback.print_exception(error)


def _error(error: BaseException, stage: str, message: str | None = None) -> JobError:
    text = (message or str(error) or type(error).__name__).encode("utf-8", "replace").decode()
    return JobError(stage=stage, type=type(error).__name__, message=text[:4000])


def _adopt_orphans() -> None:
    """Have descendants whose parents end become children of this process, so that ending it finds them all (Linux)."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_leftovers() -> None:
    """End what a job has started and left behind: a warm child lives on, and nothing else of its jobs may."""
    while True:
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        left = descendants(os.getpid())
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    name, store_url, cache, reply_fd = sys.argv[1:]
    _adopt_orphans()
    requests = os.fdopen(os.dup(0), "rb")
    # A handler that reads standard input, or starts something that does, must not take the parent's next request.
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    replies = os.fdopen(int(reply_fd), "wb")
    os.set_inheritable(replies.fileno(), False)
    service: Service | None = None
    store: ArtifactStore | None = None
    warm: dict[str, Any] = {}
    for line in requests:
        request = Request.model_validate_json(line)
        try:
            service = service or find_service(name)
            store = store or open_store(store_url)
            reply = answer(service, store, Path(cache), warm, request)
            _end_leftovers()
        except StoreError as error:
            reply = Reply(outcome=Outcome.CRASHED, trouble=str(error), away=isinstance(error, StoreAwayError))
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        replies.write(reply.model_dump_json().encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
