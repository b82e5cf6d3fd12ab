"""torch.autograd.profiler_legacy: the former place of the profiler."""

from torchjit.autograd.profiler import profile as profile

__all__ = ["profile"]
