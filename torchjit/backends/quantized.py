"""torch.backends.quantized: the engine of quantized operators. All engines compute the numbers of PyTorch's "fbgemm"."""

from __future__ import annotations

from torchjit.backends import _settings

engine = "fbgemm"
supported_engines: list[str] = ["qnnpack", "none", "onednn", "x86", "fbgemm"]


def _check(name: str, value: object) -> None:
    """Raises RuntimeError for an engine that is none."""
    if name == "engine" and value not in supported_engines:
        raise RuntimeError(f"{value} is not a valid value for quantized engine")


_settings.serve(__name__)
