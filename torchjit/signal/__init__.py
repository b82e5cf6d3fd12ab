"""torch.signal: windows of signals."""

from torchjit.signal import windows as windows
