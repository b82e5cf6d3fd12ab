"""torch.jit.quantized: modules that PyTorch quantized before torch.ao.quantization. Of them only what computes without int8 weights is here.

Models are quantized by torch.ao.quantization.quantize_dynamic, whose modules compile and are saved.
"""

from __future__ import annotations

from typing import Any

from torchjit.nn.modules.rnn import _apply_permutation


def apply_permutation(tensor: Any, permutation: Any, dim: int = 1) -> Any:
    """The tensor with the parts along a dimension in another order."""
    return _apply_permutation(tensor, permutation, dim)


def __getattr__(name: str) -> Any:
    if name.startswith(("Quantized", "quantize_")):
        raise AttributeError(f"torch.jit.quantized.{name} is not here: torch.ao.quantization.quantize_dynamic makes quantized modules that compile")
    raise AttributeError(f"module 'torch.jit.quantized' has no attribute '{name}'")
