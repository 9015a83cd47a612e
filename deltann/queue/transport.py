"""Celery's Redis transport, without its own book of the messages in hand."""

from __future__ import annotations

from kombu.transport import TRANSPORT_ALIASES, redis

NAME = "deltann"
"""Of the transport, in the settings and in the URL of a Unix socket."""


class Channel(redis.Channel):
    """A worker takes a message out of its list and that is all.

    kombu would copy it into a hash and take it out again once it is acknowledged, two transactions a job, and deliver
    it anew after a fixed time or when the connection is lost, whether or not somebody is at it. Here the dispatcher
    sees by the lease of a job that its worker is gone, and sends it again within seconds.
    """

    ack_emulation = False
    do_restore = False


class Transport(redis.Transport):
    """What :data:`NAME` stands for."""

    Channel = Channel


TRANSPORT_ALIASES[NAME] = f"{__name__}:{Transport.__name__}"
