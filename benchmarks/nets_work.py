"""The work that `run.py --work nets_work.py` measures: whole networks, eager, scripted, traced and frozen, one thread, no gradients.

Prints nanoseconds of processor time by name: the median of twelve calls behind three. Fails where a way differs from eager by more than 1e-4
of the largest result. The variable NETS names those to measure, with semicolons between; all where it is not set.
"""

import json
import math
import os
import statistics
import sys
import time

if sys.argv[1] == "torchjit":
    import torchjit as torch
else:
    import torch

nn = torch.nn


def conv(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation] if activation is not None else []))


class Basic(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = conv(inputs, outputs, 3, stride, activation=nn.ReLU(inplace=True))
        self.second = conv(outputs, outputs, 3)
        self.beside = conv(inputs, outputs, 1, stride) if stride != 1 or inputs != outputs else nn.Identity()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.second(self.first(x))
        y += self.beside(x)
        return self.relu(y)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, inputs = [], 64
        for outputs in (64, 128, 256, 512):
            for i in range(2):
                blocks.append(Basic(inputs, outputs, 2 if i == 0 and outputs > 64 else 1))
                inputs = outputs
        self.stem, self.pool = conv(3, 64, 7, 2, activation=nn.ReLU(inplace=True)), nn.MaxPool2d(3, 2, 1)
        self.blocks, self.mean, self.last = nn.Sequential(*blocks), nn.AdaptiveAvgPool2d(1), nn.Linear(512, 1000)

    def forward(self, x):
        return self.last(torch.flatten(self.mean(self.blocks(self.pool(self.stem(x)))), 1))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        wide = inputs * factor
        layers = [conv(inputs, wide, 1, activation=nn.ReLU6(inplace=True))] if factor != 1 else []
        self.layers = nn.Sequential(*layers, conv(wide, wide, 3, stride, wide, nn.ReLU6(inplace=True)), conv(wide, outputs, 1))
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        if self.is_residual:
            return x + self.layers(x)
        return self.layers(x)


class Squeezed(nn.Module):
    """A block of EfficientNet: SiLU, and a gate that weighs channels."""

    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        wide, narrow = inputs * factor, max(1, inputs // 4)
        self.expand = conv(inputs, wide, 1, activation=nn.SiLU(inplace=True)) if factor != 1 else nn.Identity()
        self.depthwise = conv(wide, wide, 3, stride, wide, nn.SiLU(inplace=True))
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, narrow, 1), nn.SiLU(inplace=True), nn.Conv2d(narrow, wide, 1), nn.Sigmoid())
        self.project = conv(wide, outputs, 1)
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        y = self.project(y * self.gate(y))
        return x + y if self.is_residual else y


class Stages(nn.Module):
    def __init__(self, block, stages, activation):
        super().__init__()
        layers, inputs = [conv(3, 32, 3, 2, activation=activation)], 32
        for factor, outputs, count, stride in stages:
            for i in range(count):
                layers.append(block(inputs, outputs, stride if i == 0 else 1, factor))
                inputs = outputs
        self.layers = nn.Sequential(*layers, conv(inputs, 1280, 1, activation=activation))
        self.last = nn.Linear(1280, 1000)

    def forward(self, x):
        return self.last(self.layers(x).mean([2, 3]))


def mobilenet_v2():
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    return Stages(Inverted, stages, nn.ReLU6(inplace=True))


def efficient():
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 40, 2, 2), (6, 80, 3, 2), (6, 112, 3, 1), (6, 192, 4, 2), (6, 320, 1, 1)]
    return Stages(Squeezed, stages, nn.SiLU(inplace=True))


