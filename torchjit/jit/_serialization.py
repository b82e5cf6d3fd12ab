"""torch.jit.save and torch.jit.load."""

from __future__ import annotations

import os
from typing import Any

from torchjit import _native


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Writes a compiled module to a path or to a file object."""
    raise NotImplementedError("torch.jit.save is not implemented by this version of torchjit")


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None) -> Any:
    """The compiled module in a file: a path or a file object. Nothing in the file is run.

    The values of _extra_files are replaced by what the file has under their names.
    """
    from torchjit.jit._module import RecursiveScriptModule

    wanted = list(_extra_files or ())
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if not os.path.exists(path):
            raise ValueError(f"The provided filename {path} does not exist")
        if os.path.isdir(path):
            raise ValueError(f"The provided filename {path} is a directory")
        c, extra = _native.load_module(path, wanted)
    else:
        c, extra = _native.load_module_from_bytes(f.read(), wanted)
    for name, data in extra.items():
        _extra_files[name] = data  # type: ignore[index]
    return RecursiveScriptModule._wrap(c) if isinstance(c, _native.Handle) else c
