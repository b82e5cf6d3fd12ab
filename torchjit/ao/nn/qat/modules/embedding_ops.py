"""Tables of vectors that are rounded."""

from __future__ import annotations

from typing import Any

import torchjit.nn.functional as F  # noqa: N812
from torchjit import nn

# ruff: noqa: A002

__all__ = ["Embedding", "EmbeddingBag"]


def _check(qconfig: Any) -> None:
    import torchjit as torch

    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
    if qconfig.weight().qscheme != torch.per_channel_affine_float_qparams:
        raise AssertionError(
            "Embedding weights requires a qscheme of torch.per_channel_affine_float_qparams Got "
            + str(qconfig.weight().qscheme)
        )


def _checked_float(cls: Any, mod: Any) -> None:
    if type(mod) is not cls._FLOAT_MODULE:
        raise AssertionError(" qat." + cls.__name__ + ".from_float only works for " + cls._FLOAT_MODULE.__name__)
    if not hasattr(mod, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
    if not mod.qconfig:
        raise AssertionError("Input float module must have a valid qconfig")


class Embedding(nn.Embedding):
    """A table whose vectors go through `weight_fake_quant`."""

    _FLOAT_MODULE = nn.Embedding

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None, device: Any = None, dtype: Any = None, qconfig: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            device=device,
            dtype=dtype,
        )
        _check(qconfig)
        self.qconfig = qconfig
        self.weight_fake_quant: nn.Module = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Any) -> Any:
        return F.embedding(
            input,
            self.weight_fake_quant(self.weight),
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_float(cls, mod: Any) -> Any:
        """The table with the vectors of one without rounding, by the configuration that is on it."""
        _checked_float(cls, mod)
        made = cls(
            mod.num_embeddings, mod.embedding_dim, mod.padding_idx, mod.max_norm, mod.norm_type, mod.scale_grad_by_freq, mod.sparse, mod.weight,
            qconfig=mod.qconfig,
        )  # fmt: skip
        return made

    def to_float(self) -> Any:
        """The table without rounding."""
        made = nn.Embedding(
            self.num_embeddings,
            self.embedding_dim,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
            None,
        )
        made.weight = nn.Parameter(self.weight.detach())
        made.train(self.training)
        return made


class EmbeddingBag(nn.EmbeddingBag):
    """Sums and means of vectors of a table that go through `weight_fake_quant`."""

    _FLOAT_MODULE = nn.EmbeddingBag

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: Any = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        mode: str = "mean", sparse: bool = False, _weight: Any = None, include_last_offset: bool = False, padding_idx: Any = None, qconfig: Any = None,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, mode, sparse, _weight, include_last_offset, padding_idx,
            device=device, dtype=dtype,
        )  # fmt: skip
        _check(qconfig)
        self.qconfig = qconfig
        self.weight_fake_quant: nn.Module = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return F.embedding_bag(
            input, self.weight_fake_quant(self.weight), offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Any) -> Any:
        """The table with the vectors of one without rounding, by the configuration that is on it."""
        _checked_float(cls, mod)
        return cls(
            mod.num_embeddings, mod.embedding_dim, mod.max_norm, mod.norm_type, mod.scale_grad_by_freq, mod.mode, mod.sparse, mod.weight,
            mod.include_last_offset, mod.padding_idx, qconfig=mod.qconfig,
        )  # fmt: skip

    def to_float(self) -> Any:
        """The table without rounding."""
        made = nn.EmbeddingBag(
            self.num_embeddings, self.embedding_dim, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse, None,
            self.include_last_offset, self.padding_idx,
        )  # fmt: skip
        made.weight = nn.Parameter(self.weight.detach())
        made.train(self.training)
        return made
