"""torch._C's functions for archives of the lite interpreter: those of torch.jit.mobile for paths and for bytes."""

from __future__ import annotations

import io
from typing import Any

from torchjit.jit import mobile


class LiteScriptModule:
    """A module that was saved for the lite interpreter, whose methods take their arguments as one tuple."""

    def __init__(self, module: mobile.LiteScriptModule) -> None:
        self._module = module

    def find_method(self, method_name: str) -> bool:
        """Whether the module has a method of that name."""
        return self._module.find_method(method_name)

    def forward(self, input_tuple: tuple[Any, ...]) -> Any:
        """Calls the method forward."""
        return self.run_method("forward", input_tuple)

    def run_method(self, method_name: str, input_tuple: tuple[Any, ...]) -> Any:
        """Calls a method. Raises RuntimeError where there is none of that name."""
        return self._module.run_method(method_name, *input_tuple)


def _load_for_lite_interpreter(filename: str, map_location: Any) -> LiteScriptModule:
    """The module in a file. RuntimeError for an archive without bytecode."""
    return LiteScriptModule(mobile._load_for_lite_interpreter(_existing(filename), map_location))


def _load_for_lite_interpreter_from_buffer(buffer: bytes, map_location: Any) -> LiteScriptModule:
    """The module in the bytes of a file."""
    return LiteScriptModule(mobile._load_for_lite_interpreter(io.BytesIO(buffer), map_location))


def _existing(filename: str) -> str:
    try:
        with open(filename, "rb"):
            return filename
    except OSError as e:
        raise RuntimeError(f"open file failed because of errno {e.errno} on fopen: {e.strerror}, file path: {filename}") from None


def _get_model_bytecode_version(filename: str) -> int:
    """The version of the bytecode in a file."""
    return mobile._get_model_bytecode_version(_existing(filename))


def _get_model_bytecode_version_from_buffer(buffer: bytes) -> int:
    """The version of the bytecode in the bytes of a file."""
    return mobile._get_model_bytecode_version(io.BytesIO(buffer))


def _get_model_ops_and_info(filename: str) -> dict[str, mobile.OperatorInfo]:
    """The operators that the functions in a file call."""
    return mobile._get_model_ops_and_info(_existing(filename))


def _get_model_ops_and_info_from_buffer(buffer: bytes) -> dict[str, mobile.OperatorInfo]:
    """The operators that the functions in the bytes of a file call."""
    return mobile._get_model_ops_and_info(io.BytesIO(buffer))


def _export_operator_list(module: LiteScriptModule) -> set[str]:
    """The names of the operators that a module's methods call, with their overloads."""
    return mobile._export_operator_list(module._module)
