"""torch.version: what this build is made for."""

from __future__ import annotations

__version__ = "1.13.1+torchjit0.1.0"
debug = False
cuda: str | None = None
hip: str | None = None
git_version = "unknown"
