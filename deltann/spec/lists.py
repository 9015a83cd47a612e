"""What the lists and names of a study have in common: no entry twice, and names that are safe as queues and paths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

T = TypeVar("T")

SLUG = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
Slug = Annotated[str, Field(pattern=SLUG, max_length=64)]
"""A name that becomes part of a queue, a path or an id."""


def _itself(entry: Any) -> Hashable:
    found: Hashable = entry
    return found


@dataclass(frozen=True)
class Distinct:
    """Annotation of a list in which no entry may come twice.

    Args:
        key: what of an entry must not come again; the whole entry where not given.
        says: what is wrong with the later one, and what a person does about it.
    """

    key: Callable[[Any], Hashable] = _itself
    says: str = "repeats entry {before}: leave one of them out"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "uniqueItems": True}

    def _check(self, entries: Sequence[Any]) -> Sequence[Any]:
        first: dict[Hashable, int] = {}
        for position, entry in enumerate(entries):
            key = self.key(entry)
            before = first.setdefault(key, position)
            if before != position:
                found = key if isinstance(key, str) else entry
                raise PydanticCustomError("repeated", self.says, {"at": position, "before": before, "found": found})
        return entries


Listed = Annotated[tuple[T, ...], Distinct()]
"""A list that may be empty."""

Some = Annotated[tuple[T, ...], Field(min_length=1), Distinct()]
"""A list of at least one: an axis with nothing on it would plan nothing, silently."""
