"""Settings of libraries: modules whose attributes keep what they were set to, those of CUDA's libraries in the native library."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from torchjit import _native
from torchjit._jit_internal import Namespace

# Whether settings may be changed outside of flags().
_frozen = [False]


def disable_global_flags() -> None:
    """Lets settings be changed by flags() alone from now on."""
    _frozen[0] = True


def flags_frozen() -> bool:
    """Whether settings can be changed by flags() alone."""
    return _frozen[0]


# What the native library calls settings that it keeps, by module and name.
_KEPT: dict[str, dict[str, str]] = {
    "torchjit.backends.cudnn": {"enabled": "cudnn", "benchmark": "benchmark", "deterministic": "deterministic", "allow_tf32": "tf32_convolutions"},
}


class SettingsModule(types.ModuleType, Namespace):
    """A module that programs may read as a namespace."""

    @contextlib.contextmanager
    def flags(self, **kwargs: Any) -> Iterator[None]:
        """A context in which settings are others. Raises TypeError for a name that is none."""
        for name in kwargs:
            if name not in vars(self):
                raise TypeError(f"flags() got an unexpected keyword argument '{name}'")
        former = {name: getattr(self, name) for name in kwargs}
        self._keep(kwargs)
        try:
            yield
        finally:
            self._keep(former)

    def _keep(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            super().__setattr__(name, value)
            if name in _KEPT.get(self.__name__, ()):
                _native.cuda_set(_KEPT[self.__name__][name], bool(value))

    def __setattr__(self, name: str, value: Any) -> None:
        if _frozen[0] and not name.startswith("__") and not isinstance(value, types.ModuleType):
            module = self.__name__.replace("torchjit", "torch", 1)
            raise RuntimeError(f"not allowed to set {module} flags after disable_global_flags; please use flags() context manager instead")
        if check := vars(self).get("_check"):
            check(name, value)
        self._keep({name: value})


def serve(module: str) -> None:
    """Makes a module one of settings."""
    sys.modules[module].__class__ = SettingsModule
