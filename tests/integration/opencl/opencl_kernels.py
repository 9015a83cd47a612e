"""Small programs for OpenCL, written with TVM's tensor expressions."""

import tvm
from tvm import te
from tvm.s_tir import Schedule

TARGET = {"kind": "opencl", "host": {"kind": "llvm"}}


def scheduled(function, threads=64):
    """The function with each block's loops bound to threads."""
    sch = Schedule(function.with_attr("global_symbol", "main"))
    for block in sch.get_child_blocks(sch.get_sblock("root")):
        group, thread = sch.split(sch.fuse(*sch.get_loops(block)), [None, threads])
        sch.bind(group, "blockIdx.x")
        sch.bind(thread, "threadIdx.x")
    return sch.mod


def compiled(module, **options):
    """Host code with its OpenCL kernels."""
    return tvm.compile(module, tvm.target.Target({**TARGET, **options})).mod


def scaled(dtype="float32", threads=64):
    """3 x + 1 in float32 over 1000 elements, of inputs in ``dtype``: the last group of threads is not full."""
    x = te.placeholder((1000,), dtype, name="x")
    return scheduled(te.create_prim_func([x, te.compute((1000,), lambda i: x[i].astype("float32") * 3 + 1)]), threads)


def shifted():
    """x[i, j] + i + n · j for any number of rows n: kernels take n by value."""
    rows = te.var("n", "int32")
    x = te.placeholder((rows, 8), "float32", name="x")
    y = te.compute((rows, 8), lambda i, j: x[i, j] + (i + rows * j).astype("float32"))
    return scheduled(te.create_prim_func([x, y]))
