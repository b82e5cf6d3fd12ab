"""Scaling of losses, so that small gradients of float16 are not lost. It is disabled where there is no CUDA device: never more than passing on."""

from __future__ import annotations

import enum
import warnings
from collections import defaultdict
from typing import Any

import torchjit as torch


class OptState(enum.Enum):
    """What was done with the gradients of an optimizer since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses by a factor, which a step takes off the gradients again: `scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()`.

    A step with gradients that are infinite or not numbers is left out, and the factor multiplied by backoff_factor; after growth_interval steps without such it is
    multiplied by growth_factor. Without a CUDA device, or where enabled is False, losses are passed on and steps are taken as they are.
    """

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True
    ) -> None:
        if enabled and not torch.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            enabled = False
        self._enabled = enabled
        if enabled:
            assert growth_factor > 1.0, "The growth factor must be > 1.0."
            assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._scale: Any = None  # tensors of one element, made on the device of the first loss
        self._growth_tracker: Any = None
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._per_optimizer_states: defaultdict[int, dict[str, Any]] = defaultdict(_fresh)

    def _begin(self, device: Any) -> None:
        self._scale = torch.full((1,), self._init_scale, dtype=torch.float32, device=device)
        self._growth_tracker = torch.full((1,), self._init_growth_tracker, dtype=torch.int32, device=device)

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def scale(self, outputs: Any) -> Any:
        """A tensor on a CUDA device, or each of a list, a tuple or another iterable of them, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            assert outputs.is_cuda, "a loss that is scaled must be on a CUDA device"
            if self._scale is None:
                self._begin(outputs.device)
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, (list, tuple)):
            scaled = [self.scale(o) for o in outputs]
            return type(outputs)(*scaled) if hasattr(outputs, "_fields") else type(outputs)(scaled)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _needs_scale(self, what: str) -> None:
        assert self._scale is not None, f"Attempted {what} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."

    def _unscale(self, optimizer: Any, allow_fp16: bool) -> dict[Any, Any]:
        """Takes the factor off the gradients. By device: 1 where a gradient is infinite or no number, else 0."""
        found: dict[Any, Any] = {}
        factors: dict[Any, Any] = {}
        with torch.no_grad():
            inverse = self._scale.double().reciprocal().float()
            for group in optimizer.param_groups:
                for p in group["params"]:
                    g = p.grad
                    if g is None:
                        continue
                    if g.dtype is torch.float16 and not allow_fp16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if g.is_sparse:
                        g = g._values()
                    if g.device not in found:
                        found[g.device] = torch.zeros(1, dtype=torch.float32, device=g.device)
                        factors[g.device] = inverse.to(g.device)
                    found[g.device] = torch.maximum(found[g.device], g.isfinite().all().logical_not().float())
                    g.mul_(factors[g.device].to(g.dtype))
        return found

    def unscale_(self, optimizer: Any) -> None:
        """Takes the factor off the gradients of an optimizer's parameters before its step, to clip them for example. RuntimeError where that was done since the last
        update, or the step was taken."""
        if not self._enabled:
            return
        self._needs_scale("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["found_inf_per_device"] = self._unscale(optimizer, False)
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(*args, **kwargs) with the factor taken off the gradients, or nothing where one of them is infinite or no number. Closures are not taken."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._needs_scale("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        assert state["found_inf_per_device"], "No inf checks were recorded for this optimizer."
        result = None
        if not any(found.item() for found in state["found_inf_per_device"].values()):
            result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Changes the factor by what the steps since the last update met, or to new_scale, a number or a tensor of one element on a CUDA device."""
        if not self._enabled:
            return
        self._needs_scale("update")
        if new_scale is not None:
            if isinstance(new_scale, float):
                self._scale.fill_(new_scale)
            else:
                assert isinstance(new_scale, torch.Tensor) and new_scale.is_cuda and new_scale.numel() == 1, (
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor with requires_grad=False."
                )
                self._scale.copy_(new_scale)
        else:
            found = [f for state in self._per_optimizer_states.values() for f in state["found_inf_per_device"].values()]
            assert found, "No inf checks were recorded prior to update."
            if any(f.item() for f in found):
                self._scale.mul_(self._backoff_factor)
                self._growth_tracker.zero_()
            elif int(self._growth_tracker) + 1 == self._growth_interval:
                grown = self._scale * self._growth_factor
                self._scale.copy_(torch.where(grown.isfinite(), grown, self._scale))
                self._growth_tracker.zero_()
            else:
                self._growth_tracker.add_(1)
        self._per_optimizer_states = defaultdict(_fresh)

    def get_scale(self) -> float:
        """The factor; 1.0 where losses are not scaled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale)

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker)

    def state_dict(self) -> dict[str, Any]:
        """The factor and how it changes, for load_state_dict; empty where losses are not scaled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from what state_dict gave. RuntimeError where that is empty: it came from a scaler that is not enabled."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._init_growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)
