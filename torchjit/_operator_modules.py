"""torch._C._nn, _fft, _linalg and _special: where PyTorch has operators that its Python modules show under other names."""

from __future__ import annotations

import importlib
import types
from typing import Any

from torchjit import _native


class _Operators(types.ModuleType):
    """Functions by the names of their operators: those of a module of this library where that has them."""

    def __init__(self, name: str, module: str, prefix: str) -> None:
        super().__init__(f"torch._C.{name}")
        self._module, self._prefix = module, prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not name.startswith(self._prefix):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        module = importlib.import_module(self._module)
        found = getattr(module, name[len(self._prefix) :].replace("log_sigmoid", "logsigmoid"), None)
        if not isinstance(found, _native.Function):
            found = _native.operator("aten::" + name)
        if found is None:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        setattr(self, name, found)
        return found


_nn = _Operators("_nn", "torchjit.nn.functional", "")
_fft = _Operators("_fft", "torchjit.fft", "fft_")
_linalg = _Operators("_linalg", "torchjit.linalg", "linalg_")
_special = _Operators("_special", "torchjit.special", "special_")
