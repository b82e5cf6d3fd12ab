"""torch.version: what this build is made for."""

from __future__ import annotations

from torchjit import _native

__version__ = f"1.13.1+torchjit{_native.version()}"  # the file gojit/VERSION says the second one
debug = False
cuda: str | None = None
hip: str | None = None
git_version = "unknown"
