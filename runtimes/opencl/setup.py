"""Builds the runtime against the headers that the wheels of TVM and of its FFI ship, and links it with them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent


def package(name: str) -> Path:
    """Where a package lies, without importing it."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            f"There is no Python package {name} here to build against. Install apache-tvm first and build in its "
            "environment: pip install --no-build-isolation ./runtimes/opencl"
        )
    return Path(spec.submodule_search_locations[0])


class Library(build_ext):
    """A shared library that Python loads with ctypes: no module of Python's, so it has a plain name."""

    def get_ext_filename(self, fullname: str) -> str:
        """The file of an extension within its package."""
        return str(Path(*fullname.split("."))) + ".so"


TVM, FFI = package("tvm"), package("tvm_ffi")
RUNTIME = Extension(
    "deltann_tvm_opencl.libdeltann_tvm_opencl",
    sources=[str(path.relative_to(HERE)) for path in sorted((HERE / "src").glob("*.cc"))],
    depends=[str(path.relative_to(HERE)) for path in sorted((HERE / "src").glob("*.h"))],
    libraries=["tvm_runtime", "tvm_ffi", "OpenCL"],
    library_dirs=[str(TVM / "lib"), str(FFI / "lib")],
    # Headers of others, so that warnings are about ours alone.
    extra_compile_args=[
        *("-std=c++20", "-O2", "-g0", "-Wall", "-Wextra", "-fvisibility=hidden"),
        *(f"-isystem{path / 'include'}" for path in (TVM, FFI)),
    ],
    extra_link_args=["-Wl,--no-undefined"],
    language="c++",
)

setup(ext_modules=[RUNTIME], cmdclass={"build_ext": Library})
