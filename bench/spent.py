"""What a command and all that it starts spend: processor seconds, and the memory of the largest process."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import psutil

_EVERY_S = 0.5


class Spent:
    """Runs a command and looks at its processes twice a second.

    Each process counts with what it has waited for, so that compilers and linkers too short to be seen do.
    """

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.peak_mb = 0
        self._over = threading.Event()

    def run(self, words: Sequence[str | Path]) -> None:
        """Run it to its end.

        Raises:
            CalledProcessError: if it fails.
        """
        started = subprocess.Popen(words)
        looking = threading.Thread(target=self._look, args=(psutil.Process(started.pid),))
        looking.start()
        code = started.wait()
        self._over.set()
        looking.join()
        if code:
            raise subprocess.CalledProcessError(code, [str(word) for word in words])

    def _look(self, root: psutil.Process) -> None:
        while not self._over.wait(_EVERY_S):
            total = 0.0
            try:
                family = [root, *root.children(recursive=True)]
            except psutil.Error:
                return
            for process in family:
                try:
                    total += sum(process.cpu_times()[:4])
                    self.peak_mb = max(self.peak_mb, process.memory_info().rss >> 20)
                except psutil.Error:
                    continue
            self.cpu_seconds = max(self.cpu_seconds, total)
