"""The version as a text that compares as versions do."""

from __future__ import annotations

import re
from typing import Any

from torchjit.version import __version__ as _number


def _parts(version: Any) -> tuple[Any, ...]:
    """A version as something that orders as versions do. Raises ValueError for a text that is none."""
    text = ".".join(map(str, version)) if isinstance(version, tuple) else str(version)
    found = re.fullmatch(r"v?(\d+(?:\.\d+)*)(?:[-_.]?(a|alpha|b|beta|rc|c|dev|post)[-_.]?(\d*))?(?:\.?dev(\d*))?(?:\+(.*))?", text.strip().lower())
    if found is None:
        raise ValueError(f"Invalid version: '{text}'")
    release = [int(n) for n in found[1].split(".")]
    while release and release[-1] == 0:
        release.pop()
    rank = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "c": -1, None: 0, "post": 1}[found[2]]
    if found[4] is not None and rank == 0:
        rank = -4
    return release, rank, int(found[3] or 0), found[5] or ""


class TorchVersion(str):
    """A version. Compared with texts and tuples it orders as versions do, where these are versions."""

    __slots__ = ()

    def _compare(self, other: Any, how: str) -> Any:
        try:
            return getattr(_parts(self), how)(_parts(other))
        except ValueError:
            return getattr(str(self), how)(other)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, "__eq__")

    def __ne__(self, other: object) -> Any:
        return self._compare(other, "__ne__")

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "__ge__")

    def __hash__(self) -> int:
        return str.__hash__(self)


__version__ = TorchVersion(_number)
