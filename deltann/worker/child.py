"""The child process: runs handlers, one job after the other, and may crash or hang without harm.

usage: python -m deltann.worker.child SERVICE STORE_URL CACHE REPLY_FD

SERVICE is the name of an installed service or ``module:ATTRIBUTE``. Requests are lines on standard input; replies are
lines on the file descriptor REPLY_FD, because standard output and error are the job's log.
"""

from __future__ import annotations

import errno
import os
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from deltann.errors import CorruptArtifactError, JobFailure, StoreError
from deltann.job import JobError
from deltann.outcome import Outcome
from deltann.service import JobContext, Kind, Produced, Service, find_service
from deltann.store import ArtifactStore, open_store
from deltann.worker.wire import Reply, Request, to_plain


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
    except JobFailure as failure:
        traceback.print_exc()
        reply = Reply(
            outcome=failure.outcome, error=_error(failure.__cause__ or failure, failure.stage, failure.message)
        )
    except CorruptArtifactError as error:
        traceback.print_exc()
        reply = Reply(outcome=kind.failure, error=_error(error, "fetch"), corrupt=True)
    except StoreError as error:
        reply = Reply(outcome=kind.failure, trouble=str(error))
    except BaseException as error:
        traceback.print_exc()
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        reply = Reply(
            outcome=kind.failure,
            error=_error(error, request.job.kind),
            trouble=f"The disk of this worker is full: {error}. Free some space and run it again." if full else None,
        )
    return reply.model_copy(update={"work_seconds": time.monotonic() - began})


def _error(error: BaseException, stage: str, message: str | None = None) -> JobError:
    text = (message or str(error) or type(error).__name__).encode("utf-8", "replace").decode()
    return JobError(stage=stage, type=type(error).__name__, message=text[:4000])


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    name, store_url, cache, reply_fd = sys.argv[1:]
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
        except StoreError as error:
            reply = Reply(outcome=Outcome.CRASHED, trouble=str(error))
        sys.stdout.flush()
        sys.stderr.flush()
        replies.write(reply.model_dump_json().encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
