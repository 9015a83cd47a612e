from __future__ import annotations

import pytest
from written_report import Written

from deltann.report import read_report
from deltann.store import LocalStore


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The report of the made-up sweep, written once and read back as a client would."""
    from deltann_analyzer.handler import write_report
    from made_sweep import SWEEP, made_sweep

    root = tmp_path_factory.mktemp("made-up")
    store = LocalStore(root / "store")
    made_sweep(store)
    write_report(store, SWEEP, root / "report", root / "scratch")
    return Written(root / "report", read_report(root / "report"), store)
