"""torch.backends.quantized: the engine of quantized operators. Its numbers are those of PyTorch's "fbgemm"."""

from __future__ import annotations

from torchjit.backends import _settings

engine = "fbgemm"
supported_engines = ["none", "fbgemm"]

_settings.serve(__name__)
