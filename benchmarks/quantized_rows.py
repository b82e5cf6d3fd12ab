"""Rows of kernels_work.py for quantized tensors: linear layers, the convolutions of ResNet-18, elementwise work, a whole ResNet-18 and a
depthwise network. PyTorch is measured with each of its engines."""

import torch
import torch.ao.quantization as quantization
from torch import nn

ENGINES = [e for e in torch.backends.quantized.supported_engines if e not in ("none", "x86")]
SCALE, ZERO = 0.05, 100

# in channels, size of the image, out channels, kernel, stride, groups
CONVOLUTIONS = [
    (3, 224, 64, 7, 2, 1), (64, 56, 64, 3, 1, 1), (64, 56, 128, 3, 2, 1), (64, 56, 128, 1, 2, 1), (128, 28, 128, 3, 1, 1),
    (256, 14, 256, 3, 1, 1), (256, 14, 512, 1, 2, 1), (512, 7, 512, 3, 1, 1), (96, 56, 96, 3, 1, 96), (384, 14, 384, 3, 1, 384), (96, 56, 24, 1, 1, 1),
]  # fmt: skip
LINEAR = [(1, 768, 3072), (128, 768, 3072), (128, 3072, 768), (32, 512, 1000)]  # rows, in, out


def quantize(x):
    return torch.quantize_per_tensor(x, SCALE, ZERO, torch.quint8)


def packed(engine, prepack, shape, *geometry):
    """A weight, quantized by channel, and a bias, packed for an engine."""
    torch.backends.quantized.engine = engine
    weight = torch.quantize_per_channel(torch.randn(shape), torch.full((shape[0],), 0.02), torch.zeros(shape[0], dtype=torch.int64), 0, torch.qint8)
    return prepack(weight, torch.randn(shape[0]), *geometry)


def each_engine(make):
    """The ways of make(engine), which gives a call. The engine is set before each call: it costs less than the call can show."""

    def way(engine):
        call = make(engine)

        def run():
            torch.backends.quantized.engine = engine
            return call()

        return run

    return {engine: way(engine) for engine in ENGINES}


def linear_ways(dynamic, rows, inside, outside):
    x, ops = torch.randn(rows, inside), torch.ops.quantized
    q = quantize(x)

    def make(engine):
        weight = packed(engine, ops.linear_prepack, (outside, inside))
        return (lambda: ops.linear_dynamic(x, weight)) if dynamic else (lambda: ops.linear(q, weight, SCALE, ZERO))

    return each_engine(make)


def convolution_ways(batch, inside, size, outside, kernel, stride, groups):
    x, ops, pad = quantize(torch.randn(batch, inside, size, size)).contiguous(memory_format=torch.channels_last), torch.ops.quantized, kernel // 2

    def make(engine):
        weight = packed(engine, ops.conv2d_prepack, (outside, inside // groups, kernel, kernel), [stride, stride], [pad, pad], [1, 1], groups)
        return lambda: ops.conv2d_relu(x, weight, SCALE, ZERO)

    return each_engine(make)


def elementwise_ways(name):
    x = torch.randn(1, 64, 56, 56).contiguous(memory_format=torch.channels_last)
    a, b, ops, functional = quantize(x), torch.quantize_per_tensor(x, 0.02, 110, torch.quint8), torch.ops.quantized, nn.functional
    call = {
        "add_relu": lambda: ops.add_relu(a, b, SCALE, ZERO),
        "relu": lambda: torch.relu(a),
        "max_pool2d 3x3/2": lambda: functional.max_pool2d(a, 3, 2, 1),
        "adaptive_avg_pool2d to 1": lambda: functional.adaptive_avg_pool2d(a, 1),
        "quantize_per_tensor": lambda: quantize(x),
        "dequantize": lambda: a.dequantize(),
        "cat": lambda: ops.cat([a, b], 1, SCALE, ZERO),
    }[name]
    return each_engine(lambda engine: call)


class Block(nn.Module):
    """A basic block of ResNet whose sum can be observed."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.downsample = None
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))
        self.sum = nn.quantized.FloatFunctional()

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.sum.add_relu(y, x if self.downsample is None else self.downsample(x))

    def fused(self):
        names = [["conv1", "bn1", "relu"], ["conv2", "bn2"]] + [["downsample.0", "downsample.1"]] * (self.downsample is not None)
        return quantization.fuse_modules(self, names)


class Separable(nn.Sequential):
    """A convolution by channel and one of single places, with rectifiers."""

    def __init__(self, inside, outside, stride):
        super().__init__(nn.Conv2d(inside, inside, 3, stride, 1, groups=inside), nn.ReLU(), nn.Conv2d(inside, outside, 1), nn.ReLU())

    def fused(self):
        return quantization.fuse_modules(self, [["0", "1"], ["2", "3"]])


def quantized_network(engine, blocks, channels, kernel):
    torch.backends.quantized.engine = engine
    stem = nn.Sequential(nn.Conv2d(3, blocks[0][0], kernel, 2, kernel // 2), nn.ReLU(), *[nn.MaxPool2d(3, 2, 1)] * (kernel > 3)).eval()
    made = [(Block if kernel > 3 else Separable)(*b).eval().fused() for b in blocks]
    tail = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]
    model = nn.Sequential(quantization.QuantStub(), quantization.fuse_modules(stem, [["0", "1"]]), *made, *tail, quantization.DeQuantStub()).eval()
    model.qconfig = quantization.get_default_qconfig(engine)
    quantization.prepare(model, inplace=True)
    model(torch.randn(1, 3, 224, 224))
    return quantization.convert(model, inplace=True)


RESNET18 = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
SEPARABLE = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)] + [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]
NETWORKS = {"ResNet-18 b1": (RESNET18, 512, 7), "MobileNet b1": (SEPARABLE, 1024, 3)}


def network_ways(blocks, channels, kernel):
    x = torch.randn(1, 3, 224, 224)

    def make(engine):
        model = quantized_network(engine, blocks, channels, kernel)
        return lambda: model(x)

    return each_engine(make)


def add_rows(rows):
    for shape in LINEAR:
        for dynamic in (False, True):
            rows.add("quantized", f"linear{'_dynamic' * dynamic} {'x'.join(map(str, shape))}", lambda s=shape, d=dynamic: linear_ways(d, *s))
    for batch in (1, 8):
        for s in CONVOLUTIONS:
            text = f"{s[0]}x{s[1]}x{s[1]} to {s[2]}, {s[3]}x{s[3]}" + f"/{s[4]}" * (s[4] > 1) + " by channel" * (s[5] > 1)
            rows.add("quantized", f"conv2d_relu b{batch} {text}", lambda s=(batch, *s): convolution_ways(*s))
    for name in ("add_relu", "relu", "max_pool2d 3x3/2", "adaptive_avg_pool2d to 1", "quantize_per_tensor", "dequantize", "cat"):
        rows.add("quantized", f"{name} 64x56x56", lambda name=name: elementwise_ways(name))
    for name, network in NETWORKS.items():
        rows.add("quantized network", name, lambda network=network: network_ways(*network))
