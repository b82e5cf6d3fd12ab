"""Exported programs as Python with the sizes of tensors."""

from __future__ import annotations

import os
import re
from typing import Any

import torchjit as torch
from torchjit.export._symbolic import SymInt
from torchjit.fx._codegen import _last_uses as codegen_last_uses
from torchjit.fx._codegen import magic_methods

_LIBRARY = os.path.dirname(torch.__file__)

_SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint8": "u8", "bool": "b8", "complex64": "c64", "complex128": "c128",
}  # fmt: skip


def annotation(value: Any, strides: bool = False, device: bool = False) -> str:
    """What a node gives, in brief: f32[2, 3], f32[2, 3][3, 1]cpu; "" where nothing is known."""
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        text = f"{_SHORT.get(name, name)}[{', '.join(str(n) for n in value.shape)}]"
        if strides:
            text += f"[{', '.join(str(n) for n in value.stride())}]"
        return text + str(value.device) if device else text
    if isinstance(value, SymInt):
        return f"Sym({value})"
    return ""


def _annotated(name: str, value: Any, *also: bool) -> str:
    text = annotation(value, *also)
    return f'{name}: "{text}"' if text else name


def _place(trace: str | None) -> str:
    """The innermost frame of a traceback that is not the library's as a comment; "" where there is none."""
    found = re.findall(r'File "(.*)", line (\d+), in (.*)\n\s*(.*)', trace or "")
    if not found:
        return ""
    own = [frame for frame in found if not frame[0].startswith(_LIBRARY)]
    file, line, name, code = (own or found)[-1]
    return f"# File: {file}:{line} in {name}, code: {code}"


def readable(module: Any, name: str, *also: bool) -> str:
    """A class with the forward of a graph, and the classes of the graphs in it; also with strides, also with devices."""
    nodes = list(module.graph.nodes)
    inputs = [_annotated(n.name, n.meta.get("val"), *also) for n in nodes if n.op == "placeholder"]
    lines = [f"class {name}(torch.nn.Module):", f"    def forward({', '.join(['self', *inputs])}):"]
    last = _last_uses(nodes)
    place = ""
    for n in nodes:
        if n.op == "placeholder":
            continue
        now = _place(n.meta.get("stack_trace"))
        if n.op == "call_function" and now and now != place:
            place = now
            if lines[-1] and not lines[-1].endswith("):"):
                lines.append("")
            lines.append("         " + now)
        lines.append("        " + _statement(n, last.get(n, []), *also))
    for n in nodes:
        inner = getattr(module, n.target, None) if n.op == "get_attr" else None
        if inner is not None and hasattr(inner, "graph"):
            lines += ["", *("    " + line if line else line for line in readable(inner, n.target, *also).rstrip("\n").split("\n"))]
    return "\n".join(lines) + ("\n" if not lines[-1].endswith("\n") else "")


def _last_uses(nodes: list[Any]) -> dict[Any, list[Any]]:
    """For each node those that are used for the last time in it, and itself where nothing uses it."""
    last = codegen_last_uses(nodes)
    for n in nodes:
        if n.op in ("call_function", "get_attr") and not n.users:
            last.setdefault(n, []).append(n)
    return last


def _statement(n: Any, ending: list[Any], *also: bool) -> str:
    if n.op == "output":
        return f"return {_argument(n.args[0])}"
    left = _annotated(n.name, n.meta.get("val"), *also)
    if n.op == "get_attr":
        text = f"{left} = self.{n.target}"
    else:
        given = [_argument(a) for a in n.args] + [f"{k} = {_argument(a)}" for k, a in n.kwargs.items()]
        text = f"{left} = {target_text(n.target)}({', '.join(given)})"
        if getattr(n.target, "__module__", "") == "_operator" and n.target.__name__ in magic_methods:
            text = f"{left} = {magic_methods[n.target.__name__].format(*map(_argument, n.args))}"
    if ending:
        text += ";  " + " = ".join(u.name for u in ending) + " = None"
    return text


def target_text(target: Any) -> str:
    """What is called, as Python names it."""
    from torchjit._ops import OpOverload

    if isinstance(target, OpOverload):
        return f"torch.ops.{target}"
    if getattr(target, "__module__", "") in ("_operator", "operator"):
        return f"operator.{target.__name__}"
    return str(target) if getattr(target, "namespace", "") == "higher_order" else f"torch.{getattr(target, '__name__', target)}"


def _argument(x: Any) -> str:
    if hasattr(x, "op") and hasattr(x, "name"):
        return str(x.name)
    if isinstance(x, tuple):
        return "(" + ", ".join(_argument(i) for i in x) + ("," if len(x) == 1 else "") + ")"
    if isinstance(x, list):
        return "[" + ", ".join(_argument(i) for i in x) + "]"
    return repr(x)
