"""The level of vmap, and how operators take tensors that have samples.

The value of a tensor of this level has the samples in its first dimension. An operator that applies one expression to each element is called
once with the values; others have a rule below, which moves dimensions; one without a rule is called for each sample and its results are
stacked, which the log tells. Rules give NotImplemented where they do not hold, and then it is called for each sample, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._tensor import Tensor
from torchjit.func._levels import Level, as_given, check_written, facts_of, map_values, parts

_log = logging.getLogger(__name__)  # says at the level INFO which operators are called once for each sample

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the "
    "randomness operation out of vmap"
)
_SAME_OF_BATCHED = "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
_DIFFERENT_IN_PLACE = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is necessary for your "
    "usage, please file an issue with functorch."
)
_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to rewrite what you're "
    "doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report."
)


class VmapLevel(Level):
    """The level of one call of a function that vmap has made: size samples."""

    kind = "BatchedTensor"
    of_repr = "bdim=0, "
    batches = True

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness = size, randomness

    def recorded(self) -> bool:
        return _native.grad_enabled()

    def value_outside(self, x: Any) -> Any:
        raise RuntimeError("a tensor of a function that vmap calls is used after the call, which is not supported: return it from the function")

    def batch(self, value: Any) -> Any:
        """A tensor of the level; the first dimension of the value has the samples."""
        return self.wrap(value, value.shape[1:], value.stride()[1:])

    def batch_all(self, made: Any) -> Any:
        """The results of an operator on values as tensors of the level."""
        return map_values(lambda x: self.batch(x) if isinstance(x, Tensor) else x, made)

    def samples(self, x: Any) -> Any:
        """The value of a tensor, with the samples in its first dimension; a tensor that has none gets them as a view."""
        return x._value if self.has(x) else x.expand(self.size, *x.shape)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        facts = facts_of(func)
        batched = any(self.has(x) for x in parts((args, kwargs)))
        if facts.draws:
            return self.draw(func, args, kwargs, batched)
        if not batched:
            return func(*args, **kwargs)
        self.check(facts, args, kwargs)
        rule = elementwise if facts.elementwise else RULES.get(facts.name)
        made = NotImplemented if rule is None else rule(self, func, args, kwargs)
        if made is NotImplemented:
            made = self.one_by_one(func, args, kwargs)
        if not facts.writes:
            return made
        for x in facts.written(args, kwargs):
            check_written(x._value, (self.size, *x.shape))
        return made

    def check(self, facts: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises RuntimeError where an operator cannot have samples."""
        if facts.to_number:
            self.refuse(_ITEM if facts.base == "aten::_local_scalar_dense" else f"Batching rule not implemented for {facts.name}. We could not generate a fallback.")
        if facts.base == "aten::index":
            if any(isinstance(x, Tensor) and self.has(x) and x.dtype in (torch.bool, torch.uint8) for x in parts(args[1])):
                self.refuse(
                    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean mask."
                )
        elif facts.dynamic and facts.bind(args, kwargs).get("num_classes", -1) == -1:
            self.refuse(
                f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over {facts.base}. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues if you need this feature."
            )
        if facts.writes and not all(self.has(x) for x in facts.written(args, kwargs)):
            self.refuse(
                f"vmap: {facts.base}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than "
                "`self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
                f"operators instead of {facts.base}. If said operator is being called inside the PyTorch framework, please file a bug report instead."
            )

    def sample_of(self, given: Any, i: int) -> Any:
        """The arguments of one sample."""
        return map_values(lambda x: x._value.select(0, i) if self.has(x) else x, given)

    def one_by_one(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls an operator for each sample and stacks what it gives."""
        writes = facts_of(func).writes
        _log.info("vmap calls %s once for each of %d samples", facts_of(func).name, self.size)
        if self.size == 0:
            def empty(x: Any) -> Any:
                return x._value.new_zeros(x.shape) if self.has(x) else x

            made = func(*map_values(empty, args), **map_values(empty, kwargs))
            rows = [made]
        else:
            rows = [func(*self.sample_of(args, i), **self.sample_of(kwargs, i)) for i in range(self.size)]
        if writes:
            written = facts_of(func).written(args, kwargs)
            return written[0] if len(written) == 1 else tuple(written)
        columns = iter(list(zip(*(parts(row) for row in rows))))

        def joined(x: Any) -> Any:
            items = next(columns)
            if not isinstance(x, Tensor):
                return x
            return self.batch(torch.stack(items) if self.size else x.unsqueeze(0)[:0])

        return map_values(joined, rows[0])

    def draw(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], batched: bool) -> Any:
        """What a random operator gives, as vmap's argument randomness says."""
        facts = facts_of(func)
        if self.randomness == "error":
            self.refuse(_RANDOM)
        written = facts.written(args, kwargs)
        if self.randomness == "different":
            if any(not self.has(x) for x in written):
                self.refuse(_DIFFERENT_IN_PLACE)
            return self.one_by_one(func, args, kwargs)
        if not batched:
            return func(*args, **kwargs)
        if any(self.has(x) for x in parts((args[1:], kwargs))):
            self.refuse(_SAME_OF_BATCHED)
        if written:
            first = args[0]
            drawn = func(first._value.new_empty(first.shape), *args[1:], **kwargs)
            first._value.copy_(drawn)
            return first
        if not facts.base.endswith("_like"):
            self.refuse(_SAME_OF_BATCHED)
        return func(args[0]._value.new_empty(args[0].shape), *args[1:], **kwargs)


# ---- rules ----


Rule = Callable[[VmapLevel, Any, tuple[Any, ...], dict[str, Any]], Any]
RULES: dict[str, Rule] = {}


def _rank(x: Any) -> int:
    return int(x.dim())


def _promotes(tensors: list[Any]) -> bool:
    """Whether tensors without dimensions meet others of another type, so that samples in a dimension change the type of the result."""
    return len({t.dtype for t in tensors}) > 1 and any(t.dim() == 0 for t in tensors)


def elementwise(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operator of the elements at one place: the samples stand before all dimensions that the tensors have together."""
    facts = facts_of(func)
    leaves = [*args, *kwargs.values()]
    if any(isinstance(x, (list, tuple)) for x in leaves):
        return NotImplemented
    tensors = [x for x in leaves if isinstance(x, Tensor)]
    rank = max(_rank(t) for t in tensors)
    if _promotes(tensors) or facts.writes and _rank(args[0]) != rank:
        return NotImplemented
    given: dict[int, Any] = {}

    def aligned(x: Any) -> Any:
        if not level.has(x):
            return x
        value, missing = x._value, rank - _rank(x)
        for _ in range(missing):
            value = value.unsqueeze(1)
        if facts.writes:
            given[id(value)] = x
        return value

    made = func(*[aligned(x) for x in args], **{key: aligned(x) for key, x in kwargs.items()})
    return as_given(made, given, level.batch)


def _moved(dim: int, rank: int) -> int:
    """A dimension of a sample as one of the value."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        low, high = -max(rank, 1), max(rank, 1) - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim + 1 if dim >= 0 else dim + rank + 1


def _one_tensor(level: VmapLevel, bound: dict[str, Any], name: str) -> bool:
    """Whether one argument has samples and no other is a tensor."""
    return level.has(bound[name]) and not any(isinstance(x, Tensor) for key, x in bound.items() if key != name for x in parts(x))


def _by_dimensions(dims: tuple[str, ...], more: int = 0, whole: bool = False) -> Rule:
    """The rule of an operator whose arguments of these names are dimensions.

    more: by how many dimensions the result is larger, which dimensions are counted in. whole: without dimensions it takes all of them.
    """

    def rule(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = facts_of(func).bind(args, kwargs)
        tensors = [x for x in bound.values() if isinstance(x, Tensor)]
        rank = _rank(tensors[0])
        if any(_rank(t) != rank for t in tensors) or rank + more == 0:
            return NotImplemented
        for name in dims:
            dim = bound[name]
            if dim is None or isinstance(dim, (list, tuple)) and not dim:
                if not whole:
                    return NotImplemented
                bound[name] = list(range(1, rank + 1))
            elif isinstance(dim, (list, tuple)):
                bound[name] = [_moved(d, rank + more) for d in dim]
            else:
                bound[name] = _moved(dim, rank + more)
        return level.batch_all(_call(func, {key: level.samples(x) if isinstance(x, Tensor) else x for key, x in bound.items()}))

    return rule


def _call(func: Any, bound: dict[str, Any]) -> Any:
    """Calls an operator with arguments by name."""
    kwarg_only = {a.name for a in func._schema.arguments if a.kwarg_only}
    positional = [x for key, x in bound.items() if key not in kwarg_only]
    return func(*positional, **{key: x for key, x in bound.items() if key in kwarg_only and x is not None})


def _leading(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The rule of operators that take any dimensions before those they are about: the tensors are of one number of dimensions."""
    leaves = [x for x in [*args, *kwargs.values()] if isinstance(x, Tensor)]
    if any(_rank(t) != _rank(leaves[0]) for t in leaves):
        return NotImplemented
    facts = facts_of(func)
    given: dict[int, Any] = {}

    def value(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        v = level.samples(x)
        if facts.writes and level.has(x):
            given[id(v)] = x
        return v

    return as_given(func(*[value(x) for x in args], **{key: value(x) for key, x in kwargs.items()}), given, level.batch)


def _sized(name: str) -> Rule:
    """The rule of an operator of one tensor with an argument that has the sizes of the result, dim arguments apart."""

    def rule(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = facts_of(func).bind(args, kwargs)
        first = next(iter(bound))
        if not _one_tensor(level, bound, first):
            return NotImplemented
        x = bound[first]
        sizes = list(bound[name])
        if -1 in sizes and level.size == 0:
            return NotImplemented
        bound[name] = [level.size, *sizes]
        if "dim" in bound:
            bound["dim"] = _moved(bound["dim"], len(sizes))
        bound[first] = x._value
        return level.batch(_call(func, bound))

    return rule


def _to_rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            RULES["aten::" + name] = rule
        return rule

    return register


_to_rule("select.int", "slice.Tensor", "squeeze.dim", "squeeze.dims", "split.Tensor", "split_with_sizes", "unbind.int", "cumsum", "cumprod",
         "logcumsumexp", "cummax", "cummin", "_softmax", "_log_softmax", "softmax.int", "log_softmax.int", "_softmax_backward_data",
         "_log_softmax_backward_data", "sort", "sort.stable", "argsort", "topk", "kthvalue", "gather", "scatter.src", "scatter.value", "scatter_add",
         "max.dim", "min.dim", "median.dim", "nanmedian.dim", "mode", "any.dim", "all.dim", "prod.dim_int", "logsumexp", "amax", "amin", "chunk",
         "narrow")(_by_dimensions(("dim",)))  # fmt: skip
_to_rule("sum.dim_IntList", "mean.dim", "nansum", "std.correction", "var.correction", "var_mean.correction", "std_mean.correction",
         "linalg_vector_norm", "norm.ScalarOpt_dim")(_by_dimensions(("dim",), whole=True))  # fmt: skip
_to_rule("flip")(_by_dimensions(("dims",)))
_to_rule("transpose.int")(_by_dimensions(("dim0", "dim1")))
_to_rule("diagonal")(_by_dimensions(("dim1", "dim2")))
_to_rule("unfold")(_by_dimensions(("dimension",)))
_to_rule("unsqueeze")(_by_dimensions(("dim",), more=1))
_to_rule("select_backward", "slice_backward")(_sized("input_sizes"))
_to_rule("new_zeros", "new_empty", "new_full", "new_ones", "view", "reshape", "_unsafe_view")(_sized("size"))
_to_rule("clone", "detach", "alias", "contiguous", "_to_copy", "zeros_like", "ones_like", "full_like", "empty_like", "zero_", "fill_.Scalar", "triu", "tril",
         "constant_pad_nd", "_conj", "conj", "_neg_view", "resolve_conj", "resolve_neg")(_leading)  # fmt: skip


@_to_rule("copy_")
def _copy(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    first, source = args[0], args[1]
    if _rank(source) > _rank(first):
        return NotImplemented
    value = source._value if level.has(source) else source
    for _ in range(_rank(first) - _rank(source) if level.has(source) else 0):
        value = value.unsqueeze(1)
    func(first._value, value, *args[2:], **kwargs)
    return first


@_to_rule("t")
def _t(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    return level.batch(value.transpose(1, 2) if value.dim() == 3 else value.view_as(value))


@_to_rule("permute")
def _permute(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, dims = args
    if len(dims) != _rank(x):
        return NotImplemented
    return level.batch(func(x._value, [0, *(_moved(d, _rank(x)) for d in dims)]))


@_to_rule("expand")
def _expand(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, size = args[0], list(args[1])
    value = x._value
    if len(size) < _rank(x):
        return NotImplemented
    for _ in range(len(size) - _rank(x)):
        value = value.unsqueeze(1)
    return level.batch(func(value, [level.size, *size]))


@_to_rule("repeat")
def _repeat(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, repeats = args[0], list(args[1])
    value = x._value
    for _ in range(len(repeats) - _rank(x)):
        value = value.unsqueeze(1)
    return level.batch(func(value, [1, *repeats]))


@_to_rule("as_strided", "_reshape_alias")
def _as_strided(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A tensor of the level has the strides and the offset of its value: so a view of it is one of the value, with the samples before."""
    bound = facts_of(func).bind(args, kwargs)
    value = bound["self"]._value
    offset = bound.get("storage_offset")
    offset = value.storage_offset() if offset is None else offset
    return level.batch(value.as_strided([level.size, *bound["size"]], [value.stride(0), *bound["stride"]], offset))


@_to_rule("as_strided_scatter")
def _as_strided_scatter(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = facts_of(func).bind(args, kwargs)
    x, source = bound["self"], bound["src"]
    value = level.samples(x)
    made = value.clone()
    if made.stride()[1:] != value.stride()[1:]:
        raise NotImplementedError("as_strided_scatter of a tensor with gaps between its elements is not supported inside of vmap")
    offset = x.storage_offset() if bound["storage_offset"] is None else bound["storage_offset"]
    part = made.as_strided([level.size, *bound["size"]], [made.stride(0), *bound["stride"]], offset - value.storage_offset())
    part.copy_(level.samples(source))
    return level.batch(made)


@_to_rule("squeeze")
def _squeeze(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    return level.batch(x._value.reshape([level.size, *(n for n in x.shape if n != 1)]) if not x.numel() else _without_ones(x._value))


def _without_ones(value: Any) -> Any:
    for dim in range(value.dim() - 1, 0, -1):
        if value.shape[dim] == 1:
            value = value.select(dim, 0)
    return value


def _of_all(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The rule of reductions of all elements: those of each sample stand in one dimension."""
    x = args[0]
    if len(args) > 1 or _rank(x) == 0:
        return NotImplemented
    return level.batch(func.overloadpacket(x._value.flatten(1), 1, **kwargs))


_to_rule("sum", "mean", "prod", "any", "all")(_of_all)


@_to_rule("argmax", "argmin")
def _arg(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = facts_of(func).bind(args, kwargs)
    x, dim = bound["self"], bound["dim"]
    if _rank(x) == 0 or dim is None and bound["keepdim"]:
        return NotImplemented
    if dim is None:
        return level.batch(func(x._value.flatten(1), 1))
    return level.batch(func(x._value, _moved(dim, _rank(x)), bound["keepdim"]))


def _joining(more: int) -> Rule:
    """The rule of cat and stack."""

    def rule(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = facts_of(func).bind(args, kwargs)
        tensors = bound["tensors"]
        rank = max(_rank(t) for t in tensors)
        if any(_rank(t) != rank for t in tensors) or rank + more == 0:
            return NotImplemented
        return level.batch(func([level.samples(t) for t in tensors], _moved(bound["dim"], rank + more)))

    return rule


_to_rule("cat")(_joining(0))
_to_rule("stack")(_joining(1))


def _value(level: VmapLevel, x: Any) -> Any:
    return x._value if level.has(x) else x


@_to_rule("mm", "bmm")
def _products(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-2] or a.dim() == 3 and a.shape[0] != b.shape[0]:
        return NotImplemented
    return level.batch(torch.matmul(_value(level, a), _value(level, b)))


@_to_rule("mv")
def _matrix_vector(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-1]:
        return NotImplemented
    return level.batch(torch.matmul(_value(level, a), _value(level, b).unsqueeze(-1)).squeeze(-1))


@_to_rule("dot")
def _dot(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if a.dtype != b.dtype or a.shape != b.shape:
        return NotImplemented
    return level.batch((_value(level, a) * _value(level, b)).sum(-1))


@_to_rule("addmm")
def _addmm(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bias, a, b = args[:3]
    if len(args) > 3 or any(x != 1 for x in kwargs.values()) or not a.dtype == b.dtype == bias.dtype or a.shape[-1] != b.shape[-2]:
        return NotImplemented
    bias_value = _value(level, bias)
    for _ in range(2 - _rank(bias) if level.has(bias) else 0):
        bias_value = bias_value.unsqueeze(1)
    return level.batch(torch.matmul(_value(level, a), _value(level, b)) + bias_value)


@_to_rule("convolution")
def _convolution(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, weight, bias = args[:3]
    if kwargs or not level.has(x) or level.has(weight) or level.has(bias) or level.size == 0 or _rank(x) != _rank(weight):
        return NotImplemented
    made = func(x._value.flatten(0, 1), *args[1:])
    return level.batch(made.unflatten(0, (level.size, x.shape[0])))


@_to_rule("native_layer_norm")
def _layer_norm(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or any(level.has(x) for x in args[1:]):
        return NotImplemented
    return level.batch_all(func(args[0]._value, *args[1:]))


@_to_rule("embedding")
def _embedding(level: VmapLevel, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if level.has(args[0]):
        return NotImplemented
    return level.batch(func(args[0], args[1]._value, *args[2:], **kwargs))
