"""Sentences and their tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deltann.data import is_text_folder, read_sentences, tokens, vocabulary
from deltann.data.sentences import Sentence
from deltann.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reviews.neg").write_bytes("dull , dull\n\nno caf\xe9\n".encode("latin-1"))
    (tmp_path / "reviews.pos").write_text("a café of joy\n", encoding="utf-8")
    return tmp_path


def sentence(text: str) -> Sentence:
    return Sentence("x", tuple(text.split()), 0)


def test_lines_become_sentences_in_either_encoding_and_blank_ones_are_none(folder: Path) -> None:
    found = read_sentences(folder, "reviews")
    assert [(one.id, " ".join(one.words), one.label) for one in found] == [
        ("neg/000001", "dull , dull", 0),
        ("neg/000003", "no café", 0),
        ("pos/000001", "a café of joy", 1),
    ]
    assert is_text_folder(folder)


def test_a_class_without_a_file_is_named(folder: Path) -> None:
    (folder / "reviews.pos").unlink()
    with pytest.raises(DataError, match=r"0 files that end in \.pos"):
        read_sentences(folder, "reviews")


def test_an_empty_class_is_named(folder: Path) -> None:
    (folder / "reviews.pos").write_text("\n \n")
    with pytest.raises(DataError, match=r"reviews/reviews\.pos holds no sentence"):
        read_sentences(folder, "reviews")


def test_the_vocabulary_is_by_frequency_then_by_letters() -> None:
    some = [sentence("b a b c"), sentence("c b d")]
    assert vocabulary(some, 5) == ["", "?", "b", "c", "a"]
    assert vocabulary(some, 100) == ["", "?", "b", "c", "a", "d"]


def test_tokens_are_the_last_words_with_padding_before_shorter_ones() -> None:
    words = ["", "?", "b", "a"]
    found = tokens([sentence("a b z a"), sentence("b")], words, 3)
    assert found.dtype == np.int32
    assert found.tolist() == [[2, 1, 3], [0, 0, 2]]
