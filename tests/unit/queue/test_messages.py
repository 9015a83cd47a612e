"""What a message holds, and how URLs are told to each library."""

from __future__ import annotations

import pytest

from deltann.dispatcher.sending import message_of
from deltann.errors import QueueError
from deltann.job import Job
from deltann.queue.app import make_app
from deltann.queue.connection import celery_url, connect, explained, redis_url
from deltann.queue.publish import lists_of
from deltann.queue.transport import Transport


def test_a_message_leaves_the_order_in_the_plan() -> None:
    job = Job(index=9, kind="analyze", params={}, queue="analyzer", job_id="j", after=tuple(range(9)))
    message = message_of("s", job)
    assert message.job is not None
    assert (message.job.after, message.ordered, message.queue) == ((), True, "analyzer")
    assert not message_of("s", job.model_copy(update={"after": ()})).ordered


@pytest.mark.parametrize("url", ["unix:///run/r.sock", "redis+socket:///run/r.sock"])
def test_a_socket_is_named_as_each_library_wants_it(url: str) -> None:
    assert celery_url(url) == "deltann+socket:///run/r.sock"
    assert redis_url(url) == "unix:///run/r.sock"


def test_a_tcp_address_stays_what_it_is() -> None:
    assert celery_url("redis://h:1/0") == redis_url("redis://h:1/0") == "redis://h:1/0"


@pytest.mark.parametrize("url", ["unix:///run/r.sock", "redis://h:1/0", "rediss://h:1/0"])
def test_messages_travel_without_a_second_book_of_what_is_in_hand(url: str) -> None:
    transport = make_app(url).connection_for_read().get_transport_cls()
    assert issubclass(transport, Transport)
    assert (transport.Channel.ack_emulation, transport.Channel.do_restore) == (False, False)


def test_a_queue_is_four_lists_the_most_urgent_first() -> None:
    assert lists_of("q") == ["q", "q\x06\x163", "q\x06\x166", "q\x06\x169"]


def test_a_wrong_address_is_explained() -> None:
    with pytest.raises(QueueError, match="not the address of a Redis"):
        connect("http://localhost")


def test_a_redis_that_is_not_there_is_explained_without_its_password() -> None:
    url = "redis://:secret@127.0.0.1:1/0"
    with pytest.raises(QueueError, match=r"redis://…@127\.0\.0\.1:1/0.*Start it") as caught, explained(url):
        connect(url).ping()
    assert "secret" not in str(caught.value)
