"""torch.jit.save and torch.jit.load."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from torchjit import _lazy, _native, _progress, _upgraders
from torchjit._advice import advised

if TYPE_CHECKING:
    from torchjit.jit._module import RecursiveScriptModule


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None, *, progress: Any = None) -> None:
    """Writes a compiled module or function to a path or to a file object, in the format that load reads.

    A compiled function becomes a module whose method forward it is. A file of that name is replaced when all is
    written to the disk, and stays as it is where that fails. Where f is a path, progress is called with the number of
    bytes written and of all bytes every few million bytes; what it raises ends the writing.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.script(nn.Linear(3, 2)), file)
    >>> _ = file.seek(0)
    >>> torch.jit.load(file)(torch.rand(1, 3)).shape
    torch.Size([1, 2])
    """
    if isinstance(f, (str, os.PathLike)):
        if not hasattr(m, "save"):
            raise advised(AttributeError(f"'{type(m).__name__}' object has no attribute 'save'"))
        if progress is None:
            m.save(os.fspath(f), _extra_files=_extra_files)
        else:
            save_to_path(getattr(m, "_c", m), f, _extra_files, progress)
    else:
        f.write(m.save_to_buffer(_extra_files=_extra_files))


def save_to_path(c: Any, path: Any, _extra_files: dict[str, Any] | None = None, progress: Any = None) -> None:
    """Writes a compiled module or function of the library to a file, with extra files by their names."""
    path = os.fspath(path)
    if progress is not None:
        _native.save_module(c, path, dict(_extra_files or {}), progress)
        return
    with _progress.of_bytes(f"saving {path}") as told:
        _native.save_module(c, path, dict(_extra_files or {}), told)


def save_to_buffer(c: Any, _extra_files: dict[str, Any] | None = None) -> bytes:
    """The bytes that save_to_path writes."""
    return _native.save_module_to_bytes(c, dict(_extra_files or {}))


# ---- for the lite interpreter ----

interface_calls = False


def enable_interface_calls() -> None:
    """From here on archives have bytecode of the methods too that modules call through interfaces."""
    global interface_calls
    interface_calls = True


def save_for_lite_interpreter(c: Any, path: Any, _extra_files: dict[str, Any] | None = None, _save_mobile_debug_info: bool = False) -> None:
    """Writes a module of the library to a file with bytecode for the lite interpreter, and with extra files by their names.

    With _save_mobile_debug_info the archive tells where each instruction comes from. Raises RuntimeError where methods need what the lite
    interpreter lacks: forks, contexts and objects of classes that are no modules.
    """
    _native.save_lite(c, os.fspath(path), dict(_extra_files or {}), 0, _save_mobile_debug_info, interface_calls)


def save_to_buffer_for_lite_interpreter(c: Any, _extra_files: dict[str, Any] | None = None, _save_mobile_debug_info: bool = False) -> bytes:
    """The bytes that save_for_lite_interpreter writes."""
    return _native.save_lite_to_bytes(c, dict(_extra_files or {}), 0, _save_mobile_debug_info, interface_calls)


# ---- FlatBuffers ----


def get_ff_module() -> Any:
    """The module torch._C_flatbuffer."""
    from torchjit import _C_flatbuffer

    return _C_flatbuffer


def save_jit_module_to_flatbuffer(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Writes a compiled module to a path or to a file object in PyTorch's mobile format as a FlatBuffer, with extra files by their names.

    jit_module_from_flatbuffer and load read it. Raises RuntimeError where methods need what the lite interpreter lacks.
    """
    if isinstance(f, (str, os.PathLike)):
        get_ff_module()._save_jit_module(m._c, os.fspath(f), _extra_files or {})
    else:
        f.write(get_ff_module()._save_jit_module_to_bytes(m._c, _extra_files or {}))


def jit_module_from_flatbuffer(f: Any) -> Any:
    """The compiled module in a FlatBuffer: a path or a file object. Raises ValueError for a path that is no file, RuntimeError for what is no FlatBuffer."""
    from torchjit.jit._module import RecursiveScriptModule

    if isinstance(f, (str, os.PathLike)):
        check_path(f)
        return RecursiveScriptModule._wrap(get_ff_module()._load_jit_module_from_file(os.fspath(f)))
    return RecursiveScriptModule._wrap(get_ff_module()._load_jit_module_from_bytes(f.read()))


def get_flatbuffer_module_info(path_or_file: Any) -> dict[str, Any]:
    """What a FlatBuffer (a path or a file object) has: versions, the names of functions and types, and with how many arguments operators are called."""
    if not isinstance(path_or_file, (str, os.PathLike)):
        return get_ff_module()._get_module_info_from_flatbuffer(path_or_file.read())
    with open(path_or_file, "rb") as file:
        return get_ff_module()._get_module_info_from_flatbuffer(file.read())


