"""The types of what ONNX nodes make: element types, and sizes with None for those that are not known."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _fold
from torchjit.onnx._type_utils import JitScalarType

Sizes = list[int | None]

_NUMBERS = {"IntType": torch.int64, "FloatType": torch.float32, "BoolType": torch.bool, "NumberType": None}


def info(value: Any) -> tuple[Any, Sizes | None]:
    """The element type of a value and its sizes, None for what is not known. Numbers are tensors without dimensions."""
    return info_of(value.type())


def info_of(kind: Any) -> tuple[Any, Sizes | None]:
    """info of values of a type."""
    name = kind.kind()
    if name == "OptionalType":
        kind = kind.getElementType()
        name = kind.kind()
    if name == "TensorType":
        sizes = kind.varyingSizes()
        return kind.dtype(), None if sizes is None else list(sizes)
    return (_NUMBERS[name], []) if name in _NUMBERS else (None, None)


def tensor_type(dtype: Any, sizes: Sizes | None) -> Any:
    """The type of tensors of an element type and sizes."""
    made = _C.TensorType.get().with_device(torch.device("cpu"))
    if dtype is not None:
        made = made.with_dtype(dtype)
    if sizes is None:
        return made
    made = made.with_sizes(list(sizes))
    return made if None in sizes or not sizes else made.contiguous()


def set_type(value: Any, dtype: Any, sizes: Sizes | None) -> None:
    """Gives a value the type of tensors of an element type and sizes."""
    value.setType(tensor_type(dtype, sizes))


def refine(value: Any, dtype: Any, sizes: Sizes | None) -> None:
    """Adds to a value's type what is known besides; what the type says already stays."""
    has, known = info(value)
    if value.type().kind() != "TensorType":
        return
    if known is None:
        known = sizes
    elif sizes is not None and len(sizes) == len(known):
        known = [a if a is not None else b for a, b in zip(known, sizes)]
    dtype = has if has is not None else dtype
    if (dtype, known) != info(value):
        set_type(value, dtype, known)


def infer(g: Any, node: Any) -> None:
    """Gives the outputs of a node the types that follow from its inputs."""
    kind = node.kind()
    if not kind.startswith("onnx::"):
        return
    op = kind[6:]
    inputs = [info(v) for v in node.inputs()]
    rule = _RULES.get(op)
    if op.startswith("Reduce"):
        rule = _reduced
    if op == "Split":
        _split(g, node, inputs)
    elif op in ("TopK",):
        _top_k(node, inputs)
    elif rule is not None and (op == "Constant" or inputs):
        set_type(next(iter(node.outputs())), *rule(g, node, inputs))


def broadcast(*shapes: Sizes | None) -> Sizes | None:
    """The sizes of what elements of several tensors give together."""
    if any(s is None for s in shapes):
        return None
    result: Sizes = []
    for sizes in itertools.zip_longest(*(reversed(s) for s in shapes if s is not None), fillvalue=1):
        others = {n for n in sizes if n != 1}
        known = [n for n in others if n is not None and n != 0]
        result.append(0 if 0 in others else known[0] if known else None if others else 1)
    return result[::-1]


def elements_of(value: Any) -> Sizes | None:
    """What is known of the elements of a tensor of sizes: None where not even their number is."""
    constant = _fold.constant_of(value)
    if constant is not None:
        return constant.reshape(-1).tolist()
    node = value.node()
    if node.kind() == "onnx::Concat":
        parts = [elements_of(v) for v in node.inputs()]
        return None if any(p is None for p in parts) else [n for p in parts for n in p]  # type: ignore[union-attr]
    if node.kind() == "onnx::Shape" and not node.hasAttributes():
        return info(node.inputsAt(0))[1]
    sizes = info(value)[1]
    if node.kind() == "onnx::Unsqueeze" and node.inputsAt(0).node().kind() == "onnx::Gather":
        return [_gathered_size(node.inputsAt(0).node())]
    if sizes is not None and len(sizes) == 1 and sizes[0] is not None:
        return [None] * sizes[0]
    return [None] if sizes == [] else None


