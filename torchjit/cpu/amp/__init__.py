"""torch.cpu.amp: mixed precision on the CPU."""

from torchjit.cpu.amp.autocast_mode import autocast as autocast
