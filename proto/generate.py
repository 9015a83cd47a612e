"""Generates ``deltann/v1`` from the ``.proto`` files beside this one: ``python proto/generate.py``.

``setup.py`` calls the same function, so that every way of installing DeltaNN leaves working gRPC code.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

PROTO = Path(__file__).resolve().parent
PACKAGE = "deltann/v1"


def generate(root: Path = PROTO.parent) -> Path:
    """Write messages, services and their type stubs to ``root/deltann/v1``; the folder is replaced whole.

    Needs ``grpcio-tools`` and ``mypy-protobuf``, the build requirements of pyproject.toml.
    """
    from grpc_tools import protoc

    sources = sorted((PROTO / PACKAGE).glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        arguments = [
            "protoc",
            f"--proto_path={PROTO}",
            f"--proto_path={files('grpc_tools') / '_proto'}",
            *(f"--{kind}_out={folder}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")),
            *(f"--plugin={name}={_plugin(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")),
            *(str(source) for source in sources),
        ]
        if protoc.main(arguments) != 0:
            raise SystemExit(f"The .proto files in {PROTO / PACKAGE} do not compile: protoc said above where and why.")
        made = Path(folder, PACKAGE)
        (made / "__init__.py").write_text('"""The gRPC contract. Generated from proto/ by proto/generate.py."""\n')
        target = root / PACKAGE
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)
    return target


def _plugin(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"Generating the gRPC code needs {name}. Install it with: pip install mypy-protobuf")
    return found


if __name__ == "__main__":
    generate()
