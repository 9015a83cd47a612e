from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from deltann.errors import SpecError
from deltann.spec.load import load_study, parse_study
from deltann.spec.schema import study_schema

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))

GOOD = """
schema: deltann.study/1
name: s
models: [{name: m, natives: [{source: m.onnx}], preprocessing: [tf]}]
data: {source: photos}
"""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid_by_reader_and_published_schema(path: Path) -> None:
    load_study(path)
    jsonschema.validate(yaml.safe_load(path.read_text()), study_schema())


def test_there_are_examples() -> None:
    assert {"quickstart", "mobilenet_v2", "deltann"} <= {path.stem for path in EXAMPLES}


def test_defaults_are_those_the_docs_promise() -> None:
    study = parse_study(GOOD)
    assert study.timing is not None
    assert (study.timing.inputs, study.timing.repeats) == (10, 10)
    assert study.compare.k == 5
    assert study.engines == ("own", "tvm")


def test_level_names_stand_for_their_numbers() -> None:
    study = parse_study(GOOD + "compile: {levels: [basic, default, 3, extended]}")
    assert study.compile.levels == (0, 2, 3, 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + "timng: 3", ["timng", "no such field", "'timing'"]),
        (GOOD.replace("source: m.onnx", "sorce: m.onnx"), ["models.0.natives.0.sorce", "'source'"]),
        (GOOD.replace("tf]", "tff]"), ["models.0.preprocessing.0", "'tff'", "'tf'"]),
        (GOOD.replace("m.onnx", "m.onnx, preprocessing: tff"), ["models.0.natives.0.preprocessing", "'tff'"]),
        (GOOD.replace("schema: deltann.study/1", "schema: deltann.study/9"), ["schema", "deltann.study/1", "study/9"]),
        (GOOD + "compile: {levels: [7]}", ["compile.levels.0", "4", "7"]),
        (GOOD + "compile: {levels: [best]}", ["compile.levels.0", "best"]),
        (GOOD + "compile: {targets: [host, riscv]}", ["compile.targets.1", "riscv", "x86-64-v3", "`deltann targets`"]),
        (GOOD.replace("photos", "photos, limit: 0"), ["data.limit"]),
        (GOOD + "conversions: {chains: [[keras, keras]]}", ["conversions.chains.0", "twice"]),
        (GOOD + "conversions: {pairs: [[keras, jax]]}", ["conversions.pairs", "jax"]),
        (GOOD + "compare: {k: 3}", ["rbo_depth", "5", "3"]),
        ("a: [", ["not YAML"]),
        ("- 1", ["list", "deltann.study/1"]),
        ("", ["deltann.study/1"]),
    ],
)
def test_a_mistake_is_answered_with_where_it_is_and_what_is_allowed(text: str, words: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        parse_study(text, "s.yaml")
    message = str(caught.value)
    assert "\n" not in message
    for word in [*words, "s.yaml"]:
        assert word in message


def test_two_models_of_one_name_are_refused() -> None:
    twice = GOOD.replace("models: [", "models: [{name: m, natives: [{source: n.onnx}], preprocessing: [tf]}, ")
    with pytest.raises(SpecError, match="'m'"):
        parse_study(twice)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nowhere\.yaml"):
        load_study(tmp_path / "nowhere.yaml")
