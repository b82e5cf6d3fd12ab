"""torch.jit.inspect: what an archive contains, without running anything in it."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from torchjit import _native


@dataclasses.dataclass(frozen=True)
class ArchiveRecord:
    """A record of an archive: its name, its size in bytes, and whether it is stored packed."""

    name: str
    size: int
    packed: bool


@dataclasses.dataclass(frozen=True)
class ArchiveTensor:
    """A tensor of an archive's module: its name in the module, its type and shape, and the record of its numbers."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    storage: str


@dataclasses.dataclass(frozen=True)
class ArchiveReport:
    """What an archive contains.

    methods are the signatures by qualified name; missing the operators that cannot run here; restored the classes
    whose __setstate__ runs when the archive is loaded; problems what is damaged or would make loading fail.
    """

    version: int
    module: str
    records: tuple[ArchiveRecord, ...]
    tensors: tuple[ArchiveTensor, ...]
    methods: dict[str, str]
    operators: tuple[str, ...]
    missing: tuple[str, ...]
    restored: tuple[str, ...]
    extra: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the archive can be loaded and all of it can run here."""
        return not self.problems and not self.missing


def inspect(f: Any) -> ArchiveReport:
    """Reports what an archive contains: a path or a file object. Everything is read and compiled, and nothing runs.

    Raises RuntimeError where it is no archive; what is wrong inside one stands in the report's problems.
    """
    if isinstance(f, (str, os.PathLike)):
        found = json.loads(_native.inspect_archive(os.fspath(f)))
    else:
        found = json.loads(_native.inspect_archive_bytes(f.read()))
    found["records"] = tuple(ArchiveRecord(**r) for r in found["records"] or ())
    found["tensors"] = tuple(ArchiveTensor(**{**t, "shape": tuple(t["shape"])}) for t in found["tensors"] or ())
    for name in ("operators", "missing", "restored", "extra", "problems"):
        found[name] = tuple(found[name] or ())
    return ArchiveReport(**found)
