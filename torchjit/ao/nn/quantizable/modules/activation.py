"""Attention of linear modules and functions that can be observed."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit import nn


class MultiheadAttention(nn.MultiheadAttention):
    """nn.MultiheadAttention with a linear module for each of query, key and value, whose results can be observed.

    forward takes query (length, batch, embed), key and value (source, batch, ...), or with batch_first the batch before, and gives the
    output, shaped as query, and the weights (batch, length, source), for each head where average_attn_weights is false.
    """

    _FLOAT_MODULE = nn.MultiheadAttention

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: Any = None,
        vdim: Any = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first, device=device, dtype=dtype)
        where = {"device": device, "dtype": dtype}
        self.linear_Q: nn.Linear = nn.Linear(self.embed_dim, self.embed_dim, bias=bias, **where)
        self.linear_K: nn.Linear = nn.Linear(self.kdim, self.embed_dim, bias=bias, **where)
        self.linear_V: nn.Linear = nn.Linear(self.vdim, self.embed_dim, bias=bias, **where)
        self.out_proj: nn.Linear = nn.Linear(self.embed_dim, self.embed_dim, bias=bias, **where)  # type: ignore[assignment]
        self.q_scaling_product: nn.Module = torch.ao.nn.quantized.FloatFunctional()
        stubs = torch.ao.quantization
        self.quant_attn_output: nn.Module = stubs.QuantStub()
        self.quant_attn_output_weights: nn.Module = stubs.QuantStub()
        self.dequant_q: nn.Module = stubs.DeQuantStub()
        self.dequant_k: nn.Module = stubs.DeQuantStub()
        self.dequant_v: nn.Module = stubs.DeQuantStub()

    def _get_name(self) -> str:
        return "QuantizableMultiheadAttention"

    @classmethod
    def from_float(cls, other: Any) -> Any:
        """The module of an nn.MultiheadAttention that has a qconfig, with its weights and observers."""
        assert type(other) is cls._FLOAT_MODULE
        assert hasattr(other, "qconfig"), "The float module must have 'qconfig'"
        observed = cls(
            other.embed_dim, other.num_heads, other.dropout, other.in_proj_bias is not None, other.bias_k is not None, other.add_zero_attn, other.kdim,
            other.vdim, other.batch_first,
        )  # fmt: skip
        observed.bias_k, observed.bias_v, observed.qconfig = other.bias_k, other.bias_v, other.qconfig
        observed.out_proj.weight, observed.out_proj.bias = other.out_proj.weight, other.out_proj.bias
        weights = other.in_proj_weight.chunk(3) if other._qkv_same_embed_dim else (other.q_proj_weight, other.k_proj_weight, other.v_proj_weight)
        biases = (None,) * 3 if other.in_proj_bias is None else other.in_proj_bias.chunk(3)
        for linear, weight, bias in zip((observed.linear_Q, observed.linear_K, observed.linear_V), weights, biases):
            linear.weight = nn.Parameter(weight)
            linear.bias = None if bias is None else nn.Parameter(bias)
        observed.eval()
        return torch.ao.quantization.prepare(observed, inplace=True)

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """Raises NotImplementedError: what is observed stays what it is."""
        raise NotImplementedError(
            "It looks like you are trying to prepare an MHA module. Please, see the examples on quantizable MHAs."
        )

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> tuple[Any, Any]:
        if self.batch_first:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        length, batch, embed = query.size()
        q = self.q_scaling_product.mul_scalar(self.linear_Q(query), float(self.head_dim) ** -0.5)
        k, v = self.linear_K(key), self.linear_V(value)
        bias_k, bias_v = self.bias_k, self.bias_v
        if bias_k is not None and bias_v is not None:
            if k.is_quantized and not bias_k.is_quantized:
                bias_k, bias_v = (
                    torch.quantize_per_tensor(b, scale=t.q_scale(), zero_point=t.q_zero_point(), dtype=t.dtype) for b, t in ((bias_k, k), (bias_v, v))
                )
            k, v = torch.cat([k, bias_k.repeat(1, batch, 1)]), torch.cat([v, bias_v.repeat(1, batch, 1)])
            attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
        q = q.contiguous().view(length, batch * self.num_heads, self.head_dim).transpose(0, 1)
        k, v = (t.contiguous().view(-1, batch * self.num_heads, self.head_dim).transpose(0, 1) for t in (k, v))
        q, k, v = self.dequant_q(q), self.dequant_k(k), self.dequant_v(v)
        if self.add_zero_attn:
            zeros = torch.zeros((k.size(0), 1, self.head_dim), dtype=k.dtype)
            k, v = torch.cat([k, zeros], 1), torch.cat([v, zeros], 1)
            attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
        weights = self._masked(torch.bmm(q, k.transpose(1, 2)), attn_mask, key_padding_mask, batch)
        weights = nn.functional.dropout(nn.functional.softmax(weights, dim=-1), p=self.dropout, training=self.training)
        output = torch.bmm(weights, v)
        if self.batch_first:
            output = output.view(batch, self.num_heads, length, self.head_dim).transpose(1, 2).reshape(batch, length, embed)
        else:
            output = output.transpose(0, 1).contiguous().view(length, batch, embed)
        output = self.out_proj(self.quant_attn_output(output))
        weights = self.quant_attn_output_weights(weights)
        if not need_weights:
            return output, None
        weights = weights.view(batch, self.num_heads, length, -1)
        return output, weights.mean(dim=1) if average_attn_weights else weights

    def _masked(self, scores: Any, attn_mask: Any, key_padding_mask: Any, batch: int) -> Any:
        """The scores (batch * heads, length, source) with minus infinity where a mask says so, and the numbers of a mask of floats added."""
        if attn_mask is not None:
            if attn_mask.dtype in (torch.bool, torch.uint8):
                scores = scores.masked_fill(attn_mask.to(torch.bool), float("-inf"))
            else:
                scores = scores + attn_mask
        if key_padding_mask is not None:
            scores = scores.view(batch, self.num_heads, scores.size(1), -1)
            scores = scores.masked_fill(key_padding_mask.to(torch.bool).unsqueeze(1).unsqueeze(2), float("-inf")).flatten(0, 1)
        return scores


def _wider(mask: Any) -> Any:
    """A mask for one source element more, which is not masked."""
    return None if mask is None else nn.functional.pad(mask, (0, 1))
