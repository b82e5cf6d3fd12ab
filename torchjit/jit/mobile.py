"""Modules that were saved for PyTorch's lite interpreter (.ptl): they are loaded from the program that such archives hold as well.

What is not here: writing bytecode (`_save_for_lite_interpreter`) and rewriting it for older versions (`_backport_for_mobile`).
"""

from __future__ import annotations

import io
import os
import pickle
from typing import Any, NamedTuple

from torchjit.jit._records import PyTorchFileReader
from torchjit.jit._serialization import check_path, load, validate_map_location


class LiteScriptModule:
    """A module that was saved for the lite interpreter."""

    def __init__(self, cpp_module: Any) -> None:
        self._c = cpp_module

    def __call__(self, *input: Any) -> Any:
        return self.forward(*input)

    def find_method(self, method_name: str) -> bool:
        """Whether the module has a method of that name."""
        return self._c._has_method(method_name)

    def forward(self, *input: Any) -> Any:
        """Calls the method forward."""
        return self.run_method("forward", *input)

    def run_method(self, method_name: str, *input: Any) -> Any:
        """Calls a method. Raises RuntimeError where there is none of that name."""
        return self._c._get_method(method_name)(*input)


class OperatorInfo(NamedTuple):
    """How a module calls an operator: with how many of its arguments, None where the archive does not say."""

    num_schema_args: int | None


class _Plain(pickle.Unpickler):
    """Reads a pickle of tuples, lists, strings and numbers: anything else stands as None, and nothing is called."""

    def find_class(self, module: str, name: str) -> Any:
        return _nothing

    def persistent_load(self, pid: Any) -> None:
        return None


def _nothing(*args: Any) -> None:
    return None


def _source(f_input: Any) -> Any:
    """The path, or the bytes of a file. Raises ValueError for a path that is no file."""
    if not isinstance(f_input, (str, os.PathLike)):
        return io.BytesIO(f_input.read())
    check_path(f_input)
    return f_input


def _bytecode(f_input: Any) -> tuple[Any, ...]:
    """(version, (name of a function, its code, its schema), ...) of an archive. Raises RuntimeError where it has none."""
    record = PyTorchFileReader(_source(f_input)).get_record("bytecode.pkl")
    try:
        found = _Plain(io.BytesIO(record)).load()
    except Exception as e:
        raise RuntimeError(f"the record bytecode.pkl cannot be read: {e}") from e
    if not isinstance(found, tuple) or not found or not isinstance(found[0], int):
        raise RuntimeError("the record bytecode.pkl has no version")
    return found


def _load_for_lite_interpreter(f: Any, map_location: Any = None) -> LiteScriptModule:
    """The module in an archive that was saved for the lite interpreter: a path or a binary file.

    Raises ValueError for a path that is no file, RuntimeError for an archive without bytecode.
    """
    location = validate_map_location(map_location)
    source = _source(f)
    if not PyTorchFileReader(source).has_record("bytecode.pkl"):
        raise RuntimeError("PytorchStreamReader failed locating file bytecode.pkl: file not found ()")
    if isinstance(source, io.BytesIO):
        source.seek(0)
    return LiteScriptModule(load(source, location)._c)


def _get_model_bytecode_version(f_input: Any) -> int:
    """The version of the bytecode in an archive."""
    return _bytecode(f_input)[0]


def _get_model_ops_and_info(f_input: Any) -> dict[str, OperatorInfo]:
    """The operators that the functions in an archive call, by name and overload."""
    found: dict[str, OperatorInfo] = {}
    for function in _bytecode(f_input)[1:]:
        for name, overload, *count in dict(function[1]).get("operators", ()):
            found[f"{name}.{overload}" if overload else name] = OperatorInfo(count[0] if count else None)
    return found


def _export_operator_list(module: LiteScriptModule) -> set[str]:
    """The names of the operators that a module's methods call, with their overloads."""
    from torchjit.jit import export_opnames
    from torchjit.jit._module import python_side

    return set(export_opnames(python_side(module._c)))
