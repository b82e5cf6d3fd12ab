"""torch._refs.fft: Fourier transforms by the names of PyTorch's references."""

import torchjit.fft
from torchjit._refs._named import named

__all__ = "fft fft2 fftn hfft hfft2 hfftn rfft rfft2 rfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn fftshift ifftshift".split()
globals().update(named(torchjit.fft, __all__, "torch._refs.fft"))
