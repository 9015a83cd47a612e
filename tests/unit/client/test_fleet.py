"""A view of the fleet is the same after it has travelled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltann.client.fleet import fleet_message, fleet_view
from deltann.fleet import DeviceInfo, FleetView, PoolView, Readings, WorkerRecord
from deltann.fleet.stats import Count
from deltann.fleet.view import QueueView
from deltann.v1 import fleet_pb2

text = st.text(max_size=8)
small = st.integers(0, (1 << 32) - 1)
large = st.integers(0, (1 << 64) - 1)
real = st.floats(allow_nan=False, allow_infinity=False)
devices = st.builds(
    DeviceInfo,
    cores=small,
    memory_bytes=large,
    features=st.lists(text, max_size=2).map(tuple),
    gpus=st.lists(text, max_size=2).map(tuple),
    opencl=st.lists(text, max_size=2).map(tuple),
)
readings = st.builds(
    Readings,
    temperature_c=st.none() | real,
    frequency_mhz=st.none() | real,
    governor=text,
    memory_free_bytes=st.none() | large,
    load=st.none() | real,
)
workers = st.builds(
    WorkerRecord,
    host=text,
    pid=small,
    service=text,
    queue=text,
    pool=st.none() | st.sampled_from(["cpu", "Jetson_Orin-1.a"]),
    name=text,
    code=text,
    started=real,
    seen=real,
    state=st.sampled_from(["idle", "busy", "draining"]),
    job=text,
    since=real,
    jobs_done=large,
    busy_seconds=real,
    runtimes=st.dictionaries(text, text, max_size=2),
    device=devices,
    now=readings,
)
queues = st.builds(
    QueueView,
    name=text,
    depth=st.dictionaries(st.sampled_from([0, 3, 6, 9]), small),
    oldest_s=st.none() | real,
    workers=small,
    busy=small,
)
views = st.builds(
    FleetView,
    time=real,
    pools=st.lists(st.builds(PoolView, name=text, queue=queues, about=text, defined=st.booleans()), max_size=2).map(
        tuple
    ),
    services=st.lists(queues, max_size=2).map(tuple),
    workers=st.lists(workers, max_size=2).map(tuple),
    counts=st.lists(
        st.builds(Count, queue=text, kind=text, outcome=text, reused=st.booleans(), jobs=large, seconds=real),
        max_size=2,
    ).map(tuple),
    redis_used_bytes=large,
    redis_limit_bytes=large,
)


@given(views)
def test_a_view_is_the_same_after_it_has_travelled(view: FleetView) -> None:
    travelled = fleet_pb2.Fleet.FromString(fleet_message(view).SerializeToString())
    assert fleet_view(travelled) == view


def test_what_cannot_be_read_is_absent_and_not_zero() -> None:
    device = DeviceInfo(arch="aarch64", cpu="Cortex-A72", cores=4, memory_bytes=1 << 32)
    cold = Readings(temperature_c=0.0, load=0.0)
    worker = WorkerRecord(
        host="Küche", pid=7, service="executor", queue="exec.pi4", started=1.5, seen=2.5, device=device, now=cold
    )
    view = FleetView(time=3.25, workers=(worker,), services=(QueueView(name="q", depth={0: 0}, oldest_s=0.0),))
    message = fleet_message(view)
    assert (message.workers[0].id, message.workers[0].state) == ("Küche:7", fleet_pb2.WORKER_STATE_IDLE)
    assert message.workers[0].now.HasField("temperature_c")
    assert not message.workers[0].now.HasField("memory_free_bytes")
    assert message.services[0].HasField("oldest_s")
    assert fleet_view(message) == view
