"""Packages that were unpacked into folders."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from torchjit.jit._records import empty_over


class DirectoryReader:
    """Reads a folder into which a package was unpacked, as PyTorchFileReader reads the archive."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = os.fspath(directory)

    def get_record(self, name: str) -> bytes:
        """The bytes of a file."""
        return pathlib.Path(self.directory, name).read_bytes()

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Any:
        """A tensor without elements over a storage of numel elements that are in a file. Raises RuntimeError where there are fewer."""
        return empty_over(name, self.get_record(name), numel, dtype)

    def has_record(self, path: str) -> bool:
        """Whether there is a file of that path."""
        return pathlib.Path(self.directory, path).is_file()

    def get_all_records(self) -> list[str]:
        """The paths of the files."""
        folder = pathlib.Path(self.directory)
        return [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*")) if p.is_file()]
