"""Nothing that is pickled is ever read: neither by our own code nor by the queue."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu.exceptions import ContentDisallowed
from kombu.serialization import loads

from deltann.queue import make_app

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [path for top in ("deltann", "engines", "services") for path in sorted((ROOT / top).rglob("*.py"))]
MODULES = {"_pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
CALLS = {"eval", "exec"}
HARMLESS = {"pickle.UnpicklingError"}
"""What PyTorch raises where it is told to read tensors alone."""
MADE_SAFE = {"weights_only": True, "allow_pickle": False, "safe_mode": True}


def faults(source: str) -> Iterator[str]:
    """What in a file could run what it reads."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES | {"pickle"}:
            yield str(node.module)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pickle":
            yield from {ast.unparse(node)} - HARMLESS
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {one.arg: one.value for one in node.keywords}
            wrong = [one for one, value in given.items() if one in MADE_SAFE and not _is(value, MADE_SAFE[one])]
            if name in CALLS or wrong:
                yield f"{name} {' '.join(map(str, wrong))}".strip()
            elif name == "torch.load" and "weights_only" not in given:
                yield "torch.load without weights_only"
            elif name in ("np.load", "numpy.load") and "allow_pickle" not in given and "mmap_mode" not in given:
                yield "np.load without allow_pickle"
            elif name == "yaml.load" and not ast.unparse(given.get("Loader", ast.Constant(""))).endswith("_Loader"):
                yield "yaml.load with another loader than our own"


def _is(value: ast.expr, wanted: bool) -> bool:
    return isinstance(value, ast.Constant) and value.value is wanted


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle\npickle.loads(b)", ["pickle.loads"]),
        ("from pickle import loads", ["pickle"]),
        ("import pickle\nraise pickle.UnpicklingError", []),
        ("def f():\n    from cloudpickle import loads", ["cloudpickle"]),
        ("np.load(f)", ["np.load without allow_pickle"]),
        ("np.load(f, allow_pickle=True)", ["np.load allow_pickle"]),
        ("torch.load(f)", ["torch.load without weights_only"]),
        ("eval('1')", ["eval"]),
        ("model.eval(); np.load(f, allow_pickle=False)", []),
    ],
)
def test_the_check_finds_what_it_looks_for(source: str, found: list[str]) -> None:
    assert list(faults(source)) == found


def test_no_source_reads_pickles_or_runs_what_it_reads() -> None:
    assert len(SOURCES) > 200
    found = {str(path.relative_to(ROOT)): list(faults(path.read_text())) for path in SOURCES if "/v1/" not in str(path)}
    assert {path: what for path, what in found.items() if what} == {}


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


def test_the_queue_refuses_a_pickled_message(tmp_path: Path) -> None:
    app = make_app("redis://127.0.0.1:1/0")
    assert (app.conf.accept_content, app.conf.task_serializer) == (["json"], "json")
    message = pickle.dumps(Evil(tmp_path / "mark"))
    with pytest.raises(ContentDisallowed):
        loads(message, "application/x-python-serialize", "binary", accept=app.conf.accept_content)
    assert not (tmp_path / "mark").exists()
