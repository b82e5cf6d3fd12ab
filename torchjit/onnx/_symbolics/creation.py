"""Tensors of constants, ranges and random numbers; casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.onnx import symbolic_helper as helper
from torchjit.onnx._registry import symbolic
from torchjit.onnx._type_utils import JitScalarType
from torchjit.onnx.symbolic_helper import parse_args


def named(g: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments of the operator that is exported, by their names in its schema."""
    schema = g.original_node.schema()
    names = [a.split("=")[0].split(" ")[-1] for a in _arguments(schema)]
    return dict(zip(names, args))


def _arguments(schema: str) -> list[str]:
    """The texts of a schema's arguments."""
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    parts, depth, start = [], 0, 0
    for i, c in enumerate(inside):
        depth += c in "([" and 1 or -(c in ")]")
        if c == "," and depth == 0:
            parts.append(inside[start:i].strip())
            start = i + 1
    return [p for p in [*parts, inside[start:].strip()] if p and p != "*"]


def dtype_of(g: Any, value: Any, default: Any) -> Any:
    """The torch.dtype that an argument says, or the default."""
    if value is None or helper._is_none(value):
        return default
    return helper.scalar_type_to_pytorch_type[helper._get_const(value, "i", "dtype")]


@symbolic("to")
def to(g: Any, x: Any, *args: Any) -> Any:
    given = named(g, (x, *args))
    if "other" in given:
        dtype = helper._dtype(given["other"])
    else:
        dtype = dtype_of(g, given.get("dtype"), None)
    return x if dtype is None or dtype == helper._dtype(x) else g.cast(x, dtype)


@symbolic("type_as")
def type_as(g: Any, x: Any, other: Any) -> Any:
    dtype = helper._dtype(other)
    if dtype is not None:
        return g.cast(x, dtype) if helper._dtype(x) != dtype else x
    if g.opset >= 15:
        return g.op("CastLike", x, other)
    helper._onnx_unsupported("type_as of a tensor whose element type is not known", other)


def _cast(dtype: Any) -> Callable[..., Any]:
    def export(g: Any, x: Any, non_blocking: Any = None) -> Any:
        return x if helper._dtype(x) == dtype else g.cast(x, dtype)

    return export


for _kind, _name in {
    torch.uint8: "Byte", torch.int8: "Char", torch.float64: "Double", torch.float32: "Float", torch.float16: "Half", torch.int32: "Int",
    torch.int64: "Long", torch.int16: "Short", torch.bool: "Bool", torch.bfloat16: "BFloat16",
}.items():  # fmt: skip
    symbolic(f"_cast_{_name}")(_cast(_kind))


@symbolic("copy")
def copy(g: Any, x: Any, source: Any, non_blocking: Any = None) -> Any:
    """A source in the place of another tensor: with its element type and sizes."""
    dtype = helper._dtype(x)
    if dtype is not None and helper._dtype(source) != dtype:
        source = g.cast(source, dtype)
    sizes = helper._get_tensor_sizes(source, False)
    if sizes is not None and sizes == helper._get_tensor_sizes(x, False):
        return source
    return g.op("Expand", source, g.op("Shape", x))


# ---- constants ----


def filled(g: Any, sizes: Any, value: Any, dtype: Any) -> Any:
    """A tensor of sizes with one value in all places."""
    sizes = helper._sizes_argument(g, sizes)
    number = helper._scalar(value)
    if number is None:
        return g.op("Expand", g.cast(value, dtype), sizes)
    return g.op("ConstantOfShape", sizes, value_t=torch.tensor([number], dtype=dtype))


def _of_sizes(value: Any) -> Callable[..., Any]:
    def export(g: Any, sizes: Any, *args: Any) -> Any:
        given = named(g, (sizes, *args))
        return filled(g, sizes, value, dtype_of(g, given.get("dtype"), torch.get_default_dtype()))

    return export


def _like(value: Any) -> Callable[..., Any]:
    def export(g: Any, x: Any, *args: Any) -> Any:
        given = named(g, (x, *args))
        return filled(
            g, g.op("Shape", x), value, dtype_of(g, given.get("dtype"), helper._dtype(x) or torch.get_default_dtype())
        )

    return export


def _new(value: Any) -> Callable[..., Any]:
    def export(g: Any, x: Any, sizes: Any, *args: Any) -> Any:
        given = named(g, (x, sizes, *args))
        return filled(g, sizes, value, dtype_of(g, given.get("dtype"), helper._dtype(x) or torch.get_default_dtype()))

    return export


