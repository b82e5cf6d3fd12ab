"""Rounding of weights and activations whose scale and zero point are learned."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.ao.quantization.fake_quantize import FakeQuantizeBase
from torchjit.nn.parameter import Parameter

_SYMMETRIC = (torch.per_tensor_symmetric, torch.per_channel_symmetric)
_PER_CHANNEL = (torch.per_channel_affine, torch.per_channel_symmetric)


class _LearnableFakeQuantize(FakeQuantizeBase):
    """Rounds as quantization does. The scale and the zero point are those of an observer, or are learned as other parameters are.

    channel_len is the number of channels, -1 for one scale for all. With use_grad_scaling gradients of the scale and the zero point are divided by
    the root of the number of elements times quant_max.
    """

    def __init__(
        self, observer: Any, quant_min: int = 0, quant_max: int = 255, scale: float = 1.0, zero_point: float = 0.0, channel_len: int = -1,
        use_grad_scaling: bool = False, **observer_kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        assert quant_min < quant_max, "quant_min must be strictly less than quant_max."
        assert channel_len == -1 or channel_len > 0, "Channel size must be a positive integer."
        self.quant_min, self.quant_max, self.use_grad_scaling = quant_min, quant_max, use_grad_scaling
        observer_kwargs["quant_min"], observer_kwargs["quant_max"] = quant_min, quant_max
        count = 1 if channel_len == -1 else channel_len
        self.scale = Parameter(torch.tensor([float(scale)] * count))
        self.zero_point = Parameter(torch.tensor([float(zero_point)] * count))
        self.activation_post_process = observer(**observer_kwargs)
        limits = torch.iinfo(self.activation_post_process.dtype)
        assert limits.min <= quant_min, "quant_min out of bound"
        assert quant_max <= limits.max, "quant_max out of bound"
        self.dtype, self.qscheme = self.activation_post_process.dtype, self.activation_post_process.qscheme
        self.ch_axis = getattr(self.activation_post_process, "ch_axis", -1)
        for name, on in (("fake_quant_enabled", 1), ("static_enabled", 1), ("learning_enabled", 0)):
            self.register_buffer(name, torch.tensor([on], dtype=torch.uint8))
        self.bitwidth = (quant_max - quant_min).bit_length()
        self.register_buffer("eps", torch.tensor([torch.finfo(torch.float32).eps]))

    @torch.jit.export
    def enable_param_learning(self) -> Any:
        """Has the scale and the zero point learned."""
        self.toggle_qparam_learning(enabled=True).toggle_fake_quant(enabled=True).toggle_observer_update(enabled=False)
        return self

    @torch.jit.export
    def enable_static_estimate(self) -> Any:
        """Has the observer say what they are, and rounds."""
        self.toggle_qparam_learning(enabled=False).toggle_fake_quant(enabled=True).toggle_observer_update(enabled=True)

    @torch.jit.export
    def enable_static_observation(self) -> Any:
        """Has the observer say what they are, and rounds nothing."""
        self.toggle_qparam_learning(enabled=False).toggle_fake_quant(enabled=False).toggle_observer_update(enabled=True)

    @torch.jit.export
    def toggle_observer_update(self, enabled: bool = True) -> Any:
        """Whether the observer says what the scale and the zero point are."""
        self.static_enabled[0] = int(enabled)
        return self

    @torch.jit.export
    def enable_observer(self, enabled: bool = True) -> None:
        """The same."""
        self.toggle_observer_update(enabled)

    @torch.jit.export
    def toggle_qparam_learning(self, enabled: bool = True) -> Any:
        """Whether the scale and the zero point are learned."""
        self.learning_enabled[0] = int(enabled)
        self.scale.requires_grad = enabled
        self.zero_point.requires_grad = enabled
        return self

    @torch.jit.export
    def toggle_fake_quant(self, enabled: bool = True) -> Any:
        """Whether anything is rounded."""
        self.fake_quant_enabled[0] = int(enabled)
        return self

    @torch.jit.export
    def observe_quant_params(self) -> None:
        """Prints the scale and the zero point."""
        print(f"_LearnableFakeQuantize Scale: {self.scale.detach()}")
        print(f"_LearnableFakeQuantize Zero Point: {self.zero_point.detach()}")

    @torch.jit.export
    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """The scale, and the zero point as an integer."""
        self.scale.data.clamp_(min=self.eps.item())
        zero_point = self.zero_point.detach().round().clamp(self.quant_min, self.quant_max).long()
        return self.scale.detach(), zero_point

    def forward(self, X: Any) -> Any:
        if self.static_enabled[0] == 1:
            self.activation_post_process(X.detach())
            scale, zero_point = (t.to(self.scale.device) for t in self.activation_post_process.calculate_qparams())
            self.scale.data.copy_(scale)
            self.zero_point.data.copy_(zero_point)
        else:
            self.scale.data.clamp_(min=self.eps.item())
        if self.fake_quant_enabled[0] != 1:
            return X
        if self.qscheme in _SYMMETRIC:
            self.zero_point.data.zero_()
        factor = 1.0 / (X.numel() * self.quant_max) ** 0.5 if self.use_grad_scaling else 1.0
        if self.qscheme in _PER_CHANNEL:
            return torch._fake_quantize_learnable_per_channel_affine(
                X, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max, factor
            )
        return torch._fake_quantize_learnable_per_tensor_affine(X, self.scale, self.zero_point, self.quant_min, self.quant_max, factor)
