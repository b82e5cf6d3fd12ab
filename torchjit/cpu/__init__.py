"""torch.cpu: what belongs to the CPU as a device."""

from torchjit.cpu import amp as amp
