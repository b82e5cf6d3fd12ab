"""Modules for PyTorch's lite interpreter (.ptl): archives that hold bytecode beside the program.

They are written with the bytecode that PyTorch writes, and read by the program.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torchjit import _native
from torchjit._archive import ReplacedFile
from torchjit._unpickler import Rule, Unpickler
from torchjit.jit import _serialization
from torchjit.jit._records import PyTorchFileReader
from torchjit.jit._serialization import check_path, load, save_to_buffer_for_lite_interpreter, validate_map_location
from torchjit.jit._serialization import enable_interface_calls as _enable_mobile_interface_call_export


class LiteScriptModule:
    """A module that was saved for the lite interpreter."""

    def __init__(self, cpp_module: Any) -> None:
        self._c = cpp_module

    def __call__(self, *input: Any) -> Any:
        return self._c.forward(input)

    def find_method(self, method_name: str) -> bool:
        """Whether the module has a method of that name."""
        return self._c.find_method(method_name)

    def forward(self, *input: Any) -> Any:
        """Calls the method forward."""
        return self._c.forward(input)

    def run_method(self, method_name: str, *input: Any) -> Any:
        """Calls a method. Raises RuntimeError where there is none of that name."""
        return self._c.run_method(method_name, input)


class _CLiteScriptModule:
    """torch._C.LiteScriptModule: the module under the other, whose arguments come as a tuple."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def find_method(self, method_name: str) -> bool:
        """Whether the module has a method of that name."""
        return self._module._has_method(method_name)

    def forward(self, input: Any) -> Any:
        """Calls the method forward, of which there may be overloads."""
        if not self.find_method("forward") and self.find_method("forward__0"):
            from torchjit.jit._module import _Overloads, _overloads_of_forward

            return _Overloads(list(_overloads_of_forward(self._module)))(*input)
        return self.run_method("forward", input)

    def run_method(self, method_name: str, input: Any) -> Any:
        """Calls a method. Raises RuntimeError where there is none of that name."""
        return self._module._get_method(method_name)(*input)


_CLiteScriptModule.__name__ = _CLiteScriptModule.__qualname__ = "LiteScriptModule"
_CLiteScriptModule.__module__ = "torchjit._C"


class OperatorInfo(NamedTuple):
    """How a module calls an operator: with how many of its arguments, None where the archive does not say."""

    num_schema_args: int | None


def _plain(record: bytes) -> Any:
    """The tuples, lists, strings and numbers of a pickle: anything else stands as None, and nothing is called."""
    return Unpickler(io.BytesIO(record), lambda module, name: _NOTHING, _nothing).load()


def _nothing(*args: Any) -> None:
    return None


_NOTHING = Rule(None, call=_nothing, new=_nothing, build=_nothing)


def _source(f_input: Any) -> Any:
    """The path of an archive, or a file over its bytes: what a FlatBuffer says. Raises ValueError for a path that is no file."""
    if isinstance(f_input, (str, os.PathLike)):
        check_path(f_input)
        with open(f_input, "rb") as file:
            if file.read(8)[4:] != b"PTMF":
                return f_input
    return io.BytesIO(_native.archive_of_flatbuffer(_content(f_input)))


def _bytecode(f_input: Any) -> tuple[Any, ...]:
    """(version, (name of a function, its code, its schema), ...) of an archive. Raises RuntimeError where it has none."""
    record = PyTorchFileReader(_source(f_input)).get_record("bytecode.pkl")
    try:
        found = _plain(record)
    except Exception as e:
        raise RuntimeError(f"the record bytecode.pkl cannot be read: {e}") from e
    if not isinstance(found, tuple) or not found or not isinstance(found[0], int):
        raise RuntimeError("the record bytecode.pkl has no version")
    return found


def _content(f_input: Any) -> bytes:
    if not isinstance(f_input, (str, os.PathLike)):
        return f_input.read()
    check_path(f_input)
    with open(f_input, "rb") as file:
        return file.read()


# ---- reading ----


def _load_for_lite_interpreter(f: Any, map_location: Any = None) -> LiteScriptModule:
    """The module in an archive that was saved for the lite interpreter: a path or a binary file.

    Raises ValueError for a path that is no file, RuntimeError for an archive without bytecode.
    """
    return LiteScriptModule(_load(f, map_location))


def _load(source: Any, map_location: Any = None) -> _CLiteScriptModule:
    location = validate_map_location(map_location)
    source = _source(source)
    if not PyTorchFileReader(source).has_record("bytecode.pkl"):
        raise RuntimeError("PytorchStreamReader failed locating file bytecode.pkl: file not found ()")
    if isinstance(source, io.BytesIO):
        source.seek(0)
    return _CLiteScriptModule(load(source, location)._c)


def _nn_module_to_mobile(module: Any) -> _CLiteScriptModule:
    """A module of the library as it is after it has been saved for the lite interpreter."""
    return _load(io.BytesIO(save_to_buffer_for_lite_interpreter(module)))


def _get_model_bytecode_version(f_input: Any) -> int:
    """The version of the bytecode in an archive."""
    return _bytecode(f_input)[0]


