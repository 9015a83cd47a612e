"""Compiled modules on a board driven over TVM RPC: a real server on loopback stands for the board."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from boards import Board
from deltann_engines.tvm_remote import greet
from stacks import until
from tiny_module import INFO, WEIGHTS, X, build

from deltann.data import write_tensor_shard
from deltann.digest import digest_value
from deltann.dispatcher.sending import message_of
from deltann.errors import StoreError, WorkError
from deltann.fleet import WorkerRecord
from deltann.fleet.board import NAME, RPC, Address
from deltann.job import Job, JobResult, Plan
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.outcome import Outcome
from deltann.preprocess.steps import Recipe
from deltann.queue import Publisher, connect, names
from deltann.store import ArtifactStore, open_store
from deltann.store.layout import plan_key, read_done
from deltann.worker.inline import run_inline

RUN = """
import sys
from pathlib import Path
import numpy as np
from deltann.errors import WorkError
from deltann.model import ModelInfo
from deltann_engines.base import load

info = ModelInfo.model_validate_json(sys.argv[2])
session = load("tvm", Path(sys.argv[1]), info)
x = np.ones((1, 4), np.float32)
session.run(x)
print("ran", flush=True)
sys.stdin.readline()
for use in (session.run, session.time):
    try:
        use(x)
    except WorkError as error:
        print(error)
