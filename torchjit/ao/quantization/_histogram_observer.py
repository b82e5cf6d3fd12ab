"""The observer that chooses the range with the smallest error of what it has seen."""

from __future__ import annotations

import ctypes
from typing import Any

import torchjit as torch
from torchjit.ao.quantization.observer import UniformQuantizationObserverBase
from torchjit.ao.quantization.utils import check_min_max_valid, is_per_tensor


def _single(x: float) -> float:
    """The number in single precision: comparisons with elements of a tensor are those of its type."""
    if torch.jit.is_scripting():
        return float(torch.tensor(x, dtype=torch.float32))
    return ctypes.c_float(x).value


class HistogramObserver(UniformQuantizationObserverBase):
    """Observes how often elements are in each of `bins` parts of the range so far, and leaves out ends of the range where that lessens the error.

    >>> o = torch.quantization.HistogramObserver(bins=64)
    >>> _ = o(torch.linspace(-1, 1, 100))
    >>> scale, zero = o.calculate_qparams()
    >>> 0.005 < scale.item() < 0.01
    True
    """

    histogram: torch.Tensor

    def __init__(
        self, bins: int = 2048, upsample_rate: int = 128, dtype: Any = torch.quint8, qscheme: Any = torch.per_tensor_affine, reduce_range: bool = False,
        quant_min: Any = None, quant_max: Any = None, factory_kwargs: Any = None, eps: float = torch.finfo(torch.float32).eps,
    ) -> None:  # fmt: skip
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "HistogramObserver's qscheme only support torch.per_tensor_symmetric                     and torch.per_tensor_affine."
            )
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps)
        made = torch.nn.factory_kwargs(factory_kwargs)
        self.bins = bins
        self.register_buffer("histogram", torch.zeros(bins, **made))
        self.register_buffer("min_val", torch.tensor(float("inf"), **made))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **made))
        self.dst_nbins: int = 2 ** torch.iinfo(self.dtype).bits
        self.upsample_rate = upsample_rate

    def _get_norm(self, delta_begin: torch.Tensor, delta_end: torch.Tensor, density: torch.Tensor) -> torch.Tensor:
        """The squared error of elements of one density between two distances from where they are rounded to."""
        return density * ((delta_end * delta_end * delta_end - delta_begin * delta_begin * delta_begin) / 3)

    def _compute_quantization_error(self, next_start_bin: int, next_end_bin: int) -> float:
        """The squared error of all elements where the bins from the first to the last are divided into the steps of the type."""
        bin_width = float(self.max_val.item() - self.min_val.item()) / self.bins
        step = bin_width * (next_end_bin - next_start_bin + 1) / self.dst_nbins
        if step == 0.0:
            return 0.0
        begin = (torch.arange(self.bins, device=self.histogram.device) - next_start_bin) * bin_width
        end = begin + bin_width
        first = torch.clamp(torch.div(begin, step, rounding_mode="floor"), 0, self.dst_nbins - 1)
        last = torch.clamp(torch.div(end, step, rounding_mode="floor"), 0, self.dst_nbins - 1)
        density = self.histogram / bin_width
        half = step / 2
        norm = torch.zeros(self.bins, device=self.histogram.device)
        norm += self._get_norm(
            begin - (first + 0.5) * step, torch.ones(self.bins, device=self.histogram.device) * half, density
        )
        norm += (last - first - 1) * self._get_norm(torch.tensor(-half), torch.tensor(half), density)
        norm += self._get_norm(torch.tensor(-half), end - (last * step + half), density)
        return float(norm.sum().item())

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The range with the smallest error, found by leaving out the end that has fewer elements, as long as the error falls."""
        if self.histogram.size()[0] != self.bins:
            raise AssertionError("bins mismatch")
        bin_width = (self.max_val - self.min_val) / self.bins
        total = float(torch.sum(self.histogram).item())
        below: list[float] = torch.cumsum(self.histogram, dim=0).tolist()
        step = 1e-5
        alpha, beta = 0.0, 1.0
        start, end = 0, self.bins - 1
        smallest = float("inf")
        while alpha < beta:
            left, right = start, end
            next_alpha, next_beta = alpha + step, beta - step
            limit = _single(next_alpha * total)
            while left < end and below[left] < limit:
                left += 1
            limit = _single(next_beta * total)
            while right > start and below[right] > limit:
                right -= 1
            next_start, next_end = start, end
            if left - start > end - right:
                next_start, alpha = left, next_alpha
            else:
                next_end, beta = right, next_beta
            if next_start == start and next_end == end:
                continue
            error = self._compute_quantization_error(next_start, next_end)
            if error > smallest:
                break
            smallest, start, end = error, next_start, next_end
        return self.min_val + bin_width * start, self.min_val + bin_width * (end + 1)

    def _adjust_min_max(
        self, combined_min: torch.Tensor, combined_max: torch.Tensor, upsample_rate: int
    ) -> tuple[torch.Tensor, torch.Tensor, int, int]:
        """A wider range whose bins are a whole number of parts of the present ones, how many, and at which the present range begins."""
        part = (self.max_val - self.min_val) / (self.bins * upsample_rate)
        count = int(torch.ceil((combined_max - combined_min) / (self.bins * part)).item())
        rest = count * (self.bins * part) - (combined_max - combined_min)
        start = int(torch.round((self.min_val - combined_min) / part).item())
        return combined_min, combined_max + rest, count, start

    def _combine_histograms(
        self,
        orig_hist: torch.Tensor,
        new_hist: torch.Tensor,
        upsample_rate: int,
        downsample_rate: int,
        start_idx: int,
        Nbins: int,  # noqa: N803
    ) -> torch.Tensor:
        """The first histogram, of a wide range, with the elements of the second, whose range begins at a part of it."""
        parts = torch.zeros(Nbins * downsample_rate, device=orig_hist.device)
        parts[start_idx : Nbins * upsample_rate + start_idx] = new_hist.repeat_interleave(upsample_rate)
        sums = torch.cumsum(parts, 0, dtype=torch.double)[downsample_rate - 1 :: downsample_rate]
        before = torch.zeros(Nbins, device=orig_hist.device)
        before[1:Nbins] = sums[0:-1]
        return orig_hist + ((sums - before) / upsample_rate).to(torch.float)

    def _count(self, x: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        # The ends are whole numbers, as in PyTorch 1.13; elements outside of them are not counted.
        return torch.histc(x, self.bins, min=int(low), max=int(high))

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach()
        low, high = self.min_val, self.max_val
        same = low.item() == high.item()
        unseen = low == float("inf") and high == float("-inf")
        if unseen or same:
            low, high = torch.aminmax(x)
            counted = self._count(x, low, high)
        else:
            new_low, new_high = torch.aminmax(x)
            combined_low, combined_high, rate, start = self._adjust_min_max(
                torch.min(new_low, low), torch.max(new_high, high), self.upsample_rate
            )
            counted = self._count(x, combined_low, combined_high)
            if combined_low == low and combined_high == high:
                counted += self.histogram
            else:
                counted = self._combine_histograms(counted, self.histogram, self.upsample_rate, rate, start, self.bins)
            low, high = combined_low, combined_high
        self.histogram.detach_().resize_(counted.shape)
        self.histogram.copy_(counted)
        self.min_val.detach_().resize_(low.shape)
        self.min_val.copy_(low)
        self.max_val.detach_().resize_(high.shape)
        self.max_val.copy_(high)
        return x_orig

    @torch.jit.export
    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        unseen = self.min_val == float("inf") and self.max_val == float("-inf")
        if unseen:
            check_min_max_valid(self.min_val, self.max_val)
            return torch.tensor([1.0], device=self.min_val.device.type), torch.tensor(
                [0], device=self.min_val.device.type
            )
        if self.bins != len(self.histogram):
            raise AssertionError(
                "The number of bins in histogram should be equal to the number of bins supplied while making this observer"
            )
        low, high = self._non_linear_param_search()
        return self._calculate_qparams(low, high)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        version = local_metadata.get("version", None)
        if version is None or version < 3:
            for name in ("min_val", "max_val"):
                value = state_dict.get(prefix + name)
                if value is not None and value.shape == torch.Size([0]):
                    state_dict[prefix + name] = torch.tensor(float("inf") if name == "min_val" else float("-inf"))
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


HistogramObserver.__module__ = UniformQuantizationObserverBase.__module__
