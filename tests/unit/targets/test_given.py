"""Targets as people give them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltann.digest import digest_value
from deltann.kinds.compile import CompileParams
from deltann.targets import TARGETS, read_target
from deltann.targets.given import mapping_of

ZEN = {"kind": "llvm", "mcpu": "znver4", "num-cores": 8}


@pytest.mark.parametrize("name", [*TARGETS, "arm/rk3399", "nvidia/jetson-agx-orin-64gb"])
def test_a_name_and_a_tag_stand_for_themselves(name: str) -> None:
    assert read_target(name) == name
    assert mapping_of(name) is None


def test_a_mapping_has_one_text_however_it_is_written() -> None:
    text = '{"kind":"llvm","mcpu":"znver4","num-cores":8}'
    assert read_target(ZEN) == read_target(dict(reversed(ZEN.items()))) == text
    assert read_target(json.dumps(ZEN, indent=4)) == read_target(text) == text
    assert mapping_of(text) == ZEN


def test_the_key_of_a_job_does_not_depend_on_how_its_target_was_written() -> None:
    keys = {
        digest_value(CompileParams(target=read_target(given), level=2))
        for given in (ZEN, dict(reversed(ZEN.items())), json.dumps(ZEN))
    }
    assert len(keys) == 1


def test_a_generic_processor_is_named_so() -> None:
    assert read_target({"kind": "llvm"}) == '{"kind":"llvm","mcpu":"generic"}'
    gpu = read_target({"kind": "cuda", "arch": "sm_80", "host": {"kind": "llvm"}})
    assert mapping_of(gpu) == {"kind": "cuda", "arch": "sm_80", "host": {"kind": "llvm", "mcpu": "generic"}}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("native", "generic processor; host is this one"),
        ("llvm", "llvm alone builds for a generic one"),
        ("cuda", "silently becomes sm_50"),
        ({"kind": "cuda", "host": {"kind": "llvm"}}, "silently becomes sm_50"),
        ({"kind": "cuda", "arch": "", "host": {"kind": "llvm"}}, "silently becomes sm_50"),
        ({"kind": "cuda", "arch": None, "host": {"kind": "llvm"}}, "silently becomes sm_50"),
        ({"kind": "llvm", "mcpu": "native"}, "generic processor"),
        ({"kind": "opencl", "host": {"kind": "llvm", "mcpu": "native"}}, "generic processor"),
        ({"kind": "cuda", "arch": "sm_80"}, "which processor drives the device"),
        ({"kind": "opencl"}, "which processor drives the device"),
        ({}, "should have a kind"),
        ({"kind": 3}, "should have a kind"),
        ({"kind": "llvm", "mcpu": "x" * 500}, "should be shorter"),
        ("{kind: llvm", "no JSON (key must be a string"),
        ('{"kind":"llvm"', "no JSON (EOF while parsing"),
        ('{"kind":"llvm","num-cores":NaN}', "finite numbers"),
        ({"kind": "llvm", "num-cores": float("inf")}, "finite numbers"),
        ({"kind": "llvm", "mcpu": "\ud800"}, "should "),
        (None, "text or a mapping"),
        (["host"], "text or a mapping"),
        ({1: 2}, "text or a mapping"),
        ("raspberry-pi-4", "did you mean 'raspberry-pi-4b'"),
        ("x86_64_v3", "did you mean 'x86-64-v3'"),
        ("toaster", "`deltann targets` lists"),
        ("", "`deltann targets` lists"),
        ("arm/rk3399\n", "`deltann targets` lists"),
        ("../secrets", "`deltann targets` lists"),
    ],
)
def test_what_would_be_understood_otherwise_is_refused_in_a_clause(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=r"^should ") as refused:
        read_target(value)
    assert told in str(refused.value)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
        max_leaves=5,
    )
)
def test_anything_else_is_a_text_that_reads_as_itself_or_refused(value: object) -> None:
    try:
        text = read_target(value)
    except ValueError:
        return
    assert read_target(text) == text