def _gathered_size(node: Any) -> int | None:
    """The size that a Gather of a Shape is, where it is known."""
    shape, index = node.inputsAt(0), _fold.constant_of(node.inputsAt(1))
    sizes = elements_of(shape) if shape.node().kind() == "onnx::Shape" else None
    return None if sizes is None or index is None or index.numel() != 1 else sizes[int(index)]


def _attribute(node: Any, name: str, default: Any) -> Any:
    return node[name] if node.hasAttribute(name) else default


def _axes(node: Any, at: int = 1) -> list[int] | None:
    """Axes of an attribute or of an input; None where they are not known."""
    if node.hasAttribute("axes"):
        return list(node["axes"])
    given = list(node.inputs())
    if len(given) <= at:
        return None
    constant = _fold.constant_of(given[at])
    return None if constant is None else constant.reshape(-1).tolist()


def _same(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    return inputs[0]


def _elementwise(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    return next((d for d, _ in inputs if d is not None), None), broadcast(*(s for _, s in inputs))


def _compared(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    return torch.bool, broadcast(*(s for _, s in inputs))


def _where(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    return inputs[1][0] or inputs[2][0], broadcast(*(s for _, s in inputs))


def _cast(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    return JitScalarType.from_onnx_type(node.i("to")).dtype(), inputs[0][1]


def _windows(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    """Convolutions and pools: an element for each place of the window."""
    dtype, sizes = inputs[0]
    weight = inputs[1][1] if node.kind() == "onnx::Conv" else None
    kernel = _attribute(node, "kernel_shape", None)
    if sizes is None or kernel is None or len(sizes) != len(kernel) + 2:
        return dtype, None
    n = len(kernel)
    pads = _attribute(node, "pads", [0] * 2 * n)
    made: list[int | None] = [sizes[0], (weight[0] if weight else None) if node.kind() == "onnx::Conv" else sizes[1]]
    for i, (size, k, step, apart) in enumerate(
        zip(sizes[2:], kernel, _attribute(node, "strides", [1] * n), _attribute(node, "dilations", [1] * n), strict=True)
    ):
        span = None if size is None else size + pads[i] + pads[n + i] - apart * (k - 1) - 1
        made.append(None if span is None or _attribute(node, "ceil_mode", 0) else span // step + 1)
    return dtype, made


def _quantized(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    """QuantizeLinear gives integers of the zero point's type, DequantizeLinear floats of the scale's."""
    return inputs[2 if node.kind() == "onnx::QuantizeLinear" else 1][0], inputs[0][1]


def _constant(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    if not node.hasAttribute("value"):
        return None, None
    value = node.t("value")
    return value.dtype, list(value.shape)


def _shape(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    sizes = inputs[0][1]
    return torch.int64, [None if sizes is None or node.hasAttributes() else len(sizes)]


def _gather(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, sizes), (_, index) = inputs
    axis = _attribute(node, "axis", 0)
    if sizes is None or index is None:
        return dtype, None
    axis %= len(sizes)
    return dtype, sizes[:axis] + index + sizes[axis + 1 :]


def _unsqueezed(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, sizes), axes = inputs[0], _axes(node)
    if sizes is None or axes is None:
        return dtype, None
    made = list(sizes)
    for axis in sorted(a % (len(sizes) + len(axes)) for a in axes):
        made.insert(axis, 1)
    return dtype, made


def _squeezed(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, sizes), axes = inputs[0], _axes(node)
    if sizes is None or axes is None:
        return dtype, None
    gone = {a % len(sizes) for a in axes}
    return dtype, [n for d, n in enumerate(sizes) if d not in gone]


def _concat(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    known = [s for _, s in inputs if s is not None]
    dtype = inputs[0][0]
    if len(known) != len(inputs) or not known[0] or len({len(s) for s in known}) != 1:
        return dtype, None
    axis = node.i("axis") % len(known[0])
    sizes = [next((s[d] for s in known if s[d] is not None), None) for d in range(len(known[0]))]
    parts = [s[axis] for s in known]
    sizes[axis] = None if None in parts else sum(parts)
    return dtype, sizes


def _transposed(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    dtype, sizes = inputs[0]
    if sizes is None:
        return dtype, None
    return dtype, [sizes[d] for d in _attribute(node, "perm", list(range(len(sizes)))[::-1])]


def _reshaped(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, sizes), wanted = inputs[0], elements_of(node.inputsAt(1))
    if wanted is None:
        return dtype, None
    made: Sizes = []
    for i, n in enumerate(wanted):
        zero = n == 0 and not _attribute(node, "allowzero", 0)
        made.append((sizes[i] if sizes is not None and i < len(sizes) else None) if zero else n)
    if -1 in made:
        known = sizes is not None and None not in sizes and None not in made
        rest = 1
        for n in made:
            rest *= n if n not in (None, -1) else 1
        whole = torch.Size(sizes).numel() if known else 0
        made[made.index(-1)] = whole // rest if known and rest else None
    return dtype, made


def _flattened(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    dtype, sizes = inputs[0]
    if sizes is None:
        return dtype, [None, None]
    axis = _attribute(node, "axis", 1)
    parts = [sizes[:axis], sizes[axis:]]
    return dtype, [None if None in p else torch.Size(p).numel() for p in parts]


def _product(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, a), (_, b) = inputs[:2]
    if not a or not b:
        return dtype, None
    batch = broadcast(a[:-2], b[:-2])
    return dtype, (batch or []) + (a[-2:-1] if len(a) > 1 else []) + (b[-1:] if len(b) > 1 else [])


def _gemm(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, a), (_, b) = inputs[:2]
    if a is None or b is None:
        return dtype, [None, None]
    return dtype, [a[1 if _attribute(node, "transA", 0) else 0], b[0 if _attribute(node, "transB", 0) else 1]]


def _reduced(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    dtype, sizes = inputs[0]
    axes, keep = _axes(node), _attribute(node, "keepdims", 1)
    if sizes is None:
        return dtype, None
    if axes is None and len(list(node.inputs())) > 1:
        return dtype, [None] * len(sizes) if keep else None
    gone = {a % len(sizes) for a in axes} if axes else set(range(len(sizes)))
    return dtype, [1 if d in gone else n for d, n in enumerate(sizes) if keep or d not in gone]


def _arg(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    sizes, axis, keep = inputs[0][1], _attribute(node, "axis", 0), _attribute(node, "keepdims", 1)
    if not sizes:
        return torch.int64, sizes
    axis %= len(sizes)
    return torch.int64, sizes[:axis] + ([1] if keep else []) + sizes[axis + 1 :]


def _sliced(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    dtype, sizes = inputs[0]
    if sizes is None:
        return dtype, None
    axes = _axes(node, 3)
    if axes is None:
        return dtype, [None] * len(sizes)
    given = list(node.inputs())
    made = list(sizes)
    for i, axis in enumerate(axes):
        made[axis] = _sliced_size(node, given, i, sizes[axis])
    return dtype, made


def _sliced_size(node: Any, given: list[Any], i: int, size: int | None) -> int | None:
    bounds = []
    for position, name in ((1, "starts"), (2, "ends"), (4, "steps")):
        if node.hasAttribute(name):
            bounds.append(node[name][i])
        elif len(given) > position:
            constant = _fold.constant_of(given[position])
            bounds.append(None if constant is None else int(constant.reshape(-1)[i]))
        else:
            bounds.append(1)
    if None in bounds:
        return None
    if size is None:
        return None
    return len(range(*slice(*bounds).indices(size)))


def _expanded(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    return inputs[0][0], broadcast(inputs[0][1], elements_of(node.inputsAt(1)))


def _filled(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    dtype = node.t("value").dtype if node.hasAttribute("value") else torch.float32
    return dtype, elements_of(node.inputsAt(0))


def _tiled(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    (dtype, sizes), times = inputs[0], elements_of(node.inputsAt(1))
    if sizes is None or times is None or len(sizes) != len(times):
        return dtype, None if sizes is None else [None] * len(sizes)
    return dtype, [None if n is None or t is None else n * t for n, t in zip(sizes, times)]


def _padded(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    dtype, sizes = inputs[0]
    return dtype, None if sizes is None else [None] * len(sizes)


def _split(g: Any, node: Any, inputs: list[Any]) -> None:
    dtype, sizes = inputs[0]
    axis = _attribute(node, "axis", 0)
    parts = list(node["split"]) if node.hasAttribute("split") else None
    given = list(node.inputs())
    if len(given) > 1:
        parts = elements_of(given[1])
    for i, out in enumerate(node.outputs()):
        made = None if sizes is None else list(sizes)
        if made is not None:
            made[axis] = parts[i] if parts else None
        set_type(out, dtype, made)


def _top_k(node: Any, inputs: list[Any]) -> None:
    sizes = inputs[0][1]
    made = None if sizes is None else list(sizes)
    if made is not None:
        count = elements_of(node.inputsAt(1)) if len(list(node.inputs())) > 1 else [node.i("k")]
        made[_attribute(node, "axis", -1)] = count[0] if count else None
    for out, dtype in zip(node.outputs(), (inputs[0][0], torch.int64)):
        set_type(out, dtype, made)


def _joined(g: Any, node: Any, inputs: list[Any]) -> tuple[Any, Any]:
    """ConcatFromSequence, where something is known of the sequence's elements."""
    kind = node.inputsAt(0).type()
    if kind.kind() != "ListType":
        return None, None
    dtype, sizes = info_of(kind.getElementType())
    return dtype, None if sizes is None else [None] * (len(sizes) + _attribute(node, "new_axis", 0))


Rule = Callable[[Any, Any, list[Any]], tuple[Any, Any]]

_RULES: dict[str, Rule] = {
    "ArgMax": _arg, "ArgMin": _arg, "AveragePool": _windows, "Cast": _cast, "Concat": _concat, "ConcatFromSequence": _joined, "Constant": _constant, "Conv": _windows,
    "ConstantOfShape": _filled, "DequantizeLinear": _quantized, "Expand": _expanded, "QuantizeLinear": _quantized,
    "Flatten": _flattened, "Gather": _gather, "Gemm": _gemm, "MatMul": _product, "Pad": _padded, "Reshape": _reshaped, "Shape": _shape,
    "Slice": _sliced, "Squeeze": _squeezed, "Tile": _tiled, "Transpose": _transposed, "Unsqueeze": _unsqueezed, "Where": _where,
    "GlobalAveragePool": lambda g, node, inputs: (inputs[0][0], inputs[0][1] and [*inputs[0][1][:2], *[1] * (len(inputs[0][1]) - 2)]),
    "MaxPool": _windows,
    "GatherElements": lambda g, node, inputs: (inputs[0][0], inputs[1][1]),
    "NonZero": lambda g, node, inputs: (torch.int64, [None if inputs[0][1] is None else len(inputs[0][1]), None]),
    "Range": lambda g, node, inputs: (inputs[0][0], [None]),
    "Size": lambda g, node, inputs: (torch.int64, []),
}  # fmt: skip
_SAME = """
    Abs Acos Acosh Asin Asinh Atan Atanh BatchNormalization Bernoulli Ceil Celu Clip Cos Cosh CumSum Dropout Elu Erf Exp Floor Gelu
    HardSigmoid
    HardSwish Hardmax Identity InstanceNormalization LRN LayerNormalization LeakyRelu Log LogSoftmax LpNormalization Neg PRelu
    RandomNormalLike
    RandomUniformLike Reciprocal Relu ReverseSequence Round ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus
    Softsign Sqrt
    Tan Tanh ThresholdedRelu Trilu
"""
_RULES |= dict.fromkeys(_SAME.split(), _same)
_RULES |= dict.fromkeys("Add Sub Mul Div Pow Max Min Mod Sum Mean BitShift".split(), _elementwise)
_RULES |= dict.fromkeys("Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor Not IsNaN IsInf".split(), _compared)
