"""The modules, by theme."""

from torchjit.ao.nn.qat.dynamic.modules.linear import Linear as Linear

__all__ = ["Linear"]
