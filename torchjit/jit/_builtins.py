"""Which Python functions stand for operators in programs."""

from __future__ import annotations

from typing import Any

from torchjit import _lazy, _native
from torchjit.jit import _resolve


def _find_builtin(fn: Any) -> str | None:
    """The operator that a function stands for, None for another function."""
    name = _resolve._python_builtins().get(id(fn))
    if name is None and isinstance(fn, _native.Function):
        name = _native.operator_of_function(fn)
    return name


def _register_builtin(fn: Any, op: str) -> None:
    """Has a function stand for an operator, "aten::name", from now on."""
    _resolve._builtin_ops().append((fn, op))
    _resolve._python_builtins()[id(fn)] = op


def _get_builtin_table() -> dict[int, str]:
    """The operators by the identity of the Python functions that stand for them."""
    return _resolve._python_builtins()


# Where most operators stand as functions: names in torch._C.
NAMESPACES = ("_nn", "_fft", "_linalg", "_special")



def _gen_torch_functional_registered_ops() -> set[Any]:
    """The functions of torch.functional that programs have as operators."""
    from torchjit import functional

    return {getattr(functional, name) for name in ("stft", "istft", "lu", "cdist", "norm", "unique", "unique_consecutive", "tensordot")}


def _is_special_functional_bound_op(fn: Any) -> bool:
    """Whether a function is one of torch.functional that programs have as an operator."""
    return fn in _gen_torch_functional_registered_ops()


def _modules_with_operators() -> tuple[Any, ...]:
    import torchjit
    from torchjit import _operator_modules

    return (torchjit, *(getattr(_operator_modules, namespace) for namespace in NAMESPACES))


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit.backends": "cudnn",
    "torchjit.nn.modules.utils": "_list_with_default _pair _quadruple _single _triple",
}, {
    "_builtin_ops": _resolve._builtin_ops,
    "_builtin_table": _resolve._python_builtins,
    "_functional_registered_ops": _gen_torch_functional_registered_ops,
    "_modules_containing_builtins": _modules_with_operators,
})  # fmt: skip