# ---- reading ----


def check_path(f: str | os.PathLike[str]) -> None:
    """Raises ValueError where a path is that of no file."""
    path = os.fspath(f)
    if not os.path.exists(path):
        raise advised(ValueError(f"The provided filename {path} does not exist"))
    if os.path.isdir(path):
        raise ValueError(f"The provided filename {path} is a directory")


def load(
    f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None, *, refuse_code: bool = False, code_memory: int | None = None
) -> RecursiveScriptModule:
    """The compiled module in a file: a path, a file object, or its bytes.

    No Python of the file is run. Methods __setstate__ of its program are, as compiled code that computes and prints, and can take any time. Together
    they may take code_memory bytes of memory, 256 MiB and 16 times the size of the file where that is None; RuntimeError tells of more.
    refuse_code=True raises RuntimeError for a file that has such a method for one of its objects. See docs/security.md. The file is read:
    what happens to it later changes nothing. Tensors are made on the device that map_location names, for None where they were when they were saved. The values of _extra_files are replaced by what the
    file has under their names. Raises ValueError for a path that is no file, RuntimeError for what is no archive.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.script(nn.Linear(3, 2)), file, _extra_files={"labels.txt": "cat dog"})
    >>> found = {"labels.txt": ""}
    >>> model = torch.jit.load(io.BytesIO(file.getvalue()), _extra_files=found, refuse_code=True)
    >>> model(torch.rand(1, 3)).shape, found["labels.txt"]
    (torch.Size([1, 2]), b'cat dog')
    """
    from torchjit.jit._module import RecursiveScriptModule

    location = validate_map_location(map_location)
    if code_memory is not None and code_memory < 1:
        raise ValueError(f"code_memory is a number of bytes from 1 on, or None, not {code_memory}")
    wanted = list(_extra_files or ())
    if isinstance(f, (str, os.PathLike)):
        check_path(f)
        with _progress.of_bytes(f"loading {os.fspath(f)}") as told:
            c, extra = _native.load_module(os.fspath(f), wanted, refuse_code, code_memory or 0, told, location)
    else:
        data = bytes(f) if isinstance(f, (bytes, bytearray, memoryview)) else f.read()
        c, extra = _native.load_module_from_bytes(data, wanted, refuse_code, code_memory or 0, location)
    _upgraders.note_archive()
    for name in wanted:
        _extra_files[name] = extra.get(name, b"")  # type: ignore[index]
    return RecursiveScriptModule._wrap(c) if isinstance(c, _native.Handle) else c


def import_ir_module(cu: Any, filename: Any, map_location: Any = None, extra_files: Any = None) -> Any:
    """The module of the library in a file, under the compiled module that load gives."""
    return load(filename, map_location, extra_files)._c


def import_ir_module_from_buffer(cu: Any, buffer: bytes, map_location: Any = None, extra_files: Any = None) -> Any:
    """The module of the library in the bytes of a file."""
    return load(buffer, map_location, extra_files)._c


def validate_map_location(map_location: Any = None) -> Any:
    """The device that a map_location stands for, None for None. Raises RuntimeError for one that tensors cannot be made on."""
    from torchjit._types import check_location, device

    location = device(map_location) if isinstance(map_location, str) else map_location
    if location is None:
        return None
    if not isinstance(location, device):
        raise ValueError(f"map_location should be either None, string or torch.device, but got type: {type(location)}")
    check_location(location)
    if location.type not in ("cpu", "cuda"):
        raise RuntimeError(
            f"Attempting to deserialize object on the device {location}, which is not available. Use torch.jit.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    return location


# What an archive of a pickled function calls the function.
_FUNCTION_NAME = "torchjit/function"


def reduce_function(f: Any) -> Any:
    """How a compiled function is pickled: as its archive."""
    name = f.qualified_name
    return _unpickle_function, (save_to_buffer(f, {_FUNCTION_NAME: name}),)


def _unpickle_function(data: bytes) -> Any:
    c, extra = _native.load_module_from_bytes(data, [_FUNCTION_NAME])
    return _native.function_of_module(c, extra[_FUNCTION_NAME].decode())


def reduce_method(m: Any) -> Any:
    """How a method of a compiled module is pickled: as the module."""
    from torchjit.jit._module import python_side

    return getattr, (python_side(m._owner()), m.__name__)


def reduce_module(m: Any) -> Any:
    """How a compiled module is pickled: as its archive."""
    return _unpickle_module, (save_to_buffer(m._c),)


def _unpickle_module(data: bytes) -> Any:
    import io

    return load(io.BytesIO(data))


def itself(x: Any, memo: Any = None) -> Any:
    """The copy of what does not change."""
    return x


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._six": "string_classes",
    "torchjit.jit._recursive": "wrap_cpp_module",
})  # fmt: skip
