"""What long-running programs of DeltaNN log: one line an event, as text or JSON, without secrets.

Every line says which service, pool, host and process it is of, and which sweep and job were in hand. The environment
decides: ``DELTANN_LOG_FORMAT`` (``text`` or ``json``) and ``DELTANN_LOG_LEVEL`` (``debug`` … ``error``).
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO
from urllib.parse import unquote, urlsplit

from deltann.errors import InputError

FORMAT, LEVEL = "DELTANN_LOG_FORMAT", "DELTANN_LOG_LEVEL"
FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
SECRETS = ("DELTANN_TOKEN", "DELTANN_S3_ACCESS_KEY", "DELTANN_S3_SECRET_KEY", "DELTANN_REDIS_PASSWORD")
"""Variables whose values are never logged. Passwords inside URLs never are, wherever they come from."""

_URLS = ("DELTANN_REDIS", "DELTANN_STORE")
_HIDDEN = "…"
_PATTERNS = (
    re.compile(r"(?<=://)[^\s/'\"]*(?=@)"),
    re.compile(r"(?i)(?<=[?&]password=)[^\s&'\"]+"),
    re.compile(r"(?i)(?<=bearer )[^\s'\"]+"),
)
_TALKATIVE = ("celery", "kombu", "amqp", "urllib3", "grpc", "asyncio", "redis")
_log = logging.getLogger(__name__)

_SWEEP: ContextVar[str | None] = ContextVar("sweep", default=None)
_JOB: ContextVar[str | None] = ContextVar("job", default=None)


@contextmanager
def bound(*, sweep: str | None = None, job: str | None = None) -> Iterator[None]:
    """Within this, lines name that sweep and job; what is not given stays as it is."""
    before = _SWEEP.get(), _JOB.get()
    _SWEEP.set(sweep or before[0])
    _JOB.set(job or before[1])
    try:
        yield
    finally:  # not by token: a generator may be closed in another context
        _SWEEP.set(before[0])
        _JOB.set(before[1])


def setup(service: str, pool: str | None = None, *, urls: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Log from now on, and what nobody caught, too.

    Args:
        service: of this process.
        pool: that it works for.
        urls: whose passwords are secret.
        stream: where to; standard error where it is not given.

    Raises:
        InputError: if the environment asks for a format or a level that there is not.
    """
    wanted, level = _chosen(FORMAT, FORMATS, "text"), _chosen(LEVEL, LEVELS, "info")
    formatter = _Json if wanted == "json" else _Text
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter(service, pool, _secrets(urls)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.ERROR if level == "error" else logging.WARNING)
    logging.captureWarnings(True)
    sys.excepthook = lambda kind, error, trace: _log.critical("not caught", exc_info=(kind, error, trace))
    threading.excepthook = _thread_ended


def _thread_ended(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        _log.critical("not caught in %s", args.thread and args.thread.name, exc_info=args.exc_value)


def without_secrets(text: str) -> str:
    """A text without passwords of URLs and without bearer tokens."""
    for pattern in _PATTERNS:
        text = pattern.sub(_HIDDEN, text)
    return text


class _Lines(logging.Formatter):
    """What both formats share."""

    def __init__(self, service: str, pool: str | None, secrets: frozenset[str]) -> None:
        super().__init__()
        self.service, self.pool, self.host = service, pool, platform.node()
        self._secrets = secrets

    def told(self, record: logging.LogRecord) -> tuple[str, str | None]:
        """Message and traceback, without secrets."""
        text = self.hidden(record.getMessage())
        if record.exc_info is None or record.exc_info[1] is None:
            return text, None
        return text, self.hidden("".join(traceback.format_exception(record.exc_info[1])).rstrip())

    def hidden(self, text: str) -> str:
        """A text without the secrets in it."""
        text = without_secrets(text)
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text


class _Json(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        message, trace = self.told(record)
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "service": self.service,
            "pool": self.pool,
            "host": self.host,
            "pid": record.process,
            "sweep": _SWEEP.get(),
            "job": _JOB.get(),
            "message": message,
        }
        return json.dumps(line | ({"traceback": trace} if trace else {}), ensure_ascii=False)


class _Text(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        message, trace = self.told(record)
        who = ".".join(filter(None, (self.service, self.pool)))
        what = (_JOB.get() or _SWEEP.get() or "").encode("unicode_escape").decode()
        message = message.replace("\r", "\\r").replace("\n", "\\n")  # nobody writes a line of somebody else's
        line = f"{_time(record)} {record.levelname} {who}[{record.process}] {record.name}: "
        return line + (f"[{what}] " if what else "") + message + (f"\n{trace}" if trace else "")


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _chosen(variable: str, choices: tuple[str, ...], default: str) -> str:
    found = os.environ.get(variable, "").lower() or default
    if found not in choices:
        raise InputError(f"{variable} is {found!r}; it can be {', '.join(choices)}.")
    return found


def _secrets(urls: Iterable[str]) -> frozenset[str]:
    found = {os.environ.get(name) for name in SECRETS}
    for url in (*urls, *(os.environ.get(name, "") for name in _URLS)):
        with suppress(ValueError):  # no URL: whoever opens it says so
            password = urlsplit(url).password or ""
            found |= {password, unquote(password)}
    return frozenset(secret for secret in found if secret)
