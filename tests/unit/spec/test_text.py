"""YAML that would be misread in silence, or has no bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltann.errors import SpecError
from deltann.spec.load import load_study, parse_study
from deltann.spec.text import MAX_BYTES, MAX_DEPTH, read_yaml


@pytest.mark.parametrize(
    ("text", "line", "first"),
    [
        ("a: 1\nb: 2\na: 3", 3, 1),
        ("a:\n  b: 1\n  c: 2\n  b: 3", 4, 2),
        ("- {a: 1,\n   a: 2}", 2, 1),
        ("'a': 1\n\"a\": 1", 2, 1),
        ('{"a": {"b": 1, "b": 1}}', 1, 1),
        ("x: &x {a: 1, b: {c: 1,\n c: 2}}\ny: *x", 2, 1),
    ],
)
def test_a_key_written_twice_is_refused_with_both_lines(text: str, line: int, first: int) -> None:
    with pytest.raises(SpecError, match=rf"^s\.yaml, line {line}: the key '.' is there already, in line {first}: "):
        read_yaml(text, "s.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", "010"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
        ("9" * 5000, "9" * 5000),
        ("-7", -7),
        ("0", 0),
        ("1e-3", 0.001),
        ("0.25", 0.25),
        (".5", 0.5),
        ("1.", 1.0),
        ("true", True),
        ("null", None),
        ("'1'", "1"),
    ],
)
def test_plain_values_mean_what_they_look_like(text: str, value: object) -> None:
    found = read_yaml(f"a: {text}", "s")["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 40 + "1" + "}" * 40,
        "- " * 50_000 + "x",
        "\n".join(" " * i + "a:" for i in range(200)),
        "a: &a [*a]",
        "a: &a {b: *a}",
        "a: &a " + "[" * 20 + "]" * 20 + "\nb: " + "[" * 20 + "*a" + "]" * 20,
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        "a: [" + "1," * 150_000 + "]",
    ],
    ids=["lists", "mappings", "dashes", "indented", "itself", "itself-mapping", "anchors", "bomb", "values"],
)
def test_what_has_no_bounds_is_refused_in_one_paragraph(text: str) -> None:
    with pytest.raises(SpecError, match="which no study needs") as caught:
        parse_study(text, "s.yaml")
    message = str(caught.value)
    assert message.startswith("s.yaml")
    assert "\n" not in message
    assert len(message) < 300


def test_what_is_as_deep_as_the_bound_is_read() -> None:
    inside = MAX_DEPTH - 1
    assert read_yaml("[" * inside + "1" + "]" * inside, "s")
    with pytest.raises(SpecError):
        read_yaml("[" * (inside + 1) + "1" + "]" * (inside + 1), "s")


def test_too_large_a_study_is_refused_before_it_is_read(tmp_path: Path) -> None:
    text = "a: " + "b" * MAX_BYTES
    with pytest.raises(SpecError, match="more than 1 MiB"):
        parse_study(text)
    path = tmp_path / "big.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=r"big\.yaml has more than 1 MiB"):
        load_study(path)


@pytest.mark.parametrize(
    "text",
    ["a: !!set {x}", "a: !!int '3'", "!!python/object/apply:os.system [true]", "a: !x 1", "a: &a {b: 1}\nc: {<<: *a}"],
)
def test_tags_and_merges_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(SpecError, match=rf"^s\.yaml, line {text.count(chr(10)) + 1}: "):
        read_yaml(text, "s.yaml")


@pytest.mark.parametrize("text", ["a: [", "a: 'x", '"\\U7fffffff"', "a: \x07", "? [1]\n: 2", "a: 1\n---\nb: 2", "%"])
def test_what_is_no_yaml_is_an_answer(text: str) -> None:
    with pytest.raises(SpecError, match=r"^s\.yaml is not YAML") as caught:
        read_yaml(text, "s.yaml")
    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab1-:[]{}&*!|>'\"#,?.\n \\x~%@"), max_size=60) | st.text(max_size=40))
def test_any_text_is_a_study_or_an_answer(text: str) -> None:
    with pytest.raises(SpecError):
        parse_study(text)
