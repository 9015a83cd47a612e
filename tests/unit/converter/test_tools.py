import logging
import sys

import pytest
from deltann_converter.service import SERVICE
from deltann_converter.tools import onnx2tf, program, registered, select, versions

from deltann.errors import JobFailure
from deltann.kinds.convert import ConvertParams
from deltann.model import ENDS, FRAMEWORK_OF

FORMAT_OF_RESULT = {"pytorch": "pt2", "keras": "keras_recipe", "tensorflow": "savedmodel", "tflite": "tflite"}


@pytest.mark.parametrize("fmt", [fmt for fmt, framework in FRAMEWORK_OF.items() if framework not in ENDS | {"onnx"}])
def test_every_format_has_a_way_into_onnx(fmt):
    tool = select(FRAMEWORK_OF[fmt], "onnx", fmt, None)
    assert tool.route == "onnx"
    assert fmt in tool.formats


@pytest.mark.parametrize("target", FORMAT_OF_RESULT)
def test_onnx_has_a_way_to_every_framework(target):
    assert select("onnx", target, "onnx", None).route == "onnx"


@pytest.mark.parametrize(
    ("source", "fmt", "target"),
    [
        ("keras", "keras", "tensorflow"),
        ("keras", "keras", "tflite"),
        ("keras", "keras_recipe", "tensorflow"),
        ("keras", "keras_recipe", "tflite"),
        ("tensorflow", "savedmodel", "tflite"),
    ],
)
def test_the_direct_routes_are_there(source, fmt, target):
    assert select(source, target, fmt, None).route == "direct"


def test_select_prefers_the_exporter_by_tracing_and_gives_the_other_by_name():
    assert select("pytorch", "onnx", "pt2", None).name == "torch-onnx-script"
    assert select("pytorch", "onnx", "pt2", "torch-onnx-dynamo").name == "torch-onnx-dynamo"


def test_select_names_what_there_is_when_there_is_no_such_tool():
    with pytest.raises(
        JobFailure, match=r"no tool torch-onnx-dynamo.*torchscript.*torch-onnx-script \(pt2/torchscript\)"
    ):
        select("pytorch", "onnx", "torchscript", "torch-onnx-dynamo")
    with pytest.raises(JobFailure, match="from pytorch to keras; there are: none"):
        select("pytorch", "keras", "pt2", None)


def test_names_are_unique_per_edge_and_format():
    edges = [(tool.name, tool.source, tool.target, fmt) for tool in registered() for fmt in tool.formats]
    assert len(edges) == len(set(edges))


def test_versions_names_each_distribution_that_is_installed():
    found = versions(select("keras", "onnx", "keras", None))
    assert [part.split()[0] for part in found.split(", ")] == ["tf2onnx", "tensorflow", "onnx", "keras"]
    assert all(part.split()[1][0].isdigit() for part in found.split(", "))


def test_onnx2tf_is_registered_only_where_its_python_is(tmp_path):
    assert onnx2tf.tools(None) == ()
    assert onnx2tf.tools(str(tmp_path / "none")) == ()
    assert [(tool.source, tool.target) for tool in onnx2tf.tools(sys.executable)] == [
        ("onnx", "tensorflow"),
        ("onnx", "tflite"),
    ]


def test_the_toolchain_of_a_step_is_that_of_its_edge():
    kind = SERVICE.kind("convert")
    assert kind.toolchain(ConvertParams(source="onnx", target="pytorch")) == (
        "onnx",
        "onnx2torch",
        "onnxruntime",
        "torch",
    )
    assert "onnxscript" not in kind.toolchain(ConvertParams(source="pytorch", target="onnx", tool="torch-onnx-script"))


def test_a_program_that_fails_is_told_by_its_last_line(tmp_path):
    code = "import sys; print('first', file=sys.stderr); sys.exit('ValueError: no such operator')"
    with pytest.raises(RuntimeError, match="toolname ended with 1: ValueError: no such operator"):
        program.run("toolname", [sys.executable, "-c", code], tmp_path)


def test_warnings_of_a_program_are_logged(tmp_path, caplog):
    code = "print('2026-01-01 - WARNING - From x: lossy cast'); print('INFO all well')"
    with caplog.at_level(logging.WARNING):
        program.run("toolname", [sys.executable, "-c", code], tmp_path)
    assert [record.getMessage() for record in caplog.records] == ["From x: lossy cast"]
