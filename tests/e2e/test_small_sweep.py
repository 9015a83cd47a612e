"""A whole sweep over a tiny network: every real service and the queue, through the command line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deltann.signing import is_signed, read_keys
from deltann.store import open_store
from deltann.store.layout import read_result

from .sweeps import Swept, sweep
from .tiny import write_study

DELTANN = Path(sys.executable).with_name("deltann")


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def swept(spec: Path, tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("swept")
    return sweep(spec, folder / "home", folder / "report")


def tables(swept: Swept) -> dict[str, object]:
    """What a sweep says, without what differs from run to run: times and when it ran."""
    pairs = [
        {key: value for key, value in pair.items() if "time" not in key and key != "n_slower"}
        for pair in swept.report["pairs"]
    ]
    variants = [
        {key: variant[key] for key in ("id", "outcome", "accuracy_top1", "opt_level", "engine", "chain")}
        for variant in swept.report["variants"]
    ]
    return {"pairs": pairs, "variants": variants, "inputs": swept.report["inputs"]}


def test_every_step_keeps_the_labels(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    assert {one["outcome"] for one in swept.report["conversions"]} == {"ok"}
    variants = swept.report["variants"]
    assert len(variants) == 3 * 3 + 1  # three models by own engine and two levels; the native squashed as well
    assert {variant["outcome"] for variant in variants} == {"ok"}
    assert all(pair["top1_disagreement"] == 0 for pair in swept.report["pairs"] if pair["axis"] != "preprocessing")
    assert all(variant["time_ms"]["n"] == 6 for variant in variants)


def test_the_corrupt_photo_is_named_left_out_and_counted(swept: Swept) -> None:
    assert swept.report["inputs"]["n"] == 6
    assert [one["id"] for one in swept.report["inputs"]["left_out"]] == ["0006.png"]


def test_the_report_is_printed_with_five_lines(swept: Swept) -> None:
    last = [line for line in swept.printed.strip().splitlines() if line.strip()][-6:]
    assert str(swept.folder / "report.html") in last[-1]
    assert (swept.folder / "report.html").read_text().lower().startswith("<!doctype html>")


def test_what_is_compiled_is_signed_with_the_key_of_this_home(swept: Swept) -> None:
    home = swept.folder.parent / "home"
    keys = read_keys(home / "keys" / "signing.key", home / "keys" / "signing.pub")
    store = open_store(str(home / "store"))
    found = [read_result(store, key.removeprefix("results/")) for key in store.list("results/")]
    signed = [one for one in found if one is not None and one.kind in ("import", "compile")]
    assert len(signed) == 3 + 6  # three models, two levels
    assert all(is_signed(one, keys.trusted) for one in signed)
    assert all(one.signature is None for one in found if one is not None and one not in signed)


@pytest.mark.parametrize("delay", [6.0, 12.0])
def test_killed_at_any_point_and_run_again_it_ends_with_the_same_tables(
    swept: Swept, spec: Path, tmp_path: Path, delay: float
) -> None:
    command = [DELTANN, "sweep", "run", spec, "--home", tmp_path / "home", "--out", tmp_path / "report"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(delay)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    again = sweep(spec, tmp_path / "home", tmp_path / "report")
    assert again.exit_code == 0, again.printed
    assert tables(again) == tables(swept)


def test_through_the_gateway_it_is_the_same_sweep(swept: Swept, spec: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    up = subprocess.run(
        [DELTANN, "stack", "up", "--detach", "--home", home, "--listen", address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert up.returncode == 0, up.stderr
    try:
        done = subprocess.run(
            [DELTANN, "sweep", "run", spec, "--gateway", address, "--out", tmp_path / "report"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        subprocess.run([DELTANN, "stack", "down", "--home", home], check=True, capture_output=True)
    report = json.loads((tmp_path / "report/report.json").read_text())
    assert tables(Swept(0, "", report, tmp_path / "report")) == tables(swept)
