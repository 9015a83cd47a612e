from __future__ import annotations

import pytest
from deltann.v1 import conversion_pb2, sweep_pb2
from hypothesis import given
from hypothesis import strategies as st

from deltann.artifact import ArtifactRef
from deltann.client.conversions import (
    ConversionStatus,
    ConversionStepStatus,
    conversion_message,
    conversion_status,
)
from deltann.client.sweeps import sweep_message, sweep_status
from deltann.kinds.convert import Parity
from deltann.outcome import Outcome
from deltann.sweep import Failure, KindCounts, SweepStatus

REF = ArtifactRef(digest="ab" * 32, size=5, name="report", packing="tar")
number = st.integers(0, 1 << 30)
counts = st.builds(
    KindCounts,
    waiting=number,
    queued=number,
    running=number,
    done=number,
    outcomes=st.dictionaries(st.sampled_from([str(o) for o in Outcome]), number),
)
statuses = st.builds(
    SweepStatus,
    id=st.text("abc-0", min_size=1),
    name=st.text(min_size=1, max_size=5),
    state=st.sampled_from(["queued", "resolving", "planning", "running", "analysing", "done", "failed", "cancelled"]),
    counts=st.dictionaries(st.sampled_from(["convert", "execute"]), counts),
    started=st.floats(0, 1e10),
    finished=st.none() | st.floats(0, 1e10),
    failures=st.lists(st.builds(Failure, label=st.text(), outcome=st.sampled_from(Outcome), message=st.text())).map(
        tuple
    ),
    report=st.none() | st.just(REF),
    analysis=st.just({}) | st.just({"gates_ok": False, "summary": ["one", "two"]}),
    error=st.none() | st.just("why"),
    bad_input=st.booleans(),
)


@given(statuses)
def test_a_sweep_survives_the_way_there_and_back(status: SweepStatus) -> None:
    there = sweep_pb2.Sweep.FromString(sweep_message(status).SerializeToString())
    assert sweep_status(there) == status


@pytest.mark.parametrize("state", ["running", "succeeded", "failed"])
@pytest.mark.parametrize(
    "parity",
    [
        None,
        Parity(n=8, max_abs=0.0, max_rel=1e-6, top1_agreement=1.0),
        Parity(n=8, n_invalid=8, max_abs=None, max_rel=None, top1_agreement=None),
    ],
    ids=["none", "zero error", "all invalid"],
)
def test_a_conversion_survives_the_way_there_and_back(state: str, parity: Parity | None) -> None:
    step = ConversionStepStatus(
        tool="tf2onnx", version="1.17", source="keras", target="onnx", seconds=1.5, parity=parity
    )
    status = ConversionStatus.model_validate({"id": "c", "state": state, "steps": (step,), "model": REF, "error": "x"})
    there = conversion_pb2.Conversion.FromString(conversion_message(status).SerializeToString())
    assert conversion_status(there) == status
