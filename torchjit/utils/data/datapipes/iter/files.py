"""Pipes of files."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in folders, in order, whose names fit one of the masks."""

    def __init__(
        self, root: Any = ".", masks: Any = "", *, recursive: bool = False, abspath: bool = False, non_deterministic: bool = False, length: int = -1
    ) -> None:
        roots = [root] if isinstance(root, (str, os.PathLike)) else root
        self.datapipe = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath, self.length = masks, recursive, abspath, length

    def __iter__(self) -> Iterator[str]:
        masks = [self.masks] if isinstance(self.masks, str) else self.masks
        for root in self.datapipe:
            base = os.path.abspath(root) if self.abspath else os.fspath(root)
            for folder, folders, files in os.walk(base):
                folders.sort()
                for name in sorted(files):
                    if not any(masks) or any(fnmatch(name, mask) for mask in masks):
                        yield os.path.join(folder, name)
                if not self.recursive:
                    break

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[Any]):
    """Paths with their open files, in a mode: "r", "t", "b", "rt" or "rb"."""

    def __init__(self, datapipe: Any, mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[Any]:
        mode = self.mode if self.mode.startswith("r") else "r" + self.mode
        for path in self.datapipe:
            if not isinstance(path, (str, pathlib.Path)):
                raise TypeError(f"Expected string type for pathname, but got {type(path)}")
            yield os.fspath(path), open(path, mode, encoding=self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length
