from __future__ import annotations

from pathlib import Path

import pytest

from deltann.data import find_photos
from deltann.errors import DataError, InputError
from deltann.store import LocalStore


def folder(home: Path, *files: str) -> Path:
    made = home / "photos"
    for file in files:
        path = made / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.endswith("/"):
            path.mkdir()
        else:
            path.write_bytes(b"x")
    return made


def found(home: Path, *files: str) -> list[tuple[str, int | None]]:
    return [(photo.id, photo.label) for photo in find_photos(folder(home, *files), "photos")]


def test_class_folders_are_labels_in_sorted_order(tmp_path: Path) -> None:
    assert found(tmp_path, "dog/b.png", "cat/a.jpg", "dog/a.PNG", ".hidden/") == [
        ("cat/a.jpg", 0),
        ("dog/a.PNG", 1),
        ("dog/b.png", 1),
    ]


def test_class_folders_may_lie_deeper_when_all_lie_in_one_folder(tmp_path: Path) -> None:
    assert found(tmp_path, "val/cat/a.png", "val/dog/a.png") == [("val/cat/a.png", 0), ("val/dog/a.png", 1)]


def test_a_plain_folder_has_no_labels(tmp_path: Path) -> None:
    assert found(tmp_path, "b.png", "a.png", "notes.txt") == [("a.png", None), ("b.png", None)]


def test_links_within_the_folder_are_followed_and_what_is_stored_is_the_same(tmp_path: Path) -> None:
    made = folder(tmp_path, "cat/a.png", "dog/b.png")
    (made / "fish").symlink_to("cat")
    (made / "dog" / "c.png").symlink_to("../cat/a.png")
    photos = [(photo.id, photo.label) for photo in find_photos(made, "photos")]
    assert photos == [("cat/a.png", 0), ("dog/b.png", 1), ("dog/c.png", 1), ("fish/a.png", 2)]
    store = LocalStore(tmp_path / "store")
    copy = store.materialise(store.put_path(made), tmp_path / "cache")
    assert [(photo.id, photo.label) for photo in find_photos(copy, "photos")] == photos


@pytest.mark.parametrize("name", ["folder", "photo.png"])
@pytest.mark.parametrize("absolute", [True, False])
def test_links_out_of_the_folder_are_refused(tmp_path: Path, name: str, absolute: bool) -> None:
    outside = tmp_path / "outside" / name
    outside.parent.mkdir()
    outside.mkdir() if name == "folder" else outside.touch()
    made = folder(tmp_path, "cat/a.png")
    (made / "cat" / name).symlink_to(outside if absolute else f"../../outside/{name}")
    with pytest.raises(InputError, match=r"leads out of its folder.*cp -rL"):
        find_photos(made, "photos")


@pytest.mark.parametrize(("target", "words"), [("nowhere", "or nowhere"), ("..", "has no end")])
def test_links_that_lead_nowhere_or_round_and_round_are_refused(tmp_path: Path, target: str, words: str) -> None:
    made = folder(tmp_path, "cat/a.png")
    (made / "cat" / "link").symlink_to(target)
    with pytest.raises(InputError, match=words):
        find_photos(made, "photos")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("a.png", "cat/b.png", "dog/c.png"), r"1 photos lie beside the class folders \(a\.png\)"),
        (("a.png", "sub/b.png"), r"1 photos lie beside the class folders \(a\.png\)"),
        (("cat/a.png", "cat/more/b.png"), r"at several places \(cat, cat/more\)"),
        (("train/cat/a.png", "val/cat/b.png"), r"at several places \(train/cat, val/cat\)"),
        (("cat/a.png", "dog/", "fish/b.png"), "hold no photos: dog"),
        (("notes.txt",), "holds no photos"),
    ],
)
def test_classes_that_cannot_be_told_are_one_paragraph(tmp_path: Path, files: tuple[str, ...], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        found(tmp_path, *files)
    assert "\n" not in str(caught.value)
    assert "photos" in str(caught.value)


def test_labels_csv_decides_whatever_the_folders(tmp_path: Path) -> None:
    made = folder(tmp_path, "a.png", "cat/b.png")
    (made / "labels.csv").write_text("file,label\ncat/b.png,4\na.png,2\n")
    assert [(photo.id, photo.label) for photo in find_photos(made, "photos")] == [("cat/b.png", 4), ("a.png", 2)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a.png,0\n", r"1 photos have no row \(b\.png\)"),
        ("a.png,0\nb.png,0\nc.png,1\n", r"1 rows name photos that are not there \(c\.png\)"),
        ('a.png,0\nb.png,0\n"c\nd",0\n', r"not there \('c\\nd'\)"),
        ("../a.png,0\nb.png,0\n", r"not there \(\.\./a\.png\); 1 photos have no row \(a\.png\)"),
        ("".join(f"{n}.png,0\n" for n in range(9)), r"9 rows .*4\.png and 4 more\)"),
    ],
)
def test_labels_and_photos_have_to_match(tmp_path: Path, rows: str, words: str) -> None:
    made = folder(tmp_path, "a.png", "b.png")
    (made / "labels.csv").write_text("file,label\n" + rows)
    with pytest.raises(DataError, match=words):
        find_photos(made, "photos")
