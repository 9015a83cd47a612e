import errno

import pytest
from deltann_converter.failure import is_trouble, reason

from deltann.errors import CorruptArtifactError, ModelError


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (CorruptArtifactError("other bytes"), True),
        (OSError(errno.ENOENT, "No such file"), False),
        (ModelError("truncated"), False),
        (RuntimeError("unsupported operator"), False),
    ],
)
def test_only_the_machines_trouble_is_not_a_finding(error, trouble):
    assert is_trouble(error) is trouble


def test_reason_is_the_first_line_that_says_something():
    assert reason(ValueError("\n  no axis 4.\nmore")) == "no axis 4"
    assert reason(KeyError()) == "KeyError"
    keras = (
        "Exception encountered when calling Lambda.call().\n\n\x1b[1mNo shape for this output.\x1b[0m\n\nArguments: x"
    )
    assert reason(NotImplementedError(keras)) == "No shape for this output"
