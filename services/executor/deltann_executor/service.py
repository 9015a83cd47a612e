"""The executor's job kinds."""

from __future__ import annotations

from deltann.engines import ENGINES
from deltann.fleet.board import board_address
from deltann.installed import CHROMIUM
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.outcome import Outcome
from deltann.service import Kind, Service


def _toolchain(params: ExecuteParams | TimeParams) -> tuple[str, ...]:
    return (*ENGINES[params.engine].distributions, "numpy", "pillow")


def _affinity(params: ExecuteParams | TimeParams) -> str:
    """Frameworks do not meet in one process, nor do two numbers of threads or libraries, which some fix once for all.

    A board serves one process at a time: none stays warm, with its connection. Nor does a browser, which a job leaves
    behind and so is ended.
    """
    if board_address() is not None or CHROMIUM in ENGINES[params.engine].distributions:
        return ""
    return "/".join((params.engine, str(params.threads), *filter(None, [params.options.library])))


EXECUTE = Kind(
    name="execute",
    params=ExecuteParams,
    handler="deltann_executor.execute:execute",
    failure=Outcome.RUN_FAILED,
    affinity=_affinity,
    toolchain=_toolchain,
    seconds=1800.0,
)
TIME = Kind(
    name="time",
    params=TimeParams,
    handler="deltann_executor.timing:time_variant",
    failure=Outcome.RUN_FAILED,
    affinity=_affinity,
    toolchain=_toolchain,
    device_bound=True,
    exclusive=True,
    seconds=900.0,
)

SERVICE = Service("executor", (EXECUTE, TIME), {name: facts.distributions for name, facts in ENGINES.items()})