def _tables(f_input: Any, name: str, is_item: Callable[[Any], bool]) -> Iterator[Any]:
    """The items of the tables of a name in all functions of an archive. Raises RuntimeError where they are none that `is_item` knows."""
    for function in _bytecode(f_input)[1:]:
        match function:
            case (str(), tuple(tables), *_) if all(isinstance(t, tuple) and len(t) == 2 for t in tables):
                items = next((items for key, items in tables if key == name), ())
            case _:
                raise RuntimeError(f"the record bytecode.pkl has what is no function: expected a name and tables, but found {str(function)[:80]}")
        if not isinstance(items, tuple) or not all(map(is_item, items)):
            raise RuntimeError(f"the record bytecode.pkl has a table of {name} that is none: {str(items)[:80]}")
        yield from items


def _is_operator(item: Any) -> bool:
    match item:
        case (str(), str()) | (str(), str(), int()):
            return True
    return False


def _get_model_ops_and_info(f_input: Any) -> dict[str, OperatorInfo]:
    """The operators that the functions in an archive call, by name and overload."""
    return {
        f"{name}.{overload}" if overload else name: OperatorInfo(count[0] if count else None)
        for name, overload, *count in _tables(f_input, "operators", _is_operator)
    }


def _get_mobile_model_contained_types(f_input: Any) -> set[str]:
    """The names that the types in the bytecode of an archive consist of, without those of the program's classes."""
    found: set[str] = set()
    for text in _tables(f_input, "types", lambda item: isinstance(item, str)):
        text = re.sub(r"\[(?!NamedTuple)\w+, ", "[", text) if "[NamedTuple," in text else text
        names = re.findall(r"[\w.]+", text)
        found.update(name for name in names if not name.startswith("__torch__.") or name.startswith("__torch__.torch.classes."))
    return found


def _export_operator_list(module: Any) -> set[str]:
    """The names of the operators that a module's methods call, with their overloads."""
    c = module if isinstance(module, _CLiteScriptModule) else module._c
    return set(_native.bytecode_operators(c._module))


# ---- older versions ----


def _backport(content: bytes, to_version: int) -> bytes:
    """An archive's program with bytecode of an older version; b"" where that is not older, or older than all that are known."""
    content = _native.archive_of_flatbuffer(content)
    if not 4 <= to_version < _get_model_bytecode_version(io.BytesIO(content)):
        return b""
    reader = PyTorchFileReader(io.BytesIO(content))
    extra = {
        name.removeprefix("extra/"): reader.get_record(name) for name in reader.get_all_records() if name.startswith("extra/")
    }
    return _native.save_lite_to_bytes(load(content)._c, extra, to_version, False, _serialization.interface_calls)


def _backport_for_mobile(f_input: Any, f_output: Any, to_version: int) -> bool:
    """Writes the archive f_input (a path or a binary file) with bytecode of an older version, 4 or newer, to f_output.

    Returns whether it could: False where the archive has that version or an older one. Raises ValueError for a path that is no file.
    """
    made = _backport(_content(f_input), to_version)
    if not made:
        return False
    if isinstance(f_output, (str, os.PathLike)):
        with ReplacedFile(f_output) as file:
            file.write(made)
    else:
        f_output.write(made)
    return True


def _backport_for_mobile_to_buffer(f_input: Any, to_version: int) -> bytes:
    """The bytes that _backport_for_mobile writes, b"" where it writes none."""
    return _backport(_content(f_input), to_version)


def _get_model_extra_files(f_input: Any, extra_files: dict[str, Any] | None = None) -> dict[str, Any]:
    """The extra files of an archive by name: all, or those that are keys of extra_files."""
    reader = PyTorchFileReader(_source(f_input))
    names = [name.removeprefix("extra/") for name in reader.get_all_records() if name.startswith("extra/")]
    return {name: reader.get_record("extra/" + name) for name in names if not extra_files or name in extra_files}


def _members() -> dict[str, Any]:
    """The functions of torch._C: those of this module for a path or for bytes."""
    found: dict[str, Any] = {"LiteScriptModule": _CLiteScriptModule, "OperatorInfo": OperatorInfo}
    f: Any
    for f in (_get_model_bytecode_version, _get_model_ops_and_info, _get_mobile_model_contained_types, _get_model_extra_files):
        found[f.__name__], found[f.__name__ + "_from_buffer"] = f, _of_bytes(f)
    for f in (_backport_for_mobile, _backport_for_mobile_to_buffer):
        found[f.__name__] = f
    found["_backport_for_mobile_from_buffer"] = _of_bytes(_backport_for_mobile)
    found["_backport_for_mobile_from_buffer_to_buffer"] = _of_bytes(_backport_for_mobile_to_buffer)
    found["_load_for_lite_interpreter"] = lambda path, map_location=None: _load(_there(path), map_location)
    found["_load_for_lite_interpreter_from_buffer"] = lambda data, map_location=None: _load(io.BytesIO(data), map_location)
    for f in (_export_operator_list, _nn_module_to_mobile):
        found[f.__name__] = f
    found["_enable_mobile_interface_call_export"] = _enable_mobile_interface_call_export
    return found


def _there(path: Any) -> Any:
    """The path of a file. Raises RuntimeError where there is none."""
    if not os.path.exists(path):
        raise RuntimeError(f"open file failed because of errno 2 on fopen: , file path: {os.fspath(path)}")
    return path


def _of_bytes(f: Any) -> Any:
    def call(data: bytes, *args: Any) -> Any:
        return f(io.BytesIO(data), *args)

    call.__name__ = call.__qualname__ = f.__name__ + "_from_buffer"
    call.__doc__ = f"torch._C.{f.__name__} of an archive's bytes."
    return call
