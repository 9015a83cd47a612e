"""Single conversions over a gateway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.client.artifacts import GatewayStore
from deltann.client.channel import calls
from deltann.client.link import Link
from deltann.client.wire import CALL_S, artifact_message, artifact_ref
from deltann.kinds.convert import Parity
from deltann.model import Framework
from deltann.v1 import conversion_pb2 as pb
from deltann.v1.conversion_pb2_grpc import ConversionServiceStub

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
        link: to the gateway.
        store: of the gateway.
    """

    def __init__(self, link: Link, store: GatewayStore) -> None:
        self._link, self._address, self._store = link, link.address, store
        self._stub = ConversionServiceStub(link.channel)

    def submit(
        self,
        model: ArtifactRef,
        target: Framework,
        *,
        source: Framework | None = None,
        tool: str | None = None,
        normalise: bool = True,
        idempotency_key: str = "",
    ) -> str:
        """Convert an uploaded model; the conversion's id."""
        request = pb.SubmitConversionRequest(
            model=artifact_message(model),
            target=target,
            source=source or "",
            tool=tool or "",
            raw=not normalise,
            idempotency_key=idempotency_key,
        )
        with calls(self._address):
            return self._link.call(lambda: self._stub.SubmitConversion(request, timeout=CALL_S)).id

    def status(self, conversion: str) -> ConversionStatus:
        """How far it is."""
        request = pb.GetConversionRequest(id=conversion)
        with calls(self._address):
            found = self._link.call(lambda: self._stub.GetConversion(request, timeout=CALL_S))
        return conversion_status(found.conversion)

    def watch(self, conversion: str) -> Iterator[ConversionStatus]:
        """How far it is, now and at every change, until it has ended."""
        request, last = pb.WatchConversionRequest(id=conversion), None
        with calls(self._address):
            for response in self._link.stream(lambda: iter(self._stub.WatchConversion(request))):
                status = conversion_status(response.conversion)
                if status != last:  # a stream that was begun again tells first what is known
                    yield status
                last = status

    def fetch(self, conversion: str, out: Path) -> ArtifactRef:
        """Write the converted model to ``out``: a file, or a folder where the model is one."""
        request = pb.FetchConversionRequest(id=conversion)
        return self._store.receive(lambda: iter(self._stub.FetchConversion(request)), out)


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
