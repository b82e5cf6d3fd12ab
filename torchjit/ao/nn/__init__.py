"""torch.ao.nn: modules of models that are quantized, or are to be."""

import importlib as _importlib


def __getattr__(name: str) -> object:
    if name not in ("intrinsic", "qat", "quantizable", "quantized"):
        raise AttributeError(f"module 'torch.ao.nn' has no attribute '{name}'")
    return _importlib.import_module("torchjit.ao.nn." + name)
