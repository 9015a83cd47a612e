"""Sweeps over a gateway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from deltann.client.artifacts import GatewayStore
from deltann.client.channel import calls
from deltann.client.conversions import Conversions
from deltann.client.credentials import Credentials
from deltann.client.fleet import fleet_view
from deltann.client.link import PATIENCE_S, Link
from deltann.client.sweeps import sweep_status
from deltann.client.wire import CALL_S
from deltann.fleet.view import FleetView
from deltann.spec.models import Study
from deltann.sweep.model import SweepStatus
from deltann.v1 import fleet_pb2 as fleet_pb
from deltann.v1 import sweep_pb2 as pb
from deltann.v1.fleet_pb2_grpc import FleetServiceStub
from deltann.v1.sweep_pb2_grpc import SweepServiceStub

_PAGE = 500


class GatewayClient:
    """Implements :class:`deltann.sweep.SweepBackend`. A context manager.

    Every method raises the exception of :mod:`deltann.errors` that the gateway raised, and WorkError where none
    answers.

    Args:
        address: ``HOST:PORT``.
        credentials: token and TLS; those of the environment where not given.
        patience_s: a gateway that was there may be away so long before a call or a watch is given up.
    """

    def __init__(self, address: str, credentials: Credentials | None = None, *, patience_s: float = PATIENCE_S) -> None:
        self.address = address
        self._link = Link(address, credentials, patience_s)
        self._sweeps = SweepServiceStub(self._link.channel)
        self._fleet = FleetServiceStub(self._link.channel)
        self.store = GatewayStore(self._link)
        """Where a study is staged to before it is submitted."""
        self.conversions = Conversions(self._link, self.store)

    def submit(self, study: Study, idempotency_key: str = "") -> str:
        """Submit a staged study; its sweep's id. A key makes sure that a repeated call does nothing at all."""
        request = pb.SubmitSweepRequest(study=study.model_dump_json(by_alias=True), idempotency_key=idempotency_key)
        with calls(self.address):
            return self._link.call(lambda: self._sweeps.SubmitSweep(request, timeout=CALL_S)).id

    def status(self, sid: str) -> SweepStatus:
        """How far a sweep is."""
        request = pb.GetSweepRequest(id=sid)
        with calls(self.address):
            return sweep_status(self._link.call(lambda: self._sweeps.GetSweep(request, timeout=CALL_S)).sweep)

    def list_sweeps(self) -> list[SweepStatus]:
        """All sweeps, the latest first."""
        found: list[SweepStatus] = []
        request = pb.ListSweepsRequest(page_size=_PAGE)
        with calls(self.address):
            while True:
                answer = self._link.call(lambda: self._sweeps.ListSweeps(request, timeout=CALL_S))
                found += map(sweep_status, answer.sweeps)
                if not answer.next_page_token:
                    return found
                request.page_token = answer.next_page_token

    def cancel(self, sid: str) -> None:
        """Stop a sweep; what is computed is kept."""
        request = pb.CancelSweepRequest(id=sid)
        with calls(self.address):
            self._link.call(lambda: self._sweeps.CancelSweep(request, timeout=CALL_S))

    def watch(self, sid: str) -> Iterator[SweepStatus]:
        """The status now and at every change, until the sweep has ended; goes on when the gateway is back."""
        request, last = pb.WatchSweepRequest(id=sid), None
        with calls(self.address):
            for response in self._link.stream(lambda: iter(self._sweeps.WatchSweep(request))):
                status = sweep_status(response.sweep)
                if status != last:  # a stream that was begun again tells first what is known
                    yield status
                last = status

    def fetch_report(self, sid: str, out: Path) -> Path:
        """Write the report into the folder ``out``, which is made where it is missing; its bytes are verified."""
        request = pb.FetchReportRequest(id=sid)
        self.store.receive(lambda: iter(self._sweeps.FetchReport(request)), out)
        return out

    def fleet(self) -> FleetView:
        """Queues, pools and workers now."""
        request = fleet_pb.GetFleetRequest()
        with calls(self.address):
            return fleet_view(self._link.call(lambda: self._fleet.GetFleet(request, timeout=CALL_S)).fleet)

    def close(self) -> None:
        """Close the connection."""
        self._link.channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
