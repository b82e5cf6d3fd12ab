"""The name that ChannelShuffle's module has in PyTorch."""

from torchjit.nn.modules.pixelshuffle import ChannelShuffle as ChannelShuffle
