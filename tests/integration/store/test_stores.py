"""The same for every store: a local directory, and a bucket of a real S3 server."""

from __future__ import annotations

import io
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from loopback import HTTP

from deltann.artifact import ArtifactRef
from deltann.errors import CorruptArtifactError, StoreError
from deltann.job import Done
from deltann.outcome import Outcome
from deltann.store import ArtifactStore, open_store
from deltann.store.base import blob_key
from deltann.store.layout import read_all_done, write_done


def test_objects_are_put_replaced_found_and_deleted(store: ArtifactStore) -> None:
    assert store.get("a/b") is None
    assert not store.exists("a/b")
    store.put("a/b", b"1")
    store.put("a/b", b"22")
    store.put("a/b.c/d", b"")
    assert store.get("a/b") == b"22"
    assert store.get("a/b.c/d") == b""
    assert store.exists("a/b")
    assert not store.exists("a")
    store.delete("a/b")
    store.delete("a/b")
    assert store.get("a/b") is None
    assert store.exists("a/b.c/d")


def test_keys_are_listed_by_prefix_in_order(store: ArtifactStore) -> None:
    keys = ["sweeps/s/plan", "sweeps/s/done/10", "sweeps/s/done/2", "sweeps/s-2/plan", "sweeps/s/resolve/done/0"]
    for key in keys:
        store.put(key, b"x")
    assert list(store.list("sweeps/")) == sorted(keys)
    assert list(store.list("sweeps/s/done/")) == ["sweeps/s/done/10", "sweeps/s/done/2"]
    assert list(store.list("sweeps/s/d")) == ["sweeps/s/done/10", "sweeps/s/done/2"]
    assert list(store.list("")) == sorted(keys)
    assert list(store.list("nothing/")) == []


def test_one_of_sixteen_writers_wins(store: ArtifactStore) -> None:
    store.put("first", b"")  # SeaweedFS makes room for a new bucket at its first object, which takes a while
    for race in range(2):
        key, won, gate = f"race/{race}", list[int](), threading.Barrier(16)

        def write(number: int, key: str = key, won: list[int] = won, gate: threading.Barrier = gate) -> None:
            gate.wait()
            if store.put_if_absent(key, f"writer {number}".encode()):
                won.append(number)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(16)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert len(won) == 1
        assert store.get(key) == f"writer {won[0]}".encode()
        assert not store.put_if_absent(key, b"later")


def test_files_go_in_and_out_whole(store: ArtifactStore, tmp_path: Path) -> None:
    data = bytes(range(256)) * 40_000  # 10 MB: more than one part of a multipart upload
    (tmp_path / "big").write_bytes(data)
    store.upload("big", tmp_path / "big")
    out = io.BytesIO()
    assert store.download("big", out)
    assert out.getvalue() == data
    assert not store.download("nothing", io.BytesIO())


def test_a_folder_comes_back_as_it_was_and_its_name_depends_on_its_content_alone(
    store: ArtifactStore, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "x").write_text("ex")
        (tmp_path / name / "y").write_text("why")
    first, second = store.put_path(tmp_path / "one", "m"), store.put_path(tmp_path / "two", "m")
    assert first == second
    back = store.materialise(first, tmp_path / "cache")
    assert {p.relative_to(back).as_posix(): p.read_text() for p in back.rglob("*") if p.is_file()} == {
        "sub/x": "ex",
        "y": "why",
    }
    assert store.materialise(first, tmp_path / "cache") == back


@pytest.mark.parametrize("wrong", [b"half a mod", b"another model", b""])
def test_a_truncated_or_swapped_object_is_refused(store: ArtifactStore, tmp_path: Path, wrong: bytes) -> None:
    ref = store.put_bytes(b"half a module is no module", "m.so")
    assert store.read(ref) == b"half a module is no module"
    store.put(blob_key(ref.digest), wrong)
    with pytest.raises(CorruptArtifactError, match=r"m\.so .* was refused"):
        store.read(ref)
    with pytest.raises(CorruptArtifactError, match=r"m\.so .* was refused"):
        store.materialise(ref, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("m.so"))
    with pytest.raises(CorruptArtifactError, match="not in the store"):
        store.read(ArtifactRef(digest="0" * 64, size=0, name="gone"))


def test_the_first_done_record_stands(store: ArtifactStore) -> None:
    first, second = Done(outcome=Outcome.OK, result_key="a"), Done(outcome=Outcome.CRASHED, result_key="b")
    assert write_done(store, "s", 3, first) == first
    assert write_done(store, "s", 3, second) == first
    write_done(store, "s", 12, second)
    write_done(store, "s/resolve", 3, second)
    assert read_all_done(store, "s") == {3: first, 12: second}


def test_a_store_is_found_again_by_its_url(store: ArtifactStore) -> None:
    store.put("a", b"1")
    assert "secret" not in store.url
    assert open_store(store.url).get("a") == b"1"


def test_an_s3_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_S3_ACCESS_KEY", "a")
    monkeypatch.setenv("DELTANN_S3_SECRET_KEY", "b")
    with pytest.raises(StoreError, match=r"s3://127\.0\.0\.1:1/bucket.*does not answer.*Check that it runs"):
        open_store("s3://127.0.0.1:1/bucket")


def test_missing_credentials_and_wrong_urls_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DELTANN_S3_SECRET_KEY", raising=False)
    with pytest.raises(StoreError, match="set DELTANN_S3_ACCESS_KEY and DELTANN_S3_SECRET_KEY"):
        open_store("s3://127.0.0.1:1/bucket")
    with pytest.raises(StoreError, match="not of the form"):
        open_store("s3://user:word@127.0.0.1:1/bucket")


def test_a_wrong_secret_is_told(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTANN_S3_ACCESS_KEY", "test-access")
    monkeypatch.setenv("DELTANN_S3_SECRET_KEY", "wrong")
    with pytest.raises(StoreError, match=r"Check DELTANN_S3_ACCESS_KEY|AccessDenied|SignatureDoesNotMatch"):
        open_store(f"s3://{s3_endpoint}/some-bucket")


@pytest.mark.parametrize(("method", "path"), [("GET", "/{key}"), ("PUT", "/{key}"), ("DELETE", "/{key}"), ("GET", "")])
def test_a_bucket_takes_and_gives_nothing_without_credentials(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, method: str, path: str
) -> None:
    monkeypatch.setenv("DELTANN_S3_ACCESS_KEY", "test-access")
    monkeypatch.setenv("DELTANN_S3_SECRET_KEY", "test-only-secret")
    store = open_store(f"s3://{s3_endpoint}/closed")
    store.put("results/a", b"1")
    request = urllib.request.Request(
        f"http://{s3_endpoint}/closed{path.format(key='results/a')}", b"2" if method == "PUT" else None, method=method
    )
    with pytest.raises(urllib.error.HTTPError) as caught:
        HTTP.open(request, timeout=10)
    assert caught.value.code == 403
    assert store.get("results/a") == b"1"
