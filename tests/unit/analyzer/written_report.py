"""A report that was written, and where from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deltann.report import Report
from deltann.store import LocalStore


@dataclass(frozen=True)
class Written:
    folder: Path
    report: Report
    store: LocalStore
