"""Sweeps over a gateway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from deltann.client.artifacts import GatewayStore, receive
from deltann.client.channel import calls, connect
from deltann.client.conversions import Conversions
from deltann.client.sweeps import sweep_status
from deltann.spec.models import Study
from deltann.sweep.model import SweepStatus
from deltann.v1 import sweep_pb2 as pb
from deltann.v1.sweep_pb2_grpc import SweepServiceStub

CALL_S = 60.0
"""A call that only asks or says something is given up after so long."""


class GatewayClient:
    """Implements :class:`deltann.sweep.SweepBackend`. A context manager.

    Every method raises the exception of :mod:`deltann.errors` that the gateway raised, and WorkError where none
    answers.

    Args:
        address: ``HOST:PORT``.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._channel = connect(address)
        self._sweeps = SweepServiceStub(self._channel)
        self.store = GatewayStore(self._channel, address)
        """Where a study is staged to before it is submitted."""
        self.conversions = Conversions(self._channel, address)

    def submit(self, study: Study) -> str:
        """Submit a staged study; its sweep's id."""
        text = study.model_dump_json(by_alias=True)
        with calls(self.address):
            return self._sweeps.SubmitSweep(pb.SubmitSweepRequest(study=text), timeout=CALL_S).id

    def status(self, sid: str) -> SweepStatus:
        """How far a sweep is."""
        with calls(self.address):
            return sweep_status(self._sweeps.GetSweep(pb.GetSweepRequest(id=sid), timeout=CALL_S).sweep)

    def list_sweeps(self) -> list[SweepStatus]:
        """All sweeps, the latest first."""
        with calls(self.address):
            found = self._sweeps.ListSweeps(pb.ListSweepsRequest(), timeout=CALL_S).sweeps
        return [sweep_status(message) for message in found]

    def cancel(self, sid: str) -> None:
        """Stop a sweep; what is computed is kept."""
        with calls(self.address):
            self._sweeps.CancelSweep(pb.CancelSweepRequest(id=sid), timeout=CALL_S)

    def watch(self, sid: str) -> Iterator[SweepStatus]:
        """The status now and at every change, until the sweep has ended."""
        with calls(self.address):
            for response in self._sweeps.WatchSweep(pb.WatchSweepRequest(id=sid)):
                yield sweep_status(response.sweep)

    def fetch_report(self, sid: str, out: Path) -> Path:
        """Write the report into the folder ``out``, which is made where it is missing; its bytes are verified."""
        with calls(self.address):
            receive(self._sweeps.FetchReport(pb.FetchReportRequest(id=sid)), out)
        return out

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
