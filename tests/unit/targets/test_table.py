"""The table of named targets, by itself: no compiler is imported."""

from __future__ import annotations

import pytest

from deltann.spec.lists import SLUG
from deltann.targets import HOST, TARGETS, NamedTarget
from deltann.targets.needs import LINUX_FLAGS

NAMED = [target for name, target in TARGETS.items() if name != HOST]


@pytest.mark.parametrize("target", NAMED, ids=lambda target: target.name)
def test_a_named_target_says_everything_itself(target: NamedTarget) -> None:
    """Nothing is left to the machine that compiles, and no default of TVM's is taken for a GPU."""
    tvm, needs = target.tvm, target.needs
    processor = tvm if tvm["kind"] == "llvm" else tvm["host"]
    assert processor["mtriple"] == f"{needs.machine}-linux-gnu"
    assert processor["mcpu"] != "native"
    assert needs.target == target.name
    assert needs.runtime == ("cpu" if tvm["kind"] == "llvm" else tvm["kind"])
    assert needs.arch == tvm.get("arch", "")
    assert bool(needs.arch) == (tvm["kind"] == "cuda")
    assert set(needs.features) <= set(LINUX_FLAGS[needs.machine].values())
    assert target.about


def test_names_are_of_the_kind_that_queues_and_ids_take() -> None:
    import re

    assert all(re.match(SLUG, name) and name == target.name for name, target in TARGETS.items())


def test_each_level_of_x86_64_has_what_the_one_below_has() -> None:
    levels = [set(TARGETS[f"x86-64-v{level}"].needs.features) for level in (2, 3, 4)]
    assert levels[0] < levels[1] < levels[2]


def test_the_devices_of_the_papers_are_there() -> None:
    assert {"tesla-k40c", "intel-gen9", "mali-g72", "hikey-970", "jetson-xavier"} <= set(TARGETS)
