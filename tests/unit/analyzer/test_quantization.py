"""Which classes pay, by known answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from deltann_analyzer.quantization import class_losses


def answered(*labels: int) -> Any:
    return SimpleNamespace(labels=np.array(labels, np.int32)[:, None])


def test_the_class_that_lost_most_comes_first_and_what_is_as_before_is_left_out() -> None:
    truth = [0, 0, 1, 1, 2, 2, None, 3]
    found = class_losses(answered(0, 0, 1, 1, 0, 2, 5, 0), answered(0, 1, 0, -1, 2, 2, 6, 0), truth)
    assert [(one.label, one.n, one.accuracy_before, one.accuracy_after, one.lost) for one in found] == [
        (1, 2, 1.0, 0.0, 1.0),
        (0, 2, 1.0, 0.5, 0.5),
        (2, 2, 0.5, 1.0, -0.5),
    ]


def test_what_has_no_answers_lost_nothing_that_is_known() -> None:
    assert class_losses(answered(0), SimpleNamespace(labels=None), [0]) == []  # type: ignore[arg-type]