for _name, _value in {"zeros": 0, "ones": 1, "empty": 0}.items():
    symbolic(_name)(_of_sizes(_value))
    symbolic(f"{_name}_like")(_like(_value))
    symbolic(f"new_{_name}")(_new(_value))


def _natural(value: Any) -> Any:
    """The element type of a tensor that is made of a value."""
    dtype = helper._dtype(value)
    return torch.get_default_dtype() if dtype is None or dtype == torch.float64 else dtype


@symbolic("full")
def full(g: Any, sizes: Any, value: Any, *args: Any) -> Any:
    given = named(g, (sizes, value, *args))
    return filled(g, sizes, value, dtype_of(g, given.get("dtype"), _natural(value)))


@symbolic("full_like")
def full_like(g: Any, x: Any, value: Any, *args: Any) -> Any:
    given = named(g, (x, value, *args))
    return filled(
        g, g.op("Shape", x), value, dtype_of(g, given.get("dtype"), helper._dtype(x) or torch.get_default_dtype())
    )


@symbolic("new_full")
def new_full(g: Any, x: Any, sizes: Any, value: Any, *args: Any) -> Any:
    given = named(g, (x, sizes, value, *args))
    return filled(g, sizes, value, dtype_of(g, given.get("dtype"), helper._dtype(x) or torch.get_default_dtype()))


@symbolic("fill")
def fill(g: Any, x: Any, value: Any) -> Any:
    return filled(g, g.op("Shape", x), value, helper._dtype(x) or torch.get_default_dtype())


@symbolic("zero")
def zero(g: Any, x: Any) -> Any:
    return filled(g, g.op("Shape", x), 0, helper._dtype(x) or torch.get_default_dtype())


@symbolic("tensor", "scalar_tensor", "as_tensor")
def tensor(g: Any, data: Any, *args: Any) -> Any:
    dtype = dtype_of(g, named(g, (data, *args)).get("dtype"), None)
    if helper._is_packed_list(data):
        items = helper._unpack_list(data)
        dtype = dtype or (_natural(items[0]) if items else torch.get_default_dtype())
        if not items:
            return g.constant(torch.zeros([0], dtype=dtype))
        parts = [helper._unsqueeze_helper(g, tensor_of(g, i, dtype), [0]) for i in items]
        return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=0)
    return tensor_of(g, data, dtype or _natural(data))


def tensor_of(g: Any, value: Any, dtype: Any) -> Any:
    """A number as a tensor of an element type."""
    if helper._is_packed_list(value):
        value = helper._list_as_tensor(g, value)
    return value if helper._dtype(value) == dtype else g.cast(value, dtype)


# ---- ranges ----


@symbolic("arange", since=9)
def arange(g: Any, *args: Any) -> Any:
    given = named(g, args)
    start, end, step = given.get("start"), given["end"], given.get("step")
    bounds = [v if v is not None else g.constant(n) for v, n in ((start, 0), (end, 0), (step, 1))]
    floats = any(helper._is_fp(b) for b in bounds)
    dtype = dtype_of(g, given.get("dtype"), torch.get_default_dtype() if floats else torch.int64)
    if g.opset < 11:
        return _counted(g, bounds, dtype)
    inner = torch.float32 if floats and not dtype.is_floating_point else torch.int64 if dtype not in _RANGES else dtype
    made = g.op("Range", *(g.cast(b, inner) if helper._dtype(b) != inner else b for b in bounds))
    return made if inner == dtype else g.cast(made, dtype)


_RANGES = (torch.float32, torch.float64, torch.int16, torch.int32, torch.int64)


def _counted(g: Any, bounds: list[Any], dtype: Any) -> Any:
    """A range before ONNX has one: the places of ones."""
    if any(helper._is_fp(b) for b in bounds):
        helper._onnx_opset_unsupported("arange of floats", g.opset, 11, bounds[1])
    start, end, step = bounds
    one = g.constant(1)
    count = g.op("Div", g.op("Add", g.op("Sub", end, start), g.op("Sub", step, one)), step)
    ones = g.op("ConstantOfShape", helper._unsqueeze_helper(g, count, [0]), value_t=torch.tensor([1]))
    places = helper._squeeze_helper(g, g.op("NonZero", ones), [0])
    return g.cast(g.op("Add", g.op("Mul", places, step), start), dtype)


@symbolic("linspace", since=11)
def linspace(g: Any, start: Any, end: Any, steps: Any, *args: Any) -> Any:
    dtype = dtype_of(g, named(g, (start, end, steps, *args)).get("dtype"), torch.get_default_dtype())
    start, end = g.cast(start, torch.float64), g.cast(end, torch.float64)
    places = g.op("Range", g.constant(0), steps, g.constant(1))
    gaps = g.op("Sub", steps, g.constant(1))
    step = g.op("Div", g.op("Sub", end, start), g.cast(gaps, torch.float64))
    return g.cast(g.op("Add", g.op("Mul", g.cast(places, torch.float64), step), start), dtype)


