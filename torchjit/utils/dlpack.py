"""torch.utils.dlpack: tensors as DLPack capsules."""

from torchjit._creation import from_dlpack as from_dlpack
from torchjit._native import to_dlpack as to_dlpack
