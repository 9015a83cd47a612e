"""Measures the queue: many small jobs through dispatcher, Redis, workers and store, with their result records.

usage: bench/throughput.py [--jobs N] [--workers W] [--watchers C] [--json]

Prints jobs published per second (all at once into an idle queue), jobs drained per second (from submission to the end
of the sweep), the processor time of a job, the memory of Redis and of a worker, and, with ``--watchers``, the rate
with as many clients watching the sweep over a gateway. Targets on 2 cores: 500/s published, 250/s drained, Redis
under 200 MB, a worker's memory growing by less than 5 % from a tenth of the jobs to all of them, watchers costing
less than 5 %.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import psutil
from small_jobs import SmallPlanner, plan_of, study_of

from deltann.dispatcher.sending import message_of
from deltann.embedded import EmbeddedStack, WorkerSpec
from deltann.queue import Publisher, connect

HERE = Path(__file__).resolve().parent


def published(stack: EmbeddedStack, jobs: int) -> dict[str, float]:
    """Publish all messages of a plan at once into a queue that nobody listens on."""
    messages = [message_of("bench", job.model_copy(update={"queue": "aside"})) for job in plan_of(jobs).jobs]
    client, publisher = connect(stack.redis_url), Publisher(stack.redis_url)
    before = client.info("memory")["used_memory"]
    began = time.monotonic()
    publisher.send(messages)
    seconds = time.monotonic() - began
    used = client.info("memory")["used_memory"] - before
    publisher.purge("aside")
    publisher.close()
    return {"published_per_s": jobs / seconds, "redis_bytes_per_job": used / jobs}


def cpu_seconds(stack: EmbeddedStack) -> dict[str, float]:
    """Processor time by what it was spent on; the dispatcher is this process, with its looks at the status."""
    server, *workers = [psutil.Process(program.pid) for program in stack.programs]
    children = [child for worker in workers for child in worker.children(recursive=True)]
    groups = {"dispatcher": [psutil.Process()], "redis": [server], "workers": workers, "children": children}
    return {name: sum(sum(one.cpu_times()[:2]) for one in group) for name, group in groups.items()}


def drained(stack: EmbeddedStack, jobs: int, first: int) -> dict[str, float]:
    """Run a sweep of so many jobs; memory is looked at from a tenth of them on."""
    client = connect(stack.redis_url)
    workers = [psutil.Process(program.pid) for program in stack.programs[1:]]
    began, before = time.monotonic(), cpu_seconds(stack)
    sid = stack.backend.submit(study_of(jobs, first))
    early: list[int] = []
    redis_most = 0
    while not (status := stack.backend.status(sid)).ended:
        done = sum(counts.done for counts in status.counts.values())
        redis_most = max(redis_most, client.info("memory")["used_memory"])
        if not early and done >= jobs / 10:
            early = [worker.memory_info().rss for worker in workers]
        time.sleep(0.25)
    seconds = time.monotonic() - began
    spent = {name: after - before[name] for name, after in cpu_seconds(stack).items()}
    if status.state != "done":
        raise SystemExit(f"The sweep ended as {status.state}: {status.error}")
    late = [worker.memory_info().rss for worker in workers]
    growth = max((after / before - 1 for before, after in zip(early, late, strict=True)), default=0.0)
    return {
        "drained_per_s": jobs / seconds,
        "redis_peak_mb": redis_most / 1e6,
        "worker_growth": growth,
    } | {f"cpu_ms_{name}": seconds / jobs * 1e3 for name, seconds in spent.items()}


@contextmanager
def watching(stack: EmbeddedStack, watchers: int, sid: str) -> Iterator[None]:
    """So many clients, in a process of their own, watch a sweep over a gateway meanwhile, from its submission on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    gateway = [sys.executable, "-m", "deltann_gateway.main", "--no-dispatcher", "--listen", address]
    clients = [sys.executable, HERE / "watchers.py", address, sid, str(watchers)]
    with ExitStack() as ends:
        for command in ([*gateway, "--redis", stack.redis_url, "--store", stack.store.url], clients):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            ends.callback(process.wait)
            ends.callback(process.terminate)
        assert process.stdout is not None
        process.stdout.readline()  # the clients are connected
        yield


def cost_of_watching(stack: EmbeddedStack, jobs: int, watchers: int, first: int) -> dict[str, float]:
    """Sweeps with and without watchers in turn, three of each: the rates' medians, and their ratio."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(6):
        watched, number = bool(turn % 2), first + turn * jobs
        sid = SmallPlanner().sweep_id(study_of(jobs, number))
        with watching(stack, watchers, sid) if watched else nullcontext():
            rates[watched].append(drained(stack, jobs, number)["drained_per_s"])
    without, beside = statistics.median(rates[False]), statistics.median(rates[True])
    return {"alone_per_s": without, "watched_per_s": beside, "cost_of_watching": 1 - beside / without}


def measure(jobs: int, workers: int, watchers: int) -> dict[str, float]:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory(prefix="deltann-bench-") as folder:
        spec = [WorkerSpec(service="small_jobs:SERVICE", count=workers)]
        with EmbeddedStack(Path(folder), spec, planner=SmallPlanner()) as stack:
            stack.wait_ready()
            row = {"jobs": jobs, "workers": workers} | published(stack, jobs) | drained(stack, jobs, 1)
            if watchers:
                row |= cost_of_watching(stack, max(jobs // 10, 1000), watchers, jobs + 1)
            return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--watchers", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    row = measure(options.jobs, options.workers, options.watchers)
    if options.json:
        print(json.dumps(row))
        return
    for name, value in row.items():
        print(f"{name:<22} {value:12.3f}")


if __name__ == "__main__":
    main()
