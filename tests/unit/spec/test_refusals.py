"""Studies that are refused: by the reader with the path a person wrote, and by the published JSON Schema if it can."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from deltann.errors import SpecError
from deltann.kinds.compile import Precision, Schedule
from deltann.spec.load import parse_study
from deltann.spec.schema import study_schema
from deltann.targets import TARGETS

SCHEMA = jsonschema.Draft202012Validator(study_schema())
EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))
RECIPE = {"name": "mine", "steps": [{"op": "resize", "height": 8, "width": 8}, {"op": "normalise"}]}
FULL: dict[str, Any] = {
    "schema": "deltann.study/1",
    "name": "s",
    "models": [
        {"name": "m", "natives": [{"source": "m.onnx"}, {"source": "m.keras"}], "preprocessing": ["tf", RECIPE]}
    ],
    "data": {"source": "photos"},
    "conversions": {
        "frameworks": ["pytorch", "keras"],
        "pairs": [["pytorch", "keras"], ["keras", "onnx"]],
        "chains": [["keras", "tflite", "onnx", "keras"]],
        "routes": ["onnx", "direct"],
        "normalise": [True, False],
        "tools": {"keras": ["onnx2keras"]},
    },
    "engines": ["own", "tvm", "openvino"],
    "engine_options": {
        "onnxruntime": {"levels": ["basic", "all"]},
        "openvino": {"precisions": ["default", "fp32"]},
        "torch": {"libraries": ["onednn", "native"]},
    },
    "compile": {
        "levels": [0, 4],
        "targets": ["host"],
        "schedules": ["standard"],
        "precisions": ["fp32"],
        "enable": ["FuseOps"],
        "disable": ["LLVMFastMath"],
    },
    "mutations": [
        {"operators": ["drop_layer", "float32_to_int8"], "at": [{"occurrence": 0}, {"every": 2}]},
        {"operators": "kernel", "at": [{"occurrence": 3}]},
    ],
    "pools": ["cpu", "rpi4"],
    "compare": {"axes": ["conversion", "device"]},
    "gates": {"axes": ["conversion"], "max_disagreement": 0.1},
    "recipes": [{"name": "other"}],
}
MAY_BE_EMPTY = {
    "compile.enable",
    "compile.disable",
    "conversions.pairs",
    "conversions.chains",
    "mutations",
    "recipes",
    "models.0.preprocessing.1.steps",
}
STEPS = "models.0.preprocessing.1.steps"


def lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all lists in which an entry must not come twice."""
    if isinstance(value, list) and path[-1] != "steps" and "chains" not in path[:-1]:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from lists(part, (*path, key))


LISTS = list(lists(FULL))


def changed(path: tuple[Any, ...] | str, value: Any) -> dict[str, Any]:
    """The full study with another value at a path."""
    if isinstance(path, str):
        path = tuple(int(part) if part.isdigit() else part for part in path.split("."))
    study = deepcopy(FULL)
    at: Any = study
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return study


def at(path: tuple[Any, ...]) -> Any:
    value: Any = FULL
    for part in path:
        value = value[part]
    return value


def refused(study: dict[str, Any], *words: str, schema: bool = True) -> str:
    with pytest.raises(SpecError) as caught:
        parse_study(yaml.safe_dump(study), "s.yaml")
    message = str(caught.value)
    for word in words:
        assert word in message
    assert "\n" not in message
    for noise in ("literal[", "function-", "tuple[", "Recipe", "pydantic", "Input ", "dictionary"):
        assert noise not in message
    assert SCHEMA.is_valid(study) is not schema
    return message


def dotted(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))


def test_the_full_study_and_the_examples_pass_both() -> None:
    for study in (FULL, *(yaml.safe_load(path.read_text()) for path in EXAMPLES)):
        parse_study(yaml.safe_dump(study))
        SCHEMA.validate(study)


@pytest.mark.parametrize("path", LISTS, ids=dotted)
def test_an_entry_that_is_repeated_is_refused_with_its_path(path: tuple[Any, ...]) -> None:
    entries = at(path)
    repeated = entries[:1] * 2 if path[:2] == ("conversions", "pairs") and len(path) == 3 else [*entries, entries[0]]
    refused(changed(path, repeated), f"{dotted(path)}.{len(repeated) - 1}: ")


@pytest.mark.parametrize("path", [path for path in LISTS if dotted(path) not in MAY_BE_EMPTY], ids=dotted)
def test_an_empty_list_is_refused_where_it_would_plan_nothing(path: tuple[Any, ...]) -> None:
    refused(changed(path, []), dotted(path), "is required" if "pairs" in path[:-1] else "should have at least")


@pytest.mark.parametrize("path", sorted(MAY_BE_EMPTY))
def test_no_conversions_and_no_recipes_are_a_choice(path: str) -> None:
    study = changed(path, [])
    parse_study(yaml.safe_dump(study))
    SCHEMA.validate(study)


