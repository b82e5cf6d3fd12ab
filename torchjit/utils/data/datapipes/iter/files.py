"""Pipes of files."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe
from torchjit.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe
from torchjit.utils.data.datapipes.utils.common import (
    get_file_binaries_from_pathnames,
    get_file_pathnames_from_root,
    validate_pathname_binary_tuple,
)
from torchjit.utils.data.datapipes.utils.decoder import Decoder, basichandlers, extension_extract_fn, imagehandler


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in folders, in order, whose names fit one of the masks."""

    def __init__(
        self, root: Any = ".", masks: Any = "", *, recursive: bool = False, abspath: bool = False, non_deterministic: bool = False, length: int = -1
    ) -> None:
        roots = [root] if isinstance(root, (str, os.PathLike)) else root
        self.datapipe = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for root in self.datapipe:
            yield from get_file_pathnames_from_root(os.fspath(root), self.masks, self.recursive, self.abspath, self.non_deterministic)

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
        paths = (os.fspath(p) if isinstance(p, pathlib.Path) else p for p in self.datapipe)
        yield from get_file_binaries_from_pathnames(paths, self.mode, self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


class FileLoaderIterDataPipe(IterDataPipe[Any]):
    """The former name of FileOpener, for bytes."""

    def __new__(cls, datapipe: Any, mode: str = "b", length: int = -1) -> Any:
        _deprecation_warning("FileLoaderIterDataPipe", "Please use `FileOpener()` instead.")
        return FileOpenerIterDataPipe(datapipe, mode=mode, length=length)


def _deprecation_warning(name: str, instead: str = "", function: str = "") -> None:
    also = f" and its functional API `.{function}()` are" if function else " is"
    text = f"`{name}()`{also} deprecated since 1.12 and will be removed in 1.13.\nSee https://github.com/pytorch/data/issues/163 for details."
    warnings.warn(f"{text}\n{instead}" if instead else text, FutureWarning, stacklevel=3)


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe[Any]):
    """Paths with what their files are, decoded by the handlers for their extensions."""

    def __init__(self, datapipe: Any, *handlers: Any, key_fn: Any = extension_extract_fn) -> None:
        _deprecation_warning("RoutedDecoderIterDataPipe", function="routed_decode")
        self.datapipe = datapipe
        self.decoder = Decoder(*(handlers or (basichandlers, imagehandler("torch"))), key_fn=key_fn)

    def add_handler(self, *handler: Any) -> None:
        """Adds handlers, which are asked first."""
        self.decoder.add_handler(*handler)

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            validate_pathname_binary_tuple(data)
            yield data[0], self.decoder(data)[data[0]]

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[Any]):
    """Paths with the bytes of their files, `chunk` at a time or all at once."""

    def __init__(self, datapipe: Any, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.datapipe:
            while data := stream.read(self.chunk):
                yield path, data
            stream.close()
