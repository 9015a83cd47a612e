"""The result key: what a result depends on, hashed. Two jobs with the same key have the same result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError
from typing import Any

from deltann.digest import digest_value
from deltann.installed import installed
from deltann.job import Done, Job, JobResult, WorkerInfo
from deltann.service import Kind
from deltann.worker.code import code_version, package_of


def toolchain_of(kind: Kind, params: Any) -> dict[str, str]:
    """Versions of DeltaNN and of what a kind declares, ``"none"`` where one is missing, and the kind's facts."""
    versions = {name: _installed(name) for name in sorted(kind.toolchain(params))}
    return {package_of(kind.handler): code_version(kind.handler), **versions, **kind.facts(params)}


@cache
def _installed(name: str) -> str:
    """The version of a distribution: what a process has imported stays what it is."""
    try:
        return installed(name)
    except PackageNotFoundError:
        return "none"


def result_key(
    kind: Kind,
    job: Job,
    *,
    inputs: Mapping[str, JobResult],
    toolchain: Mapping[str, str],
    worker: WorkerInfo,
    signer: str | None = None,
    after: Sequence[Done] = (),
    context: str = "",
) -> str:
    """SHA-256 over everything that a job's result depends on.

    Args:
        kind: of the job.
        job: the job; its labels and indices do not count.
        inputs: results of its needs by role: the digests of their artifacts and the description of the model count.
        toolchain: versions, from :func:`toolchain_of`.
        worker: pool and device count for kinds that are bound to a device.
        signer: whoever signs the result: each has results of its own.
        after: done records of the jobs that it comes after, in order.
        context: digest of the plan's context, for a job that reads it.
    """
    return digest_value(
        {
            "kind": kind.name,
            "params": job.params,
            "sources": {role: ref.digest for role, ref in job.sources.items()},
            "needs": {
                role: {
                    "artifacts": {name: ref.digest for name, ref in result.artifacts.items()},
                    "info": result.data.get("info"),
                }
                for role, result in inputs.items()
            },
            "toolchain": dict(toolchain),
            "signer": signer,
            "device": [worker.pool, worker.device] if kind.device_bound else None,
            "after": [[done.outcome, done.result_key] for done in after],
            "context": context,
        }
    )


def once_key(key: str, *what: str | int) -> str:
    """A key of its own for a result that must not be used again: it says more about the moment than about the job."""
    return digest_value(["once", key, *what])