def twice(inputs, outputs):
    return nn.Sequential(conv(inputs, outputs, 3, activation=nn.ReLU(inplace=True)), conv(outputs, outputs, 3, activation=nn.ReLU(inplace=True)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = twice(3, 32), twice(32, 64), twice(64, 128), twice(128, 256)
        self.e, self.f, self.g = twice(256 + 128, 128), twice(128 + 64, 64), twice(64 + 32, 32)
        self.pool, self.up, self.last = nn.MaxPool2d(2), nn.Upsample(scale_factor=2.0), nn.Conv2d(32, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(self.pool(a))
        c = self.c(self.pool(b))
        y = self.e(torch.cat([self.up(self.d(self.pool(c))), c], 1))
        y = self.f(torch.cat([self.up(y), b], 1))
        return self.last(self.g(torch.cat([self.up(y), a], 1)))


class Attention(nn.Module):
    """Attention with a projection each for queries, keys and values."""

    def __init__(self, width, heads):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.heads, self.size = heads, width // heads

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size), dim=-1)
        y = torch.matmul(weights, v).transpose(1, 2).contiguous()
        return self.out(y.view(x.size(0), x.size(1), self.heads * self.size))


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.norm, self.last_norm = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow, self.dropout = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(0.1)

    def forward(self, x):
        x = self.norm(x + self.dropout(self.attention(x)))
        return self.last_norm(x + self.dropout(self.narrow(torch.nn.functional.gelu(self.wide(x)))))


class ViTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out, self.heads, self.scale = nn.Linear(width, 3 * width), nn.Linear(width, width), heads, (width // heads) ** -0.5
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, c))

    def forward(self, x):
        x = x + self.attend(self.first_norm(x))
        return x + self.mlp(self.second_norm(x))


class Decoder(nn.Module):
    """A step of a decoder: one token, and what was computed for those before it."""

    def __init__(self, tokens, width, heads, layers, length):
        super().__init__()
        self.embedding, self.blocks = nn.Embedding(tokens, width), nn.ModuleList(DecoderBlock(width, heads, length) for _ in range(layers))
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, tokens)

    def forward(self, token):
        x = self.embedding(token)
        for block in self.blocks:
            x = block(x)
        return self.last(self.norm(x))


class DecoderBlock(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("keys", torch.randn(1, heads, length, width // heads))
        self.register_buffer("values", torch.randn(1, heads, length, width // heads))
        self.heads, self.size = heads, width // heads

    def split(self, x):
        return x.view(1, 1, self.heads, self.size).transpose(1, 2)

    def forward(self, x):
        y = self.first_norm(x)
        keys = torch.cat([self.keys, self.split(self.key(y))], 2)
        values = torch.cat([self.values, self.split(self.value(y))], 2)
        weights = torch.softmax(torch.matmul(self.split(self.query(y)), keys.transpose(-1, -2)) / math.sqrt(self.size), dim=-1)
        x = x + self.out(torch.matmul(weights, values).transpose(1, 2).reshape(1, 1, self.heads * self.size))
        return x + self.narrow(torch.nn.functional.gelu(self.wide(self.second_norm(x))))


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.last = nn.LSTM(256, 256, 2), nn.Linear(256, 10)

    def forward(self, x):
        return self.last(self.lstm(x)[0])


def mlp():
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


def image(*shape):
    return lambda: torch.randn(*shape)


NETS = {
    "ResNet-18": (ResNet18, image(1, 3, 224, 224)),
    "ResNet-18, batch 8": (ResNet18, image(8, 3, 224, 224)),
    "MobileNetV2": (mobilenet_v2, image(1, 3, 224, 224)),
    "EfficientNet-like": (efficient, image(1, 3, 224, 224)),
    "U-Net-like": (UNet, image(1, 3, 128, 128)),
    "MLP": (mlp, image(1, 784)),
    "MLP, batch 64": (mlp, image(64, 784)),
    "BERT-like layers": (lambda: nn.Sequential(*[BertLayer(256, 4) for _ in range(4)]), image(1, 128, 256)),
    "ViT blocks": (lambda: nn.Sequential(*[ViTBlock(384, 6) for _ in range(2)]), image(1, 197, 384)),
    "decoder step": (lambda: Decoder(1000, 256, 8, 4, 255), lambda: torch.tensor([[7]])),
    "LSTM": (LSTM, image(100, 1, 256)),
}


def ways(module, x):
    return {
        "eager": module,
        "scripted": torch.jit.script(module),
        "traced": torch.jit.trace(module, x),
        "frozen": torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(module))),
    }


def measure(f, x):
    times = []
    for i in range(15):
        start = time.process_time_ns()
        f(x)
        if i >= 3:
            times.append(time.process_time_ns() - start)
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    found = {}
    chosen = os.environ.get("NETS")
    with torch.no_grad():
        for name, (make, inputs) in NETS.items():
            if chosen and name not in chosen.split(";"):
                continue
            torch.manual_seed(1)
            module = make().eval()
            x = inputs()
            want = module(x)
            for way, f in ways(module, x).items():
                assert ((f(x) - want).abs().max() <= 1e-4 * want.abs().max()).item(), f"{name}, {way}: a wrong result"
                found[f"{name}, {way}"] = measure(f, x)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
