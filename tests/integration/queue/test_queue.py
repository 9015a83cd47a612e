"""The queue over a real Redis."""

from __future__ import annotations

import json

import pytest

from deltann.dispatcher.sending import message_of
from deltann.errors import QueueError
from deltann.job import Job, JobMessage
from deltann.queue import Lease, Publisher, connect, names
from deltann.queue.leases import held
from deltann.queue.publish import lists_of


def message(index: int, queue: str = "q", **params: str) -> JobMessage:
    return message_of("s", Job(index=index, kind="k", params=dict(params), queue=queue, job_id=str(index)))


def test_messages_wait_in_their_queues_by_priority(redis_url: str) -> None:
    publisher = Publisher(redis_url)
    assert publisher.send([message(0), message(1), message(2, "other")]) == 3
    assert publisher.send([message(3)], priority=0) == 1
    assert publisher.depth("q") == 3
    assert publisher.queued("q") == {"s#0", "s#1", "s#3"}
    assert publisher.queued("other") == {"s#2"}
    client = connect(redis_url)
    assert [client.llen(name) for name in lists_of("q")] == [1, 2, 0, 0]
    publisher.purge("q")
    assert publisher.depth("q") == 0
    publisher.close()


def test_many_messages_are_sent_in_batches(redis_url: str) -> None:
    publisher = Publisher(redis_url)
    client = connect(redis_url)
    publisher.send([message(0)])
    before = int(client.info("stats")["total_commands_processed"])  # type: ignore[index]
    assert publisher.send(message(index) for index in range(1, 1201)) == 1200
    assert int(client.info("stats")["total_commands_processed"]) - before < 2400  # type: ignore[index]
    assert publisher.depth("q") == 1201
    publisher.close()


def test_a_job_too_large_for_a_message_stays_in_the_plan(redis_url: str) -> None:
    publisher = Publisher(redis_url)
    publisher.send([message(0, text="x" * 3000)])
    (text,) = connect(redis_url).lrange("q\x06\x163", 0, -1)  # type: ignore[misc]
    assert len(text) < 2048
    assert '"x' not in text
    assert "pickle" not in json.loads(text)["content-type"]
    publisher.close()


def test_a_lease_is_held_by_one_and_expires(redis_url: str) -> None:
    client = connect(redis_url)
    first, second = Lease(client, names.lease("s", 1), 1), Lease(client, names.lease("s", 1), 1)
    assert first.take()
    assert not second.take()
    assert not second.renew()
    assert first.renew()
    second.release()
    assert client.exists(names.lease("s", 1))
    first.release()
    assert second.take()
    assert 0 < client.pttl(names.lease("s", 1)) <= 1000  # type: ignore[operator]


def test_taking_a_lease_counts_how_often_in_the_same_step(redis_url: str) -> None:
    client, key = connect(redis_url), names.lease("s", 1)
    first, second = Lease(client, key), Lease(client, key)
    assert first.take_counted("begun", "1") == 1
    assert second.take_counted("begun", "1") == 0
    first.release()
    assert second.take_counted("begun", "1") == 2
    assert client.hgetall("begun") == {"1": "2"}
    second.release()
    client.hset("begun", "1", "-1")  # a beginning was pardoned after the counts were cleared
    assert first.take_counted("begun", "1") == 1


def test_a_lease_is_taken_again_by_whoever_holds_it(redis_url: str) -> None:
    """As a client does whose answer was lost with its connection, or a dispatcher that comes back in time."""
    first = Lease(connect(redis_url), names.lease("s", 1))
    assert first.take()
    assert first.take()


def test_a_lease_that_a_clock_set_back_prolongs_is_cut(redis_url: str) -> None:
    """Redis keeps the expiry of a key as a point in time."""
    client = connect(redis_url)
    key, other = names.lease("s", 1), names.lease("s", 2)
    holder, waiting = Lease(client, key), Lease(client, key)
    assert holder.take()
    for cut in (lambda: held(client, [key, other]) == [True, False], lambda: not waiting.take()):
        client.pexpire(key, 3_600_000)
        assert cut()
        assert 0 < client.pttl(key) <= 10_000  # type: ignore[operator]
    assert held(client, []) == []


def test_a_redis_that_is_not_there_is_told() -> None:
    publisher = Publisher("redis://127.0.0.1:1/0")
    with pytest.raises(QueueError, match="failed or is not there"):
        publisher.send([message(0)])
    with pytest.raises(QueueError, match="failed or is not there"):
        publisher.depth("q")
