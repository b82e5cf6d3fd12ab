"""Files of safetensors: tensors by name, in a format that holds nothing else.

The functions have the names of the package `safetensors`, which needs PyTorch: `from torchjit.safetensors import load_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor

__all__ = ["load", "load_file", "load_model", "safe_open", "save", "save_file", "save_model"]


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a file by name. They are read: what happens to the file later changes nothing.

    Raises RuntimeError for a file that is not whole or not of the format.
    """
    return _native.safetensors_load(os.fspath(filename))[0]


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of a file's bytes by name."""
    return _native.safetensors_parse(bytes(data))[0]


def save_file(tensors: dict[str, Tensor], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Writes tensors to a file, which is replaced when its successor is whole. Equal tensors give equal bytes.

    Raises ValueError for what is no dictionary of tensors, for a tensor that is not contiguous and for element types that the format
    does not have; RuntimeError where two tensors share memory.
    """
    _native.safetensors_save(_checked(tensors), metadata or {}, os.fspath(filename))


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of the file that save_file writes."""
    return _native.safetensors_bytes(_checked(tensors), metadata or {})


def _checked(tensors: Any) -> dict[str, Tensor]:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    owners: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are trying to save "
                "tensors which are reference of each other in which case it's recommended to save only the full tensors, and reslice at "
                "load time, or simply call `.contiguous()` on your tensor to pack it before saving."
            )
        if tensor.numel():
            owners.setdefault(_native.tensor_storage(tensor).data_ptr(), []).append(name)
    shared = [set(names) for names in owners.values() if len(names) > 1]
    if shared:
        raise RuntimeError(
            f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them again: {shared}. "
            "A potential way to correctly save your model is to use `save_model`."
        )
    return {name: tensor.detach() for name, tensor in tensors.items()}


def save_model(model: Any, filename: Any, metadata: dict[str, str] | None = None, force_contiguous: bool = True) -> None:
    """Writes the state of a module. Of names that share a tensor the first is written; the metadata says what the others are."""
    state, said = {}, dict(metadata or {})
    first: dict[int, str] = {}
    for name, tensor in sorted(model.state_dict().items()):
        owner = first.setdefault(tensor.data_ptr() if tensor.numel() else id(tensor), name)
        if owner == name:
            state[name] = tensor.contiguous() if force_contiguous else tensor
        else:
            said[name] = owner
    save_file(state, filename, said)


def load_model(model: Any, filename: Any, strict: bool = True, device: Any = "cpu") -> tuple[list[str], list[str]]:
    """Loads what save_model wrote into a module; gives the names that were missing and those that were not expected."""
    tensors, said = _native.safetensors_load(os.fspath(filename))
    state = {**tensors, **{name: tensors[owner] for name, owner in said.items() if owner in tensors and name not in tensors}}
    missing, unexpected = model.load_state_dict(state, strict=strict)
    return missing, unexpected


class safe_open:  # noqa: N801
    """A file that is open for reading: each of its tensors is read, anew, when it is asked for.

    Raises RuntimeError for a file that is not whole or not of the format, and later where it was closed or has become shorter.
    """

    _file: int | None = None

    def __init__(self, filename: Any, framework: str = "pt", device: Any = "cpu") -> None:
        self._file: Any
        self._file, self._names, self._metadata = _native.safetensors_open(os.fspath(filename))

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._close()

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            _native.safetensors_close(self._file)

    def keys(self) -> list[str]:
        """The names of the tensors."""
        return sorted(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def metadata(self) -> dict[str, str] | None:
        """What the file says besides, None where it says nothing."""
        return self._metadata or None

    def get_tensor(self, name: str) -> Tensor:
        """A tensor. Raises KeyError where there is none of that name."""
        if name not in self._names:
            raise KeyError(name)
        file: Any = self._file
        return _native.safetensors_tensor(file, name)

    def get_slice(self, name: str) -> Tensor:
        """A tensor, of which parts can be taken."""
        return self.get_tensor(name)
