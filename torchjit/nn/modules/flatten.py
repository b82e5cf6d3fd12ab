"""Flatten and its inverse."""

from collections.abc import Sequence

from torchjit import Tensor
from torchjit.nn.modules.module import Module

# ruff: noqa: A002


class Flatten(Module):
    """Makes one dimension of several.

    Takes bools, integers, floats, halves and complex numbers, of 2 or more dimensions. Gradients flow to the input. Raises IndexError for other
    numbers of dimensions.

    >>> x = torch.rand(2, 3, 4)
    >>> nn.Flatten()(x).shape
    torch.Size([2, 12])
    """

    __constants__ = ["start_dim", "end_dim"]  # type: list[str]
    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes several dimensions of one, which is given by its number and the new sizes, or by its name and the new names, each with its size.

    Takes bools, integers, floats, halves and complex numbers, of 2 dimensions. Gradients flow to the input. Raises IndexError or RuntimeError
    for other numbers of dimensions.

    >>> x = torch.rand(2, 12)
    >>> nn.Unflatten(1, (3, 4))(x).shape
    torch.Size([2, 3, 4])
    """

    __constants__ = ["dim", "unflattened_size"]  # type: list[str]

    def __init__(self, dim: int | str, unflattened_size: Sequence[int] | tuple[tuple[str, int], ...]) -> None:
        super().__init__()
        if not isinstance(dim, (int, str)):
            raise TypeError("invalid argument type for dim parameter")
        by_name = isinstance(dim, str)
        of = "tuples" if by_name else "ints"
        if not isinstance(unflattened_size, tuple if by_name else (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of {of}, but found type {type(unflattened_size).__name__}")
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, tuple if by_name else int):
                raise TypeError(f"unflattened_size must be tuple of {of}, but found element of type {type(size).__name__} at pos {i}")
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
