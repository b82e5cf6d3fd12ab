"""Tables of vectors that are rounded."""

from typing import Any, Dict, Optional

import torchjit as torch
import torchjit.nn.functional as F  # noqa: N812
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.reference.modules.utils import ReferenceQuantizedModule
from torchjit.nn.modules.module import Module
from torchjit.types import Device

# ruff: noqa: UP006, UP035, UP045, A002


class Embedding(nn.Embedding, ReferenceQuantizedModule):
    """nn.Embedding with a table that is rounded in each call."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: Optional[int] = None,
        max_norm: Optional[float] = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Optional[Tensor] = None, device: Device = None, dtype: torch.dtype | None = None,
        weight_qparams: Optional[Dict[str, Any]] = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, device=device, dtype=dtype
        )
        self._init_weight_qparams(weight_qparams, device)

    def _get_name(self):
        return "QuantizedEmbedding(Reference)"

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.get_weight(), self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)

    @classmethod
    def from_float(cls, mod: Module, weight_qparams: dict[str, object]) -> Module:
        """The table for one of floats."""
        return cls(
            mod.num_embeddings, mod.embedding_dim, mod.padding_idx, mod.max_norm, mod.norm_type, mod.scale_grad_by_freq, mod.sparse,
            mod.weight.detach(), device=mod.weight.device, dtype=mod.weight.dtype, weight_qparams=weight_qparams,
        )  # fmt: skip


class EmbeddingBag(nn.EmbeddingBag, ReferenceQuantizedModule):
    """nn.EmbeddingBag with a table that is rounded in each call."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: Optional[float] = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Optional[Tensor] = None,
        include_last_offset: bool = False, padding_idx: Optional[int] = None, device: Device = None,
        dtype: torch.dtype | None = None, weight_qparams: Optional[Dict[str, Any]] = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, mode, sparse, _weight, include_last_offset, padding_idx,
            device=device, dtype=dtype,
        )  # fmt: skip
        self._init_weight_qparams(weight_qparams, device)

    def _get_name(self):
        return "QuantizedEmbedding(Reference)"

    def forward(self, input: Tensor, offsets: Optional[Tensor] = None, per_sample_weights: Optional[Tensor] = None) -> Tensor:
        return F.embedding_bag(
            input, self.get_weight(), offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights,
            self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Module, weight_qparams: dict[str, object]) -> Module:
        """The table for one of floats."""
        return cls(
            mod.num_embeddings, mod.embedding_dim, mod.max_norm, mod.norm_type, mod.scale_grad_by_freq, mod.mode, mod.sparse,
            mod.weight.detach(),
            mod.include_last_offset, mod.padding_idx, device=mod.weight.device, dtype=mod.weight.dtype, weight_qparams=weight_qparams,
        )  # fmt: skip
