"""Control flow, lists, numbers of Python and what programs ask of tensors."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _infer
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._symbolics.compare import truth
from torchjit.onnx._type_utils import JitScalarType

# ---- branches and loops ----


def _as_output(g: Any, block: Any, value: Any) -> Any:
    """What a block returns for a value: sequences for lists, and an Identity of what is made outside."""
    if helper._is_packed_list(value):
        return helper._list_as_tensor(g, value) if not helper._is_scalar_list(value) else _sequence(g, value)
    if value.node().kind() == "prim::Param" or value.node().owningBlock() != block:
        made = g.op("Identity", value)
        made.setType(value.type())
        return made
    return value


def _sequence(g: Any, value: Any) -> Any:
    items = helper._unpack_list(value)
    made = g.op("SequenceConstruct", *items) if items else g.op("SequenceEmpty", dtype_i=7)
    made.setType(value.type())
    return made


def _raises(block: Any) -> bool:
    return any(n.kind() == "prim::RaiseException" for n in block.nodes())


@symbolic("prim::If")
def if_(g: Any, condition: Any) -> Any:
    """The branch that is taken, where that is known or the other one raises; else an If."""
    blocks = list(g.original_node.blocks())
    known = helper._scalar(condition)
    if known is None and any(_raises(b) for b in blocks):
        known = _raises(blocks[1])
    if known is not None:
        taken = blocks[0 if known else 1]
        g.fill(taken, g.block)
        return [g.env.get(v) for v in taken.outputs()]
    used = [bool(v.uses()) for v in g.original_node.outputs()]
    node = g.graph.insertNode(g.graph.create("onnx::If", [truth(g, condition)], sum(used)))
    node.copyMetadata(g.original_node)
    for block in blocks:
        inner = node.addBlock()
        g.fill(block, inner)
        with g.graph.insert_point_guard(inner):
            results = [_as_output(g, inner, g.env[v]) for v, keep in zip(block.outputs(), used) if keep]
        for value in results:
            inner.registerOutput(value)
    results = [list(b.outputs()) for b in node.blocks()]
    for out, a, b in zip(node.outputs(), *results):
        _join_types(out, a, b)
    made = iter(node.outputs())
    return [next(made) if keep else None for keep in used]


def _join_types(out: Any, a: Any, b: Any) -> None:
    """The type that the results of two branches have together. Raises SymbolicValueError where one has none and the other does."""
    if helper._is_none(a) != helper._is_none(b):
        helper._onnx_unsupported(
            "a branch that gives None where the other gives a tensor", b if helper._is_none(a) else a
        )
    if a.type().kind() == "ListType":
        out.setType(b.type() if a.node().kind() in ("onnx::SequenceEmpty", "prim::Param") else a.type())
        return
    (dtype, left), (other, right) = _infer.info(a), _infer.info(b)
    sizes = None
    if left is not None and right is not None and len(left) == len(right):
        sizes = [m if m == n else None for m, n in zip(left, right)]
    _infer.set_type(out, dtype if dtype is not None else other, sizes)


@symbolic("prim::Loop")
def loop(g: Any, count: Any, condition: Any, *initial: Any) -> Any:
    block = next(iter(g.original_node.blocks()))
    first = [_carried(g, v) for v in initial]
    node = g.graph.insertNode(g.graph.create("onnx::Loop", [count, truth(g, condition), *first], len(first)))
    node.copyMetadata(g.original_node)
    inner = node.addBlock()
    parameters = list(block.inputs())
    for old, like in zip([parameters[0], None, *parameters[1:]], [count, None, *first]):
        value = inner.addInputToBlock()
        _set_parameter(value, old, like)
        if old is not None:
            g.env[old] = value
    g.fill(block, inner)
    keep, *results = block.outputs()
    with g.graph.insert_point_guard(inner):
        outs = [
            _as_output(g, inner, truth(g, g.env[keep])),
            *(_result(g, inner, g.env[v], p) for v, p in zip(results, list(inner.inputs())[2:])),
        ]
    for value in outs:
        inner.registerOutput(value)
    for out, start, end, parameter in zip(node.outputs(), first, outs[1:], list(inner.inputs())[2:]):
        _join_types(out, start, end)
        if helper._is_list(start) and start.node().kind() == "onnx::SequenceEmpty":
            _say_element_type(start, end, parameter)
    return list(node.outputs())


def _say_element_type(empty: Any, end: Any, parameter: Any) -> None:
    """An empty sequence has the element type of what a loop puts into it."""
    element = end.type().getElementType()
    dtype = element.dtype() if element.kind() == "TensorType" else torch.int64 if element.kind() == "IntType" else None
    if dtype is not None:
        empty.node().i_("dtype", int(JitScalarType.from_dtype(dtype).onnx_type()))
        for value in (empty, parameter):
            value.setType(end.type())


def _carried(g: Any, value: Any) -> Any:
    """What goes through a loop: lists as sequences."""
    if helper._is_none(value):
        helper._onnx_unsupported("a loop that carries None", value)
    if helper._is_packed_list(value):
        return _sequence(g, value)
    return value


def _result(g: Any, block: Any, value: Any, parameter: Any) -> Any:
    dtype, found = _infer.info(parameter)[0], _infer.info(value)[0]
    if dtype is not None and found is not None and dtype != found and not helper._is_list(parameter):
        value = g.cast(value, dtype)
    return _as_output(g, block, value)


def _set_parameter(value: Any, old: Any, like: Any) -> None:
    """The type of a loop's parameter: what is known of it in the program, else of the value that it begins with, without its sizes."""
    if old is None:
        _infer.set_type(value, torch.bool, [])
    elif old.type().kind() == "ListType":
        value.setType(old.type())
    else:
        dtype, sizes = _infer.info(old)
        start, known = _infer.info(like)
        if sizes is None and known is not None:
            sizes = [None] * len(known)
        _infer.set_type(value, dtype if dtype is not None else start, sizes)


