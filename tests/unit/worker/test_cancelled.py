from __future__ import annotations

from pathlib import Path

import pytest

from deltann.errors import StoreError
from deltann.store import LocalStore
from deltann.store.layout import sweep_key
from deltann.worker import cancelled
from deltann.worker.cancelled import Cancellations


class Counting(LocalStore):
    looks = 0
    away = False

    def exists(self, key: str) -> bool:
        self.looks += 1
        if self.away:
            raise StoreError("The store is away.")
        return super().exists(key)


@pytest.fixture
def store(tmp_path: Path) -> Counting:
    return Counting(tmp_path)


def test_many_jobs_of_a_sweep_are_one_look(store: Counting) -> None:
    known = Cancellations(store)
    assert not any(known.stands("s") for _ in range(100))
    assert store.looks == 1
    assert not known.stands("t")
    assert store.looks == 2


def test_it_is_noticed_after_a_while_and_stands(store: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Cancellations(store)
    assert not known.stands("s")
    store.put(sweep_key("s", "cancelled"), b"{}")
    assert not known.stands("s"), "two seconds are not over"
    monkeypatch.setattr(cancelled, "_LOOK_S", 0.0)
    assert known.stands("s")
    assert known.watch("s")()
    store.delete(sweep_key("s", "cancelled"))
    assert not known.stands("s"), "one that is taken up again is not cancelled"


def test_a_job_in_hand_goes_on_while_the_store_is_away(store: Counting) -> None:
    known = Cancellations(store)
    store.away = True
    ask = known.watch("s")
    assert not ask()
    assert not ask()
    assert store.looks == 1
    with pytest.raises(StoreError):
        Cancellations(store).stands("s")
