"""Single conversions over a gateway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import grpc

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.client.artifacts import receive
from deltann.client.channel import calls
from deltann.client.wire import artifact_message, artifact_ref
from deltann.kinds.convert import Parity
from deltann.model import Framework
from deltann.v1 import conversion_pb2 as pb
from deltann.v1.conversion_pb2_grpc import ConversionServiceStub

CALL_S = 60.0
ConversionState = Literal["running", "succeeded", "failed"]
_PREFIX = "CONVERSION_STATE_"


class ConversionStepStatus(Data):
    """One step that was done, as :class:`deltann.kinds.convert.Step` has it in full."""

    tool: str
    version: str
    source: str
    target: str
    seconds: float
    parity: Parity | None = None


class ConversionStatus(Data):
    """How far a conversion is. ``outcome`` and ``error`` say why it failed; ``model`` is what came out."""

    id: str
    state: ConversionState
    steps: tuple[ConversionStepStatus, ...] = ()
    outcome: str = ""
    error: str = ""
    model: ArtifactRef | None = None


class Conversions:
    """Submits, watches and fetches conversions. Every method raises what the gateway raised.

    Args:
        channel: to the gateway.
        address: of the gateway, for messages.
    """

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._stub, self._address = ConversionServiceStub(channel), address

    def submit(
        self,
        model: ArtifactRef,
        target: Framework,
        *,
        source: Framework | None = None,
        tool: str | None = None,
        normalise: bool = True,
    ) -> str:
        """Convert an uploaded model; the conversion's id."""
        request = pb.SubmitConversionRequest(
            model=artifact_message(model), target=target, source=source or "", tool=tool or "", raw=not normalise
        )
        with calls(self._address):
            return self._stub.SubmitConversion(request, timeout=CALL_S).id

    def status(self, conversion: str) -> ConversionStatus:
        """How far it is."""
        with calls(self._address):
            request = pb.GetConversionRequest(id=conversion)
            return conversion_status(self._stub.GetConversion(request, timeout=CALL_S).conversion)

    def watch(self, conversion: str) -> Iterator[ConversionStatus]:
        """How far it is, now and at every change, until it has ended."""
        with calls(self._address):
            for response in self._stub.WatchConversion(pb.WatchConversionRequest(id=conversion)):
                yield conversion_status(response.conversion)

    def fetch(self, conversion: str, out: Path) -> ArtifactRef:
        """Write the converted model to ``out``: a file, or a folder where the model is one."""
        with calls(self._address):
            return receive(self._stub.FetchConversion(pb.FetchConversionRequest(id=conversion)), out)


def conversion_message(status: ConversionStatus) -> pb.Conversion:
    """A status as it travels."""
    steps = []
    for step in status.steps:
        fields = step.model_dump(exclude={"parity"})
        parity = None if step.parity is None else pb.Parity(**step.parity.model_dump(exclude_none=True))
        steps.append(pb.ConversionStep(**fields, parity=parity))
    return pb.Conversion(
        id=status.id,
        state=pb.ConversionState.Value(_PREFIX + status.state.upper()),
        steps=steps,
        outcome=status.outcome,
        error=status.error,
        model=None if status.model is None else artifact_message(status.model),
    )


def conversion_status(message: pb.Conversion) -> ConversionStatus:
    """A status as it arrived."""
    return ConversionStatus.model_validate(
        {
            "id": message.id,
            "state": pb.ConversionState.Name(message.state).removeprefix(_PREFIX).lower(),
            "steps": [_step(step) for step in message.steps],
            "outcome": message.outcome,
            "error": message.error,
            "model": artifact_ref(message.model) if message.HasField("model") else None,
        }
    )


def _step(message: pb.ConversionStep) -> dict[str, object]:
    parity = None
    if message.HasField("parity"):
        found = message.parity
        parity = {"n": found.n, "n_invalid": found.n_invalid} | {
            name: getattr(found, name) if found.HasField(name) else None
            for name in ("max_abs", "max_rel", "top1_agreement")
        }
    return {
        "tool": message.tool,
        "version": message.version,
        "source": message.source,
        "target": message.target,
        "seconds": message.seconds,
        "parity": parity,
    }
