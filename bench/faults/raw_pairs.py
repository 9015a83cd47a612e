"""Three models through 12 pairs of frameworks by the raw converters: crashed, silently wrong or sound; repaired or not.

    python -m bench.faults.raw_pairs [--only mobilenet_v2/keras] [--out bench/faults/raw_pairs.json]

The natives that a model lacks are made by conversions as they usually are, normalised, and must agree with what they
come from. Can be stopped and run again: pairs that are in the results file are not done twice.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from bench.faults.real import REAL
from deltann.cli.convert import along
from deltann.cli.holding import paired
from deltann.cli.home import resolve_home
from deltann.cli.single import Bench, ReadyModel
from deltann.errors import InputError, WorkError
from deltann.kinds.convert import PARITY_MAX_REL, suspicious
from deltann.kinds.repair import Disagreement, RepairData, RepairParams
from deltann.model import Framework
from deltann.plan.nodes import hops

OUT = Path(__file__).with_name("raw_pairs.json")
FRAMEWORKS: tuple[Framework, ...] = ("pytorch", "keras", "tensorflow", "tflite")
MODELS: dict[str, tuple[str, str]] = {
    "mobilenet_v2": (REAL["mobilenet_v2"], "tf"),
    "efficientnet_lite0": (REAL["efficientnet_lite0"], "efficientnet_lite"),
    "resnet101v2": (REAL["resnet101v2"], "keras_resnet_v2"),
}
"""The one native that each begins with, and its recipe. Weights of the last are drawn."""
PHOTOS, INPUTS, SECONDS = "foolbox:imagenet", 10, 240


@cache
def native(bench: Bench, model: str, framework: Framework) -> ReadyModel:
    """A model in a framework.

    Raises:
        WorkError: where the conversion to it failed or changed it.
    """
    first = bench.model(MODELS[model][0])
    if first.info.framework == framework:
        return first
    made, steps = along(bench, first, hops(first.info.framework, framework))
    if any(step.parity is None or suspicious(step.parity) for step in steps):
        raise WorkError(f"{model} changed on its way to {framework}, so that it is no native to begin with.")
    return made


def run(bench: Bench, model: str, source: Framework, target: Framework) -> dict[str, Any]:
    """What became of one pair."""
    began = time.monotonic()
    found: dict[str, Any] = {"pair": f"{model}/{source} → {target}"}
    a = native(bench, model, source)
    try:
        b, _ = along(bench, a, hops(source, target), normalise=False)
    except WorkError as error:
        return found | {"conversion": "crashed", "said": str(error).split(" Its log is ")[0]}
    try:
        repaired = _repair(bench, a, b, MODELS[model][1])
    except (InputError, WorkError) as error:
        return found | {"conversion": "not looked at", "said": str(error).split(" Its log is ")[0]}
    sound = _agree(repaired.before)
    found |= {
        "conversion": "sound" if sound else "silently wrong",
        "differ": [len(one.differing) for one in (repaired.before, repaired.after)],
        "error": [one.error for one in (repaired.before, repaired.after)],
        "seconds": round(time.monotonic() - began, 1),
    }
    if sound:
        return found
    kept = [step for step in repaired.steps if step.kept]
    became = "repaired" if _agree(repaired.after) else "improved" if kept else "not"
    return found | {"repair": became, "steps": [f"{step.node}: {step.kind}" for step in kept]}


def _agree(one: Disagreement) -> bool:
    return not one.differing and one.error is not None and one.error <= PARITY_MAX_REL


def _repair(bench: Bench, a: ReadyModel, b: ReadyModel, recipe: str) -> RepairData:
    pair = paired(a, b, bench.data(Path(PHOTOS), INPUTS), recipe, recipe)
    wanted = RepairParams(**pair.params.model_dump(), seconds=SECONDS)
    made = bench.do("repair", wanted, pair.sources, f"repairing {a.info.framework} → {b.info.framework}")
    return RepairData.model_validate(made.data)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="pairs with this in their name")
    arguments.add_argument("--out", type=Path, default=OUT)
    given = arguments.parse_args()
    done = json.loads(given.out.read_text()) if given.out.is_file() else []
    known = {one["pair"] for one in done}
    bench = Bench.at(resolve_home(None))
    for model in MODELS:
        for source, target in permutations(FRAMEWORKS, 2):
            name = f"{model}/{source} → {target}"
            if name in known or given.only not in name:
                continue
            done.append(run(bench, model, source, target))
            print(json.dumps(done[-1], ensure_ascii=False), flush=True)
            given.out.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
