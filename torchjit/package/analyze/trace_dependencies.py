"""The modules that a function uses as it runs."""

import sys
from collections.abc import Callable, Iterable
from typing import Any


def trace_dependencies(callable: Callable[..., Any], inputs: Iterable[tuple[Any, ...]]) -> list[str]:
    """Calls a function with each tuple of arguments. Returns the names of the modules whose functions of Python it called, its own left out."""
    found: dict[str, None] = {}

    def note(frame: Any, event: str, arg: Any) -> None:
        name = frame.f_globals.get("__name__")
        if event == "call" and name is not None and name != __name__:
            found[name] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for args in inputs:
            callable(*args)
    finally:
        sys.setprofile(before)
    found.pop(getattr(callable, "__module__", None) or "", None)
    return list(found)
