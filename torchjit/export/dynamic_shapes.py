"""torch.export.dynamic_shapes: sizes that are to be symbols."""

from __future__ import annotations

import dataclasses
from typing import Any

from torchjit._tensor import Tensor
from torchjit.export._dims import Dim, _DerivedDim, _DimHint, dims  # noqa: F401
from torchjit.export._errors import UserError
from torchjit.export._symbolic import SymInt, int_oo
from torchjit.utils import _pytree as pytree

__all__ = ["AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims", "refine_dynamic_shapes_from_suggested_fixes"]


class ShapesCollection:
    """What is said of the sizes of tensors, by the tensors themselves: `shapes[x] = (dim, 4)`.

    >>> x = torch.rand(4, 3)
    >>> shapes = torch.export.ShapesCollection()
    >>> shapes[x] = {0: torch.export.Dim("batch")}
    >>> torch.export.export(nn.Linear(3, 2), (x,), dynamic_shapes=shapes).module()(torch.rand(9, 3)).shape
    torch.Size([9, 2])
    """

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
        self.dims: dict[int, dict[int, Any]] = {}
        self._by_name: dict[str, tuple[Dim, Declared]] = {}

    def read(self, shapes: Any, bound: dict[str, Any], flat: list[Any]) -> None:
        """Reads what is said of the arguments by their names. Raises UserError where it does not fit them."""
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
        n = int(x.shape[d])
        if dim is None or isinstance(dim, _DimHint) and dim.kind == "STATIC":
            return
        if isinstance(dim, int) and not isinstance(dim, bool):
            if dim != n:
                raise UserError(f"Static shape constraint of {dim} does not match input size of {n}, for {place}")
            return
        if isinstance(dim, _DimHint):
            if n in (0, 1) and dim.kind == "AUTO":
                return
            form: Any = self._hinted(dim, n, place).name
        elif isinstance(dim, _DerivedDim):
            form = self._derived(dim, n, place)
        elif isinstance(dim, Dim):
            form = self._named(dim, n, place).name
        else:
            raise UserError(f"Unexpected dimension {dim!r} at {place}: it is a Dim, an int or None")
        if n in (0, 1):
            label = getattr(dim, "__name__", form)
            raise UserError(
                f"Constraints violated ({label})!\n  - Not all values of {label} = {place} in the specified range are valid because {label} was "
                f"inferred to be a constant ({n}): a size of 0 or 1 takes part in broadcasting, so that nothing is learned of other sizes. Give an "
                "example with 2 or more."
                f"\n\nSuggested fixes:\n  {label} = {n}"
            )
        self.dims.setdefault(leaf, {})[d] = form

    def _hinted(self, hint: _DimHint, n: int, place: str) -> Declared:
        lower = max(0 if n < 2 else 2, hint.min or 0)
        upper = int_oo if hint.max is None else hint.max
        if not lower <= n <= upper:
            raise UserError(f"{place} is {n}, which is not in the range of {hint!r}")
        return self._declare(lower, upper, n, "", place, hint.kind == "DYNAMIC")

    def _named(self, dim: Dim, n: int, place: str) -> Declared:
        """The symbol of a Dim whose size is n."""
        if not dim.min <= n <= dim.max:
            raise UserError(f"{place} is {n}, which is not in the range of {dim!r}")
        known = self._by_name.get(dim.__name__)
        if known is None:
            declared = self._declare(dim.min, dim.max, n, dim.__name__, place, True)
            self._by_name[dim.__name__] = dim, declared
            return declared
        if (known[0].min, known[0].max) != (dim.min, dim.max):
            raise UserError(f"Found different definitions {known[0]!r} and {dim!r} for the same symbolic dimension")
        if known[1].hint != n:
            raise UserError(
                f"Constraints violated ({dim.__name__})! {known[1].place} is {known[1].hint} and {place} is {n}: "
                f"sizes of one Dim, {dim.__name__}, are equal. Give them Dims of different names."
            )
        return known[1]

    def _derived(self, dim: _DerivedDim, n: int, place: str) -> Any:
        """The expression that a size which follows from a Dim is."""
        root = dim.root.__name__
        known = self._by_name.get(root)
        if known is not None and dim.fn(known[1].hint) != n:
            raise UserError(f"Expected input {place} to be equal to {dim.__name__}, where {root} = {known[1].hint}, but got {n}")
        if (n - dim.rest) % dim.factor:
            raise UserError(f"Expected input {place} = {n} to be of the form {dim.__name__}, where {root} is an integer")
        symbol = self._named(dim.root, (n - dim.rest) // dim.factor, place).name
        form: Any = symbol if dim.factor == 1 else ["*", dim.factor, symbol]
        return ["+", form, dim.rest] if dim.rest else form

    def form(self, leaf: int) -> dict[str, Any]:
        """What the sizes of a leaf are, as the library reads it."""
        return {str(d): size for d, size in self.dims.get(leaf, {}).items()}

    def _declare(self, lower: int, upper: int, hint: int, label: str, place: str, must: bool) -> Declared:
        declared = Declared(f"s{len(self.symbols)}", lower, upper, hint, label, place, must)
        self.symbols.append(declared)
        return declared


def declarations_of(program: Any) -> Declarations:
    """What a program says of the sizes of its inputs."""
    made = Declarations()
    user = [n for n, s in zip(program.graph.find_nodes(op="placeholder"), program.graph_signature.input_specs, strict=True) if s.target is None]
    used: set[str] = set()
    for leaf, node in enumerate(user):
        shape = node.meta["val"].shape if isinstance(node.meta.get("val"), Tensor) else ()
        for d, n in enumerate(shape):
            if isinstance(n, SymInt):
                made.dims.setdefault(leaf, {})[d] = n._form
                used |= {s.name for s in n.free_symbols()}
    for s in program._symbols:
        if s["name"] in used:
            upper = int_oo if s["upper"] < 0 else s["upper"]
            made.symbols.append(Declared(s["name"], s["lower"], upper, s["hint"], s.get("label", ""), s.get("place", ""), bool(s.get("must"))))
    return made


class Constraint:
    """What is said of a size; only Dims say it."""


class AdditionalInputs:
    """Further calls of a program, from which the sizes that are dynamic follow: those that are not the same in all calls."""

    def __init__(self) -> None:
        self._examples: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def add(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        """Adds a call."""
        assert isinstance(args, tuple), f"Representative args {args} must be a tuple"
        assert kwargs is None or isinstance(kwargs, dict), f"Representative kwargs {kwargs} must be None or a dict"
        self._examples.append((args, kwargs or {}))

    def dynamic_shapes(self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """What is said of each size: Dim.DYNAMIC where the calls differ. Raises ValueError where something else differs."""
        leaves, spec = pytree.tree_flatten((args, kwargs or {}))
        shapes: list[Any] = [[None] * x.dim() if isinstance(x, Tensor) else None for x in leaves]
        for example in self._examples:
            others, other = pytree.tree_flatten(example)
            if other != spec:
                raise ValueError(f"The additional inputs have the structure {other}, and the inputs {spec}")
            for shape, x, y in zip(shapes, leaves, others, strict=True):
                if not isinstance(x, Tensor):
                    if type(x) is not type(y) or x != y:
                        raise ValueError(f"Expected the additional inputs to have the value {x!r} of the inputs, but got {y!r}")
                    continue
                if not isinstance(y, Tensor) or y.dim() != x.dim():
                    raise ValueError(f"Expected a tensor of {x.dim()} dimensions among the additional inputs, but got {y!r}")
                for d in range(x.dim()):
                    if x.shape[d] != y.shape[d]:
                        shape[d] = Dim.DYNAMIC
        return {"": _ByTensor([None if s is None else tuple(s) for s in shapes])}

    def verify(self, ep: Any) -> None:
        """Runs the program on all calls. Raises where one does not fit it."""
        module = ep.module()
        for args, kwargs in self._examples:
            module(*args, **kwargs)


def refine_dynamic_shapes_from_suggested_fixes(msg: str, dynamic_shapes: Any) -> Any:
    """dynamic_shapes with the fixes that an error of export suggests. Raises ValueError for a message without any."""
    from torchjit.export._fixes import refined

    return refined(msg, dynamic_shapes)


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
