"""ONNX Runtime for the web: WebAssembly (SIMD) in a headless Chromium, over the model's ONNX.

Times are the page's own, ``performance.now()`` around ``session.run`` alone.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from deltann.engines import EngineOptions
from deltann.fleet.device import describe_device
from deltann.installed import modules
from deltann.model import ModelInfo
from deltann_engines.base import Session
from deltann_engines.web.browser import Browser
from deltann_engines.web.server import PageServer

_MODULE = "onnxruntime-web"


class WebSession(Session):
    """A session in a page of a browser of its own; it ends with this one."""

    def __init__(self, path: Path, info: ModelInfo, threads: int) -> None:
        self.info = info
        with ExitStack() as opened:
            self._server = opened.enter_context(closing(PageServer()))
            self._server.model = path
            self.browser = opened.enter_context(closing(Browser()))
            self.browser.open(self._server.url)
            self.isolated: bool = self.browser.evaluate(f"deltann.start({threads})")["isolated"]
            self.threads: int = self.browser.evaluate("deltann.load()")["threads"]
            self._opened = opened.pop_all()

    def _run(self, x: np.ndarray) -> np.ndarray:
        return self._infer(x)[0]

    def time(self, x: np.ndarray) -> int:
        """Nanoseconds on the page's clock, which an isolated page has in steps of some 5 µs, another in 100 µs."""
        return self._infer(x)[1]

    def _infer(self, x: np.ndarray) -> tuple[np.ndarray, int]:
        self._server.input = np.ascontiguousarray(x).tobytes()
        done = self.browser.evaluate(f"deltann.run({json.dumps(str(x.dtype))}, {json.dumps(x.shape)})")
        array = np.frombuffer(self._server.output, done["type"]).reshape(done["dims"])
        return array, round(done["ms"] * 1e6)

    @property
    def used(self) -> EngineOptions:
        """The WebAssembly file that the page fetched, and the threads that it started."""
        fetched = sorted(Path(name).stem for name in self._server.served if name.endswith(".wasm"))
        return EngineOptions(library=f"{', '.join(fetched)}; {self.threads} thread{'s' * (self.threads > 1)}")

    @property
    def device(self) -> str:
        """The browser on this processor."""
        return f"{self.browser.version} on {describe_device().cpu}"

    @property
    def local(self) -> bool:
        """False: this process's memory is not the browser's, whose peak is not known."""
        return False

    def close(self) -> None:
        """End the browser and its server."""
        self._opened.close()


def prepare(threads: int, options: EngineOptions) -> None:
    """Make sure that the npm module is there.

    Raises:
        RuntimeError: where it is not.
    """
    if not (modules() / _MODULE).is_dir():
        raise RuntimeError(
            f"the npm module {_MODULE} is not installed in {modules()}: run tools/web.sh on the workers of this pool"
        )


def load(path: Path, info: ModelInfo, threads: int, options: EngineOptions) -> Session:
    """Start a browser and load an .onnx file in it; the browser's start is part of it."""
    prepare(threads, options)
    return WebSession(path, info, threads)
