"""Reading a report from the folder that a sweep left."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from deltann.errors import InputError, NotFoundError
from deltann.report.models import SCHEMA_NAME, Report


def read_report(place: Path) -> Report:
    """The report in a folder, or in the file that is named.

    Raises:
        NotFoundError: if there is no ``report.json``.
        InputError: if it is not a report of this version.
    """
    path = place / "report.json" if place.is_dir() else place
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"There is no report at {path}. Name the folder that `deltann sweep run` wrote.") from None
    except OSError as error:
        raise InputError(f"The report {path} cannot be read: {error.strerror}. Check its permissions.") from error
    try:
        return Report.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            f"{path} is not a report of schema {SCHEMA_NAME}: {where}: {first['msg']}. "
            "Run the sweep again with this version of DeltaNN to write a fresh one."
        ) from error
