"""What a device is given to do for one forward of a ResNet-18 of few channels and of a transformer: kernels, copies and allocations.

    GOJIT_CUDA_DRIVER=... python tests/cuda_nets.py

The last line is JSON.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torchjit as torch  # noqa: E402
from torchjit import nn  # noqa: E402

KEYS = {"launches": "launches", "graphs": "graph_launches", "uploads": "copies.host_to_device", "downloads": "copies.device_to_host", "copies": "copies.device_to_device", "allocations": "num_device_alloc"}


class Block(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.a, self.b = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer)
        self.c, self.d = nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer)
        self.down = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)) if stride > 1 or inner != outer else nn.Identity()

    def forward(self, x):
        y = torch.relu(self.b(self.a(x)))
        return torch.relu(self.d(self.c(y)) + self.down(x))


class ResNet18(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        sizes = [width, width, 2 * width, 4 * width, 8 * width]
        self.layers = nn.Sequential(*[nn.Sequential(Block(a, b, 1 if i == 0 else 2), Block(b, b, 1)) for i, (a, b) in enumerate(zip(sizes, sizes[1:], strict=False))])
        self.pool, self.out = nn.AdaptiveAvgPool2d(1), nn.Linear(8 * width, 10)

    def forward(self, x):
        return self.out(self.pool(self.layers(self.stem(x))).flatten(1))


def counts(module, x, n=12):
    """What the second of some forwards takes, and the last: the first compiles kernels, the third may put its work down as a CUDA graph."""
    found = []
    for _ in range(n):
        before = torch.cuda.memory_stats()
        module(x)
        after = torch.cuda.memory_stats()
        found.append({name: after[key] - before[key] for name, key in KEYS.items()})
    return {"second": found[1], "last": found[-1]}


def kernels(module):
    """How many products and convolutions compiled code has, and how many kernels it has for all else: one for each region, and for each operator alone that computes elements."""
    products = others = 0
    inside = None  # the indentation of the region that lines are of
    for line in str(torch.jit.explain(module)).splitlines():
        depth, node = len(line) - len(line.lstrip()), line.partition(" = ")[2]
        if inside is not None and depth > inside:
            continue
        inside = depth if node.startswith("prim::TensorExprGroup(") else None
        products += node.startswith(("aten::conv2d(", "aten::linear("))
        others += node.startswith(("prim::TensorExprGroup(", "aten::relu(", "aten::max_pool2d(", "aten::adaptive_avg_pool2d("))
    return products, others


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = False  # the processor computes in float32
    found = {}
    nets = {
        "resnet18": (ResNet18(4), torch.randn(1, 3, 32, 32)),
        "transformer": (nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2), torch.randn(2, 5, 16)),
    }
    with torch.no_grad():
        for name, (module, x) in nets.items():
            want = module.eval()(x)
            module.to("cuda")
            ways = {"eager": module, "scripted": torch.jit.script(module), "frozen": torch.jit.freeze(torch.jit.script(module))}
            for way, made in ways.items():
                found[f"{name}, {way}"] = counts(made, x.cuda())
                if (name, way) == ("resnet18", "frozen"):
                    found[f"{name}, {way}"]["kernels"] = kernels(made)
                torch.testing.assert_close(made(x.cuda()).cpu(), want, rtol=1e-3, atol=1e-4)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
