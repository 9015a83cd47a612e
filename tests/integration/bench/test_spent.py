"""The watch that benches put on what they run."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("spent", Path(__file__).parents[3] / "bench" / "spent.py")
spent = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(spent)

WORK = """
import subprocess, sys, time
if sys.argv[1:]:
    held = bytearray(200 << 20)
    while time.process_time() < 1.5: pass
else:
    subprocess.run([sys.executable, __file__, "below"], check=True)
    time.sleep(1.5)
"""


def test_what_processes_below_spent_is_counted_once_they_are_gone(tmp_path):
    script = tmp_path / "work.py"
    script.write_text(WORK)
    watch = spent.Spent()
    watch.run([sys.executable, script])
    assert 1.5 <= watch.cpu_seconds < 3
    assert watch.peak_mb >= 200


def test_a_command_that_fails_says_so():
    with pytest.raises(subprocess.CalledProcessError):
        spent.Spent().run([sys.executable, "-c", "raise SystemExit(3)"])
