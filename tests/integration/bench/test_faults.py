"""The bench of faults: a case of every kind is localised, named and repaired."""

import json
import subprocess
import sys

import pytest

from bench.faults.kinds import KINDS
from bench.faults.run import cases, run

OF_KIND = {case.faults[0][0].name: case for case in reversed(list(cases(1))) if len(case.faults) == 1}


def test_every_kind_fits_somewhere():
    assert OF_KIND.keys() == {kind.name for kind in KINDS}


@pytest.mark.parametrize("kind", OF_KIND)
def test_a_case_of_every_kind_is_found_first_named_and_repaired(kind):
    found = run(OF_KIND[kind])
    assert found["rank"] == 1, found
    assert found["kind"], found
    assert found["repaired"], found
    assert not found["worse"]


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    out = tmp_path / "results.json"
    command = [sys.executable, "-m", "bench.faults.run", "--only", "residual/attribute alpha", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    state = json.loads(out.read_text())
    assert state["summary"]["cases"] == len(state["cases"]) > 0
    assert state["summary"]["rank1"] == state["summary"]["repaired"] == 1
    again = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert json.loads(again) == state["summary"]
    assert json.loads(out.read_text()) == state
