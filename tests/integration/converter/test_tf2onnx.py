"""What is mended of tf2onnx: it gives back the copies of the weights that its optimisers make."""

import contextlib
import gc
import subprocess
import sys
import weakref

from deltann_converter.tools import tf2onnx_program


class Copy:
    """A graph that refers to itself, as tf2onnx's do."""

    def __init__(self):
        self.itself = self


def test_what_an_optimiser_left_is_gone_when_the_next_begins():
    from tf2onnx.optimizer.identity_optimizer import IdentityOptimizer

    for _ in range(2):  # patched once, however often it is asked for
        tf2onnx_program.give_memory_back()
    gc.disable()
    try:
        left = weakref.ref(Copy())
        assert left() is not None
        seen = []

        class Graph:
            def dump_node_statistics(self):
                seen.append(left())
                raise StopIteration

        with contextlib.suppress(StopIteration):
            IdentityOptimizer().optimize(Graph(), 0)
    finally:
        gc.enable()
    assert seen == [None]


def test_the_program_takes_what_tf2onnx_takes():
    asked = [sys.executable, "-m", tf2onnx_program.__name__, "--help"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert "--saved-model" in told
    assert "--opset" in told