@symbolic("eye")
def eye(g: Any, *args: Any) -> Any:
    given = named(g, args)
    sizes = [given["n"], given.get("m", given["n"])]
    dtype = dtype_of(g, given.get("dtype"), torch.get_default_dtype())
    shape = g.op("Concat", *(helper._unsqueeze_helper(g, n, [0]) for n in sizes), axis_i=0)
    return g.op("EyeLike", g.op("ConstantOfShape", shape, value_t=torch.tensor([0], dtype=dtype)))


# ---- random numbers ----


def _random(op: str) -> Callable[..., Any]:
    def export(g: Any, sizes: Any, *args: Any) -> Any:
        given = named(g, (sizes, *args))
        number = int(JitScalarType.from_dtype(dtype_of(g, given.get("dtype"), torch.get_default_dtype())).onnx_type())
        known = helper._maybe_get_const(sizes, "is")
        if isinstance(known, list):
            return g.op(op, shape_i=known, dtype_i=number)
        shaped = g.op("ConstantOfShape", helper._sizes_argument(g, sizes))
        return g.op(f"{op}Like", shaped, dtype_i=number)

    return export


def _random_like(op: str) -> Callable[..., Any]:
    def export(g: Any, x: Any, *args: Any) -> Any:
        dtype = dtype_of(g, named(g, (x, *args)).get("dtype"), helper._dtype(x) or torch.get_default_dtype())
        return g.op(op, x, dtype_i=int(JitScalarType.from_dtype(dtype).onnx_type()))

    return export


for _name, _op in {"rand": "RandomUniform", "randn": "RandomNormal"}.items():
    symbolic(_name)(_random(_op))
    symbolic(f"{_name}_like")(_random_like(f"{_op}Like"))


@symbolic("bernoulli", since=15)
def bernoulli(g: Any, x: Any, *args: Any) -> Any:
    p = named(g, (x, *args)).get("p")
    if p is None or helper._is_none(p):
        return g.op("Bernoulli", x)
    dtype = helper._dtype(x) or torch.get_default_dtype()
    return g.op("Bernoulli", g.op("Expand", g.cast(p, dtype), g.op("Shape", x)))


@symbolic("randint")
def randint(g: Any, *args: Any) -> Any:
    given = named(g, args)
    low, high = (float(helper._get_const(given[n], "i", n)) if n in given else 0.0 for n in ("low", "high"))
    sizes = helper._maybe_get_const(given["size"], "is")
    if isinstance(sizes, list):
        made = g.op("RandomUniform", shape_i=sizes, low_f=low, high_f=high)
    else:
        made = g.op(
            "RandomUniformLike",
            g.op("ConstantOfShape", helper._sizes_argument(g, given["size"])),
            low_f=low,
            high_f=high,
        )
    return g.cast(g.op("Floor", made), dtype_of(g, given.get("dtype"), torch.int64))


@symbolic("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")
def window(g: Any, *args: Any) -> Any:
    """A window is a constant: only its length matters."""
    kind, given = g.original_node.kind()[6:], named(g, args)
    names = ("window_length", "periodic", "alpha", "beta")
    values = {n: helper._number(helper._constant(given[n])) for n in names if n in given}
    if values["window_length"] is NotImplemented:
        helper._onnx_unsupported(f"{kind} whose length is not a constant", args[0])
    dtype = dtype_of(g, given.get("dtype"), torch.get_default_dtype())
    return g.constant(getattr(torch, kind)(int(values.pop("window_length")), dtype=dtype, **values))


@symbolic("multinomial")
@parse_args("v", "i", "b", "v")
def multinomial(g: Any, x: Any, count: int, replacement: bool, generator: Any = None) -> Any:
    if not replacement and count != 1:
        helper._onnx_unsupported("multinomial without replacement", x)
    return g.op("Multinomial", g.op("Log", x), dtype_i=7, sample_size_i=count)


@symbolic("normal")
def normal(g: Any, mean: Any, std: Any, *args: Any) -> Any:
    given = named(g, (mean, std, *args))
    if "size" in given:
        noise = g.op("RandomNormalLike", g.op("ConstantOfShape", helper._sizes_argument(g, given["size"])))
    else:
        noise = g.op("RandomNormalLike", mean if helper._get_tensor_rank(mean) else std)
    return g.op("Add", g.op("Mul", noise, std), mean)
