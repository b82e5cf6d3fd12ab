"""Files as torch.serialization opens them: paths and file objects alike, as contexts."""

from __future__ import annotations

import builtins
import io
import os
from typing import Any


class _opener:  # noqa: N801
    """A context whose value is a file object."""

    def __init__(self, file_like: Any) -> None:
        self.file_like = file_like

    def __enter__(self) -> Any:
        return self.file_like

    def __exit__(self, *args: object) -> None:
        pass


class _open_file(_opener):  # noqa: N801
    """Opens a path, and closes the file at the end."""

    def __init__(self, name: Any, mode: str) -> None:
        super().__init__(builtins.open(name, mode))

    def __exit__(self, *args: object) -> None:
        self.file_like.close()


class _open_buffer_reader(_opener):  # noqa: N801
    """A file object to read from, which must be seekable."""

    def __init__(self, buffer: Any) -> None:
        super().__init__(buffer)
        _check_seekable(buffer)


class _open_buffer_writer(_opener):  # noqa: N801
    """A file object to write to, which is flushed at the end."""

    def __exit__(self, *args: object) -> None:
        self.file_like.flush()


def _open_file_like(name_or_buffer: Any, mode: str) -> _opener:
    """Opens a path or a file object for "r..." or "w...". Raises RuntimeError for another mode."""
    if _is_path(name_or_buffer):
        return _open_file(name_or_buffer, mode)
    if "w" in mode:
        return _open_buffer_writer(name_or_buffer)
    if "r" in mode:
        return _open_buffer_reader(name_or_buffer)
    raise RuntimeError(f"Expected 'r' or 'w' in mode but got {mode}")


class _open_zipfile_reader(_opener):  # noqa: N801
    """A PyTorchFileReader of a path or a file object."""

    def __init__(self, name_or_buffer: Any) -> None:
        from torchjit.jit._records import PyTorchFileReader

        super().__init__(PyTorchFileReader(name_or_buffer))


class _open_zipfile_writer_file(_opener):  # noqa: N801
    """A PyTorchFileWriter to a path, which is completed at the end."""

    def __init__(self, name: Any) -> None:
        from torchjit.jit._records import PyTorchFileWriter

        super().__init__(PyTorchFileWriter(str(name)))

    def __exit__(self, *args: object) -> None:
        self.file_like.write_end_of_file()


class _open_zipfile_writer_buffer(_opener):  # noqa: N801
    """A PyTorchFileWriter to a file object, which is completed and flushed at the end."""

    def __init__(self, buffer: Any) -> None:
        from torchjit.jit._records import PyTorchFileWriter

        if not callable(getattr(buffer, "write", None)):
            missing = "has no attribute 'write'" if not hasattr(buffer, "write") else "is not callable"
            raise AttributeError(f"Buffer of {str(type(buffer)).strip('<>')} {missing}")
        self.buffer = buffer
        super().__init__(PyTorchFileWriter(buffer))

    def __exit__(self, *args: object) -> None:
        self.file_like.write_end_of_file()
        self.buffer.flush()


def _open_zipfile_writer(name_or_buffer: Any) -> _opener:
    """A PyTorchFileWriter to a path or a file object, as a context at whose end it is completed."""
    return (_open_zipfile_writer_file if _is_path(name_or_buffer) else _open_zipfile_writer_buffer)(name_or_buffer)


def _is_path(name_or_buffer: Any) -> bool:
    """Whether something is a path."""
    return isinstance(name_or_buffer, (str, os.PathLike))


def _is_zipfile(f: Any) -> bool:
    """Whether a file object begins as a zip archive does. Its position stays."""
    start = f.tell()
    found = f.read(4)
    f.seek(start)
    return bool(found == b"PK\x03\x04")


def _is_compressed_file(f: Any) -> bool:
    """Whether a file object is one of gzip."""
    return getattr(f, "__module__", None) == "gzip"


def _should_read_directly(f: Any) -> bool:
    """Whether a file object is a file of the system, which is not compressed."""
    if _is_compressed_file(f):
        return False
    try:
        return bool(f.fileno() >= 0)
    except (io.UnsupportedOperation, AttributeError):
        return False


def _is_torchscript_zip(zip_file: Any) -> bool:
    """Whether an archive is one of torch.jit.save."""
    return "constants.pkl" in zip_file.get_all_records()


def _check_seekable(f: Any) -> bool:
    """True. Raises the error of a file object that cannot be read at any place, with what to do."""
    try:
        f.seek(f.tell())
        return True
    except (io.UnsupportedOperation, AttributeError) as e:
        if "seek" not in str(e) and "tell" not in str(e):
            raise
        raise type(e)(
            f"{e}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
        ) from None
