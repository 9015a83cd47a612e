import os
import threading

import numpy as np
import pytest
from deltann_engines.memory import peak_memory, reset_peak_memory
from deltann_executor.timing import pinned


def test_peak_memory_keeps_what_was_given_back_until_it_is_reset():
    reset_peak_memory()
    before = peak_memory()
    block = np.ones(64 << 20, np.uint8)
    del block
    assert peak_memory() - before > 48 << 20
    reset_peak_memory()
    if peak_memory() - before > 48 << 20:
        pytest.skip("this kernel does not let a process reset its peak")
    assert peak_memory() - before < 32 << 20


def test_pinned_moves_threads_that_run_already_and_frees_them_again():
    allowed = os.sched_getaffinity(0)
    seen, ask, answered, stop = [], threading.Event(), threading.Event(), threading.Event()

    def worker():
        while not stop.is_set():
            if ask.wait(0.05):
                ask.clear()
                seen.append(os.sched_getaffinity(0))
                answered.set()

    thread = threading.Thread(target=worker, daemon=True)
    thread.start()

    def asked():
        answered.clear()
        ask.set()
        assert answered.wait(5)
        return seen[-1]

    try:
        with pinned(1) as cores:
            assert cores == [min(allowed)]
            assert os.sched_getaffinity(0) == {min(allowed)} == asked()
        assert os.sched_getaffinity(0) == allowed == asked()
    finally:
        stop.set()
        thread.join()


def test_pinned_gives_at_most_the_cores_there_are():
    allowed = os.sched_getaffinity(0)
    with pinned(len(allowed) + 8) as cores:
        assert set(cores) == allowed
