"""How long mutants of MobileNetV2 take, and what is saved by compiling only the kernels that a mutation changed.

    python bench/mutants.py saving --mutants 10                    # builds them whole and with reuse, in this process
    python bench/mutants.py sweep --mutants 200 --photos 20        # a whole sweep of them, through queue and workers

Both print one JSON object. Models are looked for in $DELTANN_SHARED, else in ../shared.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from spent import Spent

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[2] / "shared"))
MODEL = SHARED / "data" / "models" / "mobilenet_v2" / "mobilenet_v2.onnx"
OPERATORS = (
    "replace_func_relu6_to_sigmoid", "replace_func_relu6_to_relu", "drop_layer", "duplicate_layer", "perturb_weights",
    "swap_weights", "drop_bias", "scale_conv2d_dense_0_after", "exp_conv2d_dense_0_before", "transpose_conv2d_0_before",
)  # fmt: skip
"""They fit at least 20 places each."""


def saving(mutants: int) -> dict[str, Any]:
    """CPU seconds of building mutants twice: for the check after import, and at level 2."""
    import onnx
    from deltann_compiler import frontends
    from deltann_compiler.build import build_plain, export, lower
    from deltann_compiler.mutation.graph import mutate
    from deltann_compiler.reuse import Objects
    from deltann_compiler.targets import needs_of, resolve
    from deltann_engines.describe import describe

    from deltann.kinds.compile import CompileParams
    from deltann.mutation import Mutation, Positions

    info, target = describe(MODEL, "onnx", output="logits"), resolve("host")
    needs, original, kept = needs_of("host", target), onnx.load(MODEL), (Objects(), Objects())
    spent: dict[str, list[float]] = {"whole": [], "reusing": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(mutants):
            at = Positions(occurrence=number // len(OPERATORS))
            mutation = Mutation(operator=OPERATORS[number % len(OPERATORS)], at=at)
            onnx.save(mutate(original, mutation).model, folder / "mutant.onnx")
            module, _ = frontends.load(folder / "mutant.onnx", info)
            lowered, _ = lower(module, CompileParams(level=2), target)
            for way, objects in (("whole", (None, None)), ("reusing", kept)):
                began = time.process_time()
                build_plain(module, folder, objects[0])
                export(lowered.module, target, folder / "module.so", needs, objects[1])
                spent[way].append(round(time.process_time() - began, 3))
    return {
        "mutants": mutants,
        "cpu_seconds": {way: round(sum(times), 2) for way, times in spent.items()},
        "each": spent,
        "kernels": [{"compiled": one.compiled, "reused": one.reused} for one in kept],
    }


def sweep(mutants: int, photos: int, out: Path | None) -> dict[str, Any]:
    """Wall seconds of a sweep of so many mutants, in TVM at level 2 for this host."""
    each = -(-mutants // len(OPERATORS))
    study = {
        "schema": "deltann.study/1",
        "name": "bench-mutants",
        "models": [{"name": "mobilenet_v2", "natives": [{"source": str(MODEL)}], "preprocessing": ["tf"]}],
        "data": {"source": "foolbox:imagenet", "limit": photos},
        "engines": ["tvm"],
        "compile": {"levels": [2]},
        "timing": None,
        "mutations": [{"operators": list(OPERATORS), "singles": each}],
    }
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        (folder / "study.yaml").write_text(json.dumps(study))
        report = out or folder / "report"
        words = ["sweep", "run", folder / "study.yaml", "--home", folder / "home", "--out", report]
        began, spent = time.monotonic(), Spent()
        spent.run([Path(sys.executable).with_name("deltann"), *words])
        wall = time.monotonic() - began
        found = json.loads((report / "report.json").read_text())
        stored = _stored(folder / "home" / "store")
    return {
        "mutants": len(found["mutation"]["mutants"]),
        "photos": found["inputs"]["n"],
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(spent.cpu_seconds, 1),
        "largest_process_mb": spent.peak_mb,
        "store_mb": stored,
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
        "seconds_by_stage": found["sweep"]["seconds_by_stage"],
        "states": Counter(one["state"] for one in found["mutation"]["mutants"]),
        "scores": {one["criterion"]: one["score"] for one in found["mutation"]["scores"]},
    }


def _stored(store: Path) -> dict[str, float]:
    """What the store takes, and what the artifacts of all results would as files of their own."""
    every = (path for path in store.rglob("*") if path.is_file())
    sizes: dict[str, int] = {}
    for path in (store / "results").rglob("*"):
        if path.is_file():
            for one in json.loads(path.read_text())["artifacts"].values():
                sizes[one["digest"]] = one["size"]
    return {
        "taken": round(sum(path.stat().st_size for path in every) / 2**20, 1),
        "artifacts": round(sum(sizes.values()) / 2**20, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("saving", "sweep"))
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--photos", type=int, default=20)
    parser.add_argument("--out", type=Path, help="keep the report there")
    given = parser.parse_args()
    done = saving(given.mutants) if given.what == "saving" else sweep(given.mutants, given.photos, given.out)
    print(json.dumps(done, indent=2))


if __name__ == "__main__":
    main()
