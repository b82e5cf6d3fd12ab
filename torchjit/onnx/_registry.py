"""Which function exports which operator: those of torchjit.onnx._symbolics and those of the user."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from torchjit.onnx import errors

Function = Callable[..., Any]


class Symbolic(NamedTuple):
    """How an operator is exported from an opset version on."""

    function: Function
    since: int


_builtin: dict[str, Symbolic] = {}
_custom: dict[str, dict[int, Function]] = {}
_loaded = False


def symbolic(*names: str, since: int = 9) -> Callable[[Function], Function]:
    """A decorator of the function that exports operators; names without a namespace are of aten. It is called with the graph's context
    and the operator's arguments in the order of its schema."""

    def register(function: Function) -> Function:
        for name in names:
            full = name if "::" in name else "aten::" + name
            assert full not in _builtin, full
            _builtin[full] = Symbolic(function, since)
        return function

    return register


def _load() -> None:
    """Imports every family once."""
    global _loaded
    if not _loaded:
        from torchjit.onnx import _symbolics

        for module in pkgutil.iter_modules(_symbolics.__path__):
            importlib.import_module(f"torchjit.onnx._symbolics.{module.name}")
        _loaded = True


def find(name: str, opset: int) -> Function | None:
    """The function that exports an operator ("aten::relu") at an opset version: the user's latest one that is not later, or ours."""
    _load()
    given = [version for version in _custom.get(name, ()) if version <= opset]
    if given:
        return _custom[name][max(given)]
    ours = _builtin.get(name)
    return ours.function if ours and ours.since <= opset else None


def since(name: str) -> int | None:
    """The least opset version at which an operator is exported, None where there is none."""
    _load()
    versions = list(_custom.get(name, ()))
    if name in _builtin:
        versions.append(_builtin[name].since)
    return min(versions, default=None)


def names() -> list[str]:
    """The operators that are exported."""
    _load()
    return sorted({*_builtin, *_custom})


def verify_name(symbolic_name: str) -> None:
    """Raises OnnxExporterError for what is no "domain::name"."""
    if not re.match(r"^[a-zA-Z0-9-_]*::[a-zA-Z-_]+[a-zA-Z0-9-_]*$", symbolic_name):
        raise errors.OnnxExporterError(
            f"Failed to register operator {symbolic_name}. The symbolic name must match the format domain::name, "
            "and should start with a letter and contain only alphanumerical characters"
        )


def register(symbolic_name: str, symbolic_fn: Function, opset_version: int) -> None:
    """Has a function of the user export an operator from an opset version on."""
    verify_name(symbolic_name)
    _custom.setdefault(symbolic_name, {})[opset_version] = symbolic_fn


def unregister(symbolic_name: str, opset_version: int) -> None:
    """Forgets what register was given."""
    verify_name(symbolic_name)
    _custom.get(symbolic_name, {}).pop(opset_version, None)
