"""What ptxas wrote, of CUDA 12.9 and of 13.0."""

from deltann_compiler.cuda.resources import kernels_of

from deltann.kinds.device_code import KernelResources

OF_12_9 = """nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated
ptxas info    : 2 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function 'conv2d_kernel' for 'sm_72'
ptxas info    : Function properties for conv2d_kernel
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 72 registers, used 1 barriers, 6912 bytes smem, 376 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 115.530 ms
ptxas info    : Compiling entry function 'relu_kernel' for 'sm_72'
ptxas info    : Function properties for relu_kernel
ptxas         .     128 bytes stack frame, 96 bytes spill stores, 104 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers, 368 bytes cmem[0]
"""
OF_13_0 = """ptxas info    : Compiling entry function 'conv2d_kernel' for 'sm_90'
ptxas info    : Function properties for conv2d_kernel
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 6912 bytes smem
"""


def kernel(name, registers, shared=0, stack=0, stores=0, loads=0):
    return KernelResources(
        name=name,
        registers=registers,
        shared_bytes=shared,
        stack_bytes=stack,
        spill_store_bytes=stores,
        spill_load_bytes=loads,
    )


def test_each_kernel_has_its_own_figures():
    assert kernels_of(OF_12_9) == (
        kernel("conv2d_kernel", 72, shared=6912),
        kernel("relu_kernel", 10, stack=128, stores=96, loads=104),
    )
    assert kernels_of(OF_13_0) == (kernel("conv2d_kernel", 64, shared=6912),)
    assert kernels_of("nothing of the kind") == ()
