"""Any text is a study or is refused as none."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from deltann.errors import SpecError
from deltann.spec.load import load_study, parse_study
from deltann.spec.text import MAX_BYTES

from .harness import brief, hold, mutated

EXAMPLES = [path.read_bytes() for path in sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))]
GOOD = next(text for text in EXAMPLES if b"natives:" in text).decode()
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(exclude_categories=()), max_size=20),
        st.sampled_from(["all", "own", "tf", "keras", "..", "-1", "x" * 5000, 2**64, 10**30, "1e999", "\ud800"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=8), st.integers(), st.none(), st.booleans()), inner, max_size=4),
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inside for place in places(part, (*path, key)))]


def put(study: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    study = at = copy.deepcopy(study)
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return study


@st.composite
def swapped(draw: st.DrawFn) -> str:
    """An example with other values, or parts of another example, at some places."""
    study = yaml.safe_load(draw(st.sampled_from(EXAMPLES)))
    other = yaml.safe_load(draw(st.sampled_from(EXAMPLES)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(study)))
        if draw(st.booleans()):
            path = (*path[:-1], draw(st.sampled_from([0, 1, 1.5, None, True, "x", "a\nb", "k" * 3000])))
        value: Any = other
        if draw(st.booleans()):
            value = draw(VALUES)
        else:
            for part in draw(st.sampled_from(places(other))):
                value = value[part]
        try:
            study = put(study, path, value)
        except (IndexError, TypeError):
            continue
    return str(yaml.safe_dump(study, allow_unicode=draw(st.booleans())))


@brief(150)
@given(st.text(st.characters(exclude_categories=()), max_size=200))
@example('schema: "\\ud800"')
@example('"a\\nb": 1')
@example("&a [*a]")
@example("? [a]\n: b")
@example("a: 2024-99-99")
@example("*" + "a" * 5000)
def test_any_text(text: str) -> None:
    hold(lambda: parse_study(text), SpecError)


@pytest.mark.parametrize("key", ["1", "1.5", "null", "true", '"a\\nb"', '"a\\e[2J"', "k" * 900, "{}", "-"])
@pytest.mark.parametrize("of", [0, 2, 4])
def test_a_field_of_any_name_is_told_at_any_depth(key: str, of: int) -> None:
    study = yaml.safe_load(GOOD)
    study["models"][0]["natives"][0]["FIELD" if of == 4 else "classes"] = 1 if of == 4 else None
    study["data"]["FIELD" if of == 2 else "limit"] = 1 if of == 2 else None
    study |= {"FIELD": 1} if of == 0 else {}
    refusal = hold(lambda: parse_study(yaml.safe_dump(study).replace("FIELD", key)), SpecError)
    assert refusal is not None


@brief(120)
@given(st.sampled_from(EXAMPLES).flatmap(mutated))
def test_an_example_with_other_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "study.yaml"
    path.write_bytes(content)
    hold(lambda: load_study(path), SpecError)


@brief(120)
@given(swapped())
@example(GOOD + "\n1: x\n")
@example(GOOD + "\nnull: x\n")
@example(GOOD + '\n"a\\nb": x\n')
@example(GOOD + f"\n{'k' * 1000}: x\n")
def test_an_example_with_other_values(text: str) -> None:
    hold(lambda: parse_study(text), SpecError)


@pytest.mark.parametrize("begin", ["[", "{a: ", "- ", "? ", "a:\n ", "[{a: [", "&a [", '"', "# \n", "'", "|\n "])
@pytest.mark.parametrize("times", [31, 33, 1000, 100_000])
def test_whatever_is_nested(begin: str, times: int) -> None:
    for before in ("", GOOD + "\nx: "):
        assert hold(lambda text=before + begin * times: parse_study(text[:MAX_BYTES]), SpecError) is not None  # type: ignore[misc]
