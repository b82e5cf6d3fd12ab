"""torch.export.dynamic_shapes: sizes that are to be symbols."""

from __future__ import annotations

import dataclasses
from enum import Enum, auto
from typing import Any

from torchjit._tensor import Tensor
from torchjit.export._symbolic import int_oo
from torchjit.utils import _pytree as pytree


class _DimHint(Enum):
    """What is to become of a size of which nothing else is said."""

    AUTO = auto()
    STATIC = auto()
    DYNAMIC = auto()


class Dim:
    """A size that is to be dynamic, by a name, with the range that it is in.

    Dim.AUTO lets the export decide, Dim.DYNAMIC asks for a dynamic size and Dim.STATIC for one that is that of the example.
    """

    AUTO = _DimHint.AUTO
    DYNAMIC = _DimHint.DYNAMIC
    STATIC = _DimHint.STATIC

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        from torchjit.export import UserError

        self.min = 0 if min is None else min
        self.max = int_oo if max is None else max
        if self.max <= self.min:
            raise UserError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise UserError(f"Dim names must be valid identifiers, got {name}")
        self.__name__ = name

    def __repr__(self) -> str:
        parts = [f"'{self.__name__}'"]
        if self.min != 0:
            parts.append(f"min={self.min}")
        if self.max is not int_oo:
            parts.append(f"max={self.max}")
        return f"Dim({', '.join(parts)})"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A Dim for each name, all of one range."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class ShapesCollection:
    """What is said of the sizes of tensors, by the tensors themselves: `shapes[x] = (dim, 4)`."""

    def __init__(self) -> None:
        self._shapes: dict[int, Any] = {}

    def __setitem__(self, t: Any, shape: Any) -> None:
        assert isinstance(t, Tensor), f"Cannot assign shape to non-tensor type {type(t)}"
        self._shapes[id(t)] = shape

    def __getitem__(self, t: Any) -> Any:
        return self._shapes[id(t)]

    def __len__(self) -> int:
        return len(self._shapes)

    def dynamic_shapes(self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """The collection as export takes it. The tensors are among the arguments."""
        return {"": _ByTensor([self._shapes.get(id(x)) for x in pytree.tree_flatten((args, kwargs or {}))[0]])}


@dataclasses.dataclass
class _ByTensor:
    shapes: list[Any]


@dataclasses.dataclass
class Declared:
    """A symbol, and how it has been declared."""

    name: str
    lower: int
    upper: int
    hint: int
    label: str
    place: str
    must: bool  # a size that is not dynamic in the end is an error

    def form(self) -> dict[str, Any]:
        return {"name": self.name, "lower": self.lower, "upper": -1 if self.upper is int_oo else self.upper, "hint": self.hint, "label": self.label, "place": self.place, "must": self.must}


class Declarations:
    """The symbols that dynamic_shapes declares, and which sizes of which leaves they are."""

    def __init__(self) -> None:
        self.symbols: list[Declared] = []
        self.dims: dict[int, dict[int, str]] = {}
        self._by_name: dict[str, tuple[Dim, Declared]] = {}

    def read(self, shapes: Any, bound: dict[str, Any], flat: list[Any]) -> None:
        """Reads what is said of the arguments by their names. Raises UserError where it does not fit them."""
        from torchjit.export import UserError

        if isinstance(shapes, ShapesCollection):
            by_tensor = [shapes._shapes.get(id(x)) for x in flat]
            for i, shape in enumerate(by_tensor):
                self._tensor(shape, flat[i], i, f"leaf {i}")
            return
        if isinstance(shapes, dict) and list(shapes) == [""]:
            for i, shape in enumerate(shapes[""].shapes):
                self._tensor(shape, flat[i], i, f"leaf {i}")
            return
        if isinstance(shapes, (tuple, list)):
            if len(shapes) != len(bound):
                raise UserError(f"Expecting `dynamic_shapes` to have {len(bound)} items, one for each argument, but it has {len(shapes)}")
            shapes = dict(zip(bound, shapes, strict=True))
        if set(shapes) != set(bound):
            raise UserError(
                "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
                f"{list(bound)} of `inputs`, but here they are {list(shapes)}. Alternatively, you could also ignore arg names entirely "
                "and specify `dynamic_shapes` as a list/tuple matching `inputs`. For more information about this error, see the documentation of export."
            )
        leaf = 0
        for name, argument in bound.items():
            self._tree(shapes[name], argument, name, leaf)
            leaf += pytree.tree_flatten(argument)[1].num_leaves

    def _tree(self, shape: Any, x: Any, place: str, leaf: int) -> None:
        from torchjit.export import UserError

        if shape is None:
            return
        if isinstance(x, Tensor):
            self._tensor(shape, x, leaf, place)
            return
        children, keys = children_of(x)
        if children is None:
            raise UserError(f"Cannot associate shape {shape} specified at `dynamic_shapes[{place!r}]` to non-tensor type {type(x)}")
        if isinstance(shape, dict) and set(shape) == set(keys):
            shape = [shape[k] for k in keys]
        elif dataclasses.is_dataclass(shape):
            shape = [getattr(shape, f) for f in keys]
        if not isinstance(shape, (list, tuple)) or len(shape) != len(children):
            raise UserError(f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: {place} has {len(children)} items, and of {shape} is said")
        for key, inner, child in zip(keys, shape, children, strict=True):
            self._tree(inner, child, f"{place}[{key!r}]", leaf)
            leaf += pytree.tree_flatten(child)[1].num_leaves

    def _tensor(self, shape: Any, x: Any, leaf: int, place: str) -> None:
        from torchjit.export import UserError

        if shape is None:
            return
        if isinstance(shape, (list, tuple)):
            if len(shape) != x.dim():
                raise UserError(f"Expected {x.dim()} dimensions of {place}, but of {len(shape)} is said in `dynamic_shapes`")
            shape = dict(enumerate(shape))
        if not isinstance(shape, dict):
            raise UserError(f"Unexpected input tensor shape {shape} specified at `dynamic_shapes[{place!r}]` (expected either a list/tuple of dimensions, or a dict mapping indices to dimensions)")
        for d, dim in shape.items():
            if not isinstance(d, int) or not -x.dim() <= d < x.dim():
                raise UserError(f"{d} is no dimension of {place}, which has {x.dim()}")
            self._size(dim, x, d % x.dim(), leaf, f"{place}.shape[{d}]")

    def _size(self, dim: Any, x: Any, d: int, leaf: int, place: str) -> None:
        from torchjit.export import UserError

        n = int(x.shape[d])
        if dim is None or dim is Dim.STATIC:
            return
        if isinstance(dim, int) and not isinstance(dim, bool):
            if dim != n:
                raise UserError(f"Static shape constraint of {dim} does not match input size of {n}, for {place}")
            return
        if isinstance(dim, _DimHint):
            if n in (0, 1) and dim is Dim.AUTO:
                return
            declared = self._declare(0 if n < 2 else 2, int_oo, n, "", place, dim is Dim.DYNAMIC)
        elif isinstance(dim, Dim):
            if not dim.min <= n <= dim.max:
                raise UserError(f"{place} is {n}, which is not in the range of {dim!r}")
            known = self._by_name.get(dim.__name__)
            if known is None:
                declared = self._declare(dim.min, dim.max, n, dim.__name__, place, True)
                self._by_name[dim.__name__] = dim, declared
            else:
                declared = known[1]
                if (known[0].min, known[0].max) != (dim.min, dim.max):
                    raise UserError(f"Found different definitions {known[0]!r} and {dim!r} for the same symbolic dimension")
                if declared.hint != n:
                    raise UserError(
                        f"Constraints violated ({dim.__name__})! {declared.place} is {declared.hint} and {place} is {n}: "
                        f"sizes of one Dim, {dim.__name__}, are equal. Give them Dims of different names."
                    )
        else:
            raise UserError(f"Unexpected dimension {dim!r} at {place}: it is a Dim, an int or None")
        if n == 1 or n == 0:
            raise UserError(
                f"Constraints violated ({declared.label or declared.name})! {place} is {n} in the example: a size of 0 or 1 takes part in "
                "broadcasting, so that nothing is learned of other sizes. Give an example with 2 or more."
            )
        self.dims.setdefault(leaf, {})[d] = declared.name

    def _declare(self, lower: int, upper: int, hint: int, label: str, place: str, must: bool) -> Declared:
        declared = Declared(f"s{len(self.symbols)}", lower, upper, hint, label, place, must)
        self.symbols.append(declared)
        return declared


def children_of(x: Any) -> tuple[list[Any] | None, list[Any]]:
    """What a container holds, and the keys of that; None for a leaf."""
    kind = pytree._get_node_type(x)
    if kind not in pytree.SUPPORTED_NODES:
        return None, []
    children, context = pytree.SUPPORTED_NODES[kind].flatten_fn(x)
    children = list(children)
    if isinstance(x, dict):
        return children, list(context)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return children, list(x._fields)
    if dataclasses.is_dataclass(x) and isinstance(context, (list, tuple)):
        names = context[0] if context and isinstance(context[0], (list, tuple)) else context
        if len(names) == len(children):
            return children, list(names)
    return children, list(range(len(children)))
