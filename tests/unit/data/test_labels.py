from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltann.data.labels import read_labels
from deltann.errors import DataError


def read(tmp_path: Path, content: bytes | str) -> dict[str, int]:
    path = tmp_path / "labels.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_labels(path, "photos/labels.csv")


@pytest.mark.parametrize(
    "content",
    [
        "file,label\nb.png,7\na.png,0\n",
        "\ufefffile,label\r\nb.png,7\r\na.png,0\r\n",
        "label,name,file\n7,seven,b.png\n\n 0 ,zero,./a.png",
        'file, label\n"b.png", 7\na.png, 0\n',
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, content: str) -> None:
    labels = read(tmp_path, content)
    assert labels == {"b.png": 7, "a.png": 0}
    assert [*labels] == ["b.png", "a.png"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "columns file and label.*it has \\[\\]"),
        (b"file;label\na.png;0\n", "separated by commas; it has \\['file;label'\\]"),
        (b"name,class\na.png,0\n", "it has \\['name', 'class'\\]"),
        (b"file,label,label\na.png,0,1\n", "columns file and label"),
        ("file,label\na.png,0\nü.png,1\n".encode("latin-1"), "Line 3 of photos/labels.csv is not UTF-8"),
        ("file,label\na.png,0\n".encode("utf-16"), "Line 1 of photos/labels.csv is not UTF-8"),
        (b"file,label\na.png,0\nb.png\n", "Line 3 .* has 1 fields where its first line has 2"),
        (b"file,label\na,b.png,0\n", "Line 2 .* has 3 fields.*in quotes"),
        (b'file,label\n"a.png,0\nb.png,1\n', "is no CSV"),
        (b"file,label\na.png,zero\n", "Line 2 .* 'zero', which is no class number"),
        (b"file,label\na.png,\n", "Line 2 .* '', which is no class number"),
        (b"file,label\na.png,-1\n", "'-1', which is no class number"),
        (b"file,label\na.png,1.5\n", "'1.5', which is no class number"),
        ("file,label\na.png,²\n".encode(), "'²', which is no class number"),
        (b"file,label\na.png," + b"9" * 5000, "which is no class number"),
        (b"file,label\na.png,0\nb.png,1\na.png,0\n", r"Lines 2 and 4 of photos/labels\.csv both name 'a\.png'"),
        (b'file,label\n"a\nb",0\n"a\nb",0\n', "Lines 3 and 5 of .* both name"),
        (b"file,label\na.png,0\n./a.png,1\n", r"Lines 2 and 3 of photos/labels\.csv both name 'a\.png'"),
    ],
)
def test_what_is_no_table_of_labels_is_one_paragraph_with_its_line(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


@given(st.one_of(st.binary(max_size=80), st.binary(max_size=60).map(lambda rest: b"file,label\n" + rest)))
def test_no_content_raises_anything_but_a_data_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    try:
        labels = read(tmp_path_factory.getbasetemp(), content)
    except DataError:
        return
    assert all(label >= 0 for label in labels.values())
