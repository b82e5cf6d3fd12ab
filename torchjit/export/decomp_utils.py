"""torch.export.decomp_utils: the table of decompositions."""

from __future__ import annotations

from torchjit.export._decompose import CustomDecompTable

__all__ = ["CustomDecompTable"]
