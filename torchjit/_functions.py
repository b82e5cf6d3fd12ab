"""Functions of torch whose calls from Python are more liberal than the operators they stand for.

In a program that is compiled each of them is its operator.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor
from torchjit._types import Size


@functools.cache
def _operator(name: str) -> Any:
    return _native.operator("aten::" + name)


def _tensors(given: tuple[Any, ...]) -> list[Tensor]:
    """The tensors that were given, one by one or as one sequence."""
    return list(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)


def _overridden(public_api: Any, tensors: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """What the tensors' __torch_function__ makes of a call."""
    from torchjit.overrides import handle_torch_function

    return handle_torch_function(public_api, tensors, *args, **kwargs)


def einsum(*args: Any) -> Tensor:
    """The sum of products of the operands over the indices that the equation does not return.

    The arguments are an equation and tensors, one by one or as one sequence; or each tensor with the list of its indices, numbers from 0 to 51
    and Ellipsis, and behind them the indices of the result. Raises RuntimeError where the equation does not fit their shapes.

    >>> torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list")
    if isinstance(args[0], Tensor):
        equation = ",".join(map(_subscripts, args[1::2]))
        if len(args) % 2:
            equation += "->" + _subscripts(args[-1])
        return einsum(equation, *args[: len(args) // 2 * 2 : 2])
    equation, tensors = args[0], _tensors(args[1:])
    if _native.has_torch_function_variadic(*tensors):
        return _overridden(einsum, tensors, equation, *tensors)
    return _operator("einsum")(equation, tensors)


def _subscripts(indices: Any) -> str:
    """The letters of an equation that indices stand for."""

    def letter(index: Any) -> str:
        if index is Ellipsis:
            return "..."
        if not 0 <= index < 52:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return chr(index + ord("A") if index < 26 else index - 26 + ord("a"))

    return "".join(map(letter, indices))


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero: a row for each, or with as_tuple a vector for each dimension.

    >>> torch.nonzero(torch.tensor([0, 2, 0, 3]))
    tensor([[1],
            [3]])
    """
    if as_tuple:
        return _operator("nonzero_numpy")(input)
    return _operator("nonzero")(input) if out is None else _operator("nonzero")(input, out=out)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the tensors, all of the shape that they broadcast to.

    >>> a, b = torch.broadcast_tensors(torch.ones(3, 1), torch.ones(2))
    >>> a.shape, b.shape
    (torch.Size([3, 2]), torch.Size([3, 2]))
    """
    if _native.has_torch_function_variadic(*_tensors(tensors)):
        return _overridden(broadcast_tensors, _tensors(tensors), *tensors)
    return tuple(_operator("broadcast_tensors")(_tensors(tensors)))


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """For 1-d tensors of n, m, … elements: tensors of shape (n, m, …), each with one of them along its dimension.

    With indexing="xy" the first two dimensions change places.

    >>> rows, columns = torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4, 5]), indexing="ij")
    >>> rows.shape, columns[0]
    (torch.Size([2, 3]), tensor([3, 4, 5]))
    """
    if _native.has_torch_function_variadic(*_tensors(tensors)):
        return _overridden(meshgrid, _tensors(tensors), *tensors, indexing=indexing)
    if indexing is None:
        return tuple(_operator("meshgrid")(_tensors(tensors)))
    return tuple(_operator("meshgrid")(_tensors(tensors), indexing=indexing))


def _atleast(name: str, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _operator(name)(tensors[0])
    return tuple(_operator(name)(_tensors(tensors)))


def atleast_1d(*tensors: Any) -> Any:
    """The tensors with at least one dimension: one tensor, or a tuple where several are given.

    >>> torch.atleast_1d(torch.tensor(1.0))
    tensor([1.])
    """
    if _native.has_torch_function_variadic(*tensors):
        return _overridden(atleast_1d, tensors, *tensors)
    return _atleast("atleast_1d", tensors)


def atleast_2d(*tensors: Any) -> Any:
    """The tensors with at least two dimensions: one tensor, or a tuple where several are given.

    >>> torch.atleast_2d(torch.tensor([1.0, 2.0]))
    tensor([[1., 2.]])
    """
    if _native.has_torch_function_variadic(*tensors):
        return _overridden(atleast_2d, tensors, *tensors)
    return _atleast("atleast_2d", tensors)


def atleast_3d(*tensors: Any) -> Any:
    """The tensors with at least three dimensions: one tensor, or a tuple where several are given.

    >>> torch.atleast_3d(torch.tensor([1.0, 2.0])).shape
    torch.Size([1, 2, 1])
    """
    if _native.has_torch_function_variadic(*tensors):
        return _overridden(atleast_3d, tensors, *tensors)
    return _atleast("atleast_3d", tensors)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of elements of 1-d tensors, one in a row.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    if _native.has_torch_function_variadic(*tensors):
        return _overridden(cartesian_prod, tensors, *tensors)
    return _operator("cartesian_prod")(_tensors(tensors))


def block_diag(*tensors: Any) -> Tensor:
    """The matrix with the tensors, which have at most two dimensions, on its diagonal.

    >>> torch.block_diag(torch.ones(1, 2), torch.tensor([[5.0]]))
    tensor([[1., 1., 0.],
            [0., 0., 5.]])
    """
    if _native.has_torch_function_variadic(*tensors):
        return _overridden(block_diag, tensors, *tensors)
    return _operator("block_diag")(_tensors(tensors))


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of the matrices, in the order that needs the fewest multiplications.

    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 1)).shape
    torch.Size([2, 1])
    """
    if _native.has_torch_function_variadic(*matrices):
        return _overridden(chain_matmul, matrices, *matrices, **({} if out is None else {"out": out}))
    return _operator("chain_matmul")(_tensors(matrices)) if out is None else _operator("chain_matmul")(_tensors(matrices), out=out)


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the parts of a tensor along a dimension: of one size each, the last as large as it is, or of the sizes that are listed.

    >>> torch.split(torch.arange(5), [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    if _native.has_torch_function_unary(tensor):
        return _overridden(split, (tensor,), tensor, split_size_or_sections, dim=dim)
    return tensor.split(split_size_or_sections, dim)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The sum of products over dimensions of a and b.

    dims is the number of last dimensions of a and first ones of b, or the dimensions of a and of b.
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims_a, dims_b = list(range(-dims, 0)), list(range(dims))
    else:
        dims_a, dims_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    if out is None:
        return _operator("tensordot")(a, b, dims_a, dims_b)
    return _operator("tensordot")(a, b, dims_a, dims_b, out=out)


def norm(
    input: Tensor, p: Any = "fro", dim: int | Sequence[int] | None = None, keepdim: bool = False, out: Any = None, dtype: Any = None
) -> Tensor:
    """The norm of vectors or matrices over dimensions of input, over all of them where dim is None.

    p is the order of the vector norm, "fro" for the root of the sum of squares or "nuc" for the sum of
    the singular values of matrices. Raises RuntimeError for another string and for a tensor of integers.
    """
    if _native.is_tracing() and out is None:
        return _traced_norm(input, p, dim, keepdim, dtype)
    if input.is_sparse:
        return _operator("norm")(input, 2 if p in ("fro", None) else p, *(() if dim is None else ([dim] if isinstance(dim, int) else list(dim), keepdim)))
    if dtype is not None and not isinstance(p, str) and out is None:
        every = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
        return _operator("norm")(input, p, every, keepdim, dtype=dtype)
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {input.dtype} instead.")
    dims = [dim] if isinstance(dim, int) else None if dim is None else list(dim)
    options = {} if dtype is None else {"dtype": dtype}
    if out is not None:
        options["out"] = out
    if p == "nuc":
        return _operator("linalg_matrix_norm")(input, "nuc", [-2, -1] if dims is None else dims, keepdim, **options)
    if p == "fro":
        p = 2.0
    elif isinstance(p, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return _operator("linalg_vector_norm")(input, 2.0 if p is None else p, dims, keepdim, **options)


def _traced_norm(input: Tensor, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    """norm by the operators that PyTorch records."""
    dims = [dim] if isinstance(dim, int) else dim
    if p == "fro":
        if dims is None:
            dims = [] if dtype is None else list(range(input.dim()))
        return _operator("frobenius_norm")(input, dims, keepdim)
    if p == "nuc":
        return _operator("nuclear_norm")(input, *([] if dims is None else [dims]), keepdim)
    if isinstance(p, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    if dims is None:
        dims = list(range(input.dim()))
    return _operator("norm")(input, p, dims, keepdim, **({} if dtype is None else {"dtype": dtype}))


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that tensors of the shapes broadcast to. Raises RuntimeError where they do not.

    >>> torch.broadcast_shapes((3, 1), (2,))
    torch.Size([3, 2])
    """
    wanted: list[int] = []
    for shape in shapes:
        sizes = [shape] if isinstance(shape, int) else list(shape)
        wanted = [1] * (len(sizes) - len(wanted)) + wanted
        for i in range(1, len(sizes) + 1):
            if sizes[-i] < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({sizes[-i]}): ({sizes[-i]})")
            if sizes[-i] == 1 or sizes[-i] == wanted[-i]:
                continue
            if wanted[-i] != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            wanted[-i] = sizes[-i]
    return Size(wanted)


def _assert(condition: Any, message: str) -> Any:
    """Raises AssertionError with the message where the condition does not hold."""
    if _native.has_torch_function_unary(condition):
        return _overridden(_assert, (condition,), condition, message)
    assert condition, message


# Those that are operators where they are compiled.
OPERATORS = (
    einsum, broadcast_tensors, meshgrid, atleast_1d, atleast_2d, atleast_3d, cartesian_prod, block_diag, chain_matmul, nonzero, split,
)  # fmt: skip


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates of elements of a tensor of a shape, whose numbers in the order of rows are given: a tensor of indices for each dimension.

    Raises TypeError where indices are no tensor of integers and where shape is none, ValueError where a size is negative.

    >>> torch.unravel_index(torch.tensor([4, 7]), (3, 4))
    (tensor([1, 1]), tensor([0, 3]))
    """
    if not isinstance(indices, Tensor):
        raise TypeError(f"unravel_index(): expected 'indices' to be a tensor, but got {type(indices)}")
    if indices.is_complex() or indices.is_floating_point() or str(indices.dtype) == "torch.bool":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, (tuple, list)) or not all(isinstance(n, int) for n in sizes):
        found = type(sizes) if not isinstance(sizes, (tuple, list)) else type(next(n for n in sizes if not isinstance(n, int)))
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {found}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    made: list[Tensor] = []
    for n in reversed(sizes):
        made.append(indices.remainder(n))
        indices = indices.div(n, rounding_mode="floor")
    return tuple(reversed(made))
