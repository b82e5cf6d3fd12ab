"""Whether torch.jit compiles at all. PYTORCH_JIT=0 in the environment leaves everything to Python."""

from __future__ import annotations

import enum
import os
from typing import Any

from torchjit import _lazy


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

    name = _resolve.known_name(python_class) if isinstance(python_class, type) else None
    if name is None or issubclass(python_class, (enum.Enum, tuple)) or getattr(python_class, "__torch_script_interface__", False):
        return None
    return _C.ClassType(name)


def _get_python_class(qualified_name: str) -> Any:
    """The Python class that a class of the program was made from, None where there is none."""
    from torchjit.jit import _resolve

    return next((cls for cls, name in _resolve._names.items() if name == qualified_name), None)


def _clear_class_state() -> None:
    """Has classes be compiled again where a program names them; programs that have been compiled keep theirs."""
    from torchjit.jit import _resolve

    _resolve.forget_classes()


def _add_script_class(python_class: Any, script_class: Any) -> None:
    """Makes a class of the program that of a Python class."""
    from torchjit.jit import _resolve

    _resolve._names[python_class] = script_class.qualified_name()
    _resolve._forgotten.discard(python_class)


def _try_get_jit_cached_overloads(key: Any) -> Any:
    """The compiled forms of a function that is declared with several signatures, None where they are not all compiled yet."""
    from torchjit import _jit_internal
    from torchjit.jit import _script

    declarations = _jit_internal.overloads_of(key) or []
    found = [_script._compiled.get(declaration) for declaration in declarations]
    return found if found and None not in found else None


def _set_jit_overload_cache(key: Any, compiled_fns: list[Any]) -> None:
    """Makes compiled functions those of a function that is declared with several signatures, in the order of these."""
    from torchjit import _jit_internal
    from torchjit.jit import _script

    for declaration, compiled in zip(_jit_internal.overloads_of(key) or [], compiled_fns, strict=True):
        _script._compiled[declaration] = compiled


def _classes() -> dict[Any, Any]:
    """The classes of the program by the Python classes that they were made from."""
    from torchjit.jit import _resolve

    return {cls: made for cls in list(_resolve._names) if (made := _get_script_class(cls)) is not None}


def _python_classes() -> dict[str, Any]:
    """The Python classes that classes of the program were made from, by the names of these."""
    from torchjit.jit import _resolve

    return {qualified: cls for cls, qualified in _resolve._names.items() if cls not in _resolve._forgotten}


def _unit() -> Any:
    from torchjit import _C
    from torchjit.jit import _script
    from torchjit.jit._script import CompilationUnit

    class Program(CompilationUnit):
        """All functions that the process compiled, besides those that were defined in the unit itself."""

        def find_function(self, name: str) -> Any:
            return super().find_function(name) or _C._find_function(name)

        def get_functions(self) -> list[Any]:
            return [*super().get_functions(), *_script._compiled.values()]

    Program.__name__ = CompilationUnit.__name__
    made = globals()["_python_cu"] = Program()
    return made


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(
    __name__,
    {"torchjit.jit._script": "_jit_caching_layer=_compiled"},  # the compiled forms by function; without its entry a function is compiled anew
    {"_name_to_pyclass": _python_classes, "_python_cu": _unit, "_script_classes": _classes},
)
