"""What composite operators are made of whose parts hang on sizes as numbers or on how elements lie, for modes that see operators below autograd and for
the decompositions of exported programs. The records of the library have those of all others.

An exported program has other operators in the places of the parts too: `parts_from` says which.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torchjit as torch
from torchjit import _native


class _Parts(threading.local):
    """The functions that stand in the places of operators that definitions call, by operator; None where these are called themselves."""

    table: dict[Any, Callable[..., Any]] | None = None


_parts = _Parts()


@contextlib.contextmanager
def parts_from(table: dict[Any, Callable[..., Any]]) -> Iterator[None]:
    """Definitions that run inside call the functions of a table in the places of its operators."""
    before, _parts.table = _parts.table, table
    try:
        yield
    finally:
        _parts.table = before


def _as_part(operator: Any) -> Callable[..., Any]:
    return operator if _parts.table is None else _parts.table.get(operator, operator)


def part(name: str) -> Callable[..., Any]:
    """The operator of a name, or what stands in its place, as definitions call it."""
    return _as_part(_operator(name))


class _Packet:
    """The overloads of an operator as definitions call them."""

    def __init__(self, packet: Any) -> None:
        self.packet = packet

    def __getattr__(self, overload: str) -> Callable[..., Any]:
        return _as_part(getattr(self.packet, overload))


class _Operators:
    """The operators as definitions call them."""

    def __getattr__(self, base: str) -> _Packet:
        return _Packet(getattr(torch.ops.aten, base))


aten: Any = _Operators()

_definitions: dict[str, Callable[..., Any]] = {}


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a composite operator in a tuple, None where this module does not know what it is made of."""
    definition = _definitions.get(name)
    if definition is None:
        return None
    made = definition(*args, **kwargs)
    return None if made is NotImplemented else (made,)


def table() -> dict[Any, Callable[..., Any]]:
    """What composite operators are made of, by operators: by definitions, which call the operator where they do not know it, and by records."""
    own = {_operator(name): _total(_operator(name), definition) for name, definition in _definitions.items()}
    return {**{_operator(name): _of_record(name) for name in _native.decomposed_operators(True)}, **own}


def _of_record(name: str) -> Callable[..., Any]:
    schema = _operator(name)._schema

    def run(*args: Any, **kwargs: Any) -> Any:
        rest = [kwargs[a.name] if a.name in kwargs else a.default_value for a in schema.arguments[len(args) :]]
        return _native.decompose(name, [*args, *rest])

    return run


