"""Passes that are broken on purpose: each is named with the operator that it breaks, also where it crashes."""

import os
from itertools import pairwise
from pathlib import Path

import deltann_broken as broken
import numpy as np
import onnx
import pytest
from deltann_compiler import levels
from deltann_compiler.bisect.pipeline import pipeline
from deltann_compiler.bisect.trials import Failure, Trials
from onnx import helper

from deltann.kinds.bisect import Setting
from deltann.passes import PASSES
from deltann.worker.children import Children

NAME = "deltann_broken_service:SERVICE"
node = helper.make_node


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    """Here and in the children."""
    monkeypatch.setattr(levels, "TABLE", broken.TABLE)
    for name, facts in broken.FACTS.items():
        monkeypatch.setitem(PASSES, name, facts)
    support = str(Path(broken.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([support, os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def chain(network):
    """A dense layer, then operators of one input, then another dense layer."""

    def write(*operators):
        random = np.random.default_rng(4)
        weights = {"w": random.normal(size=(6, 5)), "v": random.normal(size=(5, 4))}
        names = ["h", *(f"h{place}" for place in range(len(operators)))]
        nodes = [
            node("MatMul", ["x", "w"], ["h"], name="first"),
            *(node(one, [a], [b], name=f"the_{one}") for one, (a, b) in zip(operators, pairwise(names), strict=True)),
            node("MatMul", [names[-1], "v"], ["y"], name="second"),
        ]
        return network(nodes, {name: one.astype(np.float32) for name, one in weights.items()}, (1, 6), (1, 4))

    return write


@pytest.fixture
def x():
    return np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32)


@pytest.mark.parametrize(
    ("operators", "passes", "nodes"),
    [
        (("LeakyRelu", "Sigmoid", "Relu"), ("WrongSigmoid",), ["the_Sigmoid"]),
        (("Abs", "Relu", "LeakyRelu"), ("OtherAbsolute", "NoNegative"), ["the_Abs"]),
    ],
    ids=["one", "two that need each other"],
)
def test_what_breaks_an_operator_is_found(bisector, chain, x, operators, passes, nodes):
    found = bisector(chain(*operators), x, service=NAME)
    (one,) = found.findings
    assert tuple(each.name for each in one.passes) == passes
    assert one.avoided_by == passes, "without either there is no difference"
    assert [each.name for each in one.nodes] == nodes
    assert (one.comparison.a, one.comparison.b, one.comparison.symptom) == ("level 0", "level 4", "differs")
    assert one.position in one.comparison.differing
    assert one.alone > 0.05
    assert (one.minimal, one.reproduced, found.failed) == (True, True, {})
    done = bisector.reproduce(one)
    assert (done.returncode, "it differs" in done.stdout) == (1, True), done.stderr
    script = (bisector.reproducers / one.reproducer / "reproduce.py").read_text()
    imported = {line.split()[1] for line in script.splitlines() if line.strip().startswith(("import ", "from "))}
    assert imported == {"json", "sys", "pathlib", "numpy", "tvm", "onnx", "tvm.relax.frontend.onnx"}


@pytest.mark.bisect
def test_a_pass_that_crashes_is_a_finding_and_the_search_goes_on(bisector, chain, x):
    found = bisector(chain("Relu", "Ceil", "LeakyRelu"), x, service=NAME)
    (one,) = found.findings
    assert (one.comparison.symptom, one.comparison.message) == ("crashed", "the process was ended by SIGABRT")
    assert [each.name for each in one.passes] == ["Crash"]
    assert [each.name for each in one.nodes] == ["the_Ceil"]
    assert one.avoided_by == ("Crash",)
    assert one.minimal
    assert found.failed["crashed"] >= 4
    assert one.reproduced, "the script ends as the compiler did"
    assert (bisector.reproducers / one.reproducer / "before.json").is_file()


def test_a_build_that_hangs_is_ended_and_the_next_is_built(bisector, chain, x, tmp_path):
    model = onnx.load(chain("Floor"))
    with Children(NAME, bisector.store.url, tmp_path / "candidates" / "cache") as children:
        trials = Trials(children, "host", tmp_path / "trials", limit_s=15)
        case = trials.case(model, [x[:, None]])
        hung = trials.answer(case, pipeline(Setting(level=3).wanted("host"), "llvm"))
        assert isinstance(hung, Failure)
        assert (hung.symptom, hung.message) == ("timed_out", "it ran longer than its limit of 15 s")
        sound = trials.answer(case, pipeline(Setting(level=2).wanted("host"), "llvm"))
        assert not isinstance(sound, Failure)
        assert [one.shape for one in sound] == [(4, 1, 4)]
        assert (trials.made, dict(trials.failed)) == (2, {"timed_out": 1})
