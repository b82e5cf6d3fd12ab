"""torch.utils.dlpack: tensors as DLPack capsules."""

import enum

from torchjit._creation import from_dlpack as from_dlpack
from torchjit._native import to_dlpack as to_dlpack


class DLDeviceType(enum.IntEnum):
    """The numbers that DLPack gives to kinds of devices."""

    kDLCPU = 1
    kDLGPU = 2
    kDLCPUPinned = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLExtDev = 12


_from_dlpack = from_dlpack