"""
SHARED = {"info": INFO, "recipe": Recipe(name="none"), "data_kind": "tensors", "threads": 2, "pool": "board"}
EXECUTE = ExecuteParams(engine="tvm", start=0, stop=len(X), k=3, **SHARED)
OTHER_SIZE = INFO.model_copy(update={"input": INFO.input.model_copy(update={"shape": (1, 7)})})
JOBS = {
    "whole": ("host.so", EXECUTE),
    "one thread": ("host.so", EXECUTE.model_copy(update={"threads": 1})),
    "short": ("short.so", EXECUTE),
    "no module": ("text.so", EXECUTE),
    "other size": ("host.so", EXECUTE.model_copy(update={"info": OTHER_SIZE})),
    "other engine": ("host.so", EXECUTE.model_copy(update={"engine": "onnxruntime"})),
    "time": ("host.so", TimeParams(engine="tvm", inputs=4, repeats=3, **SHARED)),
}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build(tmp_path_factory.mktemp("tvm"))
    (folder / "text.so").write_text("no module")
    return folder


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    server = Board(tmp_path_factory.mktemp("board"))
    yield server
    server.kill()


def plan_of(store: ArtifactStore, modules: Path, *chosen: str) -> Plan:
    jobs = []
    for index, name in enumerate(chosen):
        file, params = JOBS[name]
        write_tensor_shard(modules / "x.npy", X if params.info == INFO else np.zeros((len(X), 7), np.float32))
        shard = store.put_path(modules / "x.npy")
        role = "module" if params.engine == "tvm" else "model"
        plain = params.model_dump(mode="json")
        jobs.append(
            Job(
                index=index,
                kind="time" if isinstance(params, TimeParams) else "execute",
                params=plain,
                queue="exec.board",
                job_id=digest_value([plain, name]),
                sources={role: store.put_path(modules / file), "shard": shard},
            )
        )
    return Plan(jobs=tuple(jobs))


def run(folder: Path, modules: Path, *chosen: str) -> dict[str, tuple[JobResult, dict[str, dict[str, np.ndarray]]]]:
    store = open_store(str(folder / "store"))
    found = {}
    ends = run_inline(plan_of(store, modules, *chosen), store, folder / "cache")
    for name, end in zip(chosen, ends, strict=True):
        assert isinstance(end, JobResult)
        found[name] = end, {role: dict(np.load(io.BytesIO(store.read(ref)))) for role, ref in end.artifacts.items()}
    return found


def test_a_board_answers_as_this_host_does(
    board: Board, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = run(tmp_path / "here", modules, "whole")["whole"][1]["outputs"]
    monkeypatch.setenv(RPC, str(board.address))
    monkeypatch.setenv(NAME, "Raspberry Pi 4")
    there = run(tmp_path / "there", modules, *JOBS)

    for name in ("whole", "one thread"):
        end, arrays = there[name]
        assert end.outcome == Outcome.OK, end.error
        assert (end.data["device"], end.data["memory_peak_bytes"]) == ("Raspberry Pi 4", None)
        for key, value in here.items():
            np.testing.assert_array_equal(arrays["outputs"][key], value)
    np.testing.assert_allclose(here["outputs"], np.maximum(X @ WEIGHTS, 0), rtol=1e-5, atol=1e-6)

    end, arrays = there["time"]
    assert end.outcome == Outcome.OK, end.error
    assert (end.data["device"], end.data["affinity"]) == ("Raspberry Pi 4", [])
    assert arrays["times"]["ns"].shape == (4, 3)
    # Twelve multiplications: the clock is the board's, so no round trip, tens of microseconds here, is in the time.
    assert 0 < np.median(arrays["times"]["ns"]) < arrays["times"]["first_ns"]

    for name, stage, words in [
        ("short", "load", "the file is truncated"),
        ("no module", "load", "tvm could not load text.so: Check failed: "),
        ("other engine", "load", "runs compiled modules (engine tvm) and no onnxruntime"),
        ("other size", "run", "shape[1] mismatch"),
    ]:
        end, arrays = there[name]
        assert (end.outcome, end.error.stage, arrays) == (Outcome.RUN_FAILED, stage, {})
        assert words in end.error.message
        assert "\n" not in end.error.message


def test_a_server_that_is_killed_is_trouble_and_no_finding(modules: Path, tmp_path: Path) -> None:
    board = Board(tmp_path)
    command = [sys.executable, "-c", RUN, str(modules / "host.so"), INFO.model_dump_json()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, RPC: str(board.address)}
    ) as client:
        try:
            assert client.stdout.readline() == "ran\n"
            board.kill()
            told, _ = client.communicate("\n", timeout=60)
        finally:
            client.kill()
            board.kill()
    assert client.returncode == 0
    lines = told.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith(f"The connection to the board's TVM RPC server at {board.address} was lost: ")
        assert line.endswith("the job is sent again.")


def answering(reply: bytes) -> tuple[socket.socket, Address]:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(reply)

    threading.Thread(target=serve, daemon=True).start()
    return listener, Address(*listener.getsockname())


@pytest.mark.parametrize("reply", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"?"], ids=["web", "silent", "short"])
def test_what_is_no_server_is_told_as_trouble(reply: bytes) -> None:
    listener, address = answering(reply)
    with (
        listener,
        pytest.raises(WorkError, match=f"^What answers at {address} is not a TVM RPC server. Give") as caught,
    ):
        greet(address)
    assert "\n" not in str(caught.value)


def test_a_job_without_its_board_has_no_result(modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = Address(*free.getsockname())
    monkeypatch.setenv(RPC, str(address))
    with pytest.raises(StoreError, match=rf"^The board's TVM RPC server at {address} is not there: [^\n]*$"):
        run(tmp_path, modules, "whole")


def test_a_board_that_is_off_or_hangs_is_told_as_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deltann_engines.tvm_remote.ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address(*listener.getsockname())
        with pytest.raises(WorkError, match=rf"at {address} does not answer within .*: start the server"):
            greet(address)
    with pytest.raises(WorkError, match=rf"at {address} is not there: Connection refused\. Start it"):
        greet(address)


@pytest.mark.parametrize(
    ("service", "options", "words"),
    [
        ("executor", ["--pool", "board", "--rpc", "10.0.0.7:9090"], "--device 'Raspberry Pi 4'"),
        ("executor", ["--pool", "board", "--rpc", "10.0.0.7", "--device", "Pi"], "HOST:PORT"),
        ("analyzer", ["--rpc", "10.0.0.7:9090", "--device", "Pi"], "the analyzer has none"),
    ],
    ids=["no name", "no port", "no executor"],
)
def test_a_worker_that_is_told_too_little_of_a_board_does_not_start(
    service: str, options: list[str], words: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "deltann.cli.main", "worker", service, "--store", str(tmp_path), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert words in " ".join(done.stderr.split())


def test_a_worker_is_the_board_that_it_drives(board: Board, modules: Path, tmp_path: Path, redis_url: str) -> None:
    store, client = open_store(str(tmp_path / "store")), connect(redis_url)
    plan = plan_of(store, modules, "whole")
    store.put(plan_key("s"), plan.model_dump_json().encode())
    command = [sys.executable, "-m", "deltann.worker", "executor", "--pool", "board", "--redis", redis_url]
    command += ["--store", store.url, "--cache", str(tmp_path / "cache")]
    command += ["--rpc", str(board.address), "--device", "Raspberry Pi 4"]
    environment = {**os.environ, "DELTANN_RUNTIME_DIR": str(tmp_path / "run")}
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)
    try:
        until(lambda: list(client.scan_iter(f"{names.WORKERS}*")), 60)
        (key,) = client.scan_iter(f"{names.WORKERS}*")
        about = WorkerRecord.model_validate_json(str(client.get(key)))
        assert (about.name, about.device.board, about.device.arch) == ("Raspberry Pi 4", "Raspberry Pi 4", "")
        assert (list(about.runtimes), about.now.temperature_c, about.now.load) == (["tvm"], None, None)
        Publisher(redis_url).send(message_of("s", job) for job in plan.jobs)
        until(lambda: read_done(store, "s", 0), 90)
        assert read_done(store, "s", 0).outcome == Outcome.OK
    finally:
        worker.kill()
        worker.wait()
