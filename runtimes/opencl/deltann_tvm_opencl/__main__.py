"""Prints the OpenCL devices as JSON, or why there are none: ``python -m deltann_tvm_opencl``."""

from __future__ import annotations

import json
import os
import sys


def main() -> int:
    """Print them.

    Returns:
        0, or 3 where the runtime cannot be loaded.
    """
    os.environ["TVM_USE_RUNTIME_LIB"] = "1"  # a fraction of the time of loading the compiler
    from deltann_tvm_opencl import devices

    try:
        print(json.dumps(devices()))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