# ---- lists ----


@symbolic("prim::ListConstruct")
def list_construct(g: Any, *items: Any) -> Any:
    return g.list(items, g.original_node.output().type())


@symbolic("prim::TupleConstruct")
def tuple_construct(g: Any, *items: Any) -> Any:
    node = g.graph.insertNode(g.graph.create("prim::TupleConstruct", list(items), 1))
    node.output().setType(_C.TupleType([v.type() for v in items]))
    return node.output()


@symbolic("prim::TupleUnpack")
def tuple_unpack(g: Any, value: Any) -> Any:
    return helper._unpack_tuple(value)


@symbolic("prim::TupleIndex")
def tuple_index(g: Any, value: Any, index: Any) -> Any:
    return helper._unpack_tuple(value)[helper._get_const(index, "i", "index")]


@symbolic("prim::ListUnpack")
def list_unpack(g: Any, value: Any) -> Any:
    if helper._is_packed_list(value):
        return helper._unpack_list(value)
    count = g.original_node.outputsSize()
    if helper._is_list(value):
        return [g.op("SequenceAt", value, g.constant(i)) for i in range(count)]
    return [g.op("Gather", value, g.constant(i), axis_i=0) for i in range(count)]


def _typed(g: Any, op: str, sequence: Any, *args: Any) -> Any:
    made = g.op(op, sequence, *args)
    made.setType(sequence.type())
    if op == "SequenceInsert" and helper._is_tensor_list(sequence) and helper._dtype(args[0]) is not None:
        rank = helper._get_tensor_rank(args[0])
        made.setType(_C.ListType(_infer.tensor_type(helper._dtype(args[0]), None if rank is None else [None] * rank)))
    return made


@symbolic("prim::ListAppend")
def list_append(g: Any, items: Any, value: Any) -> Any:
    if helper._is_packed_list(items):
        return g.list([*helper._unpack_list(items), value], items.type())
    return _typed(g, "SequenceInsert", items, value)


@symbolic("prim::ListInsert")
def list_insert(g: Any, items: Any, place: Any, value: Any) -> Any:
    if helper._is_packed_list(items):
        made = helper._unpack_list(items)
        made.insert(helper._get_const(place, "i", "index"), value)
        return g.list(made, items.type())
    return _typed(g, "SequenceInsert", items, value, place)


@symbolic("prim::ListExtend")
def list_extend(g: Any, items: Any, other: Any) -> Any:
    return g.list([*helper._unpack_list(items), *helper._unpack_list(other)], items.type())


@symbolic("prim::ListPop")
def list_pop(g: Any, items: Any, place: Any) -> Any:
    if helper._is_packed_list(items):
        made = helper._unpack_list(items)
        taken = made.pop(helper._get_const(place, "i", "index"))
        return g.list(made, items.type()), taken
    return _typed(g, "SequenceErase", items, place), g.op("SequenceAt", items, place)


@symbolic("prim::ListSet")
def list_set(g: Any, items: Any, place: Any, value: Any) -> Any:
    if helper._is_packed_list(items):
        made = helper._unpack_list(items)
        made[helper._get_const(place, "i", "index")] = value
        return g.list(made, items.type())
    return _typed(g, "SequenceInsert", _typed(g, "SequenceErase", items, place), value, place)


@symbolic("len")
def len_(g: Any, value: Any) -> Any:
    if helper._is_packed_list(value):
        return g.constant(len(helper._unpack_list(value)))
    if helper._is_list(value):
        made = g.op("SequenceLength", value)
        _infer.set_type(made, torch.int64, [])
        return made
    return helper._size_helper(g, value, 0)


@symbolic("__getitem__")
def getitem(g: Any, value: Any, index: Any) -> Any:
    if helper._is_packed_list(value):
        place = helper._scalar(index)
        if place is not None:
            return helper._unpack_list(value)[int(place)]
        if helper._is_scalar_list(value):
            return g.op("Gather", helper._list_as_tensor(g, value), index, axis_i=0)
        value = helper._list_as_tensor(g, value)
    if helper._is_list(value):
        made = g.op("SequenceAt", value, index)
        old = g.original_node.output()
        dtype, sizes = _infer.info(old)
        _infer.set_type(made, dtype, sizes)
        if value.type().getElementType().kind() == "TensorType":
            _infer.refine(made, *_infer.info_of(value.type().getElementType()))
        return made
    return g.op("Gather", value, index, axis_i=0)


