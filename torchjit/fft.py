"""torch.fft: the operators whose names begin with fft_."""

from torchjit._namespace import serve

serve(__name__, "aten::fft_")
