from __future__ import annotations

import os

import pytest

from deltann.errors import ModelError
from deltann.modelfile import inspect


def test_a_whole_saved_model(saved_model):
    assert inspect(saved_model, "saved").format == "savedmodel"


def test_a_graph_without_variables_needs_none(saved_model):
    for path in (saved_model / "variables").iterdir():
        path.unlink()
    (saved_model / "saved_model.pb").write_bytes(b"\x08\x01\x12\x02\x0a\x00")
    assert inspect(saved_model, "saved").format == "savedmodel"


def test_a_graph_file_cut_anywhere_is_refused(saved_model):
    path = saved_model / "saved_model.pb"
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(ModelError, match=r"^saved is a SavedModel whose saved_model\.pb is (truncated|empty)"):
            inspect(saved_model, "saved")


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("variables.index", r"without variables/variables\.index"),
        ("variables.data-00000-of-00001", "lacks some or all"),
    ],
)
def test_lost_weights_are_named(saved_model, lost, words):
    (saved_model / "variables" / lost).unlink()
    with pytest.raises(ModelError, match=words):
        inspect(saved_model, "saved")


def test_one_of_two_shards_and_a_cut_index(saved_model):
    variables = saved_model / "variables"
    (variables / "variables.data-00000-of-00001").rename(variables / "variables.data-00000-of-00002")
    with pytest.raises(ModelError, match="lacks some or all"):
        inspect(saved_model, "saved")
    os.truncate(variables / "variables.index", 20)
    with pytest.raises(ModelError, match=r"variables\.index is truncated"):
        inspect(saved_model, "saved")
