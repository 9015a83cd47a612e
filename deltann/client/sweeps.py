"""The status of a sweep between :class:`deltann.sweep.SweepStatus` and its message."""

from __future__ import annotations

from deltann.client.wire import artifact_message, artifact_ref
from deltann.kinds.analyze import AnalyzeData
from deltann.sweep.model import SweepStatus
from deltann.v1 import sweep_pb2 as pb

_PREFIX = "SWEEP_STATE_"


def sweep_message(status: SweepStatus) -> pb.Sweep:
    """A status as it travels."""
    message = pb.Sweep(
        id=status.id,
        name=status.name,
        state=pb.SweepState.Value(_PREFIX + status.state.upper()),
        counts={kind: pb.JobCounts(**counts.model_dump()) for kind, counts in status.counts.items()},
        started=status.started,
        finished=status.finished,
        failures=[pb.JobFailure(label=f.label, outcome=f.outcome, message=f.message) for f in status.failures],
        error=status.error or "",
        bad_input=status.bad_input,
    )
    if status.report is not None:
        message.report.CopyFrom(artifact_message(status.report))
    if status.analysis:
        known = AnalyzeData.model_validate(status.analysis)
        message.analysis.CopyFrom(pb.Analysis(gates_ok=known.gates_ok, summary=known.summary))
    return message


def sweep_status(message: pb.Sweep) -> SweepStatus:
    """A status as it arrived."""
    known = {"gates_ok": message.analysis.gates_ok, "summary": list(message.analysis.summary)}
    return SweepStatus.model_validate(
        {
            "id": message.id,
            "name": message.name,
            "state": pb.SweepState.Name(message.state).removeprefix(_PREFIX).lower(),
            "counts": {
                kind: {
                    "waiting": counts.waiting,
                    "queued": counts.queued,
                    "running": counts.running,
                    "done": counts.done,
                    "outcomes": dict(counts.outcomes),
                }
                for kind, counts in message.counts.items()
            },
            "started": message.started,
            "finished": message.finished if message.HasField("finished") else None,
            "failures": [{"label": f.label, "outcome": f.outcome, "message": f.message} for f in message.failures],
            "report": artifact_ref(message.report) if message.HasField("report") else None,
            "analysis": known if message.HasField("analysis") else {},
            "error": message.error or None,
            "bad_input": message.bad_input,
        }
    )
