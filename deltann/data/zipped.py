"""Photos in a zip, by part and class folder, read where they lie: nothing is unpacked."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

from deltann.data.photos import ENDINGS
from deltann.errors import DataError

MOST_BYTES = 64 << 20
"""Of one photo, unpacked: more is no photo, but made to fill memory."""


@dataclass(frozen=True)
class ZippedPhoto:
    """A photo that is not read yet; its id is its path in the archive, which stays open for as long as photos of it."""

    id: str
    archive: zipfile.ZipFile
    label: int

    def read(self) -> bytes:
        """Its bytes as they are."""
        return self.archive.read(self.id)


def find_zipped(path: Path, name: str) -> list[ZippedPhoto]:
    """The photos of a zip in the order of their paths; the folder that each lies in is its class.

    Args:
        path: of the archive: CLASS/PHOTO, or train/CLASS/PHOTO and test/CLASS/PHOTO.
        name: how the person knows it, for the message.

    Raises:
        DataError: for what is no zip, holds no photos in class folders, or photos of more than 64 MiB.
    """
    try:
        archive = zipfile.ZipFile(path)  # reading its directory anew for each photo would take minutes
        members = sorted((one for one in archive.infolist() if _is_photo(one)), key=lambda one: one.filename)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{name} is no .zip file, or is truncated. Copy it again.") from error
    large = [one.filename for one in members if one.file_size > MOST_BYTES]
    if large:
        raise DataError(f"{name} holds a photo of more than {MOST_BYTES >> 20} MiB, {large[0]!r}. Take it out.")
    folders = [one.filename.split("/")[:-1] for one in members]
    if not members or any(not 1 <= len(folder) <= 2 for folder in folders):
        raise DataError(
            f"The photos of {name} do not lie in class folders. Lay them out as CLASS/PHOTO, or as train/CLASS/PHOTO "
            "and test/CLASS/PHOTO."
        )
    classes = sorted({folder[-1] for folder in folders})
    placed = zip(members, folders, strict=True)
    return [ZippedPhoto(one.filename, archive, classes.index(folder[-1])) for one, folder in placed]


def _is_photo(member: zipfile.ZipInfo) -> bool:
    return not member.is_dir() and Path(member.filename).suffix.lower() in ENDINGS
