"""YAML text into plain values. What YAML would misread in silence, or could hold without bound, is refused."""

from __future__ import annotations

import re
from typing import Any

import yaml

from deltann.errors import SpecError

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_VALUES = 20_000
"""Bounds that no study comes near, and that keep what is read small and its readers from recursing without end."""

_TOO_MUCH = (
    f"more than {MAX_VALUES:,} values, or mappings and lists more than {MAX_DEPTH} deep in each other, which no study "
    "needs; make it flatter, or several of it"
)
_CORE = "tag:yaml.org,2002:"


class _Refused(yaml.MarkedYAMLError):
    """YAML that is none of a study."""


class _Loader(yaml.SafeLoader):
    """Keys once, no tags and merges, and plain numbers as in YAML 1.2: 010 is no octal, 1:30 no 90, a date is text."""

    depth = seen = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) is not None:
            raise _Refused(problem="tags are not read: write the value plainly", problem_mark=event.start_mark)
        self.depth, self.seen = self.depth + 1, self.seen + 1
        if self.depth > MAX_DEPTH or self.seen > MAX_VALUES:
            raise _Refused(problem=_TOO_MUCH, problem_mark=event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if key.tag == f"{_CORE}merge":
                raise _Refused(problem="'<<' is not read: write the fields out", problem_mark=key.start_mark)
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in lines:
                problem = f"the key {key.value!r} is there already, in line {lines[key.value]}: leave one of them out"
                raise _Refused(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag.removeprefix(_CORE) in ("bool", "null", "merge")]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_CORE}int", re.compile(r"^[-+]?(0|[1-9][0-9]{0,17})$"), [*"-+0123456789"])
_Loader.add_implicit_resolver(
    f"{_CORE}float",
    re.compile(
        r"^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)|\.(inf|Inf|INF))$|^\.(nan|NaN|NAN)$"
    ),
    [*"-+.0123456789"],
)


def read_yaml(text: str, where: str) -> Any:
    """The value of a YAML (or JSON) text: mappings, lists, texts, numbers, true, false and null, and nothing else.

    Raises:
        SpecError: if it is no YAML, too large, too deep, or says something twice; names the line.
    """
    if len(text) > MAX_BYTES:
        raise too_large(where)
    try:
        value = yaml.load(text, Loader=_Loader)
    except _Refused as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SpecError(f"{where}, line {line}: {error.problem}.") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise SpecError(f"{where} is not YAML: {' '.join(str(error).split())}.") from error
    _bound(value, where)
    return value


def too_large(where: str) -> SpecError:
    """The refusal of a text that is longer than a study's."""
    return SpecError(f"{where} has more than {MAX_BYTES >> 20} MiB, which no study has. Name a study's YAML file.")


def _bound(value: Any, where: str) -> None:
    """Anchors may make a short text hold itself, or millions of values."""
    waiting, seen = [(value, 1)], 0
    while waiting:
        one, depth = waiting.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_VALUES:
            raise SpecError(f"{where}, with its anchors followed: {_TOO_MUCH}.")
        inside = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        waiting += [(part, depth + 1) for part in inside]
