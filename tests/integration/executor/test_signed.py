"""Whoever can write into the store tries to have an executor run a library of theirs: real files, real keys."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_module import INFO, X, build

from deltann.data import write_tensor_shard
from deltann.errors import StoreError
from deltann.job import Done, Job, JobResult
from deltann.kinds.compile import CompileData
from deltann.kinds.execute import ExecuteParams
from deltann.outcome import Outcome
from deltann.preprocess.steps import Recipe
from deltann.service import find_service
from deltann.signing import Keys, Signer, make_keys, read_keys
from deltann.store import LocalStore
from deltann.store.layout import write_done, write_result
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.needs import inputs_of
from deltann.worker.settle import Settler, describe_host

# What runs as soon as a library is loaded, before anybody looks into it.
EVIL = '__attribute__((constructor)) void run(void) { fclose(fopen("%s", "w")); }'


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tvm")) / "host.so"


def signer(folder: Path) -> Signer:
    made = read_keys(*make_keys(folder)).signer
    assert made is not None
    return made


class Lab:
    """A store, an executor that knows the compiler's key, and a library that leaves a mark where it is loaded."""

    def __init__(self, folder: Path, honest: Path) -> None:
        self.store, self.folder = LocalStore(folder / "store"), folder
        self.compiler, self.stranger = signer(folder / "compiler"), signer(folder / "stranger")
        self.mark, self.evil = folder / "mark", folder / "evil.so"
        (folder / "evil.c").write_text("#include <stdio.h>\n" + EVIL % self.mark)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.evil, folder / "evil.c"], check=True)
        write_tensor_shard(folder / "x.npy", X)
        self.shard, self.honest = self.store.put_path(folder / "x.npy"), honest
        self.open: list[Children] = []

    def result(self, module: Path, key: str = "c" * 64) -> JobResult:
        """A compiler's, of a module."""
        data = CompileData(info=INFO, target={"kind": "llvm"}, passes=[], size_bytes=1, cpu_seconds=0.1, kernels=1)
        artifacts = {"module": self.store.put_path(module, "module.so")}
        return JobResult(
            kind="compile", result_key=key, outcome=Outcome.OK, artifacts=artifacts, data=data.model_dump(mode="json")
        )

    def execute(self, result: JobResult | None, job: Job | None = None, *, trusted: bool = True) -> JobResult:
        """What an executor makes of it, as of the results that it reads from the store."""
        keys = Keys(trusted=(self.compiler.public,) if trusted else ())
        children = Children("executor", self.store.url, self.folder / "cache", "cpu", keys.trusted)
        self.open.append(children)
        settler = Settler(find_service("executor"), self.store, children, HostLock(), describe_host("cpu"), keys=keys)
        inputs = {} if result is None else {"module": result}
        settled = settler.settle("s", job or self.job(), inputs)
        assert settled is not None
        return settled.result

    def job(self) -> Job:
        params = ExecuteParams(
            engine="tvm", recipe=Recipe(name="none"), data_kind="tensors", start=0, stop=len(X), k=3, info=INFO
        )
        return Job(
            index=1,
            kind="execute",
            params=params.model_dump(mode="json"),
            queue="exec.cpu",
            job_id="j",
            needs={"module": 0},
            sources={"shard": self.shard},
        )


@pytest.fixture
def lab(tmp_path: Path, honest: Path) -> Iterator[Lab]:
    made = Lab(tmp_path, honest)
    yield made
    for children in made.open:
        children.close()


def test_what_the_compiler_signed_is_executed(lab: Lab) -> None:
    end = lab.execute(lab.compiler.signed(lab.result(lab.honest)))
    assert end.outcome is Outcome.OK, end.error


def test_without_keys_the_library_runs_which_is_why_there_are_keys(lab: Lab) -> None:
    lab.execute(lab.result(lab.evil), trusted=False)
    assert lab.mark.exists()


@pytest.mark.parametrize("how", ["unsigned", "signed by a stranger", "with another result's signature", "as a source"])
def test_a_library_of_a_stranger_is_not_even_opened(lab: Lab, how: str) -> None:
    result, job = lab.result(lab.evil), lab.job()
    if how == "signed by a stranger":
        result = lab.stranger.signed(result)
    elif how == "with another result's signature":
        good = lab.compiler.signed(lab.result(lab.honest))
        result = result.model_copy(update={"signature": good.signature})
    elif how == "as a source":  # the plan lies in the store as well
        sources = {**job.sources, "module": result.artifacts["module"]}
        result, job = lab.compiler.signed(lab.result(lab.honest)), job.model_copy(update={"sources": sources})
    with pytest.raises(StoreError, match="was refused") as caught:  # trouble, which is no result of the model's
        lab.execute(result, job)
    assert not lab.mark.exists()
    assert "\n" not in str(caught.value)


def test_bytes_swapped_under_a_signed_digest_are_refused(lab: Lab) -> None:
    result = lab.compiler.signed(lab.result(lab.honest))
    digest = result.artifacts["module"].digest
    (lab.folder / "store" / "blobs" / digest[:2] / digest).write_bytes(lab.evil.read_bytes())
    end = lab.execute(result)
    assert end.outcome is Outcome.RUN_FAILED
    assert end.error is not None
    assert end.error.type == "CorruptArtifactError"
    assert not lab.mark.exists()


def test_another_signed_result_does_not_do_in_the_place_of_the_right_one(lab: Lab) -> None:
    write_done(lab.store, "s", 0, Done(outcome=Outcome.OK, result_key="a" * 64))
    other = lab.compiler.signed(lab.result(lab.honest, "b" * 64))
    lab.store.put("results/" + "a" * 64, other.model_dump_json().encode())
    with pytest.raises(StoreError, match="needs the result of job 0"):
        inputs_of(lab.store, "s", lab.job())
    lab.store.delete("results/" + "a" * 64)
    right = write_result(lab.store, lab.compiler.signed(lab.result(lab.honest, "a" * 64)))
    assert inputs_of(lab.store, "s", lab.job()) == {"module": right}