def _operator(name: str) -> Any:
    base, _, overload = name.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _total(operator: Any, definition: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        made = definition(*args, **kwargs)
        return operator(*args, **kwargs) if made is NotImplemented else made

    return run


def _defines(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            _definitions["aten::" + name] = f
        return f

    return note


# ---- products ----


@_defines("linear")
def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    turned = aten.t.default(weight)
    if bias is not None and x.dim() == 2:
        return aten.addmm.default(bias, x, turned)
    flat = x.dim() == 3 or _parts.table is not None  # PyTorch 2, which exports, does it for inputs of any dimensions
    if bias is not None and flat and x.is_contiguous():
        shape = _shape(x)
        made = aten.addmm.default(bias, aten.view.default(x, [_product(shape[:-1]), shape[-1]]), turned)
        return aten.view.default(made, [*shape[:-1], weight.size(0)])
    made = _matmul(x, turned)
    return made if bias is None else aten.add_.Tensor(made, bias)


@_defines("matmul")
def _matmul(a: Any, b: Any) -> Any:
    if a.dim() == 1 and b.dim() == 1:
        return aten.dot.default(a, b)
    if a.dim() == 2 and b.dim() == 1:
        return aten.mv.default(a, b)
    if a.dim() == 1 and b.dim() == 2:
        return aten.squeeze_.dim(aten.mm.default(aten.unsqueeze.default(a, 0), b), 0)
    if a.dim() == 2 and b.dim() == 2:
        return aten.mm.default(a, b)
    if a.dim() >= 3 and b.dim() <= 2:
        return _folded(a, b)
    return _batched(a, b)


def _shape(x: Any) -> list[Any]:
    return [x.size(d) for d in range(x.dim())]


def _product(sizes: list[Any]) -> Any:
    product: Any = 1
    for n in sizes:
        product = n if isinstance(product, int) and product == 1 else product * n
    return product


def _folded(a: Any, b: Any) -> Any:
    """A product of many matrices by one or by a vector, as one product."""
    *rows, columns = _shape(a)
    flat = aten.reshape.default(a, [_product(rows), columns])
    if b.dim() == 1:
        return aten._unsafe_view.default(aten.mv.default(flat, b), rows)
    return aten._unsafe_view.default(aten.mm.default(flat, b), [*rows, b.size(1)])


def _batched(a: Any, b: Any) -> Any:
    left = aten.unsqueeze.default(a, 0) if a.dim() == 1 else a
    right = aten.unsqueeze.default(b, 1) if b.dim() == 1 else b
    *first, n, m = _shape(left)
    *second, _, p = _shape(right)
    batch = _broadcast(first, second)
    count = _product(batch)
    left = aten.reshape.default(aten.expand.default(left, [*batch, n, m]), [count, n, m])
    right = aten.reshape.default(aten.expand.default(right, [*batch, m, p]), [count, m, p])
    shape = batch + ([n] if a.dim() > 1 else []) + ([p] if b.dim() > 1 else [])
    return aten._unsafe_view.default(aten.bmm.default(left, right), shape)


def _broadcast(a: list[Any], b: list[Any]) -> list[Any]:
    """The sizes of batches that are broadcast against each other."""
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    return [n if isinstance(m, int) and m == 1 else m for m, n in zip(a, b, strict=True)]


# ---- shapes ----


@_defines("reshape")
def _reshape(x: Any, shape: Any) -> Any:
    sizes, old = list(shape), _shape(x)
    at = [d for d, n in enumerate(sizes) if isinstance(n, int) and n == -1]
    if at:
        others = _product([n for d, n in enumerate(sizes) if d != at[0]])
        sizes[at[0]] = _product(old) // others if not isinstance(others, int) or others else 0
    strides = _view_strides(old, list(x.stride()), sizes, x.is_contiguous())
    if strides is not None:
        return aten._reshape_alias.default(x, sizes, strides)
    return aten._unsafe_view.default(aten.clone.default(x, memory_format=torch.contiguous_format), sizes)


def _view_strides(old: list[Any], strides: list[Any], new: list[Any], contiguous: bool) -> list[Any] | None:
    """The strides of a view with new sizes, None where there is none. Of sizes that are not known it has to be contiguous."""
    plain = [1] * len(new)
    for d in range(len(new) - 1, 0, -1):
        plain[d - 1] = plain[d] * (new[d] if not isinstance(new[d], int) else max(1, new[d]))
    if contiguous:
        return plain
    if not all(isinstance(n, int) for n in [*old, *strides, *new]):
        return None
    if 0 in old:
        return strides if old == new else plain
    made: list[Any] = [1] * len(new)
    at = len(new)
    run, step = 1, strides[-1] if old else 1  # the elements of a run of dimensions with one step, from the last one on
    for d in range(len(old) - 1, -1, -1):
        run *= old[d]
        if d > 0 and (old[d - 1] == 1 or strides[d - 1] == run * step):
            continue
        covered = 1
        while at > 0 and (covered < run or new[at - 1] == 1):
            at -= 1
            made[at] = covered * step
            covered *= new[at]
        if covered != run:
            return None
        run, step = 1, strides[d - 1] if d > 0 else 1
    return made


@_defines("contiguous")
def _contiguous(x: Any, memory_format: Any = torch.contiguous_format) -> Any:
    return x if x.is_contiguous(memory_format=memory_format) else aten.clone.default(x, memory_format=memory_format)


@_defines("chunk")
def _chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    size = x.size(dim)
    return aten.split.Tensor(x, max(1, -(-size // chunks)), dim) if isinstance(size, int) else NotImplemented


# ---- numbers ----


@_defines("to.dtype")
def _to_dtype(x: Any, dtype: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> Any:
    if x.dtype == dtype and not copy and memory_format is None:
        return x
    return aten._to_copy.default(x, dtype=dtype, **({} if memory_format is None else {"memory_format": memory_format}))


@_defines("to.dtype_layout")
def _to_layout(
    x: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None, non_blocking: bool = False,
    copy: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    if dtype is None or layout is not None or device not in (None, x.device) or pin_memory is not None:
        return NotImplemented
    return _to_dtype(x, dtype, non_blocking, copy, memory_format)


@_defines("to.other", "type_as")
def _to_other(x: Any, other: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> Any:
    if x.dtype == other.dtype and not copy and memory_format is None:
        return x
    layout = {} if memory_format is None else {"memory_format": memory_format}
    return aten._to_copy.default(x, dtype=other.dtype, layout=other.layout, device=other.device, **layout)
