"""Measures what a sweep costs beside its work: queue, store, planning, and workers idle while a job was ready.

usage: bench/overhead.py [SPEC] [--json]

Runs the study (examples/mobilenet_v2.yaml where none is named) on the embedded stack with an empty result cache, and
prints the report's own ``overhead_share`` with the seconds of each stage. Every framework is imported once
beforehand, so that the operating system has its files in memory. Exit code 1 where the share is 0.15 or more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
FRAMEWORKS = ("torchvision", "tensorflow", "tvm", "onnxruntime", "onnx2torch")
TARGET = 0.15


def warm() -> None:
    """Have the operating system read the frameworks' files once."""
    for framework in FRAMEWORKS:
        subprocess.run([sys.executable, "-c", f"import {framework}"], check=True, capture_output=True)


def measure(spec: Path) -> dict[str, Any]:
    """Run one sweep in a fresh home and read its report."""
    with tempfile.TemporaryDirectory(prefix="deltann-bench-") as folder:
        out = Path(folder, "report")
        command = ["sweep", "run", str(spec), "--home", str(Path(folder, "home")), "--out", str(out)]
        began = time.monotonic()
        done = subprocess.run([Path(sys.executable).with_name("deltann"), *command], check=False)
        wall = time.monotonic() - began
        if done.returncode not in (0, 1):
            raise SystemExit(f"The sweep over {spec} could not be done (exit code {done.returncode}); see above.")
        sweep = json.loads((out / "report.json").read_text())["sweep"]
    return {
        "spec": spec.name,
        "wall_s": round(wall, 1),
        "overhead_share": sweep["overhead_share"],
        "seconds_by_stage": sweep["seconds_by_stage"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", nargs="?", type=Path, default=REPOSITORY / "examples/mobilenet_v2.yaml")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warm()
    row = measure(options.spec)
    if options.json:
        print(json.dumps(row))
    else:
        print(f"{row['spec']}: overhead share {row['overhead_share']:.3f} of {row['wall_s']} s (target < {TARGET})")
        for stage, seconds in row["seconds_by_stage"].items():
            print(f"  {stage:<14} {seconds:8.1f} s")
    sys.exit(row["overhead_share"] >= TARGET)


if __name__ == "__main__":
    main()
