"""torch._C_flatbuffer: modules of the library in PyTorch's mobile format as FlatBuffers."""

from __future__ import annotations

import io
import os
from typing import Any

from torchjit import _native
from torchjit._archive import ReplacedFile
from torchjit.jit import _serialization, mobile


def _save_jit_module_to_bytes(module: Any, extra_files: dict[str, Any]) -> bytes:
    """The FlatBuffer of a module. Raises RuntimeError where methods need what the lite interpreter lacks."""
    return _native.save_flatbuffer(module, dict(extra_files), _serialization.interface_calls)


def _save_jit_module(module: Any, filename: str, extra_files: dict[str, Any]) -> None:
    """Writes the FlatBuffer of a module to a file."""
    made = _save_jit_module_to_bytes(module, extra_files)
    with ReplacedFile(filename) as file:
        file.write(made)


def _save_mobile_module_to_bytes(module: Any, extra_files: dict[str, Any]) -> bytes:
    """The FlatBuffer of a module that was loaded for the lite interpreter."""
    return _save_jit_module_to_bytes(module._module, extra_files)


def _save_mobile_module(module: Any, filename: str, extra_files: dict[str, Any]) -> None:
    """Writes the FlatBuffer of a module that was loaded for the lite interpreter to a file."""
    _save_jit_module(module._module, filename, extra_files)


def _load_jit_module_from_bytes(data: bytes) -> Any:
    """The module in a FlatBuffer. Raises RuntimeError for anything else."""
    if data[4:8] != b"PTMF":
        raise RuntimeError("Format error")
    return _serialization.load(data)._c


def _load_jit_module_from_file(filename: str) -> Any:
    """The module in a file that holds a FlatBuffer."""
    with open(filename, "rb") as file:
        return _load_jit_module_from_bytes(file.read())


def _load_mobile_module_from_bytes(data: bytes) -> Any:
    """The module in a FlatBuffer, as the lite interpreter has it."""
    return mobile._CLiteScriptModule(_load_jit_module_from_bytes(data))


def _load_mobile_module_from_file(filename: str) -> Any:
    """The module in a file that holds a FlatBuffer, as the lite interpreter has it."""
    return mobile._CLiteScriptModule(_load_jit_module_from_file(os.fspath(filename)))


def _get_module_info_from_flatbuffer(data: bytes) -> dict[str, Any]:
    """What a FlatBuffer has: versions, the names of functions and types, and with how many arguments operators are called."""
    if data[4:8] != b"PTMF":
        raise RuntimeError("Format error")
    functions = mobile._bytecode(io.BytesIO(data))
    return {
        "bytecode_version": functions[0],
        "operator_version": 1,
        "function_names": {name for name, *_ in functions[1:]},
        "type_names": mobile._get_mobile_model_contained_types(io.BytesIO(data)),
        "opname_to_num_args": {name: info.num_schema_args for name, info in mobile._get_model_ops_and_info(io.BytesIO(data)).items()},
    }
