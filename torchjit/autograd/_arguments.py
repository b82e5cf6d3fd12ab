"""What backward and grad make of the gradients that differentiation starts with."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit._tensor import Tensor


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    """A tuple of tensors: of one, of a sequence, or of so many Nones."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _calculate_shape(output: Tensor, grad: Tensor, is_grads_batched: bool) -> tuple[Any, Any]:
    """The shapes of an output and of its gradient, of which the first dimension may count gradients."""
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


_BATCHED = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of the remaining dimensions are expected "
    "to match the shape of corresponding output, but a mismatch was detected: grad_output[{i}] has a shape of {grad} and output[{i}] has a shape of {out}. If you "
    "only want some tensors in `grad_output` to be considered batched, consider using vmap."
)


def _make_grads(outputs: Any, grads: Any, is_grads_batched: bool) -> tuple[Any, ...]:
    """The gradients of outputs, where None stands for one of an output with one element.

    Raises RuntimeError for ones of other shapes or kinds than the outputs, and for None where there are more elements; TypeError for what is no tensor.
    """

    def made(i: int, out: Tensor, grad: Any) -> Any:
        if grad is None:
            if not out.requires_grad:
                return None
            if out.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            return torch.ones_like(out, memory_format=torch.preserve_format)
        if not isinstance(grad, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got " + type(grad).__name__)
        expected, found = _calculate_shape(out, grad, is_grads_batched)
        if expected != found and is_grads_batched:
            raise RuntimeError(_BATCHED.format(i=i, grad=found, out=expected))
        if expected != found:
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {found} and output[{i}] has a shape of {expected}.")
        if out.dtype.is_complex != grad.dtype.is_complex:
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                f"grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a dtype of {out.dtype}."
            )
        return grad

    return tuple(made(i, out, grad) for i, (out, grad) in enumerate(zip(outputs, grads, strict=False)))
