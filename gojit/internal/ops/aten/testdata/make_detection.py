"""Writes detection.json: torchvision's operators on small inputs. Run with a Python that has torch and torchvision."""

import json
import os

import torch
import torchvision  # noqa: F401

torch.manual_seed(3)
ops = torch.ops.torchvision


def plain(x):
    if isinstance(x, torch.Tensor):
        return {"shape": list(x.shape), "data": [round(float(v), 5) for v in x.flatten()]}
    return x


corner = torch.rand(8, 2) * 4
boxes = torch.cat([corner, corner + torch.rand(8, 2) * 4], 1)
image = (torch.rand(2, 4, 5, 6) * 10).round() / 4
rois = torch.tensor([[0, 0.5, 1, 4, 3.5], [1, 2, 0, 9, 7], [0, -1, -1, 2, 2.25]])
calls = {
    "nms": (boxes, torch.rand(8), 0.2),
    "roi_align": (image, rois, 0.75, 2, 3, 2, True),
    "roi_align ": (image, rois, 0.75, 2, 2, 0, False),
    "roi_pool": (image, rois, 0.75, 2, 3),
    "ps_roi_align": (image, rois, 0.75, 2, 2, 2),
    "ps_roi_pool": (image, rois, 0.75, 2, 2),
    "deform_conv2d": (
        image, torch.rand(2, 2, 3, 2).round(decimals=2), torch.randn(2, 24, 5, 3).round(decimals=2), torch.rand(2, 12, 5, 3).round(decimals=2),
        torch.tensor([0.5, -1.0]), 1, 2, 1, 1, 1, 2, 2, 2, True,
    ),
}  # fmt: skip
cases = []
for name, args in calls.items():
    out = getattr(ops, name.strip())(*args)
    cases.append({"name": "torchvision::" + name.strip(), "args": [plain(a) for a in args], "out": [plain(o) for o in (out if isinstance(out, tuple) else (out,))]})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "detection.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
