"""The arithmetic service with kinds that hurt more than themselves. Imported by workers and their children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import deltann_arithmetic as arithmetic
from deltann_arithmetic import Value

from deltann.outcome import Outcome
from deltann.service import JobContext, Kind, Produced, Service


def step(params: Value, context: JobContext) -> Produced:
    """As ``add``, in a warm child."""
    return arithmetic.add(params, context)


def poison(params: Value, context: JobContext) -> Produced:
    """Take the worker down, whoever it is."""
    arithmetic.add(params, context)
    print("this job kills its worker", flush=True)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
    raise AssertionError


def litter(params: Value, context: JobContext) -> Produced:
    """Succeed, and leave a temporary file, a process and one whose parent is gone."""
    _, name = tempfile.mkstemp()
    kept = subprocess.Popen(["sleep", "600"], start_new_session=True)
    code = "import subprocess as s; print(s.Popen(['sleep', '600'], start_new_session=True, stdout=-3, stderr=-3).pid)"
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    Path(params.trace).write_text(f"{name}\n{kept.pid}\n{left.strip()}\n{os.getpid()}")
    return Produced(data={"total": params.value})


def _kind(name: str, affinity: str = "", seconds: float = 60.0) -> Kind:
    return Kind(
        name,
        Value,
        f"deltann_faulty:{name}",
        failure=Outcome.RUN_FAILED,
        affinity=lambda params: affinity,
        seconds=seconds,
    )


SERVICE = Service(
    "arithmetic", (*arithmetic.SERVICE.kinds, _kind("step", "warm"), _kind("poison"), _kind("litter", "litter"))
)
NAME = "deltann_faulty:SERVICE"
