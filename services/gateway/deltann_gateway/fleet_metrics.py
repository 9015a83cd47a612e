"""Metrics of one view of the fleet: queues, workers, and counters of what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric

from deltann.fleet import FleetView, WorkerRecord

_WORKER = ("worker", "host", "service", "pool", "device")


def queues(view: FleetView) -> Iterator[Metric]:
    """What waits in each queue, who is there for it, and what was done of it."""
    depth = GaugeMetricFamily("deltann_queue_depth", "Messages that wait", labels=("queue", "priority"))
    oldest = GaugeMetricFamily(
        "deltann_queue_oldest_seconds", "Age of the message that waits longest; 0 where none does", labels=["queue"]
    )
    running = GaugeMetricFamily("deltann_queue_running", "Jobs in hand", labels=["queue"])
    listening = GaugeMetricFamily("deltann_queue_workers", "Workers that listen", labels=["queue"])
    settled = CounterMetricFamily(
        "deltann_queue_settled", "Jobs settled, there from the start so that a rate is always known", labels=["queue"]
    )
    done: Counter[str] = Counter()
    for count in view.counts:
        done[count.queue] += count.jobs
    for queue in view.queues:
        for priority, number in queue.depth.items():
            depth.add_metric((queue.name, str(priority)), number)
        oldest.add_metric([queue.name], queue.oldest_s or 0)
        running.add_metric([queue.name], queue.busy)
        listening.add_metric([queue.name], queue.workers)
        settled.add_metric([queue.name], done[queue.name])
    yield from (depth, oldest, running, listening, settled)


def workers(view: FleetView) -> Iterator[Metric]:
    """Each worker and its device."""
    info = InfoMetricFamily("deltann_worker", "A worker's queue and what it is: its code and its processor")
    up = GaugeMetricFamily("deltann_worker_up", "1 for a worker that is there", labels=_WORKER)
    busy = GaugeMetricFamily("deltann_worker_busy", "Whether it has a job in hand", labels=_WORKER)
    draining = GaugeMetricFamily("deltann_worker_draining", "Whether it ends after the job in hand", labels=_WORKER)
    done = CounterMetricFamily("deltann_worker_jobs", "Jobs that it has ended", labels=_WORKER)
    seconds = CounterMetricFamily("deltann_worker_busy_seconds", "Seconds with a job in hand", labels=_WORKER)
    heat = GaugeMetricFamily("deltann_device_temperature_celsius", "Hottest sensor of its host", labels=_WORKER)
    for worker in view.workers:
        labels = _labels(worker)
        device = worker.device
        about = {"queue": worker.queue, "code": worker.code, "arch": device.arch, "cpu": device.cpu}
        info.add_metric((), {"worker": worker.id, **about, "board": device.board})
        up.add_metric(labels, 1)
        busy.add_metric(labels, bool(worker.job))
        draining.add_metric(labels, worker.state == "draining")
        done.add_metric(labels, worker.jobs_done)
        seconds.add_metric(labels, worker.busy_seconds)
        if worker.now.temperature_c is not None:
            heat.add_metric(labels, worker.now.temperature_c)
    yield from (info, up, busy, draining, done, seconds, heat)


def counts(view: FleetView) -> Iterator[Metric]:
    """What was done, how it ended, and how long it took."""
    labels = ("queue", "kind", "outcome", "reused")
    jobs = CounterMetricFamily("deltann_jobs", "Jobs settled; reused ones had their results before", labels=labels)
    seconds = CounterMetricFamily("deltann_job_seconds", "Seconds from their start to their end", labels=labels)
    for count in view.counts:
        values = (count.queue, count.kind, count.outcome, str(count.reused).lower())
        jobs.add_metric(values, count.jobs)
        seconds.add_metric(values, count.seconds)
    yield from (jobs, seconds)


def _labels(worker: WorkerRecord) -> tuple[str, ...]:
    return worker.id, worker.host, worker.service, worker.pool or "", worker.name
