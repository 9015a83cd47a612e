from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deltann_converter.resolve_data import resolve_data
from PIL import Image

from deltann.data import read_shard
from deltann.errors import JobFailure
from deltann.job import Job
from deltann.kinds.resolve import DataManifest, ResolveDataParams
from deltann.service import JobContext
from deltann.store import LocalStore


def photo(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((4, 5, 3), shade, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def resolve(tmp_path: Path, archive: Path | None, **params: Any) -> tuple[DataManifest, LocalStore]:
    store = LocalStore.from_url(str(tmp_path / "store"))
    sources = {} if archive is None else {"archive": store.put_path(archive)}
    wanted = ResolveDataParams.model_validate({"source": "photos", **params})
    job = Job(
        index=0,
        kind="resolve_data",
        params=wanted.model_dump(mode="json"),
        queue="converter",
        job_id="j",
        sources=sources,
    )
    workdir = tmp_path / "work"
    workdir.mkdir(exist_ok=True)
    context = JobContext(store=store, sweep="s", job=job, inputs={}, workdir=workdir, cache=tmp_path / "cache")
    data: Any = resolve_data(wanted, context).data
    return DataManifest.model_validate(data["manifest"]), store


def shard(manifest: DataManifest, store: LocalStore, tmp_path: Path, index: int = 0) -> Any:
    return read_shard(store.materialise(manifest.shards[index].blob, tmp_path / "cache"), manifest.kind)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "photos"
    made.mkdir()
    for index, name in enumerate(["b.png", "a.png", "c.jpg"]):
        (made / name).write_bytes(photo(index))
    return made


def test_labels_csv_gives_order_and_labels(tmp_path: Path, folder: Path) -> None:
    (folder / "labels.csv").write_text("file,label,name\nb.png,7,seven\nc.jpg,1,one\na.png,0,zero\n")
    manifest, store = resolve(tmp_path, folder)
    assert manifest.ids == ("b.png", "c.jpg", "a.png")
    assert manifest.labels == (7, 1, 0)
    assert shard(manifest, store, tmp_path) == [photo(0), photo(2), photo(1)]


def test_class_folders_are_labels_in_sorted_order(tmp_path: Path, folder: Path) -> None:
    for name, of in (("b.png", "dog"), ("a.png", "cat"), ("c.jpg", "dog")):
        (folder / of).mkdir(exist_ok=True)
        (folder / name).rename(folder / of / name)
    manifest, _ = resolve(tmp_path, folder)
    assert manifest.ids == ("cat/a.png", "dog/b.png", "dog/c.jpg")
    assert manifest.labels == (0, 1, 1)


def test_a_plain_folder_has_no_labels(tmp_path: Path, folder: Path) -> None:
    assert resolve(tmp_path, folder)[0].labels == (None, None, None)


def test_a_corrupt_photo_is_named_left_out_and_counted(tmp_path: Path, folder: Path) -> None:
    (folder / "b.png").write_bytes(photo(0)[:40])
    manifest, store = resolve(tmp_path, folder)
    assert manifest.ids == ("a.png", "c.jpg")
    assert [one.id for one in manifest.left_out] == ["b.png"]
    assert "not a readable image" in manifest.left_out[0].why
    assert len(shard(manifest, store, tmp_path)) == 2


def test_limit_and_seed_choose_a_sub_set(tmp_path: Path, folder: Path) -> None:
    assert resolve(tmp_path, folder, limit=2)[0].ids == ("a.png", "b.png")
    orders = {resolve(tmp_path, folder, seed=seed)[0].ids for seed in range(8)}
    assert len(orders) > 1
    assert resolve(tmp_path, folder, seed=3)[0] == resolve(tmp_path, folder, seed=3)[0]


def test_shards_are_no_larger_than_asked(tmp_path: Path, folder: Path) -> None:
    manifest, store = resolve(tmp_path, folder, shard=2)
    assert [(one.start, one.stop) for one in manifest.shards] == [(0, 2), (2, 3)]
    assert shard(manifest, store, tmp_path, 1) == [photo(2)]


def test_an_npz_keeps_its_arrays(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).standard_normal((5, 3, 3)).astype(np.float32), np.arange(5)
    np.savez(tmp_path / "data.npz", x=x, y=y)
    manifest, store = resolve(tmp_path, tmp_path / "data.npz", limit=3)
    assert manifest.kind == "tensors"
    assert manifest.labels == (0, 1, 2)
    assert (shard(manifest, store, tmp_path) == x[:3]).all()


def test_integer_rows_are_tokens(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.ones((2, 7), np.int64))
    assert resolve(tmp_path, tmp_path / "data.npz")[0].kind == "tokens"


def test_foolbox_carries_twenty_labelled_photos(tmp_path: Path) -> None:
    manifest, _ = resolve(tmp_path, None, source="foolbox:imagenet")
    assert manifest.n == 20
    assert manifest.ids[0] == "imagenet_00_243.jpg"
    assert manifest.labels[0] == 243


def test_data_that_is_refused_is_an_outcome_that_names_it_as_the_person_did(tmp_path: Path, folder: Path) -> None:
    (folder / "labels.csv").write_text("file,label\na.png,0\n")
    with pytest.raises(JobFailure, match=r"labels of photos do not match.* 2 photos have no row") as caught:
        resolve(tmp_path, folder)
    assert "\n" not in caught.value.message
    (folder / "cat").mkdir()
    (folder / "labels.csv").unlink()
    (folder / "a.png").rename(folder / "cat/a.png")
    with pytest.raises(JobFailure, match="2 photos lie beside the class folders"):
        resolve(tmp_path, folder)
    np.savez(tmp_path / "data.npz", x=np.ones((1, 3)), y=[0.5])
    with pytest.raises(JobFailure, match="no class numbers"):
        resolve(tmp_path, tmp_path / "data.npz")


def test_nothing_to_run_on(tmp_path: Path, folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(b"no photo")
    with pytest.raises(JobFailure, match="None of the 3 photos"):
        resolve(tmp_path, folder)
    with pytest.raises(JobFailure, match="imagenet"):
        resolve(tmp_path, None, source="foolbox:nothing")
    np.savez(tmp_path / "empty.npz", x=np.zeros((0, 3)))
    with pytest.raises(JobFailure, match="at least one input"):
        resolve(tmp_path, tmp_path / "empty.npz")
    np.savez(tmp_path / "odd.npz", x=np.zeros((2, 3)), y=np.zeros(3))
    with pytest.raises(JobFailure, match="labels of shape"):
        resolve(tmp_path, tmp_path / "odd.npz")
