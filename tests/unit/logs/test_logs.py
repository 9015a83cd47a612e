"""What a line says, and what it must never say."""

from __future__ import annotations

import io
import json
import logging
import os
import platform
import sys
import threading
from collections.abc import Iterator

import pytest

from deltann import logs
from deltann.errors import InputError

REDIS = "redis://user:p%40ss-w0rd@redis.example:6379/0"
log = logging.getLogger("deltann.test")


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logging is the process's: put it back."""
    for name in (logs.FORMAT, logs.LEVEL, *logs.SECRETS, "DELTANN_REDIS", "DELTANN_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(False)


def set_up(monkeypatch: pytest.MonkeyPatch, form: str = "json", pool: str | None = "pi4") -> io.StringIO:
    monkeypatch.setenv(logs.FORMAT, form)
    stream = io.StringIO()
    logs.setup("executor", pool, urls=(REDIS,), stream=stream)
    return stream


def test_a_json_line_has_every_field(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = set_up(monkeypatch)
    with logs.bound(sweep="s-1", job="s-1#7"):
        log.warning("%d jobs in the\nqueue", 3)
    log.info("later")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "warning",
        "logger": "deltann.test",
        "service": "executor",
        "pool": "pi4",
        "host": platform.node(),
        "pid": os.getpid(),
        "sweep": "s-1",
        "job": "s-1#7",
        "message": "3 jobs in the\nqueue",
    }
    assert (second["sweep"], second["job"], second["message"]) == (None, None, "later")


def test_a_text_line_names_the_job_and_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = set_up(monkeypatch, "text")
    with logs.bound(sweep="s-1\n2026 ERROR forged"):
        log.error("a\nb")
        with logs.bound(job="s-1#7"):
            log.error("c")
    first, second = stream.getvalue().splitlines()
    who = f"ERROR executor.pi4[{os.getpid()}] deltann.test: "
    assert first.partition(" ")[2] == who + "[s-1\\n2026 ERROR forged] a\\nb"
    assert second.partition(" ")[2] == who + "[s-1#7] c"


def test_what_is_bound_ends_with_its_block_even_by_an_error() -> None:
    with pytest.raises(KeyError), logs.bound(sweep="s"):
        raise KeyError
    with logs.bound():
        assert logs._SWEEP.get() is None


@pytest.mark.parametrize("form", logs.FORMATS)
@pytest.mark.parametrize(
    "secret",
    ["p@ss-w0rd", "p%40ss-w0rd", "s3cret-key", "t0ken-of-somebody", "other-passw0rd", "an-0ther-token"],
)
def test_secrets_are_never_logged(monkeypatch: pytest.MonkeyPatch, form: str, secret: str) -> None:
    monkeypatch.setenv("DELTANN_S3_SECRET_KEY", "s3cret-key")
    monkeypatch.setenv("DELTANN_TOKEN", "t0ken-of-somebody")
    stream = set_up(monkeypatch, form)
    log.error("cannot reach %s with s3cret-key", REDIS)
    log.error("AUTH p@ss-w0rd failed; redis://:other-passw0rd@other:6379/0 too")
    log.error("authorization: Bearer an-0ther-token")
    try:
        raise RuntimeError(f"{REDIS}: t0ken-of-somebody")
    except RuntimeError:
        log.exception("failed over p%40ss-w0rd")
    sys.excepthook(*_raised(RuntimeError("p@ss-w0rd")))
    text = stream.getvalue()
    assert secret not in text
    assert "redis://…@redis.example:6379/0" in text
    assert text.count("RuntimeError") >= 2


def _raised(error: Exception) -> tuple[type[Exception], Exception, None]:
    return type(error), error, None


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("redis://:a@b:1/0", "redis://…@b:1/0"),
        ("rediss://u:a:b@c@host", "rediss://…@host"),
        ("unix:///run/r.sock?db=1&password=hunter2&x=1", "unix:///run/r.sock?db=1&password=…&x=1"),
        ("two: 's3://k:s@h' and \"redis://:p@h\"", "two: 's3://…@h' and \"redis://…@h\""),
        ("https://host/path@2x and a@b.c", "https://host/path@2x and a@b.c"),
        ("BEARER abc.def", "BEARER …"),
    ],
)
def test_urls_and_headers_lose_what_is_secret(text: str, clean: str) -> None:
    assert logs.without_secrets(text) == clean


def test_what_nobody_catches_is_a_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = set_up(monkeypatch)

    def fail() -> None:
        raise ValueError("out of range")

    thread = threading.Thread(target=fail, name="lease")
    thread.start()
    thread.join()
    line = json.loads(stream.getvalue())
    assert (line["level"], line["message"]) == ("critical", "not caught in lease")
    assert line["traceback"].endswith("ValueError: out of range")


def test_libraries_are_heard_from_warnings_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = set_up(monkeypatch)
    logging.getLogger("celery.worker").info("hello")
    logging.getLogger("celery.worker").warning("look")
    log.debug("detail")
    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == ["look"]


def test_the_level_is_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(logs.LEVEL, "DEBUG")
    stream = set_up(monkeypatch)
    log.debug("detail")
    assert json.loads(stream.getvalue())["message"] == "detail"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (logs.FORMAT, "xml", "DELTANN_LOG_FORMAT is 'xml'; it can be text, json."),
        (logs.LEVEL, "loud", "DELTANN_LOG_LEVEL is 'loud'; it can be debug, info, warning, error."),
    ],
)
def test_what_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"^{told}$"):
        logs.setup("gateway")
