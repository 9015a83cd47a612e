from __future__ import annotations

import logging
import threading
import time
from typing import cast

import pytest
import redis

from deltann.queue import Lease, keeper
from deltann.queue.keeper import Keeper


class Noted:
    """A lease that notes when it is renewed."""

    key = "deltann:lease:s:0"

    def __init__(self, fails: bool = False) -> None:
        self.times, self.fails = 0, fails
        self.renewed = threading.Event()

    def renew(self) -> bool:
        self.times += 1
        self.renewed.set()
        if self.fails:
            raise redis.ConnectionError("connection lost")
        return True


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "_LOOK_S", 0.01)
    monkeypatch.setattr(keeper, "_RENEW_S", 0.05)


def kept(noted: Noted) -> Lease:
    return cast(Lease, noted)


def test_a_lease_is_renewed_until_it_is_dropped_and_one_thread_serves_them_all() -> None:
    own, threads = Keeper(), threading.active_count()
    for _ in range(3):
        lease = Noted()
        own.keep(kept(lease), lambda: True)
        assert lease.renewed.wait(5)
        own.drop()
        times = lease.times
        time.sleep(0.15)
        assert lease.times == times
    assert threading.active_count() == threads + 1


def test_a_short_job_renews_nothing() -> None:
    own, lease = Keeper(), Noted()
    own.keep(kept(lease), lambda: True)
    own.drop()
    time.sleep(0.15)
    assert lease.times == 0


def test_what_is_past_every_limit_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    own, lease = Keeper(), Noted()
    with caplog.at_level(logging.ERROR):
        own.keep(kept(lease), lambda: False)
        time.sleep(0.3)
    assert lease.times == 0
    assert caplog.text.count("deltann:lease:s:0 is given up") == 1


def test_redis_that_is_away_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    own, lease = Keeper(), Noted(fails=True)
    with caplog.at_level(logging.WARNING):
        own.keep(kept(lease), lambda: True)
        deadline = time.monotonic() + 5
        while lease.times < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        own.drop()
    assert lease.times >= 2
    assert "could not be renewed: connection lost" in caplog.text
