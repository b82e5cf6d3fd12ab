"""torch.nested: tensors of tensors whose sizes differ, such as a batch of sentences.

    n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    padded = torch.nested.to_padded_tensor(torch.nn.functional.linear(n, weight), 0.0)

A nested tensor is one row of memory, which the tensors lie in one behind the other. What it computes is computed for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torchjit as torch

__all__ = ["as_nested_tensor", "nested_tensor", "to_padded_tensor"]

Tensor = torch.Tensor
_Plain: Any = Tensor  # whose attributes are taken of the class


class NestedTensor(Tensor):
    """Tensors of one number of dimensions, whose sizes may differ. It has one dimension more."""

    _sizes: list[torch.Size]

    @property
    def is_nested(self) -> bool:  # type: ignore[override]
        return True

    @property
    def shape(self) -> NoReturn:
        _refuse_metadata("sizes")

    @property
    def grad(self) -> Any:
        """The gradient, a nested tensor of the same sizes."""
        with torch._C.DisableTorchFunction():
            found = _Plain.grad.__get__(self)
        return None if found is None else _nested(found, self._sizes)

    @grad.setter
    def grad(self, value: Any) -> None:
        with torch._C.DisableTorchFunction():
            _Plain.grad.__set__(self, _memory(value) if isinstance(value, NestedTensor) else value)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        with torch.no_grad():
            parts = _parts(self) if not self.requires_grad else [part.requires_grad_() for part in _parts(_nested(_memory(self).detach(), self._sizes))]
        shown = ",\n".join("  " + repr(part).replace("\n", "\n  ") for part in parts)
        end = ", requires_grad=True" if self.requires_grad and self.is_leaf else ""
        return f"nested_tensor([\n{shown}\n]{end})"

    def __len__(self) -> NoReturn:
        _refuse_metadata("sizes")

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").removeprefix("tensor_")
        handler = _HANDLERS.get(name.strip("_") if name.startswith("__") else name)
        if handler is not None:
            return handler(func, *args, **kwargs)
        if name.startswith("__") or name in _OF_MEMORY:
            with torch._C.DisableTorchFunction():
                return func(*args, **kwargs)
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend: nested tensors have "
            f"{', '.join(sorted(_HANDLERS))}; unbind() gives tensors that have all"
        )


# What asks about the memory, or about gradients.
_OF_MEMORY = frozenset((
    "backward", "element_size", "is_complex", "is_floating_point", "register_hook", "requires_grad_", "retain_grad", "nelement", "numel", "_version",
))  # fmt: skip


def _refuse_metadata(what: str) -> NoReturn:
    raise RuntimeError(f"Internal error: NestedTensorImpl doesn't support {what}. Please file an issue on https://github.com/pytorch/nestedtensor")


def _nested(memory: Tensor, sizes: Sequence[torch.Size]) -> NestedTensor:
    """A nested tensor of the memory, through which gradients go."""
    made = memory.as_subclass(NestedTensor)
    made._sizes = list(sizes)
    return made


def _memory(n: NestedTensor) -> Tensor:
    with torch._C.DisableTorchFunction():
        return n.as_subclass(Tensor)


def _parts(n: NestedTensor) -> list[Tensor]:
    """The tensors, as views."""
    memory, found, offset = _memory(n), [], 0
    for size in n._sizes:
        found.append(memory.narrow(0, offset, size.numel()).view(size))
        offset += size.numel()
    return found


def _of_parts(parts: Sequence[Tensor]) -> NestedTensor:
    memory = torch.cat([part.reshape(-1) for part in parts]) if parts else torch.zeros(0)
    return _nested(memory, [part.shape for part in parts])


def _checked(tensor_list: Any) -> list[Tensor]:
    if not isinstance(tensor_list, (list, tuple)) or not all(isinstance(t, Tensor) for t in tensor_list):
        raise TypeError("nested_tensor(): Expected first argument to be a list of tensors ")
    for i, t in enumerate(tensor_list):
        if t.dim() != tensor_list[0].dim():
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. "
                f"Found dimension {t.dim()} for Tensor at index {i} and dimension {tensor_list[0].dim()} for Tensor at index 0."
            )
    return list(tensor_list)


def nested_tensor(
    tensor_list: list[Tensor], *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> NestedTensor:
    """A nested tensor of copies of tensors: a leaf.

    Raises TypeError for what is no list of tensors, RuntimeError where their numbers of dimensions differ.
    """
    parts = [t.detach() for t in _checked(tensor_list)]
    dtype = dtype or (parts[0].dtype if parts else None)
    made = as_nested_tensor(parts, dtype=dtype, device=device)
    made.requires_grad_(requires_grad)
    return made


def as_nested_tensor(tensor_list: list[Tensor], dtype: Any = None, device: Any = None) -> NestedTensor:
    """A nested tensor of tensors: gradients go to them. Raises as nested_tensor."""
    parts = _checked(tensor_list)
    dtype = dtype or (parts[0].dtype if parts else None)
    return _of_parts([t.to(dtype=dtype, device=device) for t in parts])


def to_padded_tensor(input: Tensor, padding: float, output_size: Any = None) -> Tensor:
    """A tensor with the tensors of a nested one and a number behind them, where they are shorter than the longest, or than output_size says.

    Raises RuntimeError where output_size is too small.
    """
    if not isinstance(input, NestedTensor):
        raise RuntimeError("to_padded_tensor expects a nested tensor")
    if not input._sizes:
        raise RuntimeError("at least one constituent tensor should have non-zero numel")
    needed = [len(input._sizes), *(max(lengths) for lengths in zip(*input._sizes))]
    wanted = list(needed if output_size is None else output_size)
    if len(wanted) != len(needed) or any(have < need for have, need in zip(wanted, needed)) or wanted[0] != needed[0]:
        raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
    rows = []
    for part in _parts(input):
        pads = [x for have, need in zip(reversed(part.shape), reversed(wanted[1:])) for x in (0, need - have)]
        rows.append(torch.nn.functional.pad(part, pads, value=padding))
    return torch.stack(rows)


# What nested tensors have.


def _each(func: Any, n: NestedTensor, *args: Any, **kwargs: Any) -> NestedTensor:
    """A function of elements, or of the last dimension, for each tensor."""
    return _of_parts([func(part, *args, **kwargs) for part in _parts(n)])


def _of_memory(func: Any, n: NestedTensor, *args: Any, **kwargs: Any) -> NestedTensor:
    """A function of elements, for all at once."""
    return _nested(func(_memory(n), *args, **kwargs), n._sizes)


def _of_memory_in_place(func: Any, n: NestedTensor, *args: Any, **kwargs: Any) -> NestedTensor:
    with torch._C.DisableTorchFunction():
        func(n, *args, **kwargs)
    return n


def _binary(func: Any, first: Any, second: Any, **kwargs: Any) -> NestedTensor:
    if isinstance(first, NestedTensor) and isinstance(second, NestedTensor):
        if first._sizes != second._sizes:
            raise RuntimeError("The sizes of nested tensors must be equal")
        return _nested(func(_memory(first), _memory(second), **kwargs), first._sizes)
    n = first if isinstance(first, NestedTensor) else second
    other = second if n is first else first
    if isinstance(other, Tensor) and other.dim() > 0:
        raise RuntimeError("Expected both self and other to be nested, but got a nested and a plain tensor")
    values = (_memory(n), other) if n is first else (other, _memory(n))
    return _nested(func(*values, **kwargs), n._sizes)


def _binary_in_place(func: Any, n: NestedTensor, other: Any, **kwargs: Any) -> NestedTensor:
    with torch._C.DisableTorchFunction():
        func(n, _memory(other) if isinstance(other, NestedTensor) else other, **kwargs)
    return n


def _wrapped(n: NestedTensor, dim: int) -> int:
    """A dimension of the tensors for one of the nested tensor."""
    rank = _rank(n)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank - 1


def _rank(n: NestedTensor) -> int:
    return len(n._sizes[0]) + 1 if n._sizes else 1


def _size(func: Any, n: NestedTensor, dim: int | None = None) -> int:
    if dim is None:
        _refuse_metadata("sizes")
    at = _wrapped(n, dim)
    if at < 0:
        return len(n._sizes)
    lengths = {size[at] for size in n._sizes}
    if len(lengths) > 1:
        raise RuntimeError(f"Given dimension {at + 1} is irregular and does not have a size.")
    return lengths.pop()


def _sum(func: Any, n: NestedTensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> NestedTensor:
    if dim is None:
        raise NotImplementedError("Could not run 'aten::sum' with arguments from the 'NestedTensorCPU' backend: sum over the last dimension")
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) != 1 or _wrapped(n, dims[0]) != _rank(n) - 2:
        raise RuntimeError("NestedTensor only allows reduction of the last dimension for now.")
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    return _each(func, n, -1, keepdim=True, dtype=dtype)


def _softmax(func: Any, n: NestedTensor, dim: int = -1, *args: Any, **kwargs: Any) -> NestedTensor:
    at = _wrapped(n, dim)
    if at < 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    return _of_parts([torch.softmax(part, at) for part in _parts(n)])


def _transpose(func: Any, n: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    first, second = _wrapped(n, dim0), _wrapped(n, dim1)
    if first < 0 or second < 0:
        if first == second:
            return n
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")
    return _of_parts([part.transpose(first, second) for part in _parts(n)])


def _reshape(func: Any, n: NestedTensor, *shape: Any) -> NestedTensor:
    wanted = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
    if not wanted or wanted[0] not in (len(n._sizes), -1):
        raise RuntimeError(f"reshape: For now nested reshape cannot change or infer the implicit batch dimension, {len(n._sizes)}")
    made = []
    for part in _parts(n):
        inherited = [part.shape[i] if length == -1 and i < part.dim() else length for i, length in enumerate(wanted[1:])]
        made.append(part.reshape(inherited))
    return _of_parts(made)


def _select(func: Any, n: NestedTensor, dim: int, index: int) -> Tensor:
    if _wrapped(n, dim) != -1:
        raise RuntimeError("NestedTensor: select works in dimension 0")
    return _at(n, index)


def _at(n: NestedTensor, index: int) -> Tensor:
    count = len(n._sizes)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of bounds for dimension 0 with size {count}")
    return _parts(n)[index]


def _getitem(func: Any, n: NestedTensor, index: Any) -> Tensor:
    first, rest = (index[0], index[1:]) if isinstance(index, tuple) else (index, ())
    if not isinstance(first, int):
        raise RuntimeError("NestedTensor: the first index is a number")
    found = _at(n, first)
    return found[rest] if rest else found


def _unbind(func: Any, n: NestedTensor, dim: int = 0) -> tuple[Tensor, ...]:
    if _wrapped(n, dim) != -1:
        raise RuntimeError("NestedTensor can only be unbound along dimension 0")
    return tuple(_parts(n))


def _matmul(func: Any, first: Any, second: Any) -> NestedTensor:
    if not (isinstance(first, NestedTensor) and isinstance(second, NestedTensor)):
        raise RuntimeError("Expected both to be nested, but got a nested self and non-nested other" if isinstance(first, NestedTensor)
                           else "Expected both to be nested, but got a non-nested self and nested other")  # fmt: skip
    if len(first._sizes) != len(second._sizes):
        raise RuntimeError(f"matmul: Expected size for the 1st dimension of 2nd input tensor to be: {len(first._sizes)} but got: {len(second._sizes)}.")
    return _of_parts([torch.matmul(a, b) for a, b in zip(_parts(first), _parts(second))])


def _linear(func: Any, n: NestedTensor, weight: Tensor, bias: Tensor | None = None) -> NestedTensor:
    return _of_parts([torch.nn.functional.linear(part, weight, bias) for part in _parts(n)])


def _detach(func: Any, n: NestedTensor) -> NestedTensor:
    return _nested(_memory(n).detach(), n._sizes)


def _clone(func: Any, n: NestedTensor, **kwargs: Any) -> NestedTensor:
    return _nested(_memory(n).clone(), n._sizes)


def _stride(func: Any, n: NestedTensor, *args: Any) -> NoReturn:
    _refuse_metadata("strides")


_HANDLERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("relu", "gelu", "dropout"), _of_memory), **dict.fromkeys(("relu_", "dropout_"), _of_memory_in_place),
    **dict.fromkeys(("add", "mul", "radd", "rmul"), _binary), **dict.fromkeys(("add_", "mul_", "iadd", "imul"), _binary_in_place),
    "sum": _sum, "softmax": _softmax, "transpose": _transpose, "reshape": _reshape, "view": _reshape, "select": _select, "getitem": _getitem,
    "unbind": _unbind, "matmul": _matmul, "bmm": _matmul, "linear": _linear, "detach": _detach, "clone": _clone, "contiguous": lambda func, n, **kwargs: n,
    "is_contiguous": lambda func, n, **kwargs: True, "dim": lambda func, n: _rank(n), "ndimension": lambda func, n: _rank(n), "size": _size, "stride": _stride,
    "to_padded_tensor": lambda func, n, padding, output_size=None: to_padded_tensor(n, padding, output_size),
    "nested_to_padded_tensor": lambda func, n, padding, output_size=None: to_padded_tensor(n, padding, output_size),
}  # fmt: skip
