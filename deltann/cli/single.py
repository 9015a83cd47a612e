"""One job after the other, here and now: what ``convert``, ``compile``, ``run`` and ``compare`` are made of."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from rich.console import Console

from deltann.artifact import ArtifactRef
from deltann.digest import digest_value
from deltann.errors import DataError, ModelError, WorkError
from deltann.job import Job, JobResult, Plan
from deltann.kinds.compile import CompileData
from deltann.kinds.queues import queue_of_kind
from deltann.kinds.resolve import DataManifest, ResolveDataParams, ResolvedModel, ResolveModelParams
from deltann.model import Framework, ModelInfo
from deltann.outcome import Outcome
from deltann.service import ready_loaders
from deltann.spec.data import DataEntry
from deltann.spec.models import Native
from deltann.staging import stage_inputs, stage_native
from deltann.store import ArtifactStore, open_store
from deltann.worker.inline import run_inline


@dataclass(frozen=True)
class Bench:
    """A place to work in: the home's store and cache. Results are found again like those of sweeps."""

    home: Path
    store: ArtifactStore

    @classmethod
    def at(cls, home: Path) -> Bench:
        """The bench of a home."""
        return cls(home, open_store(str(home / "store")))

    @property
    def cache(self) -> Path:
        """Local copies of artifacts."""
        return self.home / "cache"

    def do(self, kind: str, params: BaseModel, sources: Mapping[str, ArtifactRef], label: str) -> JobResult:
        """Run one job and give its result, if that can be used.

        Raises:
            InputError: if a model or data set could not be resolved for a reason that lies in it.
            WorkError: if the job failed.
        """
        plain = params.model_dump(mode="json")
        job = Job(
            index=0,
            kind=kind,
            params=plain,
            queue=queue_of_kind(kind, "cpu" if kind == "execute" else None),
            job_id=digest_value([kind, plain, {role: ref.digest for role, ref in sources.items()}]),
            sources=dict(sources),
            label=label,
        )
        console = Console(stderr=True)
        with console.status(f"{label} …") if console.is_terminal else _Quietly(label):
            (end,) = run_inline(Plan(jobs=(job,)), self.store, self.cache)
        assert isinstance(end, JobResult), "a job without needs cannot be skipped"
        if end.outcome.usable:
            return end
        why = end.error.message if end.error is not None else "it left no message"
        log = f" Its log is {self.store.materialise(end.log, self.cache)}." if end.log is not None else ""
        crashed = end.outcome in (Outcome.CRASHED, Outcome.TIMED_OUT)
        if kind.startswith("resolve") and not crashed:
            raise (ModelError if kind == "resolve_model" else DataError)(why)
        stop = "" if why.endswith((".", "?", "!")) else "."
        raise WorkError(f"{label} failed ({end.outcome}): {why}{stop}{log}")

    def model(self, source: str, *, framework: Framework | None = None, trust: bool = False) -> ReadyModel:
        """A model as a person names it: a file or folder, a package's model, or a compiled module.

        Raises:
            ModelError: if it cannot be had.
        """
        if Path(source).suffix == ".so":
            return self._module(Path(source))
        if not source:
            raise ModelError("The model has no name: name a file, a folder or a package's model.")
        named = stage_native(Native(source=source), Path(), self.store, trust=trust, loaders=ready_loaders())
        sources = {"file": named.file} if named.file else {}
        params = ResolveModelParams(source=named.source, framework=framework, trust=named.trusted)
        result = self.do("resolve_model", params, sources, f"reading {source}")
        found = ResolvedModel.model_validate(result.data)
        if found.note:
            print(f"{source}: {found.note}", file=sys.stderr)
        return ReadyModel(source, result.artifacts["model"], found.info)

    def data(self, folder: Path, limit: int | None = None) -> DataManifest:
        """A data set: a folder, an ``.npz`` or a package set.

        Raises:
            DataError: if it cannot be had.
        """
        named = stage_inputs(DataEntry(source=str(folder)), Path(), self.store)
        sources = {"archive": named.archive} if named.archive else {}
        params = ResolveDataParams(source=named.source, limit=limit)
        result = self.do("resolve_data", params, sources, f"reading {folder}")
        return DataManifest.model_validate(result.data["manifest"])

    def _module(self, path: Path) -> ReadyModel:
        beside = path.with_suffix(".json")
        if not path.is_file():
            raise ModelError(f"There is no module {path}: no file has that name.")
        try:
            about = CompileData.model_validate_json(beside.read_text())
        except (OSError, ValidationError) as error:
            raise ModelError(
                f"The module {path} needs its description {beside}, which `deltann compile` writes beside it, and that "
                f"is {'missing' if isinstance(error, OSError) else 'not one'}."
            ) from error
        if path.stat().st_size != about.size_bytes:
            raise ModelError(
                f"The module {path} has {path.stat().st_size} bytes where its description {beside} says "
                f"{about.size_bytes}: it is truncated, or of another compilation. Compile it again."
            )
        return ReadyModel(str(path), self.store.put_path(path), about.info, compiled=True)


@dataclass(frozen=True)
class ReadyModel:
    """A stored, described model or module."""

    source: str
    ref: ArtifactRef
    info: ModelInfo
    compiled: bool = False


class _Quietly:
    """Says in a plain line what begins."""

    def __init__(self, label: str) -> None:
        self._label = label

    def __enter__(self) -> None:
        print(f"{self._label} …", file=sys.stderr, flush=True)

    def __exit__(self, *error: Any) -> None:
        return None
