"""torch.backends.quantized: the engine of quantized operators. All engines compute the numbers of PyTorch's "fbgemm"."""

from __future__ import annotations

from torchjit.backends import _settings

engine = "fbgemm"
supported_engines: list[str] = ["none", "fbgemm", "qnnpack"]

_settings.serve(__name__)
