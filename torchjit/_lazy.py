"""Names of a module that are loaded when they are first used, and that dir() lists."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Getter = Callable[[str], Any]  # what __getattr__ of a module is
Lister = Callable[[], list[str]]  # what __dir__ is


def names(
    module: str,
    elsewhere: Mapping[str, str],
    made: Mapping[str, Callable[[], Any]] | None = None,
    otherwise: Callable[[str], Any] | None = None,
    listed: Callable[[], Iterable[str]] = tuple,
) -> tuple[Getter, Lister]:
    """The functions __getattr__ and __dir__ of a module.

    elsewhere gives, by module, the names of it that are also names of this one, with spaces between them; `here=there` is one that has
    another name there, `here=` the module itself. made has functions that make a value each time it is asked for. otherwise is called
    with any other name, and returns None where there is no such one; listed gives the names that it knows.
    """
    places: dict[str, tuple[str, str]] = {}
    for where, entries in elsewhere.items():
        for entry in entries.split():
            here, renamed, there = entry.partition("=")
            places[here] = (where, there if renamed else here)
    functions = made or {}

    def find(name: str) -> Any:
        if name in places:
            where, there = places[name]
            value = importlib.import_module(where)
            if there:
                value = getattr(value, there)
            vars(sys.modules[module])[name] = value
            return value
        if name in functions:
            return functions[name]()
        found = None if otherwise is None or name.startswith("__") else otherwise(name)
        if found is None:
            raise AttributeError(f"module '{module.replace('torchjit', 'torch', 1)}' has no attribute '{name}'")
        return found

    def known() -> list[str]:
        return sorted({*vars(sys.modules[module]), *places, *functions, *listed()})

    return find, known


def modules(package: str, listed: str) -> dict[str, str]:
    """Modules of a package, as names elsewhere."""
    return {f"{package}.{name}": f"{name}=" for name in listed.split()}
