"""torch.jit.unsupported_tensor_ops: what tensors have that programs cannot use, as its documentation lists it."""

from __future__ import annotations

import sys
import types
from typing import Any

# What Tensor has for old programs alone.
_OLD = frozenset(("volatile", "resize", "reinforce", "new", "name", "map2_", "has_names", "grad_fn", "resize_as"))


def execWrapper(code: str, glob: Any, loc: Any) -> None:  # noqa: N802
    """Runs a piece of Python."""
    exec(code, glob, loc)


def _gen_unsupported_methods_properties() -> tuple[str, str]:
    """The methods and the properties of tensors that a program has no member for, a line each."""
    import torchjit

    tensor = torchjit.tensor([2])
    methods: list[str] = []
    properties: list[str] = []
    for name in sorted((n for n in dir(torchjit.Tensor) if not n.startswith("_") and n not in _OLD), key=str.lower):
        try:
            torchjit.jit.CompilationUnit(f"def func(x):\n    return x.{name}()\n")
        except Exception as e:
            if "nonexistent attribute" in str(e):
                (methods if callable(getattr(tensor, name)) else properties).append(name)
    return "\n".join(f"\t*  :meth:`~torch.Tensor.{m}`" for m in methods), "\n".join(f"\t*  :attr:`~torch.Tensor.{p}`" for p in properties)


def _list_unsupported_tensor_ops() -> str:
    """The documentation."""
    methods, properties = _gen_unsupported_methods_properties()
    return (
        f"\n\n\nUnsupported Tensor Methods\n{'~' * 29}\n    \n{methods}\n\n"
        f"Unsupported Tensor Properties\n{'~' * 33}\n    \n{properties}"
    )


class _Documented(types.ModuleType):
    """A module whose documentation is made when it is asked for."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return _list_unsupported_tensor_ops()


del globals()["__doc__"]
sys.modules[__name__].__class__ = _Documented
