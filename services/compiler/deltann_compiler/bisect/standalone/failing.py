"""Runs a pass on the module that it fails on, as reproduce.json beside it tells.

usage: python reproduce.py

Needs tvm, and what the pass is of. Ends as the pass ends: with an error, or a signal, or never; with 0 where it works.
"""

import json
from importlib import import_module
from pathlib import Path

import tvm

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Run it."""
    about = json.loads((HERE / "reproduce.json").read_text())
    print(about["what"], flush=True)
    one = about["pass"]
    module = tvm.ir.load_json((HERE / "before.json").read_text())
    with tvm.target.Target(about["target"]):
        getattr(import_module(one["module"]), one["name"])(*one["args"])(module)
    print(f"{one['name']} works")


if __name__ == "__main__":
    main()
