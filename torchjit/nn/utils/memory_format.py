"""The order of a module's weights in memory."""

from typing import Any

import torchjit as torch


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Has the weights of all two-dimensional convolutions in a module stand in a memory format; returns the module.

    >>> m = nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 3), torch.channels_last)
    >>> m.weight.is_contiguous(memory_format=torch.channels_last)
    True
    """
    for part in module.modules():
        if isinstance(part, (torch.nn.Conv2d, torch.nn.ConvTranspose2d)):
            part.weight.data = part.weight.detach().clone().contiguous(memory_format=memory_format)
    return module