@symbolic("list")
def list_(g: Any, value: Any) -> Any:
    return value


@symbolic("__contains__")
def contains(g: Any, items: Any, value: Any) -> Any:
    known = [helper._constant(v) for v in (items, value)]
    if any(k is NotImplemented for k in known):
        helper._onnx_unsupported("`in` of a list whose elements are not constants", items)
    return g.constant(any(helper._number(i) == helper._number(known[1]) for i in known[0]))


# ---- numbers ----


@symbolic(
    "prim::NumToTensor",
    "ScalarImplicit",
    "IntImplicit",
    "FloatImplicit",
    "prim::unchecked_cast",
    "prim::unchecked_unwrap_optional",
    "prim::data",
    "_unwrap_optional",
    "prim::ImplicitTensorToNum",
)
def same(g: Any, value: Any, *rest: Any) -> Any:
    return value


def _number_of(dtype: Any) -> Any:
    def export(g: Any, value: Any) -> Any:
        if helper._get_tensor_rank(value) not in (0, None):
            value = helper._reshape_helper(g, value, g.constant(torch.zeros([0], dtype=torch.int64)))
        return value if helper._dtype(value) == dtype or dtype is None else g.cast(value, dtype)

    return export


symbolic("Int")(_number_of(torch.int64))
symbolic("Float")(_number_of(torch.float32))
symbolic("Bool")(_number_of(torch.bool))
symbolic("item")(_number_of(None))
symbolic("_local_scalar_dense")(_number_of(None))


@symbolic("prim::min")
def prim_min(g: Any, value: Any, other: Any = None) -> Any:
    if other is None:
        return g.op(
            "ReduceMin", helper._list_as_tensor(g, value) if helper._is_packed_list(value) else value, keepdims_i=0
        )
    return g.op("Min", value, other)


@symbolic("prim::max")
def prim_max(g: Any, value: Any, other: Any = None) -> Any:
    if other is None:
        return g.op(
            "ReduceMax", helper._list_as_tensor(g, value) if helper._is_packed_list(value) else value, keepdims_i=0
        )
    return g.op("Max", value, other)


@symbolic("__range_length")
def range_length(g: Any, low: Any, high: Any, step: Any) -> Any:
    distance = g.op("Add", g.op("Sub", high, low), g.op("Sub", step, g.constant(1)))
    return g.op("Max", g.op("Div", distance, step), g.constant(0))


@symbolic("__derive_index")
def derive_index(g: Any, index: Any, start: Any, step: Any) -> Any:
    return g.op("Add", start, g.op("Mul", index, step))


# ---- what is known of tensors ----


@symbolic("prim::dtype")
def dtype_(g: Any, value: Any) -> Any:
    found = helper._dtype(value)
    return g.none() if found is None else g.constant(int(JitScalarType.from_dtype(found)))


@symbolic("prim::shape")
def shape(g: Any, value: Any) -> Any:
    from torchjit.onnx._symbolics.shape import size

    return size(g, value)


@symbolic(
    "prim::device",
    "prim::layout",
    "prim::Uninitialized",
    "format",
    "str",
    "prim::grad",
    "prim::name",
    "percentFormat",
    "__str__",
    "device",
)
def unknown(g: Any, *args: Any) -> Any:
    return g.none()


@symbolic("prim::RaiseException", "prim::Print", "warn", "prim::AutogradAnyNonZero", "_assert", "_assert_async")
def nothing(g: Any, *args: Any) -> Any:
    return [g.none() for _ in g.original_node.outputs()]


@symbolic(
    "prim::is_cuda",
    "prim::is_quantized",
    "prim::is_sparse",
    "prim::is_mkldnn",
    "prim::is_mps",
    "prim::requires_grad",
    "prim::is_xpu",
    "prim::is_meta",
    "prim::is_nested",
    "is_pinned",
    "is_grad_enabled",
    "is_autocast_enabled",
    "is_scripting",
)
def false(g: Any, *args: Any) -> Any:
    return g.constant(False)


@symbolic("is_floating_point")
def is_floating_point(g: Any, value: Any) -> Any:
    return g.constant(helper._is_fp(value))


@symbolic("is_complex")
def is_complex(g: Any, value: Any) -> Any:
    return g.constant(helper.is_complex_value(value))


@symbolic("__is__")
def is_(g: Any, value: Any, other: Any) -> Any:
    return g.constant(_same_none(value, other))


@symbolic("__isnot__")
def isnot(g: Any, value: Any, other: Any) -> Any:
    return g.constant(not _same_none(value, other))


def _same_none(value: Any, other: Any) -> bool:
    """Whether both are None: a value that is not known to be None is something."""
    if helper._is_none(other):
        return helper._is_none(value)
    if helper._is_none(value):
        return False
    known = [helper._constant(v) for v in (value, other)]
    if any(k is NotImplemented for k in known):
        helper._onnx_unsupported("`is` of values that are not known", value)
    return bool(known[0] == known[1])
