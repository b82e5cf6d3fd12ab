"""Functions that are replaced for a while."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any


class _Patcher:
    """Replaces entries of dictionaries and methods of classes from when it is entered until it is left."""

    def __init__(self) -> None:
        self._patches: list[tuple[Callable[[], None], Callable[[], None]]] = []
        self._seen: set[tuple[int, str]] = set()
        self._visited: set[int] = set()
        self._entered = False

    def patch(self, frame_dict: dict[str, Any], name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Replaces an entry; one that is missing is a builtin, which it hides."""
        if deduplicate and (id(frame_dict), name) in self._seen:
            return
        self._seen.add((id(frame_dict), name))
        if name not in frame_dict:
            assert hasattr(builtins, name)
            self._add(lambda: frame_dict.__setitem__(name, new_fn), lambda: frame_dict.__delitem__(name))
        else:
            old = frame_dict[name]
            self._add(lambda: frame_dict.__setitem__(name, new_fn), lambda: frame_dict.__setitem__(name, old))

    def patch_method(self, cls: type, name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Replaces a method of a class."""
        if deduplicate and (id(cls), name) in self._seen:
            return
        self._seen.add((id(cls), name))
        old = getattr(cls, name)
        self._add(lambda: setattr(cls, name, new_fn), lambda: setattr(cls, name, old))

    def visit_once(self, thing: Any) -> bool:
        """Whether this is the first time that it is asked about a thing."""
        if id(thing) in self._visited:
            return False
        self._visited.add(id(thing))
        return True

    def _add(self, apply: Callable[[], None], revert: Callable[[], None]) -> None:
        self._patches.append((apply, revert))
        if self._entered:
            apply()

    def __enter__(self) -> _Patcher:
        self._entered = True
        for apply, _ in self._patches:
            apply()
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        while self._patches:
            self._patches.pop()[1]()
        self._seen.clear()
        self._visited.clear()
        self._entered = False
