from __future__ import annotations

from pathlib import Path

import numpy as np

from deltann.data import read_shard, write_image_shard, write_tensor_shard
from deltann.digest import digest_file


def test_photos_come_back_in_order_and_the_file_is_always_the_same(tmp_path: Path) -> None:
    photos = [bytes([i]) * (i + 1) for i in range(12)]
    write_image_shard(tmp_path / "a.zip", photos)
    write_image_shard(tmp_path / "b.zip", photos)
    assert read_shard(tmp_path / "a.zip", "images") == photos
    assert digest_file(tmp_path / "a.zip") == digest_file(tmp_path / "b.zip")


def test_tensors_come_back_as_they_were(tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    write_tensor_shard(tmp_path / "x.npy", x)
    back = read_shard(tmp_path / "x.npy", "tensors")
    assert isinstance(back, np.ndarray)
    assert back.dtype == x.dtype
    assert (back == x).all()
