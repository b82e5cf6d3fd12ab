"""A one-stage detector: shared head, anchors from feature maps, box decoding and suppression, all in script."""

import math
from typing import Dict, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


@torch.jit.script
def box_iou(a: Tensor, b: Tensor) -> Tensor:
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b - inter)


@torch.jit.script
def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order = torch.argsort(scores, descending=True)
    keep: List[int] = []
    while order.numel() > 0:
        i = int(order[0])
        keep.append(i)
        if order.numel() == 1:
            break
        rest = order[1:]
        iou = box_iou(boxes[i].unsqueeze(0), boxes[rest]).squeeze(0)
        order = rest[iou <= threshold]
    return torch.tensor(keep, dtype=torch.int64)


class AnchorGenerator(nn.Module):
    __constants__ = ["strides"]

    def __init__(self, sizes: Tuple[float, ...], ratios: Tuple[float, ...], strides: List[int]):
        super().__init__()
        self.strides = strides
        base = []
        for size in sizes:
            rows = []
            for ratio in ratios:
                h, w = size * math.sqrt(ratio), size / math.sqrt(ratio)
                rows.append([-w / 2, -h / 2, w / 2, h / 2])
            base.append(torch.tensor(rows))
        self.base: List[Tensor] = base

    def grid(self, height: int, width: int, level: int) -> Tensor:
        stride = self.strides[level]
        ys = (torch.arange(height, dtype=torch.float32) + 0.5) * stride
        xs = (torch.arange(width, dtype=torch.float32) + 0.5) * stride
        y, x = torch.meshgrid(ys, xs, indexing="ij")
        shifts = torch.stack((x.reshape(-1), y.reshape(-1), x.reshape(-1), y.reshape(-1)), dim=1)
        return (shifts.view(-1, 1, 4) + self.base[level].view(1, -1, 4)).reshape(-1, 4)

    def forward(self, maps: List[Tensor]) -> List[Tensor]:
        return [self.grid(m.shape[-2], m.shape[-1], i) for i, m in enumerate(maps)]


class Head(nn.Module):
    def __init__(self, channels: int, anchors: int, classes: int):
        super().__init__()
        tower = []
        for _ in range(2):
            tower.append(nn.Conv2d(channels, channels, 3, padding=1))
            tower.append(nn.GroupNorm(4, channels))
            tower.append(nn.ReLU(inplace=True))
        self.tower = nn.Sequential(*tower)
        self.classify = nn.Conv2d(channels, anchors * classes, 3, padding=1)
        self.regress = nn.Conv2d(channels, anchors * 4, 3, padding=1)
        self.classes = classes
        nn.init.constant_(self.classify.bias, -math.log((1 - 0.3) / 0.3))

    def forward(self, maps: List[Tensor]) -> Dict[str, Tensor]:
        logits: List[Tensor] = []
        deltas: List[Tensor] = []
        for m in maps:
            h = self.tower(m)
            n, _, height, width = h.shape
            c = self.classify(h).view(n, -1, self.classes, height, width).permute(0, 3, 4, 1, 2)
            r = self.regress(h).view(n, -1, 4, height, width).permute(0, 3, 4, 1, 2)
            logits += [c.reshape(n, -1, self.classes)]
            deltas += [r.reshape(n, -1, 4)]
        return {"logits": torch.cat(logits, dim=1), "deltas": torch.cat(deltas, dim=1)}


class Detector(nn.Module):
    score_threshold: float
    clip: torch.jit.Final[float]

    def __init__(self):
        super().__init__()
        self.anchors = AnchorGenerator((16.0, 32.0), (0.5, 1.0, 2.0), [8, 16])
        self.head = Head(8, 3, 4)
        self.score_threshold = 0.3
        self.clip = math.log(1000.0 / 16)

    def decode(self, deltas: Tensor, anchors: Tensor) -> Tensor:
        wh = anchors[:, 2:] - anchors[:, :2]
        center = anchors[:, :2] + 0.5 * wh
        xy = deltas[:, :2] * 0.1 * wh + center
        size = torch.exp(torch.clamp(deltas[:, 2:] * 0.2, max=self.clip)) * wh
        return torch.cat([xy - 0.5 * size, xy + 0.5 * size], 1)

    def forward(self, maps: List[Tensor], image: Tuple[int, int]) -> List[Dict[str, Tensor]]:
        assert len(maps) == 2, f"expected 2 maps, got {len(maps)}"
        out = self.head(maps)
        anchors = torch.cat(self.anchors(maps))
        results: List[Dict[str, Tensor]] = []
        for logits, deltas in zip(out["logits"], out["deltas"]):
            boxes = self.decode(deltas, anchors)
            boxes[:, 0::2] = boxes[:, 0::2].clamp(0, image[1])
            boxes[:, 1::2] = boxes[:, 1::2].clamp(0, image[0])
            scores, labels = torch.sigmoid(logits).max(dim=1)
            mask = scores > self.score_threshold
            boxes, scores, labels = boxes[mask], scores[mask], labels[mask]
            shifted = boxes + (labels.to(boxes) * 1000.0)[:, None]
            keep = nms(shifted, scores, 0.5)[:10]
            results.append({"boxes": boxes[keep], "scores": scores[keep], "labels": labels[keep]})
        return results


def main():
    torch.manual_seed(3)
    detector = torch.jit.script(Detector().eval())
    maps = [torch.randn(2, 8, 6, 5), torch.randn(2, 8, 3, 3)]
    with torch.no_grad():
        found = detector(maps, (48, 40))
    counts = [len(f["scores"]) for f in found]
    return [found, counts, nms(torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]]), torch.tensor([0.9, 0.95, 0.1]), 0.5)]
