from __future__ import annotations

import pytest
from rich.console import Console

from deltann.cli.counts import failed, new_failures
from deltann.cli.pace import Pace
from deltann.cli.progress import Lines, line, picture
from deltann.outcome import Outcome
from deltann.sweep import Failure, KindCounts, SweepStatus


def status(
    state: str = "running", *, done: int = 4, waiting: int = 6, failures: int = 0, skipped: int = 0
) -> SweepStatus:
    outcomes = {"ok": done - failures - skipped, "crashed": failures, "skipped": skipped}
    return SweepStatus.model_validate(
        {
            "id": "s-1",
            "name": "study",
            "state": state,
            "counts": {
                "execute": KindCounts(waiting=waiting, done=done, outcomes=outcomes),
                "resolve_model": KindCounts(done=1, outcomes={"ok": 1}),
                "novel": KindCounts(waiting=1),
            },
            "failures": [
                Failure(label=f"job {i}", outcome=Outcome.CRASHED, message=f"reason\n{i}") for i in range(failures)
            ],
        }
    )


def test_stages_come_in_the_order_of_the_work_and_unknown_ones_last() -> None:
    assert line(status()) == "study running: resolve models 1/1, run 4/10, novel 0/1"


def test_skipped_jobs_do_not_count_as_failed() -> None:
    assert failed(status(failures=1, skipped=2)) == 1


def test_each_failure_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for count in (0, 1, 1, 3):
        lines(status(failures=count))
    told = [text for text in capsys.readouterr().err.splitlines() if text.startswith("  ")]
    assert told == ["  job 0: crashed: reason 0", "  job 1: crashed: reason 1", "  job 2: crashed: reason 2"]


def test_old_failures_that_were_dropped_do_not_matter() -> None:
    many = status(failures=4).model_copy(update={"failures": status(failures=4).failures[-2:]})
    assert new_failures(many, 1) == ["job 2: crashed: reason 2", "job 3: crashed: reason 3"]


def test_lines_tell_rate_and_end_as_soon_as_they_are_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    lines = Lines()
    lines(status(done=0, waiting=12))
    now = 20.0
    lines(status(done=6, waiting=6))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "study running: resolve models 1/1, run 0/12, novel 0/1"
    assert second.startswith("study running: resolve models 1/1, run 6/12, novel 0/1; 0.3 jobs/s, about 0:23 left, ")


def test_lines_are_said_when_the_state_changes_and_not_between(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for state in ("resolving", "resolving", "running", "running", "done"):
        lines(status(state))
    assert [text.split(":")[0] for text in capsys.readouterr().err.splitlines()] == [
        "study resolving",
        "study running",
        "study done",
    ]


def test_picture_shows_counts_and_failures() -> None:
    console = Console(width=100, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(picture(status(failures=1), Pace()))
    text = captured.get()
    assert "run" in text
    assert "job 0: crashed: reason 0" in text
