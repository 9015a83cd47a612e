from __future__ import annotations

import pytest
from made_plan import FORMATS, planned, study

from deltann.kinds.queues import POOL_QUEUE, QUEUES, queue_of_kind
from deltann.plan import plan_resolve
from deltann.service import services

ON_REQUEST = {"attack", "explain", "repair", "train"}
"""Kinds that a command asks for, and no plan."""
MUTATIONS = [{"operators": ["drop_layer", "float32_to_int8"]}]


def test_the_table_sends_every_kind_to_the_service_that_has_it() -> None:
    served = {kind.name: service.name for service in services().values() for kind in service.kinds}
    for kind, queue in QUEUES.items():
        assert queue == (POOL_QUEUE if served[kind] == "executor" else served[kind])


def test_a_pool_has_a_queue_of_its_own() -> None:
    assert queue_of_kind("execute", "rpi4") == "exec.rpi4"
    assert queue_of_kind("convert") == "converter"


@pytest.mark.parametrize("pool", ["cpu", "rpi4"])
def test_plans_use_the_table_alone(pool: str) -> None:
    asked = {"mutations": MUTATIONS, "compare": {"bisect": True}}
    one = study(4, conversions={"pairs": "all"}, engines=["own", "tvm", "iree"], pools=[pool], **asked)
    plan, _, _ = planned(one, *FORMATS[:4])
    jobs = [*plan_resolve(one).jobs, *plan.jobs]
    assert {job.kind for job in jobs} == QUEUES.keys() - ON_REQUEST
    for job in jobs:
        assert job.queue == queue_of_kind(job.kind, pool if job.kind in ("execute", "time") else None)
