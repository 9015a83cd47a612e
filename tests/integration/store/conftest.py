"""Each kind of store, empty."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import s3
from disks import small_disk

from deltann.store import ArtifactStore, LocalStore, open_store

__all__ = ["small_disk"]


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3.s3_server(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.fixture(params=["local", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArtifactStore:
    if request.param == "local":
        return LocalStore(tmp_path / "store")
    monkeypatch.setenv("DELTANN_S3_ACCESS_KEY", s3.ACCESS_KEY)
    monkeypatch.setenv("DELTANN_S3_SECRET_KEY", s3.SECRET_KEY)
    return open_store(f"s3://{request.getfixturevalue('s3_endpoint')}/b{uuid.uuid4().hex}")
