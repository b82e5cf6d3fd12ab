"""torch._refs.fft: Fourier transforms by the names of PyTorch's references."""

import torchjit.fft
from torchjit._refs._named import named

_NAMES = "fft fft2 fftn hfft hfft2 hfftn rfft rfft2 rfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn fftshift ifftshift"
globals().update(named(torchjit.fft, _NAMES, "torch._refs.fft"))
__all__ = _NAMES.split()
