"""Whether torch.jit compiles at all. PYTORCH_JIT=0 in the environment leaves everything to Python."""

from __future__ import annotations

import os
from typing import Any


class EnabledProxy:
    """A switch. As a condition it is true where functions and modules are compiled."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("PYTORCH_JIT", "1") != "0"

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()


def enable() -> None:
    """Compiles from now on."""
    _enabled.enabled = True


def disable() -> None:
    """Leaves functions and modules to Python from now on."""
    _enabled.enabled = False


def _try_get_jit_cached_function(key: Any) -> Any:
    """The compiled form of a Python function that has been compiled, None of another."""
    from torchjit.jit import _script

    return _script._compiled.get(getattr(key, "__original_fn", key))


def _set_jit_function_cache(key: Any, value: Any) -> None:
    """Makes a compiled function that of a Python function."""
    from torchjit.jit import _script

    _script._compiled[key] = value


def _get_script_class(python_class: Any) -> Any:
    """The class of the program that was made from a Python class, None where there is none."""
    from torchjit import _C
    from torchjit.jit import _resolve

    name = _resolve._names.get(python_class)
    return None if name is None else _C.ClassType(name)


def _get_python_class(qualified_name: str) -> Any:
    """The Python class that a class of the program was made from, None where there is none."""
    from torchjit.jit import _resolve

    return next((cls for cls, name in _resolve._names.items() if name == qualified_name), None)


def _clear_class_state() -> None:
    """Does nothing: a class goes when no program uses it any more."""


def __getattr__(name: str) -> Any:
    if name == "_python_cu":
        from torchjit.jit._script import CompilationUnit

        made = globals()["_python_cu"] = CompilationUnit()
        return made
    raise AttributeError(f"module 'torch.jit._state' has no attribute '{name}'")
