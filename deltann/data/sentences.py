"""Sentences with a class, as people give them, and as tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deltann.errors import DataError

SENTENCES: dict[str, int] = {".neg": 0, ".pos": 1}
"""The class of a text file's lines, by its ending."""

PAD, UNKNOWN = 0, 1


@dataclass(frozen=True)
class Sentence:
    """One line of a text file; its id is the file's ending and its line, counted from 1."""

    id: str
    words: tuple[str, ...]
    label: int


def is_text_folder(folder: Path) -> bool:
    """Whether a folder holds sentences: text files with an ending that tells their class."""
    return any(path.suffix in SENTENCES and path.is_file() for path in folder.iterdir())


def read_sentences(folder: Path, name: str) -> list[Sentence]:
    """The sentences of a folder, a line each, words parted by spaces; class by class in the order of their numbers.

    Text is read as UTF-8, or as Latin-1 where it is none (as the sentence polarity data 1.0 of Pang and Lee is).

    Args:
        folder: with one file for each ending of :data:`SENTENCES`.
        name: how the person knows it, for the message.

    Raises:
        DataError: where there is not one file of each class, or one of them holds no sentence.
    """
    found: list[Sentence] = []
    for ending, label in SENTENCES.items():
        files = [path for path in folder.iterdir() if path.suffix == ending]
        if len(files) != 1:
            raise DataError(
                f"The text folder {name} has {len(files)} files that end in {ending}. Lay one of each class into it "
                f"({', '.join(SENTENCES)}), a sentence a line."
            )
        lines = enumerate(_text(files[0]).splitlines(), 1)
        some = [
            Sentence(f"{ending[1:]}/{line:06d}", tuple(text.split()), label) for line, text in lines if text.split()
        ]
        if not some:
            raise DataError(f"{name}/{files[0].name} holds no sentence. Write one a line.")
        found += some
    return found


def _text(path: Path) -> str:
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def vocabulary(sentences: Iterable[Sentence], size: int) -> list[str]:
    """The words of so many tokens, each at its token's place: padding, unknown, then the most frequent first.

    Words that are equally frequent are in the order of their letters.
    """
    counted = Counter(word for sentence in sentences for word in sentence.words)
    words = sorted(counted, key=lambda word: (-counted[word], word))
    return ["", "?", *words[: size - 2]]


def tokens(sentences: Sequence[Sentence], words: Sequence[str], length: int) -> NDArray[np.int32]:
    """int32 [n, length]: the last words of each sentence, with :data:`PAD` before them where they are fewer."""
    token_of = {word: token for token, word in enumerate(words) if token > UNKNOWN}
    found = np.full((len(sentences), length), PAD, np.int32)
    for row, sentence in enumerate(sentences):
        last = [token_of.get(word, UNKNOWN) for word in sentence.words[-length:]]
        found[row, length - len(last) :] = last
    return found
