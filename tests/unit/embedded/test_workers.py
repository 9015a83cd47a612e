from __future__ import annotations

from collections import Counter

import pytest

from deltann.embedded import default_workers


@pytest.mark.parametrize(("cores", "converters", "compilers"), [(1, 1, 1), (2, 1, 2), (4, 2, 4), (8, 4, 8), (64, 8, 8)])
def test_workers_grow_with_the_cores_and_one_executor_has_each_pool(
    cores: int, converters: int, compilers: int
) -> None:
    workers = default_workers(("cpu", "gpu"), cores)
    assert Counter(worker.service for worker in workers) == {
        "converter": converters,
        "compiler": compilers,
        "executor": 2,
        "trainer": 1,
        "analyzer": 1,
    }
    assert [worker.pool for worker in workers if worker.service == "executor"] == ["cpu", "gpu"]
