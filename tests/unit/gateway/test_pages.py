from __future__ import annotations

from contextlib import suppress
from itertools import chain
from pathlib import Path

import pytest
from deltann_gateway.pages import PAGE, SweepPages, make_token, read_token
from hypothesis import given
from hypothesis import strategies as st

from deltann.errors import InputError
from deltann.store import LocalStore
from deltann.store.layout import sweep_key
from deltann.sweep.model import Submitted


def submit(store: LocalStore, sid: str, time: float) -> None:
    store.put(sweep_key(sid, "submitted"), Submitted(name=sid, time=time).model_dump_json().encode())


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def all_pages(pages: SweepPages, size: int) -> list[list[str]]:
    found, token = [], ""
    while True:
        ids, token = pages.page(size, token)
        found.append(ids)
        if not token:
            return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_pages_are_the_whole_list_latest_first(store: LocalStore, size: int) -> None:
    for number in range(7):
        submit(store, f"s{number}", 100.0 + number // 2)  # some at the same time
    found = all_pages(SweepPages(store), size)
    assert list(chain(*found)) == ["s6", "s4", "s5", "s2", "s3", "s0", "s1"]
    assert [len(page) for page in found[:-1]] == [size] * (len(found) - 1)


def test_sweeps_that_come_meanwhile_shift_nothing(store: LocalStore) -> None:
    for number in range(6):
        submit(store, f"s{number}", float(number))
    pages = SweepPages(store)
    first, token = pages.page(2, "")
    submit(store, "new", 99.0)
    second, token = SweepPages(store).page(2, token)  # another gateway
    submit(store, "newer", 100.0)
    third, token = pages.page(2, token)
    assert (first, second, third, token) == (["s5", "s4"], ["s3", "s2"], ["s1", "s0"], "")


def test_no_sweeps_are_one_empty_page(store: LocalStore) -> None:
    assert SweepPages(store).page(0, "") == ([], "")


def test_sizes_have_a_default_and_a_limit(store: LocalStore) -> None:
    for number in range(PAGE + 1):
        submit(store, f"s{number}", float(number))
    assert len(SweepPages(store).page(0, "")[0]) == PAGE
    with pytest.raises(InputError, match="at most 500"):
        SweepPages(store).page(501, "")


@given(st.floats(allow_nan=False, allow_infinity=False), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_token_survives_and_is_plain(time: float, sid: str) -> None:
    token = make_token((time, sid))
    assert token.replace("-", "").replace("_", "").isalnum()
    assert read_token(token) == (time, sid)


@given(st.data())
def test_a_token_that_is_changed_or_cut_is_refused(data: st.DataObject) -> None:
    token = make_token((-1.5, "sweep-12"))
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from([c for c in "ABCabc019-_" if c != token[at]]))
    for broken in (token[:at] or "A", token[:at] + other + token[at + 1 :]):
        with suppress(InputError):
            assert read_token(broken) == (-1.5, "sweep-12")  # base64 has spare bits at its end


@given(st.text())
def test_any_text_is_a_token_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        read_token(text)
