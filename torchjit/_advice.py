"""What Python shows below the message of an error: the code and the cure of common mistakes, and in which module it happened."""

from __future__ import annotations

from typing import Any, TypeVar

from torchjit import _native

_Error = TypeVar("_Error", bound=BaseException)


def advised(error: _Error, *notes: str) -> _Error:
    """The error, with notes and with the code and cure of its message, where it is a common mistake. Errors of the library have these already."""
    known = _native.advice(str(error))
    for note in (*notes, *([known] if known else [])):
        _add(error, note)
    return error


def did_you_mean(name: str, candidates: Any) -> list[str]:
    """A note with the candidates that are spelled much like a name, none where there are none."""
    import difflib

    near = difflib.get_close_matches(name, [c for c in candidates if not c.startswith("_") and not c.endswith("_")], n=2, cutoff=0.75)
    return ["did you mean " + " or ".join(map(repr, near)) + "?"] if near else []


def note_module(error: Exception, module: Any) -> None:
    """Notes that an error has left a module's forward: below its message stands the way from the outermost module to the innermost one."""
    inner, path, kind = error.__dict__.get("_torchjit_module", (None, "", ""))
    notes: list[str] = error.__dict__.setdefault("__notes__", [])
    if inner is module:
        return
    if inner is None:
        kind = getattr(module, "original_name", None) or type(module).__name__
        if notes and notes[0].startswith("in ") and notes[0].endswith(")"):  # the library knows the way within a compiled module
            path, _, kind = notes.pop(0)[3:-1].rpartition(" (")
    else:
        name = next((name for name, child in module._modules.items() if child is inner), None)
        if name is None:
            return  # it was called by another way: what is known of it stays
        if path:
            notes.pop(0)
        path = f"{name}.{path}" if path else name
    error.__dict__["_torchjit_module"] = module, path, kind
    if path:
        notes.insert(0, f"in {path} ({kind})")


def _add(error: BaseException, note: str) -> None:
    error.__dict__.setdefault("__notes__", []).append(note)
