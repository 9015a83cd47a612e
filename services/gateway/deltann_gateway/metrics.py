"""What waits in the queues and who works on them, as one line of the log now and then."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter

from pydantic import BaseModel

from deltann.errors import QueueError
from deltann.queue import connect, names
from deltann.queue.connection import explained
from deltann.queue.publish import depth

log = logging.getLogger(__name__)

SERVICE_QUEUES = ("converter", "compiler", "analyzer")


class QueueLoad(BaseModel):
    """Messages that wait in a queue, workers that listen on it, and how many of these are at work."""

    waiting: int
    workers: int
    busy: int


def queue_loads(redis_url: str) -> dict[str, QueueLoad]:
    """Every queue that a worker listens on, and those of the services.

    Raises:
        QueueError: if Redis is not there.
    """
    workers: Counter[str] = Counter()
    busy: Counter[str] = Counter()
    with explained(redis_url):
        client = connect(redis_url)
        for key in client.scan_iter(f"{names.WORKERS}*"):
            text = client.get(key)
            if isinstance(text, str):  # it may have expired since
                about = json.loads(text)
                workers[about["queue"]] += 1
                busy[about["queue"]] += bool(about["busy"])
        queues = sorted({*SERVICE_QUEUES, *workers})
        loads = {
            queue: QueueLoad(waiting=depth(client, queue), workers=workers[queue], busy=busy[queue]) for queue in queues
        }
        client.close()
    return loads


def log_queues(redis_url: str, stop: threading.Event, every_s: float) -> None:
    """Log the loads until ``stop``; Redis may be away meanwhile."""
    while not stop.wait(every_s):
        try:
            loads = queue_loads(redis_url)
        except QueueError as error:
            log.warning("%s", error)
            continue
        log.info(
            "queues: %s",
            ", ".join(
                f"{queue} {load.waiting} waiting, {load.busy}/{load.workers} busy" for queue, load in loads.items()
            ),
        )
