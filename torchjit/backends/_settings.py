"""Settings of libraries that are not here: modules whose attributes keep what they were set to."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from torchjit._jit_internal import Namespace


class SettingsModule(types.ModuleType, Namespace):
    """A module that programs may read as a namespace."""

    @contextlib.contextmanager
    def flags(self, **kwargs: Any) -> Iterator[None]:
        """A context in which settings are others. Raises TypeError for a name that is none."""
        for name in kwargs:
            if name not in vars(self):
                raise TypeError(f"flags() got an unexpected keyword argument '{name}'")
        former = {name: getattr(self, name) for name in kwargs}
        for name, value in kwargs.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in former.items():
                setattr(self, name, value)


def serve(module: str) -> None:
    """Makes a module one of settings."""
    sys.modules[module].__class__ = SettingsModule
