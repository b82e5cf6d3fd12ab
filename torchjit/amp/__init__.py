"""torch.amp: mixed precision."""

from torchjit.amp.autocast_mode import autocast as autocast
