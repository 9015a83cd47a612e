import os
import time
from pathlib import Path

from deltann.artifact import ArtifactRef
from deltann.store import LocalStore
from deltann.store.cache import trim


def laid(store: LocalStore, cache: Path, letter: str, hours: float) -> tuple[ArtifactRef, Path]:
    """A copy of 1000 bytes, used so many hours ago."""
    ref = store.put_bytes(letter.encode() * 1000, letter)
    place = store.materialise(ref, cache)
    then = time.time() - hours * 3600
    os.utime(place.parent, (then, then))
    return ref, place


def test_what_was_used_longest_ago_goes_until_the_rest_fits(tmp_path: Path):
    store, cache = LocalStore(tmp_path / "store"), tmp_path / "cache"
    places = [laid(store, cache, letter, hours)[1] for letter, hours in (("a", 9), ("b", 7), ("c", 5), ("d", 3))]
    assert trim(cache, 2500) == 2000
    assert [place.exists() for place in places] == [False, False, True, True]
    assert trim(cache, 2500) == 2000
    assert not list(cache.glob("*/old-*"))


def test_what_was_used_a_short_while_ago_stays(tmp_path: Path):
    store, cache = LocalStore(tmp_path / "store"), tmp_path / "cache"
    old, place = laid(store, cache, "a", 9)
    _, other = laid(store, cache, "b", 1)
    store.materialise(old, cache)  # used again
    assert trim(cache, 0) == 2000
    assert place.exists()
    assert other.exists()


def test_a_folder_goes_whole_and_is_laid_out_anew(tmp_path: Path):
    store, cache = LocalStore(tmp_path / "store"), tmp_path / "cache"
    (tmp_path / "f/g").mkdir(parents=True)
    (tmp_path / "f/g/h").write_text("content")
    ref = store.put_path(tmp_path / "f")
    place = store.materialise(ref, cache)
    os.utime(place.parent, (0, 0))
    assert trim(cache, 0) == 0
    assert not place.exists()
    assert (store.materialise(ref, cache) / "g/h").read_text() == "content"


def test_work_folders_and_a_cache_that_is_not_there_are_left_alone(tmp_path: Path):
    (tmp_path / "work/1-x").mkdir(parents=True)
    (tmp_path / "work/1-x/file").write_text("x")
    assert trim(tmp_path, 0) == 0
    assert trim(tmp_path / "none", 0) == 0
    assert (tmp_path / "work/1-x/file").exists()
