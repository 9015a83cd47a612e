"""A seeded, randomised run of faults: ``make soak``, or ``python tests/faults/soak.py --minutes 15 --seed 7``.

Sweeps run one after the other over Redis and an S3 server while workers, dispatchers, the gateway, Redis and the S3
server are killed, stopped and started again, clocks jump and messages are doubled. Every sweep has to end with the
tables of an undisturbed one, nothing lost, nothing counted twice, and no process may be left.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "support"), str(HERE.parent / "integration" / "support"), str(HERE.parent / "integration")]

import redis  # noqa: E402
import s3  # noqa: E402
from bucket import Bucket  # noqa: E402
from fleet import Fleet  # noqa: E402
from tables import Tables, graph, nothing_lost_or_doubled, tables  # noqa: E402

from deltann.dispatcher.sending import message_of  # noqa: E402
from deltann.errors import DeltannError  # noqa: E402
from deltann.queue import Publisher, names  # noqa: E402
from deltann.store import open_store  # noqa: E402
from deltann.store.layout import read_plan  # noqa: E402

WORKERS = ("one", "two", "three")
DISPATCHERS = ("dispatcher", "second")


class Soak:
    """Injects faults into a fleet, one at a time, until it is told to stop."""

    def __init__(self, fleet: Fleet, bucket: Bucket, chance: random.Random) -> None:
        self.fleet, self.bucket, self.chance = fleet, bucket, chance
        self.injected: Counter[str] = Counter()
        self.sid = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._faults: dict[str, tuple[int, Callable[[], None]]] = {
            "a worker killed": (6, self._kill_worker),
            "all workers killed": (1, self._kill_workers),
            "a worker ended (SIGTERM) and started": (2, self._end_worker),
            "a worker stopped for a while": (2, self._stop_worker),
            "a dispatcher killed": (3, self._kill_dispatcher),
            "Redis killed, its file kept": (2, lambda: self._kill_redis(appendonly=True)),
            "Redis killed, its file lost": (1, lambda: self._kill_redis(appendonly=False)),
            "S3 killed": (1, self._kill_s3),
            "S3 stopped for a while": (1, self._stop_s3),
            "messages delivered again": (2, self._double),
            "Redis' clock set back an hour": (1, lambda: self._jump(3_600_000)),
            "Redis' clock set ahead an hour": (1, lambda: self._jump(-3_600_000)),
        }

    def __enter__(self) -> Soak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        weights = [weight for weight, _ in self._faults.values()]
        while not self._stop.wait(self.chance.uniform(0.5, 6.0)):
            (what,) = self.chance.choices(list(self._faults), weights)
            print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)
            try:
                self._faults[what][1]()
                self.injected[what] += 1
            except (redis.RedisError, DeltannError) as error:
                print(f"  not possible just now: {error}", flush=True)

    def _pause(self) -> None:
        time.sleep(self.chance.uniform(0.2, 4.0))

    def _kill_worker(self) -> None:
        name = self.chance.choice(WORKERS)
        if self._would_park():
            return
        self.fleet.kill(name)
        self._pause()
        self.fleet.again(name)

    def _would_park(self) -> bool:
        """Whether another lost worker may park a job, which is right and makes the tables others."""
        begun = self.fleet.client.hvals(names.attempts(self.sid)) if self.sid else []
        return any(int(times) >= 2 for times in begun)

    def _kill_workers(self) -> None:
        if self._would_park():
            return
        for name in WORKERS:
            self.fleet.kill(name)
        self._pause()
        for name in WORKERS:
            self.fleet.again(name)

    def _end_worker(self) -> None:
        name = self.chance.choice(WORKERS)
        self.fleet.kill(name, signal.SIGTERM)
        self.fleet.again(name)

    def _stop_worker(self) -> None:
        name = self.chance.choice(WORKERS)
        self.fleet.kill(name, signal.SIGSTOP)
        time.sleep(self.chance.uniform(1.0, 14.0))
        self.fleet.kill(name, signal.SIGCONT)

    def _kill_dispatcher(self) -> None:
        name = self.chance.choice(DISPATCHERS)
        self.fleet.kill(name)
        self._pause()
        self.fleet.again(name)

    def _kill_redis(self, *, appendonly: bool) -> None:
        self.fleet.kill("redis")
        self._pause()
        self.fleet.redis(appendonly=appendonly)

    def _kill_s3(self) -> None:
        self.bucket.signal(signal.SIGKILL)
        time.sleep(self.chance.uniform(1.0, 20.0))
        self.bucket.start()

    def _stop_s3(self) -> None:
        self.bucket.signal(signal.SIGSTOP)
        time.sleep(self.chance.uniform(1.0, 20.0))
        self.bucket.signal(signal.SIGCONT)

    def _double(self) -> None:
        plan = read_plan(open_store(self.fleet.store_url), self.sid) if self.sid else None
        if plan is not None:
            publisher = Publisher(self.fleet.redis_url)
            publisher.send(message_of(self.sid, job) for job in plan.jobs if not job.needs and not job.after)
            publisher.close()

    def _jump(self, milliseconds: int) -> None:
        client = self.fleet.client
        for key in (*client.scan_iter("deltann:lease:*"), names.LEADER):
            left = client.pttl(key)
            if left > 0:
                client.pexpire(key, left + milliseconds)


def sweep(soak: Soak, number: int) -> Tables:
    """One sweep with traces of its own; what it gave, checked against being lost or doubled."""
    fleet = soak.fleet
    fleet.trace = fleet.folder / f"trace-{number}"
    jobs = graph(fleet.trace, width=12, seconds=soak.chance.uniform(0.1, 1.0))
    name = f"sweep-{number}"
    while True:  # as a client does whose store or queue is away
        try:
            soak.sid = fleet.submit(name, jobs)
            fleet.client.delete(names.STATS_JOBS, names.STATS_SECONDS)  # counters are of this sweep
            break
        except (DeltannError, redis.RedisError):
            time.sleep(1)
    while True:
        try:
            found = tables(fleet, soak.sid, 600)
            nothing_lost_or_doubled(fleet, soak.sid, begun_again=1000, uncounted=10_000)
        except (DeltannError, redis.RedisError) as error:
            print(f"  asked again: {error}", flush=True)
            time.sleep(1)
        else:
            return found


def main() -> int:
    """Run, and say what was injected; 0 where nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="deltann-soak-"))
    os.environ |= {"DELTANN_S3_ACCESS_KEY": s3.ACCESS_KEY, "DELTANN_S3_SECRET_KEY": s3.SECRET_KEY}
    bucket = Bucket(folder / "s3")
    fleet = Fleet(folder / "fleet", bucket.url)
    wrong, count = [], 0
    try:
        fleet.redis()
        for name in DISPATCHERS:
            fleet.dispatcher(name)
        for name in WORKERS:
            fleet.worker(name)
        soak = Soak(fleet, bucket, random.Random(options.seed))
        expected = sweep(soak, 0)
        end = time.monotonic() + 60 * options.minutes
        with soak:
            while time.monotonic() < end and not wrong:
                count += 1
                began = time.monotonic()
                try:
                    found = sweep(soak, count)
                    assert found == expected, f"{found}\n  is not\n{expected}"
                except AssertionError as error:
                    wrong.append(f"sweep {count}: {error}")
                print(f"sweep {count} ended after {time.monotonic() - began:.0f} s", flush=True)
    finally:
        left = fleet.close()
        bucket.signal(signal.SIGKILL)
    if left:
        wrong.append(f"processes left: {left}")
    print(f"\nseed {options.seed}: {count} sweeps of {len(expected.jobs)} jobs\n\ninjected")
    for what, times in sorted(soak.injected.items(), key=lambda item: -item[1]):
        print(f"{times:5d}  {what}")
    print("\n".join(wrong) if wrong else "\nno sweep differs from the undisturbed one")
    if wrong:
        print(f"logs and store are kept in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
