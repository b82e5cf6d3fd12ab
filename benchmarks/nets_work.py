"""The networks that nets.py compares, under PyTorch and under torchjit alike, without gradients:

    python nets_work.py MODULE NET WAY

It answers each line of its input with a line of JSON: "result" with the first numbers of the net's result, "time" with the nanoseconds of processor time of
some calls, "faults" with the page faults of a call and the bytes that a call leaves to Go's collector. Without NET and WAY it prints their names. Where WAY
is the name of a file, the net is written there as ONNX, and its input beside it.
"""

import json
import math
import sys

from asked import answer

if sys.argv[1] == "torchjit":
    import torchjit as torch
    from torchjit import _native
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


class Bottleneck(nn.Module):
    def __init__(self, inputs, narrow, stride):
        super().__init__()
        relu = nn.ReLU(inplace=True)
        self.layers = nn.Sequential(conv(inputs, narrow, 1, activation=relu), conv(narrow, narrow, 3, stride, activation=relu), conv(narrow, 4 * narrow, 1))
        self.beside = conv(inputs, 4 * narrow, 1, stride) if stride != 1 or inputs != 4 * narrow else nn.Identity()
        self.relu = relu

    def forward(self, x):
        y = self.layers(x)
        y += self.beside(x)
        return self.relu(y)


def resnet_50():
    layers, inputs = [conv(3, 64, 7, 2, activation=nn.ReLU(inplace=True)), nn.MaxPool2d(3, 2, 1)], 64
    for narrow, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(inputs, narrow, 2 if i == 0 and narrow > 64 else 1))
            inputs = 4 * narrow
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


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


class ViT(nn.Module):
    """A small ViT: patches of 16 x 16, a class token, positions, twelve blocks."""

    def __init__(self, width, heads, depth):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, 197, width))
        self.blocks, self.norm, self.last = nn.Sequential(*[ViTBlock(width, heads) for _ in range(depth)]), nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), 1, x.size(2)), x], 1) + self.places
        return self.last(self.norm(self.blocks(x))[:, 0])


class Small(nn.Module):
    """A hundred operators on a few numbers each."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.randn(32)), nn.Parameter(torch.randn(32))

    def forward(self, x):
        for _ in range(20):
            y = torch.tanh(x * self.scale + self.shift)
            x = x - y * torch.sigmoid(y)
        return x


class Chain(nn.Module):
    """Ten operators on a million numbers."""

    def forward(self, x):
        y = x * 2 + 1
        y = torch.relu(y) - x
        y = torch.sigmoid(y) * torch.tanh(x)
        return (y * y + x).abs()


NETS = {
    "ResNet-18": (ResNet18, image(1, 3, 224, 224)),
    "ResNet-18, batch 8": (ResNet18, image(8, 3, 224, 224)),
    "ResNet-50": (resnet_50, image(1, 3, 224, 224)),
    "MobileNetV2": (mobilenet_v2, image(1, 3, 224, 224)),
    "EfficientNet-like": (efficient, image(1, 3, 224, 224)),
    "U-Net-like": (UNet, image(1, 3, 128, 128)),
    "ViT-small": (lambda: ViT(384, 6, 12), image(1, 3, 224, 224)),
    "BERT-like, 6 layers, 128 tokens": (lambda: nn.Sequential(*[BertLayer(384, 6) for _ in range(6)]), image(1, 128, 384)),
    "decoder step, 256 tokens": (lambda: Decoder(1000, 256, 8, 4, 255), lambda: torch.tensor([[7]])),
    "LSTM 2x256, 100 steps": (LSTM, image(100, 1, 256)),
    "MLP": (mlp, image(1, 784)),
    "MLP, batch 64": (mlp, image(64, 784)),
    "100 small operators": (Small, image(4, 32)),
    "elementwise chain of 1M": (Chain, image(1000000)),
}
WAYS = {
    "eager": lambda module, x: module,
    "scripted": lambda module, x: torch.jit.script(module),
    "traced": lambda module, x: torch.jit.trace(module, x, check_trace=False),
    "frozen": lambda module, x: torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(module))),
    "compiled": lambda module, x: torch.compile(module),
}


def net(name):
    """A net with random weights, the same under PyTorch and under torchjit, and an input."""
    make, inputs = NETS[name]
    torch.manual_seed(1)
    return make().eval(), inputs()


def allocated_by_go():
    """The bytes that were ever allocated on Go's heap; 0 under PyTorch."""
    return _native.heap_statistics()[1] if sys.argv[1] == "torchjit" else 0


def main():
    if len(sys.argv) == 2:
        ways = [way for way in WAYS if way != "compiled" or hasattr(torch, "compile") and sys.argv[1] == "torch"]
        print(json.dumps([torch.__version__.split("+")[0], list(NETS), ways]))
        return
    _, _, name, way = sys.argv
    torch.set_num_threads(1)
    with torch.no_grad():
        module, x = net(name)
        if way.endswith(".onnx"):
            torch.onnx.export(module, (x,), way, input_names=["x"], output_names=["y"])
            with open(way + ".json", "w") as f:
                json.dump([x.tolist(), str(x.dtype)], f)
            return
        f = WAYS[way](module, x)
        for _ in range(5):
            f(x)
        for line in sys.stdin:
            print(json.dumps(answer(line.strip(), f, x, lambda y: y.reshape(-1)[:1000].tolist(), allocated_by_go)), flush=True)


if __name__ == "__main__":
    main()
