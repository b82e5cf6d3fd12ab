"""torch.ao.quantization: models whose weights are quantized when they have been trained."""

from __future__ import annotations

import copy
from typing import Any

import torchjit as torch
from torchjit.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper", "quantize_dynamic"]


def quantized_weight(weight: Any) -> Any:
    """A weight as qint8 with one scale, symmetric about zero: its largest element is 127.5 steps from it."""
    w = weight.detach().float()
    low, high = min(0.0, float(w.min())), max(0.0, float(w.max()))
    largest = torch.tensor(max(-low, high), dtype=torch.float32)
    scale = max(float(largest / torch.tensor(127.5)), torch.finfo(torch.float32).eps)
    return torch.quantize_per_tensor(w, scale, 0, torch.qint8)


def _mapping() -> dict[type, Any]:
    from torchjit.ao.nn.quantized import dynamic

    nn = torch.nn
    return {nn.Linear: dynamic.Linear, nn.LSTM: dynamic.LSTM, nn.GRU: dynamic.GRU}


def quantize_dynamic(model: Any, qconfig_spec: Any = None, dtype: Any = None, mapping: Any = None, inplace: bool = False) -> Any:
    """A copy of a model whose linear and recurrent layers have weights of qint8, or of float16; inputs are quantized as they come.

    qconfig_spec is a set of classes or of names of submodules, None for nn.Linear, nn.LSTM and nn.GRU. Raises ValueError for other
    element types, NotImplementedError for classes that cannot be quantized here.
    """
    dtype = torch.qint8 if dtype is None else dtype
    if dtype not in (torch.qint8, torch.float16):
        raise ValueError(
            f"Don't know how to quantize with default settings for {dtype}. Provide full qconfig please"
            if qconfig_spec is None
            else f"Unknown dtype specified for quantize_dynamic: {dtype}"
        )
    known = dict(_mapping() if mapping is None else mapping)
    wanted = set(known) if qconfig_spec is None else set(qconfig_spec)
    for item in wanted:
        if isinstance(item, type) and item not in known:
            raise NotImplementedError(f"{item.__name__} cannot be quantized dynamically in this version: one of {[c.__name__ for c in known]} can")
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    if type(model) in known and type(model) in wanted:
        return known[type(model)].from_float(model, dtype)
    _replace(model, "", known, wanted, dtype)
    return model


def _replace(module: Any, prefix: str, known: dict[type, Any], wanted: set[Any], dtype: Any) -> None:
    for name, child in list(module.named_children()):
        path = prefix + name
        inside = any(isinstance(w, str) and (path == w or path.startswith(w + ".")) for w in wanted)
        if type(child) in known and (type(child) in wanted or inside):
            module._modules[name] = known[type(child)].from_float(child, dtype)
        else:
            _replace(child, path + ".", known, wanted, dtype)
