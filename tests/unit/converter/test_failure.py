from deltann_converter.failure import reason


def test_reason_is_the_first_line_that_says_something():
    assert reason(ValueError("\n  no axis 4.\nmore")) == "no axis 4"
    assert reason(KeyError()) == "KeyError"
    keras = (
        "Exception encountered when calling Lambda.call().\n\n\x1b[1mNo shape for this output.\x1b[0m\n\nArguments: x"
    )
    assert reason(NotImplementedError(keras)) == "No shape for this output"
