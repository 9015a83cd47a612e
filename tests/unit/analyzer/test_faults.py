"""What the report and its page say of the steps that got nodes wrong."""

from __future__ import annotations

import base64
import io

import numpy as np
from deltann_analyzer.html.faults import fault_sections
from made_sweep import HOSTILE
from PIL import Image
from written_report import Written


def test_the_step_with_its_suspects_without_tensors(written: Written) -> None:
    (fault,) = written.report.faults
    assert (fault.conversions, fault.step, fault.model) == (["c-keras"], "onnx → keras", "net")
    assert (fault.tool, fault.followed) == ("onnx2keras (1.2)", "keras2onnx")
    assert fault.inputs == ["photo_03.jpg", "photo_00.jpg"]
    assert [(one.node, one.edits) for one in fault.suspects] == [("Conv_1", ())]
    assert fault.repairs == [["set_initializer node=b, slot=1, values=float32[2, 2]"]]
    assert fault.layers is not None
    assert [one.error for one in fault.layers.layers] == [1e-7, 2.0, None]  # no report has Inf
    assert len((written.folder / "report.json").read_text()) < 2_000_000


def test_the_finding_names_the_node(written: Written) -> None:
    (finding,) = [one for one in written.report.findings if one.kind == "silent_conversion_fault"]
    assert "Its node Conv_1 (Conv) is wrong by itself: weights: scaled." in finding.text


def test_the_chart_has_a_point_for_each_layer_and_what_is_infinite_at_its_top(written: Written) -> None:
    (section,) = fault_sections(written.report.faults)
    first, wrong, last = section["chart"]["points"]
    assert (first["x"], wrong["x"], last["x"]) == (0.0, 430.0, 860.0)
    assert first["y"] > wrong["y"] > last["y"] == 0.0
    assert (first["blamed"], wrong["blamed"]) == (False, True)
    assert [one.node for one in section["ranked"]] == ["Conv_1"]


def test_a_map_is_a_picture_of_one_pixel_a_value_from_light_to_dark(written: Written) -> None:
    (section,) = fault_sections(written.report.faults)
    (picture,) = section["pictures"]
    address = dict(picture["maps"])["source"]
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))))
    assert pixels.shape == (2, 2, 3)
    assert (pixels[0, 1] == pixels.min(axis=(0, 1))).all()
    heights = [bar["h"] for bar in dict(picture["bars"])["source"]]
    assert heights[0] == 90.0 > heights[1] > 0


def test_the_page_escapes_what_a_framework_said(written: Written) -> None:
    page = (written.folder / "report.html").read_text()
    assert HOSTILE not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2
