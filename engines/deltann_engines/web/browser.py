"""A headless Chromium with one page, driven by the DevTools protocol over a pipe: no port, no library."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

from deltann.installed import find_chromium

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
    "--enable-logging=stderr", "--disable-dev-shm-usage",
)  # fmt: skip
_WIRE = """
import os, sys
from fcntl import F_DUPFD, fcntl
given, taken = (fcntl(int(number), F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(given, 3)
os.dup2(taken, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads commands from file descriptor 3 and answers on 4."""
ANSWER_S = 600.0
_SOCKETS_FIT = 50


def _short() -> str | None:
    """Where the browser's files go: /tmp, where the usual place has so long a path that no socket fits below it.

    A socket's path has 107 bytes at most, and the browser aborts without its own.
    """
    return None if len(os.fsencode(tempfile.gettempdir())) < _SOCKETS_FIT else "/tmp"


class BrowserError(RuntimeError):
    """The browser crashed, hung, or its page raised an error."""


class Browser:
    """One browser process and its page; it ends with ``close``, or with this process.

    Raises:
        BrowserError: where there is no browser, or it does not start.
    """

    def __init__(self, answer_s: float = ANSWER_S) -> None:
        program = find_chromium()
        if program is None:
            raise BrowserError("no Chromium is on the PATH: install one (apt-get install chromium)")
        self._answer_s, self._number, self._buffer, self._session = answer_s, 0, b"", ""
        self._folder = tempfile.mkdtemp(prefix="deltann-web-", dir=_short())
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [program, *_FLAGS, f"--user-data-dir={self._folder}/profile", "about:blank"]
        wired = [sys.executable, "-I", "-S", "-c", _WIRE, str(theirs_in), str(theirs_out), *command]
        try:
            self.process = subprocess.Popen(
                wired,
                pass_fds=[theirs_in, theirs_out],
                stdin=subprocess.DEVNULL,
                env=os.environ | {"TMPDIR": self._folder},
            )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        try:
            self.version: str = self.call("Browser.getVersion")["product"]
        except BaseException:
            self.close()
            raise

    def open(self, url: str) -> None:
        """Show a page, and be told where it crashes."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Inspector.enable")
        self.call("Page.enable")
        self.call("Page.navigate", url=url)
        until = time.monotonic() + 30
        while not self.evaluate("'deltann' in globalThis"):
            if time.monotonic() > until:
                raise BrowserError(f"the page {url} did not start within 30 s")
            time.sleep(0.02)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page, awaited.

        Raises:
            BrowserError: if the page raises, crashes, or does not answer in time.
        """
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if (raised := answer.get("exceptionDetails")) is not None:
            raise BrowserError(raised.get("exception", {}).get("description") or raised["text"])
        return answer["result"].get("value")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol, in the page's session once there is one."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._out, json.dumps(message).encode() + b"\0")
        except BrokenPipeError as error:
            raise BrowserError(self._gone()) from error
        until = time.monotonic() + self._answer_s
        while True:
            told = self._next(until)
            if told.get("method") in ("Inspector.targetCrashed", "Target.targetCrashed"):
                raise BrowserError("the browser's page crashed (its renderer process ended)")
            if told.get("id") == self._number:
                if "error" in told:
                    raise BrowserError(f"{method}: {told['error']['message']}")
                result: dict[str, Any] = told["result"]
                return result

    def close(self) -> None:
        """End the browser and remove what it wrote."""
        self.process.kill()
        self.process.wait()
        for end in (self._in, self._out):
            os.close(end)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _next(self, until: float) -> dict[str, Any]:
        if time.monotonic() > until:  # a page may send events without end
            raise BrowserError(f"the browser did not answer within {self._answer_s:g} s")
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, until - time.monotonic()))[0]:
                raise BrowserError(f"the browser did not answer within {self._answer_s:g} s")
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise BrowserError(self._gone())
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _gone(self) -> str:
        try:
            return f"the browser crashed (exit code {self.process.wait(timeout=5)})"
        except subprocess.TimeoutExpired:
            return "the browser closed its connection"
