"""torch._refs.nn: see functional."""

from torchjit._refs.nn import functional as functional