@settings(deadline=None)
@given(st.sampled_from(LISTS), st.data())
def test_any_entry_repeated_anywhere_is_refused(path: tuple[Any, ...], data: st.DataObject) -> None:
    entries = at(path)
    chosen = data.draw(st.sampled_from(entries))
    position = data.draw(st.integers(0, len(entries)))
    study = changed(path, [*entries[:position], chosen, *entries[position:]])
    with pytest.raises(SpecError, match=dotted(path).replace(".", r"\.")):
        parse_study(yaml.safe_dump(study))
    assert not SCHEMA.is_valid(study)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("models.0.preprocessing", [{"name": "tf"}, "tf"], ["models.0.preprocessing.1", "'tf'"]),
        ("models.0.natives", [{"source": "a.onnx"}, {"source": "a.onnx", "classes": 5}], ["natives.1", "each native"]),
        ("models", [FULL["models"][0], FULL["models"][0] | {"preprocessing": ["tf"]}], ["models.1", "'m'", "name of"]),
        ("recipes", [{"name": "r"}, RECIPE | {"name": "r"}], ["recipes.1", "'r'"]),
        ("compile.levels", ["default", 2], ["compile.levels.1", "repeats entry 0", "found 2"]),
    ],
)
def test_entries_that_mean_the_same_are_refused(path: str, value: Any, words: list[str]) -> None:
    refused(changed(path, value), *words, schema=False)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("pools.0", "a/b", ["pools.0", "'a/b'", "letters, digits"]),
        ("pools.0", "a b", ["pools.0", "'a b'"]),
        ("pools.0", "..", ["pools.0"]),
        ("pools.0", "", ["pools.0"]),
        ("pools.0", "x" * 65, ["pools.0", "64"]),
        ("pools.0", 1, ["pools.0: should be text, found 1."]),
        ("pools", "cpu", ["pools: should be a list, found 'cpu'."]),
        ("engines.0", "gpu", ["engines.0", "'own', 'torch'", "'iree', 'mil-reference' or 'coreml'", "'gpu'"]),
        ("engine_options", {"jax": {}}, ["engine_options.jax", "'torch', 'keras'", "found 'jax'"]),
        ("engine_options.torch", {"library": []}, ["torch.library: there is no such field. Did you mean 'libraries'?"]),
        ("compile.schedules.0", "fast", ["compile.schedules.0: should be 'standard' or 'naive', found 'fast'."]),
        ("compile.schedules.0", "tuned", ["compile.schedules.0: should be 'standard' or 'naive', found 'tuned'."]),
        ("compile.disable.0", "ConvertLayout", ["compile.disable.0", "'FuseOps'", "found 'ConvertLayout'"]),
        ("compile.enable", "FuseOps", ["compile.enable: should be a list, found 'FuseOps'."]),
        ("compile.precisions.0", "int8", ["compile.precisions.0: should be 'fp32', 'fp16' or 'bf16', found 'int8'."]),
        ("compile.targets.0", "riscv", ["compile.targets.0", "x86-64-v3", "'riscv'"]),
        ("compile.targets.0", "x86-64-v33", ["compile.targets.0", "did you mean 'x86-64-v3'", "'x86-64-v33'"]),
        ("compile.targets.0", "cuda", ["compile.targets.0", "sm_50", "cuda-sm80"]),
        ("compile.targets.0", "native", ["compile.targets.0", "generic", "host"]),
        ("compile.targets.0", 7, ["compile.targets.0: should be text or a mapping", "found 7"]),
        ("compile.levels.0", "best", ["compile.levels.0: should be a whole number", "'best'"]),
        ("compile.levels.0", True, ["compile.levels.0: should be a whole number, found true."]),
        ("threads", "2", ["threads: should be a whole number, found '2'."]),
        ("conversions.tools", {"jax": ["x"]}, ["conversions.tools.jax", "'pytorch', 'keras'", "found 'jax'"]),
        ("conversions.tools.keras.0", "a, b", ["conversions.tools.keras.0", "'a, b'"]),
        ("conversions.pairs", [["onnx", "onnx"]], ["conversions.pairs.0.1", "two different", "'onnx'"]),
        ("conversions.pairs", "al", ["conversions.pairs: should be 'all' or a list, found 'al'."]),
        ("conversions.pairs.1.1", "jax", ["conversions.pairs.1.1: should be 'pytorch'", "found 'jax'"]),
        ("conversions.chains.0", ["keras"], ["conversions.chains.0", "at least 2 entries"]),
        ("compare.axes", "none", ["compare.axes: should be a list or 'all', found 'none'."]),
        ("compare.axes.1", "size", ["compare.axes.1: should be 'framework'", "found 'size'"]),
        ("models.0.preprocessing.0", 5, ["models.0.preprocessing.0: should be text or a mapping, found 5."]),
        ("models.0.preprocessing.1", {"nme": "x"}, ["preprocessing.1.name: is required", "1.nme", "'name'"]),
        ("models.0.natives.0.preprocessing", {"name": "x", "step": []}, ["natives.0.preprocessing.step", "'steps'"]),
        (f"{STEPS}.1.std", [0], [f"{STEPS}.1.std.0: should be greater", "found 0."]),
        (f"{STEPS}.1.std", [1, 1e-9, 1], [f"{STEPS}.1.std.1"]),
        (f"{STEPS}.1.std", [], [f"{STEPS}.1.std: should have at least 1 entry"]),
        (f"{STEPS}.1.mean", [], [f"{STEPS}.1.mean: should have at least 1 entry"]),
        (f"{STEPS}.1", {"op": "normalize"}, [f"{STEPS}.1.op: should be one of", "'normalise'", "found 'normalize'"]),
        (f"{STEPS}.0", {"height": 3, "width": 3}, [f"{STEPS}.0.op: is required"]),
        (f"{STEPS}.0.height", 0, [f"{STEPS}.0.height"]),
        ("data.source", "", ["data.source"]),
        ("data.limit", 0, ["data.limit"]),
        ("data.limit", True, ["data.limit: should be a whole number, found true."]),
        ("models.0.natives.0.source", "", ["models.0.natives.0.source"]),
        ("schema_", "deltann.study/1", ["schema_: there is no such field", "'schema'"]),
        ("conversions", None, ["conversions: should be a mapping, found null."]),
    ],
)
def test_a_value_that_would_be_misread_or_fail_late_is_refused_by_both(path: str, value: Any, words: list[str]) -> None:
    refused(changed(path, value), *words)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("compile.disable", ["FuseOps"], ["compile", "FuseOps both enabled and disabled"]),
        ("conversions.chains.0", ["keras", "onnx", "onnx"], ["conversions.chains.0", "twice in a row"]),
        (f"{STEPS}.1.std", [1, 1], [f"{STEPS}.1.std", "3 channels"]),
        (f"{STEPS}.1.mean", [float("inf")], [f"{STEPS}.1.mean.0", "finite"]),
        ("gates.deadline_ms", float("inf"), ["gates.deadline_ms", "finite"]),
        (STEPS, [{"op": "raw_bytes"}, {"op": "channels"}], [STEPS, "end in raw_bytes"]),
        (STEPS, [{"op": "normalise"}, {"op": "raw_bytes"}], [STEPS, "raw_bytes"]),
        ("models.0.preprocessing.1.name", "own", ["models.0.preprocessing.1.name", "'own'"]),
        ("recipes.0.name", "own", ["recipes.0.name", "'own'"]),
        ("engine_options.openvino.precisions.1", "int8", ["precisions.1: there is no 'int8'", "bf16, fp16"]),
        ("engine_options.onnxruntime.levels.0", "bsic", ["levels.0: there is no 'bsic'. Did you mean 'basic'?"]),
        ("engine_options.torch", {"levels": ["O2"]}, ["engine_options.torch.levels: torch has no choice of levels."]),
        ("engine_options", {"iree": {"levels": ["O2"]}}, ["engine_options.iree: iree does not take part. Add it"]),
        ("engine_options", {"tvm": {"levels": ["O2"]}}, ["engine_options.tvm", "chosen in compile"]),
        ("conversions.routes", ["direct"], ["conversions.pairs.0", "pytorch to keras directly", "keras → tflite"]),
        (
            "conversions",
            {"frameworks": ["pytorch", "keras"], "pairs": "all", "routes": ["direct"]},
            ["conversions.routes", "keras → tflite"],
        ),
        ("compile.targets.0", {"kind": "cuda", "arch": "sm_80"}, ["compile.targets.0", "host"]),
        ("compile.targets", [{"kind": "llvm"}, {"mcpu": "generic", "kind": "llvm"}], ["compile.targets.1", "repeats"]),
    ],
)
def test_what_no_schema_can_say_is_refused_by_the_reader(path: str, value: Any, words: list[str]) -> None:
    refused(changed(path, value), *words, schema=False)


def test_every_registered_target_schedule_and_precision_passes() -> None:
    names = {"targets": TARGETS, "schedules": get_args(Schedule), "precisions": get_args(Precision)}
    for field, there_are in names.items():
        study = changed(f"compile.{field}", list(there_are))
        parse_study(yaml.safe_dump(study))
        SCHEMA.validate(study)


def test_many_mistakes_are_told_five_at_a_time() -> None:
    message = refused(changed("pools", ["a b"] * 9), "And 4 more.")
    assert message.count("pools.") == 5
