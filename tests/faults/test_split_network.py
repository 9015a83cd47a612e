"""A worker in a network of its own, whose link to Redis goes down and comes back."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from fleet import Fleet, until
from stacks import lines
from tables import Tables, graph, nothing_lost_or_doubled, tables

Measured = Callable[[str, float], None]


def ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Network:
    """A network namespace with a link to this one."""

    name: str
    here: str
    address: str

    def link(self, state: str) -> None:
        assert ip("link", "set", self.here, state).returncode == 0


@pytest.fixture
def network() -> Iterator[Network]:
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip (iproute2)")
    number = os.getpid() % 250
    name, here, there = f"dnn{os.getpid()}", f"dnh{os.getpid()}"[:15], f"dnt{os.getpid()}"[:15]
    made = ip("netns", "add", name)
    if made.returncode:
        pytest.skip(f"no network namespace can be made here: {made.stderr.strip()}")
    try:
        steps = [
            ("link", "add", here, "type", "veth", "peer", "name", there, "netns", name),
            ("addr", "add", f"10.213.{number}.1/30", "dev", here),
            ("link", "set", here, "up"),
            ("netns", "exec", name, "ip", "addr", "add", f"10.213.{number}.2/30", "dev", there),
            ("netns", "exec", name, "ip", "link", "set", there, "up"),
        ]
        for step in steps:
            done = ip(*step)
            if done.returncode:
                pytest.skip(f"no link between networks can be made here: {done.stderr.strip()}")
        yield Network(name, here, f"10.213.{number}.1")
    finally:
        ip("netns", "del", name)
        ip("link", "del", here)


@pytest.mark.faults
def test_a_worker_is_cut_off_from_redis_and_comes_back(
    network: Network, new_fleet: Callable[..., Fleet], undisturbed: Tables, measured: Measured
) -> None:
    """It goes on with its job and stores the result; another was given the job too, and the first record stands."""
    fleet = new_fleet(tcp=(network.address, 6399))
    fleet.redis()
    fleet.dispatcher()
    fleet.worker("far", within=["ip", "netns", "exec", network.name])
    more = {"trace": str(fleet.trace), "seconds": 20.0}
    size = len(undisturbed.jobs) - 1
    sid = fleet.submit("sweep", graph(fleet.trace, ["step", 60.0, more]))
    fleet.worker("near")
    until(lambda: "step 60.0" in lines(fleet.trace), 60, "the long job")
    network.link("down")
    time.sleep(25)
    network.link("up")
    found = tables(fleet, sid, 120)
    assert found.jobs[size] == ("ok", None, {"total": 60.0})
    assert {i: found.jobs[i] for i in range(size)} == {i: undisturbed.jobs[i] for i in range(size)}
    nothing_lost_or_doubled(fleet, sid, begun_again=2)
    second = fleet.submit("second", graph(fleet.folder / "second", width=4, seconds=1.0))
    tables(fleet, second)
    assert any("[second-1#" in line for line in lines(fleet.folder / "far.log")), "it works again"
