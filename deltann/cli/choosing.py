"""How a build is chosen by options: target, level, and single passes."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from deltann.errors import InputError
from deltann.kinds.compile import LEVELS
from deltann.passes import PASSES
from deltann.spec.mistakes import hint
from deltann.targets import read_target

Build = TypeVar("Build", bound=BaseModel)


def chosen(kind: type[Build], **asked: Any) -> Build:
    """A build as options ask for it.

    Raises:
        InputError: for what is no pass, and one that is both added and left out.
    """
    try:
        return kind(**asked)
    except ValidationError as error:
        wrong = " ".join(map(_wrong, error.errors()))
        raise InputError(f"The passes cannot be chosen like that: {wrong}") from error


def _wrong(item: ErrorDetails) -> str:
    if item["type"] == "literal_error":
        return f"--{item['loc'][0]} {item['input']} names no pass. {hint(str(item['input']), list(PASSES))}"
    return " ".join([*(f"--{name}" for name in item["loc"][:1]), f"{item['msg']}."])


def find_target(given: str) -> str:
    """A target as ``--target`` names it.

    Raises:
        InputError: for what is none.
    """
    try:
        return read_target(given)
    except ValueError as error:
        raise InputError(f"--target {error}, found {given!r}.") from None


def find_level(name: str, option: str = "--opt") -> int:
    """A level by its number or name.

    Raises:
        InputError: for what is none.
    """
    levels = LEVELS | {str(level): level for level in range(5)}
    if name not in levels:
        raise InputError(f"{option} takes {', '.join(levels)}, not {name!r}.")
    return levels[name]
