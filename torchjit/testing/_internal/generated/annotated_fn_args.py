"""annotated_args: the arguments that functions of operators need, with the simple types of C++ that PyTorch gives them."""

from __future__ import annotations

import re
from typing import Any

import torchjit as torch
from torchjit import _native

_TYPES = {
    "Tensor": "Tensor", "Scalar": "Scalar", "int": "int64_t", "SymInt": "int64_t", "float": "double", "bool": "bool", "str": "c10::string_view",
    "ScalarType": "ScalarType", "Layout": "Layout", "Device": "Device", "MemoryFormat": "MemoryFormat", "Generator": "Generator",
}  # fmt: skip


def _simple(kind: str) -> str | None:
    """The type of C++ of a type in a schema."""
    kind = re.sub(r"\([^)]*\)", "", kind).rstrip("?")
    if re.fullmatch(r"(int|SymInt)\[\d*\]", kind):
        return "IntArrayRef"
    if re.fullmatch(r"Tensor\??\[\]", kind):
        return "TensorList"
    return _TYPES.get(kind)


def _needed(schema: str) -> tuple[dict[str, str], ...] | None:
    """The arguments without defaults of a schema, None where one has a type without a simple name."""
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    found, by_name = [], "False"
    for part in re.split(r", (?![^\[]*\])", inside) if inside else []:
        if part == "*":
            by_name = "True"
            continue
        if "=" in part:
            continue
        kind, _, name = part.rpartition(" ")
        simple = _simple(kind)
        if simple is None:
            return None
        found.append({"is_kwarg_only": by_name, "name": "input" if name == "self" else name, "simple_type": simple})
    return tuple(found)


def _annotated() -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for module, prefix in ((torch, ""), (torch.nn.functional, ""), (torch.linalg, "linalg_"), (torch.fft, "fft_"), (torch.special, "special_")):
        for name in dir(module) if module is torch else list(vars(module)):  # others load names late that are no operators
            function = getattr(module, name, None)
            if not isinstance(function, _native.Function) or not (schemas := _native.operator_schemas(f"aten::{prefix}{name}")):
                continue
            needed = next((args for text, runs in schemas if runs and (args := _needed(text)) is not None), None)
            if needed is not None:
                made[function] = needed
    return made


annotated_args = _annotated()
