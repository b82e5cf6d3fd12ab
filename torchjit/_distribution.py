"""The distribution named torch that importlib.metadata finds after install_as_torch(): a name and a version, no files."""

from __future__ import annotations

import importlib.metadata
import pathlib
from typing import Any

from torchjit.version import __version__


class TorchDistribution(importlib.metadata.Distribution):
    """Says that torch is installed, in the version that this package stands for."""

    def read_text(self, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return pathlib.Path(__file__).parent.parent / path
