"""How a job ended. A failure is a finding: it is recorded with its log and stops nothing else."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The end of a job, as written into its result and into ``done/<i>``."""

    OK = "ok"
    CONVERT_FAILED = "convert_failed"
    IMPORT_MISMATCH = "import_mismatch"
    MUTATE_FAILED = "mutate_failed"
    REPAIR_FAILED = "repair_failed"
    COMPILE_FAILED = "compile_failed"
    UNSUPPORTED = "unsupported"
    RUN_FAILED = "run_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    INVALID_OUTPUT = "invalid_output"
    SKIPPED = "skipped"

    @property
    def usable(self) -> bool:
        """Whether jobs that need this one's artifact can run.

        An import that differs from its source still gives a module: what follows runs and is marked
        as tainted. An execution with NaN or Inf outputs still gives its outputs and their count.
        """
        return self in (Outcome.OK, Outcome.IMPORT_MISMATCH, Outcome.INVALID_OUTPUT)
