"""The smallest part of a target that shows a fault, with what it is fed and a script: for a converter's bug report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.divergence import Fault
from deltann_engines.graphs.onnx import OnnxGraph

from deltann.faults.suspect import Suspect
from deltann_converter.repair.localising import Located
from deltann_converter.repair.patch import PatchError, apply_edits
from deltann_converter.repair.site import Site, cut

_SCRIPT = '''"""{title}

{evidence}

model.onnx is the part of the converted model around that node, inputs.npz what it is fed and should write.{more}
Needs numpy and onnxruntime; leaves with 1 where the fault shows.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

FOLDER = Path(__file__).resolve().parent
VALUES = np.load(FOLDER / "inputs.npz", allow_pickle=False)
SOUND = 1e-4


def error(model, prefix):
    """The largest difference from what it should write, relative to the root mean square of that."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(FOLDER / model), options, providers=["CPUExecutionProvider"])
    feeds = {{one.name: VALUES[f"{{prefix}}_in{{at}}"] for at, one in enumerate(session.get_inputs())}}
    found, right = session.run(None, feeds)[0], VALUES[f"{{prefix}}_right"]
    if found.shape != right.shape:
        return float("inf")
    return float(np.abs(found - right).max() / (np.sqrt(np.mean(np.square(right, dtype=np.float64))) or 1.0))


for model, prefix in (("model.onnx", "target"), ("repaired.onnx", "target"), ("source.onnx", "source")):
    if (FOLDER / model).is_file():
        print(f"{{model}}: off by {{error(model, prefix):.3g}}")
sys.exit(error("model.onnx", "target") > SOUND)
'''
_ALSO = {
    "repaired.onnx": " repaired.onnx is the same part put right.",
    "source.onnx": " source.onnx is what the converter was given in its place.",
}


def reproduce(located: Located, suspect: Suspect, source: Any, folder: Path) -> bool:
    """Write ``model.onnx``, ``inputs.npz``, ``reproduce.py``, and where they can be ``repaired.onnx``, ``source.onnx``.

    Args:
        located: what the suspect was found in.
        suspect: of it.
        source: the model as it should be, a Graph.
        folder: is made.

    Returns:
        Whether there is such a part: a fault of the preprocessing has none.
    """
    import onnx

    site = _site(located, suspect)
    if site is None:
        return False
    folder.mkdir(parents=True)
    onnx.save(site.model, folder / "model.onnx")
    arrays = {f"target_in{at}": site.feeds[one.name] for at, one in enumerate(site.model.graph.input)}
    arrays["target_right"] = site.right
    try:
        repaired = apply_edits(site.model, suspect.edits) if suspect.edits else None
    except PatchError:  # an edit of what lies outside of this part
        repaired = None
    if repaired is not None and len(repaired.graph.input) == len(site.model.graph.input):
        onnx.save(repaired, folder / "repaired.onnx")
    arrays |= _source_part(located, site, source, folder)
    np.savez(folder / "inputs.npz", **arrays)  # type: ignore[arg-type]  # numpy's stub takes keywords for its flag
    title = f"{suspect.node} ({suspect.op_type}) computes something else than its source: {suspect.kind}."
    more = "".join(text for name, text in _ALSO.items() if (folder / name).is_file())
    (folder / "reproduce.py").write_text(
        _SCRIPT.format(title=title, evidence="\n".join(suspect.evidence).replace('"""', "'''"), more=more)
    )
    return True


def _site(located: Located, suspect: Suspect) -> Site | None:
    """The part between known values that the suspect is in; the smallest, since outputs are tried in their order."""
    places = located.places
    for output in dict.fromkeys([suspect.output, *(one.output for one in located.held)]):
        if output not in places.right or output not in places.names:
            continue
        site = places.site(Fault(suspect.node, output, places.names[output], None, sure=True))
        if site is not None and any(suspect.output in node.output for node in site.model.graph.node):
            return site
    return None


def _source_part(located: Located, site: Site, source: Any, folder: Path) -> dict[str, np.ndarray]:
    """The part of an ONNX source that stands in the site's place, and its values; nothing for another source."""
    import onnx

    names = located.places.names
    if not isinstance(source, OnnxGraph):
        return {}
    feeds = {names[name]: np.asarray(located.recording.value(names[name])) for name in site.feeds if name in names}
    try:
        part = cut(source.model, feeds, names[site.output])
    except KeyError:
        return {}
    onnx.save(part, folder / "source.onnx")
    arrays = {f"source_in{at}": feeds[one.name] for at, one in enumerate(part.graph.input)}
    return {**arrays, "source_right": np.asarray(located.recording.value(names[site.output]))}
