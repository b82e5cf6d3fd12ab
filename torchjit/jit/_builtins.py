"""Which Python functions stand for operators in programs."""

from __future__ import annotations

from typing import Any

from torchjit import _native
from torchjit.jit import _resolve


def _find_builtin(fn: Any) -> str | None:
    """The operator that a function stands for, None for another function."""
    name = _resolve._python_builtins().get(id(fn))
    if name is None and isinstance(fn, _native.Function):
        name = _native.operator_of_function(fn)
    return name


def _register_builtin(fn: Any, op: str) -> None:
    """Has a function stand for an operator, "aten::name", from now on."""
    _kept.append(fn)
    _resolve._python_builtins()[id(fn)] = op


_kept: list[Any] = []


def _get_builtin_table() -> dict[int, str]:
    """The operators by the identity of the Python functions that stand for them."""
    return _resolve._python_builtins()


# Where most operators stand as functions: names in torch._C.
NAMESPACES = ("_nn", "_fft", "_linalg", "_special")


def __getattr__(name: str) -> Any:
    if name == "_modules_containing_builtins":
        import torchjit
        from torchjit import _operator_modules

        return (torchjit, *(getattr(_operator_modules, namespace) for namespace in NAMESPACES))
    raise AttributeError(f"module 'torch.jit._builtins' has no attribute '{name}'")
