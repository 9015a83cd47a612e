"""The photos of a folder and their labels: as labels.csv orders them, else by class folders, else without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deltann.data.labels import LABELS, read_labels
from deltann.errors import DataError
from deltann.store.packing import members

ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"})
_SHOWN = 5


@dataclass(frozen=True)
class Photo:
    """A photo that is not read yet; its id is its path from the folder, with ``/``."""

    id: str
    path: Path
    label: int | None


def find_photos(folder: Path, name: str) -> list[Photo]:
    """The photos of a folder, in order. Links are followed within the folder, as they are when it is stored.

    Args:
        folder: where they lie.
        name: how the person knows the folder, for the message.

    Raises:
        DataError: for a folder without photos, labels that do not match them, or classes that cannot be told.
        InputError: for a link that leads out of the folder, which would mean nothing on another machine.
    """
    files = sorted(path for _, path in members(folder) if path.suffix.lower() in ENDINGS and path.is_file())
    if not files:
        raise DataError(
            f"The data folder {name} holds no photos ({', '.join(sorted(ENDINGS))}). Name the right folder."
        )
    if (folder / LABELS).is_file():
        return _labelled(folder, files, name)
    if all(path.parent == folder for path in files):
        return [Photo(path.name, path, None) for path in files]
    classes = _classes(folder, files, name)
    return [Photo(_id(path, folder), path, classes.index(path.parent)) for path in files]


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    shown = (name if name.isprintable() else repr(name) for name in names[:_SHOWN])
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _id(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _labelled(folder: Path, files: Sequence[Path], name: str) -> list[Photo]:
    labels = read_labels(folder / LABELS, f"{name}/{LABELS}")
    there = {_id(path, folder) for path in files}
    missing, unlabelled = [one for one in labels if one not in there], sorted(there - labels.keys())
    if missing or unlabelled:
        parts = []
        if missing:
            parts.append(f"{len(missing)} rows name photos that are not there ({listed(missing)})")
        if unlabelled:
            parts.append(f"{len(unlabelled)} photos have no row ({listed(unlabelled)})")
        raise DataError(f"The labels of {name} do not match its photos: {'; '.join(parts)}. Correct {LABELS}.")
    return [Photo(file, folder / file, label) for file, label in labels.items()]


def _classes(folder: Path, files: Sequence[Path], name: str) -> list[Path]:
    """The class folders in order: those of one folder, each with photos, so that a label never shifts unseen."""
    classes = sorted({path.parent for path in files})
    homes = {one.parent for one in classes}
    if len(homes) > 1:
        loose = [_id(path, folder) for path in files if path.parent == folder]
        what = (
            f"{len(loose)} photos lie beside the class folders ({listed(loose)})"
            if loose
            else f"its photos lie in folders at several places ({listed([_id(one, folder) for one in classes])})"
        )
        raise DataError(
            f"The classes of {name} cannot be told: {what}. Put every photo into the folder of its class, all of these "
            f"in one folder; or write {LABELS} with the columns file and label."
        )
    beside = (one for one in homes.pop().iterdir() if one.is_dir() and not one.name.startswith("."))
    empty = sorted(_id(one, folder) for one in beside if one not in classes)
    if empty:
        raise DataError(
            f"Folders of {name} hold no photos: {listed(empty)}. As classes they would count, and the numbers of those "
            f"after them depend on it. Fill them, remove them, or write {LABELS} with the columns file and label."
        )
    return classes
