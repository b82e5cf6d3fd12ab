"""Image transforms with an enum of borders, optional parameters and random choices from the global generator."""

import enum
from typing import List, Optional, Tuple, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Border(enum.Enum):
    ZERO = "zero"
    REFLECT = "reflect"
    EDGE = "edge"


def mode_of(border: Border) -> str:
    if border == Border.REFLECT:
        return "reflect"
    elif border == Border.EDGE:
        return "replicate"
    return "constant"


class RandomCrop(nn.Module):
    def __init__(self, size: Tuple[int, int], padding: Optional[List[int]] = None, border: Border = Border.ZERO):
        super().__init__()
        self.size = size
        self.padding = padding
        self.border = border

    def forward(self, image: Tensor) -> Tensor:
        padding = self.padding
        if padding is not None:
            if len(padding) == 1:
                padding = [padding[0]] * 4
            elif len(padding) == 2:
                padding = [padding[0], padding[0], padding[1], padding[1]]
            image = F.pad(image.unsqueeze(0), padding, mode_of(self.border)).squeeze(0)
        _, h, w = image.shape
        th, tw = self.size
        if h < th or w < tw:
            raise ValueError(f"crop {self.size} is larger than {(h, w)}")
        top = int(torch.randint(0, h - th + 1, (1,)).item())
        left = int(torch.randint(0, w - tw + 1, size=(1,)).item())
        return image[..., top : top + th, left : left + tw]


class RandomFlip(nn.Module):
    def __init__(self, p: float = 0.5):
        super().__init__()
        self.p = p

    def forward(self, image: Tensor) -> Tensor:
        if torch.rand(1) < self.p:
            return image.flip(-1)
        return image


class Normalize(nn.Module):
    def __init__(self, mean: List[float], std: List[float]):
        super().__init__()
        self.mean, self.std = mean, std

    def forward(self, image: Tensor) -> Tensor:
        mean = torch.as_tensor(self.mean, dtype=image.dtype, device=image.device)
        std = torch.as_tensor(self.std, dtype=image.dtype, device=image.device)
        if (std == 0).any():
            raise ValueError("std must not be zero")
        return image.sub(mean[:, None, None]).div_(std[:, None, None])


class Rotate(nn.Module):
    def forward(self, image: Tensor, angle: Union[float, int]) -> Tensor:
        if isinstance(angle, int):
            turns = angle
            return torch.rot90(image, turns, [1, 2])
        else:
            a = torch.tensor(angle)
            theta = torch.stack([a.cos(), -a.sin(), torch.zeros(()), a.sin(), a.cos(), torch.zeros(())]).view(1, 2, 3)
            grid = F.affine_grid(theta, [1, image.size(0), image.size(1), image.size(2)], align_corners=False)
            return F.grid_sample(image[None], grid, mode="bilinear", padding_mode="zeros", align_corners=False)[0]


@torch.jit.script
def to_gray(image: Tensor, channels: int = 1) -> Tensor:
    r, g, b = image.unbind(0)
    gray = (0.2989 * r + 0.587 * g + 0.114 * b).unsqueeze(0)
    if channels == 3:
        return gray.expand(3, -1, -1)
    assert channels == 1
    return gray


def main():
    torch.manual_seed(9)
    image = torch.rand(3, 6, 7)
    pipeline = torch.jit.script(nn.Sequential(RandomCrop((5, 5), [1, 2], Border.REFLECT), RandomFlip(), Normalize([0.5, 0.4, 0.3], [0.2, 0.2, 0.1])))
    outs = [pipeline(image) for _ in range(3)]
    rotate = torch.jit.script(Rotate())
    try:
        torch.jit.script(RandomCrop((9, 9)))(image)
        refused = "no"
    except Exception as e:
        refused = "yes" if "crop (9, 9) is larger than (6, 7)" in str(e) else str(e)
    edge = torch.jit.script(RandomCrop((8, 9), [1], Border.EDGE))(image)
    return [outs, rotate(image, 1), rotate(image, 0.3), to_gray(image, 3), refused, edge]
