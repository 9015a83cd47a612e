"""Sends what is ready, as much of it as the window of its queue takes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from deltann.dispatcher.run import URGENT, USUAL, SweepRun
from deltann.dispatcher.window import shares
from deltann.job import Job, JobMessage
from deltann.queue import Publisher


def fill_windows(runs: Sequence[SweepRun], publisher: Publisher, window: int) -> bool:
    """Fill the window of every queue, one for what is urgent and one for all else, shared by the sweeps.

    Args:
        runs: the sweeps that are worked on.
        publisher: to send with.
        window: jobs of one queue and priority that are sent and not settled, at most.

    Returns:
        Whether more is ready than the windows take, so that no worker waits for the next look.

    Raises:
        QueueError: if Redis is not there.
    """
    more = False
    for priority in (URGENT, USUAL):
        graphs = [run.graph for run in runs if run.priority == priority]
        for queue in sorted({queue for graph in graphs for queue in graph.queues()}):
            sent = [graph.sent_per_queue[queue] for graph in graphs]
            ready = [graph.ready(queue) for graph in graphs]
            grants = shares(window, sent, ready)
            more = more or sum(ready) > sum(grants)
            for graph, count in zip(graphs, grants, strict=True):
                jobs = graph.take(queue, count, time.monotonic()) if count else []
                hurried = [job for job in jobs if job.index in graph.hurried]
                usual = [job for job in jobs if job.index not in graph.hurried]
                for some, its in ((hurried, URGENT), (usual, priority)):
                    if some:
                        publisher.send((message_of(graph.name, job) for job in some), its)
    return more


def message_of(graph: str, job: Job) -> JobMessage:
    """The message of a job: as little of it as a worker needs."""
    return JobMessage(
        sweep=graph,
        index=job.index,
        job=job.model_copy(update={"after": ()}) if job.after else job,
        queue=job.queue,
        ordered=bool(job.after),
    )
