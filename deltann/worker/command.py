"""The command line of a worker."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from deltann.errors import DeltannError
from deltann.fleet.board import RPC
from deltann.signing import MODULE_KEYS, SIGNING_KEY
from deltann.worker.main import CACHE_GB, run


def main() -> None:
    """The command line of ``python -m deltann.worker``."""
    parser = argparse.ArgumentParser(prog="deltann.worker", description=__doc__)
    parser.add_argument("service", help="name of an installed service, or module:ATTRIBUTE")
    parser.add_argument("--pool")
    parser.add_argument(
        "--redis", dest="redis_url", default=os.environ.get("DELTANN_REDIS", "redis://127.0.0.1:6379/0")
    )
    parser.add_argument("--store", dest="store_url", default=os.environ.get("DELTANN_STORE"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--cache-gb", type=float, default=CACHE_GB)
    parser.add_argument("--device", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pools", type=Path, help="file that defines the pools")
    parser.add_argument("--rpc", default=os.environ.get(RPC), help="HOST:PORT of the TVM RPC server of a board")
    for option, name in (("--signing-key", SIGNING_KEY), ("--module-keys", MODULE_KEYS)):
        parser.add_argument(option, type=Path, default=os.environ.get(name), help="file of keys, in PEM")
    parser.add_argument("--idle", dest="idle_s", type=float, default=60.0)
    options = vars(parser.parse_args())
    if not options["store_url"]:
        parser.error("name the store: --store URL, or DELTANN_STORE")
    try:
        run(options.pop("service"), options.pop("pool"), **options)
    except DeltannError as error:
        parser.exit(error.exit_code, f"{error}\n")
