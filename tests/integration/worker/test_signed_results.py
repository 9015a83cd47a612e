"""What a compiler finds in the store is used again where a compiler has signed it, and done again where none has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import deltann_arithmetic as arithmetic
import pytest

from deltann.job import JobResult
from deltann.outcome import Outcome
from deltann.service import find_service
from deltann.signing import NO_KEYS, Keys, is_signed, make_keys, read_keys
from deltann.store import LocalStore
from deltann.store.layout import read_result, result_object_key
from deltann.worker.children import Children
from deltann.worker.hostlock import HostLock
from deltann.worker.settle import Settled, Settler, describe_host


class Shop:
    """A service whose results are executed, and what its jobs leave."""

    def __init__(self, folder: Path) -> None:
        self.store, self.trace = LocalStore(folder / "store"), folder / "trace"
        self.children = Children(arithmetic.NAME, self.store.url, folder / "cache")
        plain = find_service(arithmetic.NAME)
        kinds = tuple(dataclasses.replace(kind, signed=True) for kind in plain.kinds)
        self.service = dataclasses.replace(plain, kinds=kinds)

    def add(self, keys: Keys) -> Settled:
        graph = arithmetic.Graph()
        graph.job("add", 1, trace=str(self.trace))
        settler = Settler(self.service, self.store, self.children, HostLock(), describe_host(None), keys=keys)
        settled = settler.settle("s", graph.jobs[0], {})
        assert settled is not None
        return settled

    @property
    def runs(self) -> int:
        return len(self.trace.read_text().splitlines())

    def stored(self, result: JobResult) -> JobResult | None:
        return read_result(self.store, result.result_key)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    with made.children:
        yield made


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return read_keys(*make_keys(tmp_path / "keys"))


def test_a_signed_result_is_used_again(shop: Shop, keys: Keys) -> None:
    first, second = shop.add(keys), shop.add(keys)
    assert is_signed(first.result, keys.trusted)
    assert (second.result, second.reused, shop.runs) == (first.result, True, 1)
    assert shop.stored(first.result) == first.result


@pytest.mark.parametrize("how", ["unsigned", "altered", "of another key"])
def test_a_forged_one_is_done_again_and_replaced(shop: Shop, keys: Keys, how: str) -> None:
    first = shop.add(keys).result
    forged = {
        "unsigned": first.model_copy(update={"signature": None}),
        "altered": first.model_copy(update={"outcome": Outcome.COMPILE_FAILED}),
        "of another key": first.model_copy(update={"result_key": "f" * 64}),
    }[how]
    if how == "of another key":
        assert keys.signer is not None
        forged = keys.signer.signed(forged)
    shop.store.put(result_object_key(first.result_key), forged.model_dump_json().encode())
    second = shop.add(keys)
    assert (second.reused, shop.runs) == (False, 2)
    assert is_signed(second.result, keys.trusted)
    assert shop.stored(first) == second.result


def test_compilers_with_and_without_keys_stay_apart(shop: Shop, keys: Keys, tmp_path: Path) -> None:
    others = read_keys(*make_keys(tmp_path / "others"))
    found = [shop.add(each).result for each in (NO_KEYS, keys, others)]
    assert len({one.result_key for one in found}) == 3
    assert [one.signature is None for one in found] == [True, False, False]
    assert shop.runs == 3
    assert [shop.add(each).reused for each in (NO_KEYS, keys, others)] == [True] * 3
