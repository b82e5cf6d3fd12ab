"""Archives record by record: torch._C.PyTorchFileReader and PyTorchFileWriter."""

from __future__ import annotations

import ctypes
import io
import os
import pathlib
import zipfile
from typing import Any

import torchjit
from torchjit._archive import Archive, ReplacedFile, add_record


def empty_over(name: str, data: bytes, numel: int, dtype: Any) -> Any:
    """A tensor without elements over a storage of numel elements, the content of a record. Raises RuntimeError where it has fewer."""
    size = torchjit.empty(0, dtype=dtype).element_size()
    if len(data) < numel * size:
        raise RuntimeError(f"the record {name} has {len(data)} bytes, but {numel} elements of {dtype} take {numel * size}")
    if numel == 0:
        return torchjit.empty(0, dtype=dtype)
    return torchjit.frombuffer(bytearray(data[: numel * size]), dtype=dtype)[:0]


class PyTorchFileReader:
    """Reads the records of an archive, a path or a binary file. Raises RuntimeError where it is none."""

    def __init__(self, name_or_buffer: Any) -> None:
        self._archive = Archive(name_or_buffer)

    def get_record(self, name: str) -> bytes:
        """The bytes of a record. Raises RuntimeError where there is none of the name."""
        return self._archive.read(name)

    def has_record(self, name: str) -> bool:
        """Whether there is a record of the name."""
        return self._archive.has(name)

    def get_all_records(self) -> list[str]:
        """The names of the records in the order of the archive."""
        return self._archive.names()

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Any:
        """A tensor without elements over a storage of numel elements that are in a record. Raises RuntimeError where there are fewer."""
        return empty_over(name, self.get_record(name), numel, dtype)


class PyTorchFileWriter:
    """Writes an archive record by record to a path or a binary file; write_end_of_file completes it."""

    def __init__(self, name_or_buffer: Any) -> None:
        to_path = isinstance(name_or_buffer, (str, os.PathLike))
        self._name = pathlib.Path(name_or_buffer).stem if to_path else "archive"
        self._buffer = io.BytesIO()
        self._zip = zipfile.ZipFile(self._buffer, "w", zipfile.ZIP_STORED)
        self._target = name_or_buffer
        self._written: list[str] = []
        self._version = 3

    def archive_name(self) -> str:
        """The name of the folder that the records are in."""
        return self._name

    def set_min_version(self, version: int) -> None:
        """Has the archive say at least this version."""
        self._version = max(self._version, version)

    def get_all_written_records(self) -> set[str]:
        """The names of the records so far."""
        return set(self._written)

    def write_record(self, name: str, data: bytes | str | int, size: int) -> None:
        """Writes the first size bytes of data, which may be an address, as a record. Raises RuntimeError where there are fewer."""
        if isinstance(data, str):
            data = data.encode()
        elif isinstance(data, int):
            data = ctypes.string_at(data, size)
        if len(data) < size:
            raise RuntimeError(f"the record {name} has {len(data)} bytes, not {size}")
        add_record(self._zip, f"{self._name}/{name}", data[:size])
        self._written.append(name)

    def write_end_of_file(self) -> None:
        """Completes the archive and writes it. Raises OSError where that fails."""
        version = f"{self._version}\n".encode()
        self.write_record("version", version, len(version))
        self._zip.close()
        if hasattr(self._target, "write"):
            self._target.write(self._buffer.getvalue())
        else:
            with ReplacedFile(self._target) as file:
                file.write(self._buffer.getvalue())
