"""A compiled module as text: its parameters, attributes, methods and submodules."""

from __future__ import annotations

from typing import Any

from torchjit import _C, _native


def module_text(c: Any, print_method_bodies: bool, print_attr_values: bool, print_param_values: bool) -> str:
    """The text of a module of the library, with what is left out where it is not asked for."""
    return "\n".join(_lines(c, print_method_bodies, print_attr_values, print_param_values)) + "\n"


def _indented(lines: list[str], by: str = "  ") -> list[str]:
    return [by + line for line in lines]


def _lines(c: Any, bodies: bool, attributes: bool, parameters: bool) -> list[str]:
    slots = _native.module_slots(c)
    lines = [f"module {_native.module_class_name(c)} {{", "  parameters {"]
    lines += _slot_lines(c, [n for n, kind in slots if kind == "parameter"], parameters)
    lines += ["  }", "  attributes {"]
    for name, _ in slots:
        lines += _slot_lines(c, [name], attributes)
    lines += ["  }", "  methods {"]
    for name in _native.module_method_names(c):
        lines.append(f"    method {name} {{")
        if bodies:
            lines += _indented(str(_native.module_method(c, name).graph).split("\n"), "      ")[:-1] + ["  "]
        lines.append("    }")
    lines += ["  }", "  submodules {"]
    for name, kind in slots:
        if kind == "module":
            lines += _indented(_lines(_native.module_get(c, name), bodies, attributes, parameters), "    ")
    return [*lines, "  }", "}"]


def _slot_lines(c: Any, names: list[str], values: bool) -> list[str]:
    lines = []
    for name in names:
        value = _native.module_get(c, name)
        if isinstance(value, _native.TensorBase) and not values:
            lines.append(f"    {name} = ...")
        else:
            lines += _indented(f"{name} = {_value_text(value)}".split("\n"), "    ")
    return lines


def _value_text(value: Any) -> str:
    if isinstance(value, _C.ScriptModule):
        return f"<{_native.module_class_name(value)} object at {hex(id(value))}>"
    return _C._stream_text(value)
