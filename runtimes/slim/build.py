"""Makes a wheel of TVM's runtime alone: what executes modules, and nothing that compiles them.

    python runtimes/slim/build.py --out DIR                       of the TVM that is installed here
    python runtimes/slim/build.py --out DIR --wheel APACHE_TVM    of a wheel of it, for another processor too

The wheel stands for ``apache-tvm`` of the same version, with a local label: what asks for that is content with it, and
pip replaces the one by the other.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

NAME, LABEL = "apache_tvm", "deltann.runtime"
LIBRARIES = ("libtvm_runtime.so", "libtvm_runtime_cuda.so")
LOADER = Path(__file__).parents[2] / "engines" / "deltann_engines" / "tvm_cuda.py"
LOADER_AS = "deltann_tvm_cuda"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MISSING = "compiling and tuning, and TVM's sort, random and multi-GPU functions"

PROBE = """
import sys
from pathlib import Path
import tvm, tvm.rpc, tvm.rpc.server, tvm.exec.rpc_server
from tvm.runtime.vm import VirtualMachine
root = Path(tvm.__file__).parent
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None)
    if file and Path(file).is_relative_to(root):
        print(Path(file).relative_to(root.parent))
"""
"""Imports all that an executor and a board's server use of TVM, and prints the files that took."""


@dataclass(frozen=True)
class Source:
    """An apache-tvm to take files from.

    Args:
        version: its own.
        tags: the tags of its wheel, such as ``py3-none-manylinux_2_28_aarch64``.
        requires: its requirements.
        files: by path in a site-packages folder.
    """

    version: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]
    files: Mapping[str, Path | zipfile.Path]


def installed() -> Source:
    """The apache-tvm of this environment."""
    found = metadata.distribution("apache-tvm")
    files = {str(one): Path(str(one.locate())) for one in found.files or [] if one.name != "RECORD"}
    return _source(files)


def packed(wheel: Path) -> Source:
    """The apache-tvm of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return _source({name: zipfile.Path(str(wheel), name) for name in names})


def _source(files: Mapping[str, Path | zipfile.Path]) -> Source:
    about = next(path for name, path in files.items() if name.endswith(".dist-info/METADATA")).read_text()
    wheel = next(path for name, path in files.items() if name.endswith(".dist-info/WHEEL")).read_text()
    return Source(
        version=re.findall(r"(?m)^Version: (.+)$", about)[0],
        tags=tuple(re.findall(r"(?m)^Tag: (.+)$", wheel)),
        requires=tuple(one for one in re.findall(r"(?m)^Requires-Dist: (.+)$", about) if "extra ==" not in one),
        files=files,
    )


def runtime_files() -> list[str]:
    """The Python files that are imported where there is no compiler, as the installed TVM has them."""
    found = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, "TVM_USE_RUNTIME_LIB": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(set(found.stdout.split()))


def contents(source: Source, python: Iterable[str]) -> dict[str, bytes]:
    """All files of the wheel but its own record, by name."""
    about = f"{NAME}-{version_of(source)}.dist-info"
    wanted = [*python, *(f"tvm/lib/{name}" for name in LIBRARIES), "tvm/LICENSE", "tvm/NOTICE"]
    files = {name: source.files[name].read_bytes() for name in wanted}
    files[f"{LOADER_AS}.py"] = LOADER.read_bytes()
    files[f"{about}/METADATA"] = _metadata(source).encode()
    files[f"{about}/WHEEL"] = "\n".join(
        ["Wheel-Version: 1.0", "Generator: deltann", "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in source.tags)]
    ).encode()
    files[f"{about}/entry_points.txt"] = f"[tvm.backends]\n{LOADER_AS} = {LOADER_AS}:autoload\n".encode()
    return files


def version_of(source: Source) -> str:
    """That of the source, with the label that says what was done to it."""
    return f"{source.version}+{LABEL}"


def write(source: Source, files: Mapping[str, bytes], folder: Path) -> Path:
    """Write the wheel, byte for byte the same for the same files."""
    version = version_of(source)
    platforms = ".".join(tag.rpartition("-")[2] for tag in source.tags)
    path = folder / f"{NAME}-{version}-{source.tags[0].rpartition('-')[0]}-{platforms}.whl"
    record = f"{NAME}-{version}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in {**files, record: "\n".join([*lines, f"{record},,", ""]).encode()}.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, content)
    return path


def _metadata(source: Source) -> str:
    ffi = f"apache-tvm-ffi=={metadata.version('apache-tvm-ffi')}"  # the one that this TVM is known to work with
    requires = [ffi if one.startswith("apache-tvm-ffi") else one for one in source.requires]
    cudart = f"nvidia-cuda-runtime=={metadata.version('nvidia-cuda-runtime')}; extra == 'cuda'"
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            f"Name: {NAME.replace('_', '-')}",
            f"Version: {version_of(source)}",
            f"Summary: The runtime of Apache TVM without its compiler, repackaged by DeltaNN. Left out: {_MISSING}.",
            "License: Apache-2.0",
            *(f"Requires-Dist: {one}" for one in [*requires, cudart]),
            "Provides-Extra: cuda",
            "",
        ]
    )


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main() -> None:
    """Read the command line, make the wheel, and say how large it is and what it lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write the wheel into")
    parser.add_argument("--wheel", type=Path, help="of apache-tvm, in place of the installed one")
    given = parser.parse_args()
    source = installed() if given.wheel is None else packed(given.wheel)
    if source.version != metadata.version("apache-tvm"):
        sys.exit(f"{given.wheel} is TVM {source.version}: give the version that is installed, {installed().version}.")
    files = contents(source, runtime_files())
    path = write(source, files, given.out)
    unpacked = sum(map(len, files.values()))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked. Left out: {_MISSING}.")


if __name__ == "__main__":
    main()
