"""Each kind of wrong parameter is named from the two tensors."""

import numpy as np
import pytest

from deltann.faults.parameters import ParameterFault, name_fault

RIGHT = np.random.default_rng(7).normal(size=(8, 4, 3, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        (lambda w: w.copy(), None),
        (lambda w: w.transpose(2, 3, 1, 0), None),
        (lambda w: w * 0, ParameterFault.ZEROED),
        (lambda w: w.astype(np.float16).astype(np.float32), ParameterFault.HALF),
        (lambda w: w.astype(np.float16).astype(np.float32).transpose(2, 3, 1, 0), ParameterFault.HALF),
        (lambda w: w * np.float32(1.05), ParameterFault.SCALED),
        (lambda w: -w, ParameterFault.SCALED),
        (lambda w: np.roll(w, 1, axis=0), ParameterFault.PERMUTED),
        (lambda w: w[:, :3], ParameterFault.SHAPE),
        (lambda w: w + np.float32(0.1), ParameterFault.OTHER),
    ],
)
def test_the_kind_is_named(edit, kind):
    assert name_fault(RIGHT, edit(RIGHT)) == kind
