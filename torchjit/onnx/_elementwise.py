"""The export of elementwise operators that have no symbolic function: their records say what becomes of an element, step by step, and each
step is exported as the operator that does the same."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import torchjit as torch
from torchjit import _C
from torchjit.onnx import _infer, _registry

# The operators that do what steps do, where those have other names.
_OPERATORS = {"div": "true_divide", "floordiv": "floor_divide", "rem": "fmod", "mod": "remainder", "min": "minimum", "max": "maximum", "select": "where"}
_LOGICAL = {"add": "logical_or", "mul": "logical_and", "not": "logical_not", "and": "logical_and", "or": "logical_or", "xor": "logical_xor"}

# Steps that are not those of one operator.
_OTHERS = {"load", "const", "convert", "fma", "complex", "real", "imag"}


class Step(NamedTuple):
    """A line of a kernel's text: words are the values that are computed with, by their names."""

    name: str
    dtype: Any
    op: str
    words: list[str]

    @property
    def operator(self) -> str:
        """The operator of ATen that does the same."""
        names = _LOGICAL if self.dtype == torch.bool and self.op in _LOGICAL else _OPERATORS
        return "aten::" + names.get(self.op, self.op)


class Form(NamedTuple):
    """An elementwise operator as steps: reads are the inputs of the node that those of the kernel are, result stores the last value."""

    steps: list[Step]
    result: Step
    reads: list[int]


def form_of(node: Any, opset: int) -> Form | None:
    """The steps of a node, None where it is no elementwise operator or a step has no form in ONNX."""
    text, reads = _C._elementwise_kernel(node)
    steps = []
    for line in text.splitlines():
        name, _, dtype, _, op, *words = line.split()
        steps.append(Step(name, getattr(torch, dtype), op, words))
    if not steps:
        return None
    result = steps.pop()
    types = {s.name: s.dtype for s in steps}
    for s in steps:
        parts_of_complex = s.op in ("real", "imag", "abs") and types[s.words[0]].is_complex
        if s.dtype.is_complex and s.op != "complex" or any(types[w].is_complex for w in s.words if w in types) and not parts_of_complex:
            return None
        if s.op not in _OTHERS and not parts_of_complex and _registry.find(s.operator, opset) is None:
            return None
    return None if result.dtype.is_complex else Form(steps, result, reads)


def export(g: Any, form: Form, inputs: list[Any]) -> Any:
    """What a node of such a form becomes. g is the context of the node; inputs are what its inputs have become."""
    made: dict[str, Any] = {}
    for s in form.steps:
        if s.op == "load":
            made[s.name] = _as(g, inputs[form.reads[int(s.words[0].removeprefix("in"))]], s.dtype)
        elif s.op == "const":
            made[s.name] = g.constant(_number(s.words, s.dtype), s.dtype)
        else:
            made[s.name] = _value(g, s, [made[w] for w in s.words])
    return _as(g, made[form.result.op], form.result.dtype)


def _value(g: Any, step: Step, args: list[Any]) -> Any:
    """The value of a step, a pair of values where that is complex."""
    match step.op:
        case "complex":
            return args[0], args[1]
        case "real":
            return args[0][0]
        case "imag":
            return args[0][1]
        case "abs" if isinstance(args[0], tuple):
            return _magnitude(g, *args[0])
        case "convert":
            return _as(g, args[0], step.dtype)
        case "fma":
            return g.op("Add", g.op("Mul", args[0], args[1]), args[2])
        case "div" if not step.dtype.is_floating_point:
            return g.op("Div", *args)
    return _operator(step.operator, g.opset)(g, *args)


def _operator(name: str, opset: int) -> _registry.Function:
    function = _registry.find(name, opset)
    assert function is not None, name
    return function


def _magnitude(g: Any, real: Any, imag: Any) -> Any:
    """The magnitude of a complex number, with the longer side as a factor: squares of the sides would be infinite or zero before it is."""
    sides = [g.op("Abs", part) for part in (real, imag)]
    longer, shorter = g.op("Max", *sides), g.op("Min", *sides)
    dtype = _infer.info(longer)[0]
    one = g.constant(1.0, dtype)
    nothing = _operator("aten::eq", g.opset)(g, longer, g.constant(0.0, dtype))
    ratio = g.op("Div", shorter, g.op("Where", nothing, one, longer))
    return g.op("Mul", longer, g.op("Sqrt", g.op("Add", one, g.op("Mul", ratio, ratio))))


def _as(g: Any, value: Any, dtype: Any) -> Any:
    return value if _infer.info(value)[0] == dtype else g.cast(value, dtype)


def _number(words: list[str], dtype: Any) -> Any:
    """The constant that a kernel's text has: a number, or the bits of one."""
    if words[0] == "bits":
        size, kind = ("<I", "<f") if dtype == torch.float32 else ("<Q", "<d")
        return struct.unpack(kind, struct.pack(size, int(words[1], 16)))[0]
    if dtype == torch.bool:
        return words[0] == "true"
    return float(words[0]) if dtype.is_floating_point else int(words[0])
