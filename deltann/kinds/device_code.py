"""What a device's own compiler made of a module's kernels."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data


class KernelResources(Data):
    """What one kernel takes of a GPU: what bounds how many of its threads can run at a time, and what it spills."""

    name: str
    registers: int = Field(description="Of 32 bits, per thread")
    shared_bytes: int = Field(description="Of memory that the threads of a block share, per block")
    stack_bytes: int = Field(description="Per thread")
    spill_store_bytes: int = Field(description="Registers written to memory for want of more, per thread")
    spill_load_bytes: int = Field(description="The same read back, per thread")


class DeviceCode(Data):
    """Machine code for a device, as it lies in a module: it was compiled here, so nothing is left to fail at load."""

    arch: str
    compiler: str = Field(description="Name and version, as 'NVRTC 12.9'")
    size_bytes: int
    kernels: tuple[KernelResources, ...]
