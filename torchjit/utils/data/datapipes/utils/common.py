"""Files and streams, and what data pipes ask of the functions that they are given."""

from __future__ import annotations

import fnmatch
import importlib.util
import inspect
import io
import os
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = [
    "StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root", "match_masks", "validate_input_col",
    "validate_pathname_binary_tuple",
]  # fmt: skip


def validate_input_col(fn: Callable[..., Any], input_col: int | tuple[Any, ...] | list[Any] | None) -> None:
    """Raises ValueError where a function does not take as many positional arguments as there are columns. What has no signature is not asked."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:
        return
    given = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if keywords:
        raise ValueError(f"The function {fn} takes {len(keywords)} non-default keyword-only parameters, which is not allowed.")
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(required) > given:
        raise ValueError(f"The function {fn} takes {len(required)} positional parameters, but {given} are required.")
    if len(positional) < given and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise ValueError(f"The function {fn} takes {len(positional)} parameters, but {given} are required.")


def _is_local_fn(fn: Any) -> bool:
    """Whether a function, or the class of what is called, was defined within a function."""
    if hasattr(fn, "__code__"):
        return bool(fn.__code__.co_flags & inspect.CO_NESTED)
    return "<locals>" in getattr(fn if isinstance(fn, type) else type(fn), "__qualname__", "")


def _check_unpickable_fn(fn: Any) -> None:
    """Warns of lambdas and local functions where there is no dill, because pipes with them cannot be sent to processes. Raises TypeError for what
    cannot be called."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    while hasattr(fn, "func") and not isinstance(fn, types.FunctionType):
        fn = fn.func
    if importlib.util.find_spec("dill") is not None:
        return
    kind = "Local" if _is_local_fn(fn) else "Lambda" if getattr(fn, "__name__", "") == "<lambda>" else None
    if kind is not None:
        warnings.warn(f"{kind} function is not supported by pickle, please use regular python function or functools.partial instead.", stacklevel=3)


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a name fits one of the masks; any name fits none at all."""
    if not masks:
        return True
    return any(fnmatch.fnmatch(name, mask) for mask in ([masks] if isinstance(masks, str) else masks))


def get_file_pathnames_from_root(
    root: str, masks: str | list[str], recursive: bool = False, abspath: bool = False, non_deterministic: bool = False
) -> Iterable[str]:
    """The paths of the files in a folder whose names fit one of the masks, in order unless non_deterministic; of a file its own.

    Warns of folders that cannot be read, and raises what the system says.
    """

    def failed(error: OSError) -> None:
        warnings.warn(f"{error.filename} : {error.strerror}")
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for folder, folders, files in os.walk(root, onerror=failed):
        if abspath:
            folder = os.path.abspath(folder)
        if not non_deterministic:
            files.sort()
            folders.sort()
        for name in files:
            if match_masks(name, masks):
                yield os.path.join(folder, name)
        if not recursive:
            break


def get_file_binaries_from_pathnames(pathnames: Iterable[Any], mode: str, encoding: str | None = None) -> Iterator[Any]:
    """Paths with their open files. Raises TypeError for what is no path."""
    paths = pathnames if isinstance(pathnames, Iterable) else [pathnames]
    for path in paths:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        yield path, StreamWrapper(open(path, "r" + mode if mode in ("b", "t") else mode, encoding=encoding))


def validate_pathname_binary_tuple(data: Any) -> None:
    """Raises TypeError for what is not a path with an open file."""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}")
    if not isinstance(data[1], (io.IOBase, StreamWrapper)):
        raise TypeError(f"binary stream within the tuple should have IOBase orits subclasses as type, but it is type {type(data[1])}")


class StreamWrapper:
    """A stream that is closed when it is no longer used. One that was made from another holds that open; the other is closed with the last of them
    after `autoclose`."""

    session_streams: dict[Any, int] = {}
    debug_unclosed_streams = False

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        self.closed: bool = True  # until all is well
        if parent_stream is not None and not isinstance(parent_stream, StreamWrapper):
            raise RuntimeError(f"Parent stream should be StreamWrapper, {type(parent_stream)} was given")
        self.file_obj = file_obj
        self.child_counter = 0
        self.parent_stream = parent_stream
        self.close_on_last_child: bool = False
        self.name = name
        self.closed = False
        if parent_stream is not None:
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v: Any, depth: int = 0) -> None:
        """Closes the streams in containers when their last children are closed."""
        if depth > 10:
            return
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, dict):
            for item in v.values():
                cls.close_streams(item, depth + 1)
        elif isinstance(v, (list, tuple)):
            for item in v:
                cls.close_streams(item, depth + 1)

    def close(self, *args: Any, **kwargs: Any) -> None:
        if self.closed:
            return
        StreamWrapper.session_streams.pop(self, None)
        if hasattr(self, "parent_stream") and self.parent_stream is not None:
            self.parent_stream.child_counter -= 1
            if not self.parent_stream.child_counter and self.parent_stream.close_on_last_child:
                self.parent_stream.close()
        try:
            self.file_obj.close(*args, **kwargs)
        except AttributeError:
            pass
        self.closed = True

    def autoclose(self) -> None:
        """Closes the stream now, or with the last of those that were made from it."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __getattr__(self, name: str) -> Any:
        if name == "file_obj":
            raise AttributeError(name)
        return getattr(self.file_obj, name)

    def __dir__(self) -> Any:
        return sorted({*vars(self), *dir(type(self)), *dir(self.file_obj)})

    def __del__(self) -> None:
        if not self.closed:
            self.close()

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __repr__(self) -> str:
        return f"StreamWrapper<{self.file_obj!r}>" if self.name is None else f"StreamWrapper<{self.name},{self.file_obj!r}>"

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, obj: Any) -> None:
        self.__init__(obj)  # type: ignore[misc]
