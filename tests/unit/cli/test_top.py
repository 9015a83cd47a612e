"""What an operator sees of a known fleet."""

from __future__ import annotations

import pytest
from rich.console import Console

from deltann.cli.fleet_picture import picture, troubles
from deltann.cli.pace import Pace
from deltann.cli.top import Screen
from deltann.errors import QueueError
from deltann.fleet import DeviceInfo, FleetView, PoolView, Readings, WorkerRecord
from deltann.fleet.stats import Count
from deltann.fleet.view import QueueView
from deltann.outcome import Outcome
from deltann.sweep import Failure, KindCounts, SweepStatus

PI = DeviceInfo(arch="aarch64", cpu="Cortex-A72", cores=4, memory_bytes=4 << 30, board="Raspberry Pi 4")
XEON = DeviceInfo(arch="x86_64", cpu="Xeon", cores=64, memory_bytes=64 << 30, gpus=("H200",))


def worker(**changes: object) -> WorkerRecord:
    known: dict[str, object] = {
        **{"host": "pi-3.lab.example", "pid": 31007, "service": "executor", "queue": "exec.pi4", "pool": "pi4"},
        **{"code": "0.1.0+ab", "started": 0.0, "seen": 100.0, "state": "draining", "job": "run net", "since": 30.0},
        **{"jobs_done": 12, "device": PI, "now": Readings(temperature_c=61.4)},
    }
    return WorkerRecord.model_validate({**known, **changes})


VIEW = FleetView(
    time=100.0,
    services=(QueueView(name="compiler", depth={0: 2, 3: 5}, oldest_s=61.0, workers=1),),
    pools=(
        PoolView(name="pi4", about="boards", queue=QueueView(name="exec.pi4", depth={0: 0}, workers=1, busy=1)),
        PoolView(name="hailo", queue=QueueView(name="exec.hailo", depth={0: 0, 3: 230}, oldest_s=7300.0)),
    ),
    workers=(
        worker(service="compiler", queue="compiler", pool=None, state="idle", job="", pid=5, host="big", device=XEON),
        worker(),
    ),
    counts=(
        Count(queue="exec.pi4", kind="execute", outcome="ok", reused=False, jobs=40),
        Count(queue="exec.pi4", kind="execute", outcome="crashed", reused=False, jobs=2),
    ),
    redis_used_bytes=12_000_000,
    redis_limit_bytes=100_000_000,
)
STATUS = SweepStatus(
    id="s-1",
    name="study",
    state="running",
    counts={"execute": KindCounts(waiting=60, running=10, done=30, outcomes={"ok": 29, "crashed": 1})},
    failures=(Failure(label="run net", outcome=Outcome.CRASHED, message="signal 11\nin a kernel"),),
)


def drawn(view: FleetView, *arguments: object, width: int = 100, color: bool = False) -> list[str]:
    console = Console(width=width, force_terminal=color, color_system="standard" if color else None, highlight=False)
    with console.capture() as captured:
        console.print(picture(view, *arguments))  # type: ignore[arg-type]
    return [line.rstrip() for line in captured.get().splitlines()]


def test_the_picture_of_a_known_fleet() -> None:
    pace = Pace()
    pace.see(STATUS.model_copy(update={"counts": {}}), 0.0)
    pace.see(STATUS, 60.0)
    lines = drawn(VIEW, 12.345, [(STATUS, pace)])
    ends = lines[3].rpartition("until ")[2]
    assert lines == [
        "2 workers, 1 busy, 1 draining   12.3 jobs/s   42 done, 2 failed   Redis 12 of 100 MB",
        "! Pool hailo: 230 jobs wait for a worker. Start one: deltann worker executor --pool hailo",
        "",
        f"study  running  30/100 jobs, 10 running  1 failed  0.5 jobs/s, about 2:20 left, until {ends}",
        "  run net: crashed: signal 11 in a kernel",
        "",
        "queue            waiting   oldest  workers  busy",
        "pool pi4                                 1     1  boards",
        "pool hailo           230  2:01:40     none        waits for a worker",
        "compiler    7 (2 urgent)     1:01        1",
        "",
        "worker    on          state      for  °C  jobs  job                             device",
        "pi4       pi-3:31007  draining  1:10  61    12  run net                         Raspberry Pi 4",
        "compiler  big:5       idle      1:10  61    12                                  Xeon, H200",
    ]


def test_what_is_stranded_is_red() -> None:
    lines = drawn(VIEW, color=True)
    red = [line for line in lines if "\x1b[1;31m" in line]
    assert len(red) == 2
    assert all("hailo" in line for line in red)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_thirty_workers_with_long_names_take_a_line_each_and_those_that_do_not_fit_are_counted(width: int) -> None:
    long = "run mobilenet_v2/keras→tflite→onnx/tvm-llvm-O3-cpu labels 0-500"
    many = [worker(pid=31000 + i, host="a-very-long-name-of-a-host-" + "x" * 40, job=long * (i % 2)) for i in range(30)]
    view = VIEW.model_copy(update={"workers": tuple(many), "pools": VIEW.pools[:1]})
    lines = drawn(view, width=width)
    assert len(lines) == 1 + 1 + 3 + 1 + 31
    assert all(len(line) <= width for line in lines)
    assert ":31001" in lines[7]
    lines = drawn(view, None, [], 20, width=width)
    assert len(lines) <= 20
    assert lines[-1].startswith("… and ")
    shown = sum(":310" in line for line in lines)
    assert lines[-1] == f"… and {30 - shown} more, 15 of them idle"  # whoever is busy is shown first


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"pools": (), "services": (QueueView(name="compiler", depth={3: 1}),)},
            "compiler: 1 job waits for a worker. ",
        ),
        ({"pools": (), "redis_used_bytes": 81_000_000}, "Redis' memory is nearly full. "),
        ({"pools": (), "redis_used_bytes": 81_000_000, "redis_limit_bytes": 0}, None),
        (
            {"pools": (), "workers": (worker(code="1+a"), worker(code="1+b"))},
            "Pool pi4: its workers are of 2 versions, 1+a, 1+b. ",
        ),
        ({"pools": ()}, None),
    ],
    ids=["a service is stranded", "Redis is full", "Redis has no limit", "two versions", "nothing"],
)
def test_troubles_say_what_to_do(changes: dict[str, object], told: str | None) -> None:
    found = troubles(VIEW.model_copy(update=changes))
    assert len(found) == (told is not None)
    assert all(text.startswith(told or "") and text != told for text in found)


class Sweeps:
    def list_sweeps(self) -> list[SweepStatus]:
        return [STATUS, STATUS.model_copy(update={"name": "over", "state": "done"})]


def test_what_cannot_be_reached_for_a_while_leaves_the_last_picture_and_says_why() -> None:
    looks = iter([VIEW])

    def look() -> FleetView:
        for view in looks:
            return view
        raise QueueError("Redis is away.")

    screen = Screen(look, Sweeps())  # type: ignore[arg-type]
    console = Console(width=100, color_system=None)
    with console.capture() as first:
        console.print(screen.show(40))
    with console.capture() as second:
        console.print(screen.again(40))
    assert "study  running" in first.get()
    assert "over" not in first.get()
    assert second.get().splitlines()[1] == "! Redis is away."
    assert "pool hailo" in second.get()
