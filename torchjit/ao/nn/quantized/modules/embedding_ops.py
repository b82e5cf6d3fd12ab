"""Tables of vectors that are quantized, each vector with a scale and zero point of its own."""

from typing import Any, Optional

import torchjit as torch
from torchjit import Tensor, nn
from torchjit.ao.nn.quantized.modules.utils import _quantize_weight, hide_packed_params_repr
from torchjit.nn.modules.module import Module

# ruff: noqa: UP045

__all__ = ["EmbeddingPackedParams", "Embedding", "EmbeddingBag"]


class EmbeddingPackedParams(nn.Module):
    """A table in the form that look-ups use. The state has it as it is."""

    _version = 1

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: torch.dtype = torch.quint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype != torch.quint8:
            raise NotImplementedError(f"Unsupported dtype on quantized embedding! Supports quint8, got {dtype}")
        scales = torch.ones(num_embeddings, dtype=torch.float)
        zero_points = torch.zeros(num_embeddings, dtype=torch.float)
        self.set_weight(torch.quantize_per_channel(torch.zeros(num_embeddings, embedding_dim), scales, zero_points, 0, torch.quint8))

    @torch.jit.export
    def set_weight(self, weight: Tensor) -> None:
        self._packed_weight = torch.ops.quantized.embedding_bag_prepack(weight)

    @torch.jit.export
    def _weight(self):
        return torch.ops.quantized.embedding_bag_unpack(self._packed_weight)

    def forward(self, x: Tensor):
        return x

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._weight()

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name in ("dtype", "_packed_weight"):
            if prefix + name not in state_dict:
                missing_keys.append(prefix + name)
                return
        self.dtype: torch.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight(state_dict.pop(prefix + "_packed_weight"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs)

    def __repr__(self) -> str:
        return repr(self._weight())


def _observed_table(mod):
    """The quantized table of a module of floats. Raises AssertionError for configurations of other weights."""
    from torchjit.ao.quantization.qconfig import float_qparams_weight_only_qconfig

    name = "EmbeddingBag" if isinstance(mod, nn.EmbeddingBag) else "Embedding"
    if hasattr(mod, "weight_fake_quant"):
        observer = mod.weight_fake_quant
    else:
        if not hasattr(mod, "qconfig"):
            raise AssertionError(f"{name} input float module must have qconfig defined")
        given = mod.qconfig
        observer = (float_qparams_weight_only_qconfig if given is None or given.weight is None else given).weight()
    if observer.qscheme != torch.per_channel_affine_float_qparams:
        raise AssertionError(f"{name} quantization is only supported with float_qparams_weight_only_qconfig.")
    if observer.dtype != torch.quint8:
        raise AssertionError(f"The only supported dtype for nnq.{name} is torch.quint8, got {observer.dtype}")
    observer(mod.weight)
    return _quantize_weight(mod.weight.detach().float(), observer)


class Embedding(nn.Module):
    """A table of quantized vectors: indices of 1 or 2 dimensions give vectors of floats."""

    _version = 1
    _FLOAT_MODULE: Any = nn.Embedding

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: Optional[int] = None,
        max_norm: Optional[float] = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Optional[Tensor] = None, dtype: torch.dtype = torch.quint8,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.dtype = dtype
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.set_weight(_weight)

    def forward(self, indices: Tensor) -> Tensor:
        return torch.ops.quantized.embedding_byte(self._packed_params._packed_weight, indices)

    def _get_name(self):
        return "QuantizedEmbedding"

    def __repr__(self) -> str:
        return hide_packed_params_repr(self, EmbeddingPackedParams)

    def extra_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, dtype={self._packed_params.dtype},"
            f" qscheme={self.weight().qscheme()}"
        )

    def set_weight(self, w: Tensor) -> None:
        self._packed_params.set_weight(w)

    def weight(self) -> Tensor:
        """The table."""
        return self._packed_params._weight()

    @classmethod
    def from_float(cls, mod: Module) -> Module:
        """The table for one of floats, or for one that was trained with rounding. Raises AssertionError for other classes and weights."""
        from torchjit.ao.nn import qat

        if type(mod) not in (cls._FLOAT_MODULE, getattr(qat, cls.__name__)):
            raise AssertionError(f"nnq.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}, but got: {type(mod)}")
        made = cls(mod.num_embeddings, mod.embedding_dim)
        made.set_weight(_observed_table(mod))
        return made

    @classmethod
    def from_reference(cls, ref_embedding: Module) -> Module:
        """The table for one that rounds its vectors."""
        return cls(
            ref_embedding.num_embeddings,
            ref_embedding.embedding_dim,
            _weight=ref_embedding.get_quantized_weight(),
            dtype=ref_embedding.weight_dtype,
        )


class EmbeddingBag(Embedding):
    """A table of quantized vectors whose sums over bags of indices are given as floats."""

    _FLOAT_MODULE = nn.EmbeddingBag

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: Optional[float] = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "sum", sparse: bool = False, _weight: Optional[Tensor] = None,
        include_last_offset: bool = False, dtype: torch.dtype = torch.quint8,
    ) -> None:  # fmt: skip
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode = mode
        self.pruned_weights = False
        self.include_last_offset = include_last_offset

    def forward(
        self, indices: Tensor, offsets: Optional[Tensor] = None, per_sample_weights: Optional[Tensor] = None,
        compressed_indices_mapping: Optional[Tensor] = None,
    ) -> Tensor:  # fmt: skip
        return torch.ops.quantized.embedding_bag_byte(
            self._packed_params._packed_weight, indices, offsets, False, 0, self.pruned_weights, per_sample_weights,
            compressed_indices_mapping,
            self.include_last_offset,
        )  # fmt: skip

    def _get_name(self):
        return "QuantizedEmbeddingBag"

    @classmethod
    def from_reference(cls, ref_embedding_bag: Module) -> Module:
        """The table for one that rounds its vectors."""
        given = ref_embedding_bag
        return cls(
            given.num_embeddings, given.embedding_dim, given.max_norm, given.norm_type, given.scale_grad_by_freq, given.mode, given.sparse,
            given.get_quantized_weight(), given.include_last_offset, given.weight_dtype,
        )  # fmt: skip
