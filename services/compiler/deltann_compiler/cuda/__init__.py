"""CUDA: TVM's kernels into machine code for one architecture, and that into the module.

TVM would put CUDA source into a module, and compile it on the device when the module is loaded: a kernel that does not
compile would be found out on the board, and each of the board's processes would compile all of them again.
"""
