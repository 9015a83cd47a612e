"""The readers of what people give, fuzzed by atheris from whole files on: ``make fuzz MINUTES=15``.

Each reader gets a process and its share of the time. What is found is left in ``out/fuzz/READER`` as ``crash-…``; it
becomes an explicit example of the test beside this file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["deltann", "deltann_gateway", "yaml", "zipfile", "tarfile"]):
    from deltann.data.arrays import read_arrays
    from deltann.data.labels import read_labels
    from deltann.modelfile import inspect
    from deltann.spec.load import load_study
    from tests.unit.fuzz import test_data, test_operators, test_packing, test_spec
    from tests.unit.fuzz.harness import hold, zipped

Read = Callable[[Path], object]
READERS: dict[str, tuple[Read, list[bytes]]] = {
    "study": (load_study, test_spec.EXAMPLES),
    "model": (lambda path: inspect(path, "the file"), [zipped({"config.json": b"{}"}), b"\x08\x0a", b"\0\0\0\0TFL3"]),
    "labels": (lambda path: read_labels(path, "labels.csv"), [test_data.TABLE]),
    "arrays": (lambda path: read_arrays(path, "x.npz"), [zipped({"x.npy": test_data.X, "y.npy": test_data.Y})]),
    "folder": (lambda path: test_packing.lay_out(path.parent / "home", path.read_bytes()), [test_packing.WHOLE]),
    **{name: (read, [whole]) for name, (read, whole) in test_operators.READERS.items() if name != "token"},
}


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one reader in this process, which ends with it."""
    read, seeds = READERS[name]
    found = Path("out/fuzz", name)
    (found / "corpus").mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (found / "corpus" / f"seed-{number}").write_bytes(seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "file"
        (place.parent / "home").mkdir()

        def once(content: bytes) -> None:
            place.write_bytes(content)
            hold(lambda: read(place))

        options = [f"-max_total_time={seconds}", "-max_len=8192", "-timeout=10", f"-artifact_prefix={found}/"]
        atheris.Setup([sys.argv[0], *options, str(found / "corpus")], once)
        atheris.Fuzz()


def main() -> None:
    """Fuzz every reader, each for as long; ends with 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--reader", choices=READERS)
    chosen = parser.parse_args()
    seconds = max(1, round(chosen.minutes * 60))
    if chosen.reader:
        fuzz(chosen.reader, seconds)
        return
    share = ["--minutes", str(chosen.minutes / len(READERS))]
    command = [sys.executable, "-m", "tests.unit.fuzz.guided", *share]
    failed = [name for name in READERS if subprocess.run([*command, "--reader", name], check=False).returncode]
    if failed:
        sys.exit(f"Failed on: {', '.join(failed)}. The inputs are in out/fuzz.")


if __name__ == "__main__":
    main()
