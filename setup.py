"""Adds one step to the build: the gRPC code is generated from ``proto/``. Everything else is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "proto"))

from generate import generate  # noqa: E402  (it lies beside the .proto files)

# Before setup(): packages are looked for by then, and deltann.v1 has to be among them.
generate(ROOT)
setup()
