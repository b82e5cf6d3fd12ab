"""A small U-Net: skip connections kept in a list, transposed convolutions, reflection padding to even sizes."""

from typing import List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


def double(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1, bias=False),
        nn.BatchNorm2d(outside),
        nn.LeakyReLU(0.1, inplace=True),
        nn.Conv2d(outside, outside, 3, padding=1, groups=2),
        nn.InstanceNorm2d(outside, affine=True),
        nn.Hardswish(),
    )


class Up(nn.Module):
    def __init__(self, inside: int, outside: int, bilinear: bool):
        super().__init__()
        if bilinear:
            self.up = nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), nn.Conv2d(inside, outside, 1))
        else:
            self.up = nn.ConvTranspose2d(inside, outside, 2, stride=2)
        self.join = double(2 * outside, outside)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        x = self.up(x)
        dh, dw = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        if dh != 0 or dw != 0:
            x = F.pad(x, [dw // 2, dw - dw // 2, dh // 2, dh - dh // 2], mode="replicate")
        return self.join(torch.cat([skip, x], dim=1))


class UNet(nn.Module):
    def __init__(self, channels: int, classes: int, widths: List[int]):
        super().__init__()
        self.down = nn.ModuleList()
        last = channels
        for w in widths:
            self.down.append(double(last, w))
            last = w
        self.pool = nn.MaxPool2d(2, ceil_mode=True)
        self.ups = nn.ModuleList([Up(a, b, i == 0) for i, (a, b) in enumerate(zip(widths[:0:-1], widths[-2::-1]))])
        self.head = nn.Conv2d(widths[0], classes, 1)

    def padded(self, x: Tensor, multiple: int) -> Tuple[Tensor, List[int]]:
        h, w = x.shape[-2:]
        bottom, right = -h % multiple, -w % multiple
        return F.pad(x, (0, right, 0, bottom), mode="reflect"), [h, w]

    def forward(self, x: Tensor) -> Tensor:
        x, size = self.padded(x, 4)
        skips: List[Tensor] = []
        for i, block in enumerate(self.down):
            x = block(x)
            if i + 1 < len(self.down):
                skips.append(x)
                x = self.pool(x)
        for up in self.ups:
            x = up(x, skips.pop())
        return self.head(x)[:, :, : size[0], : size[1]]


def main():
    torch.manual_seed(4)
    net = UNet(3, 2, [4, 8, 16])
    scripted = torch.jit.script(net)
    x = torch.rand(2, 3, 13, 10)
    y = scripted(x)
    loss = F.binary_cross_entropy_with_logits(y, (y.detach() > 0).to(y.dtype))
    loss.backward()
    means = [b[1].running_mean for b in scripted.down]
    scripted.eval()
    with torch.no_grad():
        z = scripted(x[:1])
    return [y.detach().mean((2, 3)), loss.detach(), [b[0].weight.grad.abs().sum() for b in scripted.down], means, z]
