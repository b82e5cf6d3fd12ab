"""Sources that only this process has, and tensors that are found in Python objects: pieces of torch._jit_internal."""

from __future__ import annotations

import pickle
import threading
from typing import Any

from torchjit import _native

FAKE_FILENAME_PREFIX = "__torch_jit_dataclass"
LockType = type(threading.Lock())


class SourceLoader:
    """Keeps the source texts of functions that no file has."""

    def __init__(self) -> None:
        self.content: dict[Any, str] = {}

    def cache(self, fn: Any, source: str) -> None:
        """Keeps the source of a function."""
        self.content[fn] = source

    def get_source(self, fn: Any) -> str | None:
        """The source of a function, None where none is kept."""
        return self.content.get(fn)


loader = SourceLoader()


class _TensorExtractor(pickle.Pickler):
    """Pickles an object to find the tensors in it, which it adds to a list. Locks, futures and what cannot hold tensors are left out."""

    def __init__(self, *args: Any, tensors: list[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tensors = tensors

    def persistent_id(self, obj: Any) -> str | None:
        """Empty for what is not pickled, None for anything else."""
        from torchjit.jit._async import Future

        if isinstance(obj, _native.TensorBase):
            self.tensors.append(obj)
            return ""
        return "" if isinstance(obj, (LockType, Future)) else None

