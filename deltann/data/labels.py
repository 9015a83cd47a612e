"""``labels.csv``: which class each photo of a folder is of."""

from __future__ import annotations

import csv
import io
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from deltann.errors import DataError

LABELS = "labels.csv"
_CLASS = re.compile(r"[0-9]{1,9}")


def read_labels(path: Path, name: str) -> dict[str, int]:
    """The labels by file, in the order of the rows. UTF-8, with or without byte-order mark.

    Args:
        path: the CSV file, with the columns ``file`` and ``label`` and any others.
        name: how the person knows it, for the message.

    Raises:
        DataError: for text that is no such table, naming the line.
    """
    labels: dict[str, int] = {}
    lines: dict[str, int] = {}
    for line, file, label in _rows(_text(path, name), name):
        if not _CLASS.fullmatch(label):
            raise DataError(
                f"Line {line} of {name} has the label {label!r}, which is no class number from 0. Correct it."
            )
        if file in lines:
            raise DataError(
                f"Lines {lines[file]} and {line} of {name} both name {file!r}. A photo counts once: remove one of them."
            )
        lines[file], labels[file] = line, int(label)
    return labels


def _text(path: Path, name: str) -> str:
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"Line {line} of {name} is not UTF-8 text. Save the file as UTF-8 (CSV).") from error


def _rows(text: str, name: str) -> Iterator[tuple[int, str, str]]:
    """Line number, file and label of each row that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        if header.count("file") != 1 or header.count("label") != 1:
            raise DataError(
                f"{name} needs a first line with the columns file and label, separated by commas; it has {header}."
            )
        file, label = header.index("file"), header.index("label")
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise DataError(
                    f"Line {reader.line_num} of {name} has {len(row)} fields where its first line has {len(header)}. "
                    "Correct it; a name with a comma in it goes in quotes."
                )
            yield reader.line_num, posixpath.normpath(row[file].strip()), row[label].strip()
    except csv.Error as error:
        raise DataError(f"Line {reader.line_num} of {name} is no CSV: {error}. Correct it.") from error
