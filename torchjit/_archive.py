"""Zip archives of records, written with aligned records and read within limits."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from typing import Any

from torchjit import _native

# The limits on what is read from an archive. What is stored without compression is limited by the size of the file.
MAX_RECORDS = 1 << 20
MAX_DEFLATED_RECORD = 64 << 20
MAX_DEFLATED_TOTAL = 256 << 20

class _Unbuffered(io.FileIO):
    """A file that keeps nothing back: when it is closed elsewhere nothing is left to be written."""

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            rest = rest[super().write(rest) :]
        return size


class ReplacedFile:
    """A file that is being written and takes the place of another when it is whole: a binary file under `file`, until commit or abandon.

    Used as a context manager it is committed at the end, and given up after an exception. Whoever reads the name sees the old file or the new
    one; the mode and the links of the old one stay. A device or a pipe is written as it is. Raises RuntimeError where the file cannot be opened.
    """

    _descriptor: int | None = None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor = _native.file_begin(os.fspath(path))
        self.file: Any = _Unbuffered(self._descriptor, "wb", closefd=False)

    def commit(self) -> None:
        """Puts the file in its place."""
        self._end(True)

    def abandon(self) -> None:
        """Gives the file up. The old one stays."""
        self._end(False)

    def _end(self, commit: bool) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self.file.close()
            _native.file_end(descriptor, commit)

    def __enter__(self) -> Any:
        return self.file

    def __exit__(self, kind: Any, *exception: Any) -> None:
        if kind is None:
            self.commit()
        else:
            self.abandon()

    def __del__(self) -> None:
        self.abandon()


class Archive:
    """The records of an archive (a path or a binary file) by their names without the leading folder.

    Raises RuntimeError where the file is no archive, where names are twice there or unsafe, and where records overlap: what is read of
    an archive is never more than the file has, apart from compressed records, which have limits.
    """

    def __init__(self, source: Any) -> None:
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self._unpacked: dict[str, int] = {}  # bytes of what was compressed, by record
        self._total = 0  # of these
        try:
            self._zip = zipfile.ZipFile(os.fspath(source) if isinstance(source, (str, os.PathLike)) else source)
        except OSError as e:
            if not isinstance(source, (str, os.PathLike)):
                raise _damaged(e) from e
            raise RuntimeError(f"open file failed because of errno {e.errno} on fopen: {e.strerror}, file path: {source}") from e
        except MemoryError:
            raise
        except Exception as e:  # zipfile has no list of what it raises
            raise _damaged(e) from e
        infos = self._zip.infolist()
        if len(infos) > MAX_RECORDS:
            raise RuntimeError(f"the archive has {len(infos)} records; at most {MAX_RECORDS} are read")
        if not infos or "/" not in infos[0].filename:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: the records are not in one folder")
        self.folder = infos[0].filename.partition("/")[0] + "/"
        packed = 0
        for info in infos:
            if info.orig_filename != info.filename or not _is_safe(info.filename):
                raise RuntimeError(f"the archive has a record with the unsafe name {info.orig_filename!r}")
            if not info.filename.startswith(self.folder):
                continue
            if info.filename in self._infos:
                raise RuntimeError(f"the archive has two records with the name {info.filename!r}")
            self._infos[info.filename] = info
            packed += info.compress_size
        file: Any = self._zip.fp
        file.seek(0, os.SEEK_END)
        if packed > file.tell():
            raise RuntimeError(f"the records of the archive are said to have {packed} bytes, more than the file has: they overlap")

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        """The names of the records in the order of the archive."""
        return [name[len(self.folder) :] for name in self._infos]

    def has(self, name: str) -> bool:
        """Whether there is a record of the name."""
        return self.folder + name in self._infos

    def read(self, name: str, most: int | None = None) -> bytes:
        """The bytes of a record, or the first `most` of them. Raises RuntimeError where the record is missing, damaged or unpacks to too much."""
        info = self._infos.get(self.folder + name)
        if info is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        wanted = info.file_size if most is None else min(most, info.file_size)
        self._charge(name, info, wanted)
        try:
            with self._zip.open(info) as file:
                content = file.read(wanted)
        except MemoryError:
            raise
        except Exception as e:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: {e}") from e
        if len(content) != wanted:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: it has {len(content)} bytes, not {wanted}")
        return content

    def _charge(self, name: str, info: zipfile.ZipInfo, wanted: int) -> None:
        """Raises RuntimeError where a record is encrypted, packed by a method other than deflating, or unpacks to too much."""
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: it is encrypted, or packed by the method {info.compress_type}")
        if info.compress_type == zipfile.ZIP_STORED:
            if info.compress_size != info.file_size:
                raise RuntimeError(f"PytorchStreamReader failed reading file {name}: it is stored with {info.compress_size} bytes, but has {info.file_size}")
            return
        before = self._unpacked.get(name, 0)
        self._unpacked[name] = max(wanted, before)
        self._total += self._unpacked[name] - before
        if wanted > MAX_DEFLATED_RECORD or self._total > MAX_DEFLATED_TOTAL:
            raise RuntimeError(f"the record {name} unpacks to {wanted} bytes, which is more than is read")


def _damaged(e: Exception) -> RuntimeError:
    return RuntimeError(f"PytorchStreamReader failed reading zip archive: not a ZIP archive ({e})")


def _is_safe(name: str) -> bool:
    """Whether a name is a relative path that stays below where it begins."""
    parts = name.removesuffix("/").split("/")
    return "\\" not in name and "\0" not in name and not any(part in ("", ".", "..") for part in parts)


def add_record(archive: zipfile.ZipFile, path: str, content: Any) -> None:
    """Writes a record of an archive. Its content begins at a multiple of 64 bytes, so that it can be used where it is in the file."""
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    start = archive.fp.tell() + 30 + len(info.filename.encode()) + 4  # type: ignore[union-attr]
    padding = -start % 64
    info.extra = struct.pack("<HH", 0x4246, padding) + b"Z" * padding
    archive.writestr(info, content)
