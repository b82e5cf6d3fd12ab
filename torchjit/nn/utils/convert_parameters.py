"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

import torchjit as torch
from torchjit import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other.

    >>> m = nn.Linear(3, 2)
    >>> nn.utils.parameters_to_vector(m.parameters()).shape
    torch.Size([8])
    """
    return torch.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Gives the parameters the elements of a vector, in their order.

    >>> m = nn.Linear(2, 1)
    >>> nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), m.parameters())
    >>> m.weight.tolist(), m.bias.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    offset = 0
    for p in parameters:
        p.data = vec[offset : offset + p.numel()].view_as(p).data
        offset += p.numel()
