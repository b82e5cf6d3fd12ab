"""Patterns of module names."""

from __future__ import annotations

import re
from collections.abc import Iterable

GlobPattern = str | Iterable[str]


def _several(patterns: GlobPattern) -> list[str]:
    return [patterns] if isinstance(patterns, str) else list(patterns)


class GlobGroup:
    """Names that match a pattern of include and none of exclude.

    A name is segments between separators. `*` stands for any text within a segment, `**`, as a segment, for any number of them:
    `torch.**` matches torch and all in it. Raises ValueError for `**` beside other text.
    """

    def __init__(self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = ".") -> None:
        self._shown = f"GlobGroup(include={include}, exclude={exclude})"
        self.include: list[re.Pattern[str]] = [self._glob_to_re(p, separator) for p in _several(include)]
        self.exclude: list[re.Pattern[str]] = [self._glob_to_re(p, separator) for p in _several(exclude)]
        self.separator = separator

    def __str__(self) -> str:
        return self._shown

    __repr__ = __str__

    def matches(self, candidate: str) -> bool:
        """Whether a name belongs to the group."""
        candidate = self.separator + candidate
        return any(p.fullmatch(candidate) for p in self.include) and not any(p.fullmatch(candidate) for p in self.exclude)

    @staticmethod
    def _glob_to_re(pattern: str, separator: str = ".") -> re.Pattern[str]:
        # The name has a separator before each segment, so that ** stands for whole ones.
        text, between = "", re.escape(separator)
        for segment in pattern.split(separator):
            if segment == "**":
                text += f"(?:{between}[^{between}]+)*"
            elif "**" in segment:
                raise ValueError("** can only appear as an entire path segment")
            else:
                text += between + f"[^{between}]*".join(re.escape(part) for part in segment.split("*"))
        return re.compile(text)
