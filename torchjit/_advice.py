"""What Python shows below the message of an error: the code and the cure of common mistakes, and in which module it happened."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from torchjit import _native

_Error = TypeVar("_Error", bound=BaseException)


def advised(error: _Error) -> _Error:
    """The error, with the code and cure of its message as a note where it is a common mistake. Errors of the library have these already."""
    known = _native.advice(str(error))
    if known:
        error.__dict__.setdefault("__notes__", []).append(known)
    return error


class MissingName(AttributeError):
    """An AttributeError of a module: what is spelled much like the name is looked for when the error is shown, as programs ask for names that may be missing."""

    def __init__(self, message: str, name: str, candidates: Callable[[], Iterable[str]]) -> None:
        super().__init__(message)
        self.name, self._wanted, self._candidates = name, name, candidates

    @property
    def __notes__(self) -> list[str]:
        near = difflib.get_close_matches(self._wanted, [c for c in self._candidates() if not c.startswith("_") and not c.endswith("_")], n=2, cutoff=0.75)
        known = _native.advice(str(self))
        return [*(["did you mean " + " or ".join(map(repr, near)) + "?"] if near else []), *([known] if known else [])]

    def __reduce__(self) -> tuple[type[AttributeError], tuple[Any, ...]]:
        return AttributeError, self.args


MissingName.__module__, MissingName.__name__, MissingName.__qualname__ = "builtins", "AttributeError", "AttributeError"


def note_module(error: Exception, module: Any) -> None:
    """Notes that an error has left a module's forward: below its message stands the way from the outermost module to the innermost one."""
    inner, path, kind = error.__dict__.get("_torchjit_module", (0, "", ""))  # by its id: an error that is kept, or sent elsewhere, holds no module
    notes: list[str] = error.__dict__.setdefault("__notes__", [])
    if inner == id(module):
        return
    if not inner:
        kind = getattr(module, "original_name", None) or type(module).__name__
        if notes and notes[0].startswith("in ") and notes[0].endswith(")"):  # the library knows the way within a compiled module
            path, _, kind = notes.pop(0)[3:-1].rpartition(" (")
    else:
        name = next((name for name, child in [*module._modules.items(), *module.named_modules()] if id(child) == inner), None)
        if name is None:
            return  # it was called by another way: what is known of it stays
        if path:
            notes.pop(0)
        path = f"{name}.{path}" if path else name
    error.__dict__["_torchjit_module"] = id(module), path, kind
    if path:
        notes.insert(0, f"in {path} ({kind})")
