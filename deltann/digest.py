"""Digests: SHA-256, in lower-case hexadecimal, over bytes, files and canonical JSON."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

_CHUNK = 1 << 20


def canonical_json(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no spaces, UTF-8; pydantic models by their fields.

    Raises:
        ValueError: if the value holds NaN or Inf, which JSON has no word for.
    """

    def plain(item: Any) -> Any:
        if isinstance(item, BaseModel):
            return item.model_dump(mode="json")
        raise TypeError(f"{type(item).__name__} has no canonical JSON form")

    return json.dumps(
        value, default=plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def digest_bytes(data: bytes) -> str:
    """SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_value(value: Any) -> str:
    """SHA-256 of a value's canonical JSON."""
    return digest_bytes(canonical_json(value))


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in chunks of 1 MiB."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()
