"""Pickles of packed parameters: an archive with a module that has them."""

from __future__ import annotations

import io
from typing import Any

import torchjit as torch


class _Holder(torch.nn.Module):
    def __init__(self, packed: Any) -> None:
        super().__init__()
        self.packed = packed

    def forward(self) -> int:
        return 0


def archive_of(packed: Any) -> bytes:
    """The bytes of packed parameters."""
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(_Holder(packed)), buffer)
    return buffer.getvalue()


def of_archive(archive: bytes) -> Any:
    """The packed parameters of bytes."""
    return torch.jit.load(io.BytesIO(archive)).packed
