"""Bearer tokens: who holds one and what they may do. The file has their SHA-256 alone, never a token."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from enum import IntEnum
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from deltann.base import Data
from deltann.errors import InputError, SpecError
from deltann.spec.text import read_yaml

PREFIX = "deltann_"
log = logging.getLogger(__name__)


class Role(IntEnum):
    """What a caller may do; each role may do what those before it may."""

    READ = 1
    SUBMIT = 2
    ADMIN = 3


class Token(Data):
    """A line of the file of tokens."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    role: Role
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", repr=False)

    @field_validator("role", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        if isinstance(value, str) and value.upper() in Role.__members__:
            return Role[value.upper()]
        raise ValueError(f"should be {', '.join(role.name.lower() for role in Role)}")


_FILE = TypeAdapter(list[Token])


class Tokens:
    """The tokens of a file, read anew when it changes, so that one is given or taken back without a restart.

    Args:
        path: a YAML list of ``{name: …, role: read|submit|admin, sha256: …}``.

    Raises:
        InputError: if the file is not one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokens = _read(path)
        self._stamp = _stamp(path)

    def holder(self, presented: str) -> Token | None:
        """The entry of a token, or None. It takes as long for a wrong one as for a right one."""
        self._refresh()
        digest = digest_of(presented)
        found = None
        for token in self._tokens:
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def _refresh(self) -> None:
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens = _read(self._path)
        except InputError as error:
            log.error("the tokens stay as they were: %s", error)
        else:
            log.info("%d tokens read from %s", len(self._tokens), self._path)


def new_token(name: str, role: str) -> tuple[str, str]:
    """A fresh token and its line for the file.

    Raises:
        InputError: if the name or the role cannot be.
    """
    token = PREFIX + secrets.token_urlsafe(32)
    try:
        entry = Token.model_validate({"name": name, "role": role, "sha256": digest_of(token)})
    except ValidationError as error:
        raise InputError(
            f"A token needs a name of letters, digits, '.', '_' and '-' and a role (read, submit or admin); {name!r} "
            f"with {role!r} is not that."
        ) from error
    return token, f'- {{name: "{entry.name}", role: {entry.role.name.lower()}, sha256: "{entry.sha256}"}}'


def digest_of(token: str) -> str:
    """What the file has of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _read(path: Path) -> tuple[Token, ...]:
    try:
        found = tuple(_FILE.validate_python(read_yaml(path.read_text(encoding="utf-8"), "it")))
    except (OSError, UnicodeDecodeError, SpecError) as error:
        why = "it is not plain YAML" if isinstance(error, SpecError) else type(error).__name__  # says no content
        raise InputError(f"The tokens in {path} cannot be read: {why}. {_HOW}") from error
    except ValidationError as error:
        where = ", ".join(".".join(map(str, item["loc"])) or "the file" for item in error.errors()[:5])
        raise InputError(f"The tokens in {path} are not right at {where}. {_HOW}") from error  # says no content
    names = [token.name for token in found]
    if not found or len(set(names)) < len(names):
        what = "names somebody twice" if found else "holds no token"
        raise InputError(f"The file of tokens {path} {what}. {_HOW}")
    return found


_HOW = (
    "It is a YAML list whose lines `deltann-gateway token --name NAME --role ROLE` prints: "
    "- {name: ci, role: submit, sha256: …}."
)


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
