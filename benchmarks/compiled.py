"""Modules compiled against the same modules eager, in one process: `python benchmarks/compiled.py [--grad] [--only NAME]... [--rounds N]`.

Every class of torchjit.nn that computes, with sizes as nets have them, and blocks of nets: scripted, traced and frozen without gradients, scripted and
traced forward and backward with `--grad`. A row is eager's processor time divided by the compiled module's, least and median of the rounds; both take turns, on
one thread. It ends with the rows below 0.97 and, without gradients, what the collector did: collections in 200 forwards, bytes on Go's heap for each.

`--profile` holds the profiler to the clock instead: of each compiled module's forward the share of the time that no event has. It fails where that is more than
5 % and more than the loop around a call and the clock take.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import pathlib
import statistics
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torchjit as torch  # noqa: E402
from torchjit import _native, nn  # noqa: E402
from torchjit.autograd import profiler  # noqa: E402

warnings.simplefilter("ignore")


class InvertedResidual(nn.Module):
    def __init__(self, width: int = 32, inner: int = 192):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x):
        return x + self.layers(x)


class BasicResidual(nn.Module):
    def __init__(self, width: int = 64):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.last = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.norm(self.first(x)))
        y = self.last(self.second(y))
        y += x
        return self.relu(y)


class Attention(nn.Module):
    def __init__(self, width: int = 128, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.project(self.norm(x)).reshape(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-2, -1) * 0.17, -1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(b, t, d))


class MLP(nn.Module):
    def __init__(self, width: int = 256):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.layers(x)


class ViewsAndWrites(nn.Module):
    def forward(self, x):
        y = x.view(64, -1).t()
        y = y + 1
        y.mul_(2).add_(1)
        y = torch.relu_(y)
        a, b = y.chunk(2, 0)
        return torch.cat([a * b, a - b], 0)


class CellLoop(nn.Module):
    def __init__(self, width: int = 64):
        super().__init__()
        self.cell = nn.LSTMCell(width, width)

    def forward(self, x):
        h = torch.zeros_like(x[0])
        c = torch.zeros_like(x[0])
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
        return h


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(1000, 128)
        self.positions = nn.Embedding(64, 128)
        self.norm = nn.LayerNorm(128)

    def forward(self, tokens):
        return self.norm(self.table(tokens) + self.positions(torch.arange(tokens.size(1), device=tokens.device)))


def images(channels=64, size=28, batch=4):
    return torch.randn(batch, channels, size, size)


def rows(width=256, count=64):
    return torch.randn(count, width)


def lines(channels=64, length=512, batch=4):
    return torch.randn(batch, channels, length)


def volumes(channels=16, size=12, batch=2):
    return torch.randn(batch, channels, size, size, size)


def sequence(width=64, length=20, batch=4):
    return torch.randn(length, batch, width)


def tokens():
    return torch.randint(0, 1000, (8, 64))


def table():
    """Rows: a name, what makes the module, what makes its arguments."""
    blocks = [
        ("block: inverted residual", InvertedResidual, lambda: [images(32, batch=1)]),
        ("block: basic residual", BasicResidual, lambda: [images(batch=1)]),
        ("block: attention", Attention, lambda: [torch.randn(4, 64, 128)]),
        ("block: MLP", MLP, lambda: [rows()]),
        ("block: views and writes", ViewsAndWrites, lambda: [torch.randn(64, 64, 64)]),
        ("block: loop over an LSTM cell", CellLoop, lambda: [sequence()]),
        ("block: words", Words, lambda: [tokens()]),
    ]
    pointwise = [
        nn.CELU, nn.ELU, nn.GELU, nn.Hardshrink, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.Identity, nn.LeakyReLU, nn.LogSigmoid, nn.Mish, nn.PReLU, nn.ReLU, nn.ReLU6,
        nn.RReLU, nn.SELU, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.Softshrink, nn.Softsign, nn.Tanh, nn.Tanhshrink, nn.Dropout, nn.AlphaDropout, nn.FeatureAlphaDropout,
    ]  # fmt: skip
    layers = [(c.__name__, c, lambda: [rows(1000, 200)]) for c in pointwise]
    layers += [
        ("GLU", nn.GLU, lambda: [rows(1000, 200)]), ("Threshold", lambda: nn.Threshold(0.1, 20.0), lambda: [rows(1000, 200)]),
        ("Softmax", lambda: nn.Softmax(-1), lambda: [rows(1000, 200)]), ("LogSoftmax", lambda: nn.LogSoftmax(-1), lambda: [rows(1000, 200)]),
        ("Softmin", lambda: nn.Softmin(-1), lambda: [rows(1000, 200)]), ("Softmax2d", nn.Softmax2d, lambda: [images()]),
        ("Dropout1d", nn.Dropout1d, lambda: [lines()]), ("Dropout2d", nn.Dropout2d, lambda: [images()]), ("Dropout3d", nn.Dropout3d, lambda: [volumes()]),
        ("Linear", lambda: nn.Linear(256, 256), lambda: [rows()]), ("Linear, one row", lambda: nn.Linear(256, 256), lambda: [rows(count=1)]),
        ("Bilinear", lambda: nn.Bilinear(32, 32, 16), lambda: [rows(32), rows(32)]),
        ("Conv1d", lambda: nn.Conv1d(64, 64, 3, padding=1), lambda: [lines()]), ("Conv2d", lambda: nn.Conv2d(64, 64, 3, padding=1), lambda: [images()]),
        ("Conv2d, pointwise", lambda: nn.Conv2d(64, 64, 1), lambda: [images()]), ("Conv2d, depthwise", lambda: nn.Conv2d(64, 64, 3, padding=1, groups=64), lambda: [images()]),
        ("Conv2d, reflected", lambda: nn.Conv2d(64, 64, 3, padding=1, padding_mode="reflect"), lambda: [images()]),
        ("Conv3d", lambda: nn.Conv3d(16, 16, 3, padding=1), lambda: [volumes()]), ("ConvTranspose1d", lambda: nn.ConvTranspose1d(64, 64, 3), lambda: [lines()]),
        ("ConvTranspose2d", lambda: nn.ConvTranspose2d(64, 32, 2, stride=2), lambda: [images()]), ("ConvTranspose3d", lambda: nn.ConvTranspose3d(16, 8, 2, stride=2), lambda: [volumes()]),
        ("BatchNorm1d", lambda: nn.BatchNorm1d(256), lambda: [rows()]), ("BatchNorm2d", lambda: nn.BatchNorm2d(64), lambda: [images(batch=16)]),
        ("BatchNorm3d", lambda: nn.BatchNorm3d(16), lambda: [volumes()]), ("InstanceNorm1d", lambda: nn.InstanceNorm1d(64, affine=True), lambda: [lines()]),
        ("InstanceNorm2d", lambda: nn.InstanceNorm2d(64, affine=True), lambda: [images()]), ("InstanceNorm3d", lambda: nn.InstanceNorm3d(16), lambda: [volumes()]),
        ("LayerNorm", lambda: nn.LayerNorm(256), lambda: [torch.randn(64, 64, 256)]), ("GroupNorm", lambda: nn.GroupNorm(8, 64), lambda: [images()]),
        ("LocalResponseNorm", lambda: nn.LocalResponseNorm(5), lambda: [images()]), ("CrossMapLRN2d", lambda: nn.CrossMapLRN2d(5), lambda: [images()]),
        ("MaxPool1d", lambda: nn.MaxPool1d(2), lambda: [lines()]), ("MaxPool2d", lambda: nn.MaxPool2d(3, 2, 1), lambda: [images()]), ("MaxPool3d", lambda: nn.MaxPool3d(2), lambda: [volumes()]),
        ("AvgPool1d", lambda: nn.AvgPool1d(2), lambda: [lines()]), ("AvgPool2d", lambda: nn.AvgPool2d(2), lambda: [images()]), ("AvgPool3d", lambda: nn.AvgPool3d(2), lambda: [volumes()]),
        ("LPPool1d", lambda: nn.LPPool1d(2, 2), lambda: [lines()]), ("LPPool2d", lambda: nn.LPPool2d(2, 2), lambda: [images()]),
        ("AdaptiveAvgPool1d", lambda: nn.AdaptiveAvgPool1d(1), lambda: [lines()]), ("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d(1), lambda: [images()]),
        ("AdaptiveAvgPool3d", lambda: nn.AdaptiveAvgPool3d(1), lambda: [volumes()]), ("AdaptiveMaxPool1d", lambda: nn.AdaptiveMaxPool1d(8), lambda: [lines()]),
        ("AdaptiveMaxPool2d", lambda: nn.AdaptiveMaxPool2d(7), lambda: [images()]), ("AdaptiveMaxPool3d", lambda: nn.AdaptiveMaxPool3d(4), lambda: [volumes()]),
        ("FractionalMaxPool2d", lambda: nn.FractionalMaxPool2d(2, output_size=14), lambda: [images()]),
        ("ReflectionPad1d", lambda: nn.ReflectionPad1d(3), lambda: [lines()]), ("ReflectionPad2d", lambda: nn.ReflectionPad2d(2), lambda: [images()]),
        ("ReflectionPad3d", lambda: nn.ReflectionPad3d(2), lambda: [volumes()]), ("ReplicationPad1d", lambda: nn.ReplicationPad1d(3), lambda: [lines()]),
        ("ReplicationPad2d", lambda: nn.ReplicationPad2d(2), lambda: [images()]), ("ReplicationPad3d", lambda: nn.ReplicationPad3d(2), lambda: [volumes()]),
        ("ZeroPad2d", lambda: nn.ZeroPad2d(2), lambda: [images()]), ("ConstantPad1d", lambda: nn.ConstantPad1d(2, 1.0), lambda: [lines()]),
        ("ConstantPad2d", lambda: nn.ConstantPad2d(2, 1.0), lambda: [images()]), ("ConstantPad3d", lambda: nn.ConstantPad3d(2, 1.0), lambda: [volumes()]),
        ("Upsample, nearest", lambda: nn.Upsample(scale_factor=2), lambda: [images()]), ("Upsample, bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), lambda: [images()]),
        ("UpsamplingNearest2d", lambda: nn.UpsamplingNearest2d(scale_factor=2), lambda: [images()]), ("UpsamplingBilinear2d", lambda: nn.UpsamplingBilinear2d(scale_factor=2), lambda: [images()]),
        ("PixelShuffle", lambda: nn.PixelShuffle(2), lambda: [images()]), ("PixelUnshuffle", lambda: nn.PixelUnshuffle(2), lambda: [images()]),
        ("ChannelShuffle", lambda: nn.ChannelShuffle(4), lambda: [images()]), ("Flatten", nn.Flatten, lambda: [images()]), ("Unflatten", lambda: nn.Unflatten(1, (8, 8)), lambda: [images()]),
        ("Fold", lambda: nn.Fold((28, 28), 2, stride=2), lambda: [torch.randn(4, 64, 196)]), ("Unfold", lambda: nn.Unfold(3, padding=1), lambda: [images()]),
        ("Embedding", lambda: nn.Embedding(1000, 128), lambda: [tokens()]), ("EmbeddingBag", lambda: nn.EmbeddingBag(1000, 128), lambda: [tokens()]),
        ("RNN", lambda: nn.RNN(64, 64), lambda: [sequence()]), ("GRU", lambda: nn.GRU(64, 64), lambda: [sequence()]), ("LSTM", lambda: nn.LSTM(64, 64, 2), lambda: [sequence()]),
        ("RNNCell", lambda: nn.RNNCell(64, 64), lambda: [rows(64, 16)]), ("GRUCell", lambda: nn.GRUCell(64, 64), lambda: [rows(64, 16)]), ("LSTMCell", lambda: nn.LSTMCell(64, 64), lambda: [rows(64, 16)]),
        ("MultiheadAttention", lambda: nn.MultiheadAttention(128, 4), lambda: [sequence(128)] * 3),
        ("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(128, 4, 256), lambda: [sequence(128)]), ("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(128, 4, 256), lambda: [sequence(128)] * 2),
        ("CosineSimilarity", nn.CosineSimilarity, lambda: [rows(), rows()]), ("PairwiseDistance", nn.PairwiseDistance, lambda: [rows(), rows()]),
    ]  # fmt: skip
    losses = [(nn.L1Loss, 2), (nn.MSELoss, 2), (nn.SmoothL1Loss, 2), (nn.HuberLoss, 2), (nn.KLDivLoss, 2), (nn.PoissonNLLLoss, 2), (nn.BCEWithLogitsLoss, 2), (nn.SoftMarginLoss, 2), (nn.MultiLabelSoftMarginLoss, 2), (nn.HingeEmbeddingLoss, 2), (nn.TripletMarginLoss, 3)]
    layers += [(c.__name__, c, lambda n=n: [rows() for _ in range(n)]) for c, n in losses]

    def classes():
        return torch.randint(0, 256, (64,))

    layers += [
        ("BCELoss", nn.BCELoss, lambda: [torch.rand(64, 256), torch.rand(64, 256)]), ("CrossEntropyLoss", nn.CrossEntropyLoss, lambda: [rows(), classes()]),
        ("NLLLoss", nn.NLLLoss, lambda: [rows(), classes()]), ("NLLLoss2d", nn.NLLLoss, lambda: [images(), torch.randint(0, 64, (4, 28, 28))]), ("MultiMarginLoss", nn.MultiMarginLoss, lambda: [rows(), classes()]),
        ("MultiLabelMarginLoss", nn.MultiLabelMarginLoss, lambda: [rows(), torch.randint(0, 256, (64, 256))]), ("GaussianNLLLoss", nn.GaussianNLLLoss, lambda: [rows(), rows(), torch.rand(64, 256) + 0.1]),
        ("CosineEmbeddingLoss", nn.CosineEmbeddingLoss, lambda: [rows(), rows(), torch.ones(64)]), ("MarginRankingLoss", nn.MarginRankingLoss, lambda: [torch.randn(4096), torch.randn(4096), torch.ones(4096)]),
        ("TripletMarginWithDistanceLoss", nn.TripletMarginWithDistanceLoss, lambda: [rows(), rows(), rows()]),
        ("CTCLoss", nn.CTCLoss, lambda: [torch.randn(50, 4, 20).log_softmax(2), torch.randint(1, 20, (4, 10)), torch.full((4,), 50), torch.full((4,), 10)]),
    ]  # fmt: skip
    return blocks + layers


def first_tensor(result):
    while not isinstance(result, torch.Tensor):
        result = result[0]
    return result


def timed(run, count: int) -> float:
    began = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - began) / count


def compare(ways: dict, rounds: int) -> dict:
    """Seconds of each way, by rounds: the ways take turns."""
    counts = {}
    for name, run in ways.items():
        for _ in range(5):
            run()
        counts[name] = max(1, int(0.01 / max(timed(run, 3), 1e-7)))
    seconds: dict = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            seconds[name].append(timed(run, counts[name]))
    return seconds


def compiled_ways(module, arguments, grad: bool) -> tuple[dict, dict]:
    """The module in all ways that it can go, and why it cannot go the others."""
    ways, failures = {"eager": module}, {}
    makers = {"script": lambda: torch.jit.script(module), "trace": lambda: torch.jit.trace(module, tuple(arguments), check_trace=False)}
    if not grad:
        makers["frozen"] = lambda: torch.jit.freeze(torch.jit.script(module).eval())
    for name, make in makers.items():
        try:
            ways[name] = make()
            ways[name](*arguments)
        except Exception as e:  # what PyTorch's compiler does not take either
            ways.pop(name, None)
            failures[name] = f"{type(e).__name__}: {str(e).splitlines()[0][:80] if str(e) else ''}"
    return ways, failures


LOOP = 0.75  # microseconds of a call that are the loop's around it and the clock's


def compiled(make, arguments):
    try:
        return torch.jit.script(make().eval())
    except Exception:  # what the compiler refuses is traced
        return torch.jit.trace(make().eval(), tuple(arguments), check_trace=False)


def left_out(f, arguments, calls: int) -> tuple[float, float]:
    """The share of some calls' time that no event of a profile has, and the microseconds of a call that these are."""
    with profiler.profile() as p:
        began = time.perf_counter()
        for _ in range(calls):
            f(*arguments)
        wall = (time.perf_counter() - began) * 1e6
    missing = wall - p.self_cpu_time_total
    return missing / wall, missing / calls


def profiled(rows: list, rounds: int) -> int:
    """Prints what profiles of the rows leave out: the round that comes closest, as what another process takes between two events is nobody's."""
    failed, largest = [], 0.0
    for name, make, make_arguments in rows:
        arguments = make_arguments()
        f = compiled(make, arguments)
        with torch.no_grad():
            for _ in range(3):
                f(*arguments)
            calls = max(4, min(50, int(1e-3 / max(timed(lambda f=f, a=arguments: f(*a), 1), 1e-6))))
            share, us = min((left_out(f, arguments, calls) for _ in range(rounds)), key=lambda found: abs(found[0]))
        within = -0.001 < share <= 0.05 or abs(us) < LOOP
        print(f"{name:32s} {100 * share:6.2f} % {us:8.2f} us of a call{'' if within else '  <- too much'}", flush=True)
        largest = max(largest, 0.0 if abs(us) < LOOP else share)
        failed += [] if within else [name]
    print(f"\n{len(rows)} modules, at most {100 * largest:.2f} % left out where that is more than {LOOP} us; {len(failed)} above 5 %")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grad", action="store_true", help="forward and backward")
    parser.add_argument("--only", action="append", default=[], help="rows whose names match")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--profile", action="store_true", help="what of the time the profiler's events leave out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = [row for row in table() if not options.only or any(fnmatch.fnmatch(row[0], pattern) for pattern in options.only)]
    if options.profile:
        return profiled(rows, options.rounds)
    below, garbage, count = [], [], 0
    for name, make, make_arguments in rows:
        torch.manual_seed(0)
        module, arguments = make(), make_arguments()
        module.train(options.grad)
        if options.grad:
            arguments = [a.requires_grad_() if a.is_floating_point() else a for a in arguments]
            if not first_tensor(module(*arguments)).requires_grad:
                continue
        ways, failures = compiled_ways(module, arguments, options.grad)

        def runner(f, arguments=arguments):
            if not options.grad:
                return lambda: f(*arguments)
            return lambda: first_tensor(f(*arguments)).sum().backward()

        with torch.enable_grad() if options.grad else torch.no_grad():
            runs = {way: runner(f) for way, f in ways.items()}
            seconds = compare(runs, options.rounds)
            if not options.grad:
                for way, run in runs.items():
                    if way != "eager":
                        garbage.append((name, way, *collected(run)))
        text = ""
        for way in list(ways)[1:]:
            least, median = min(seconds["eager"]) / min(seconds[way]), statistics.median(seconds["eager"]) / statistics.median(seconds[way])
            count += 1
            text += f"  {way} {least:5.2f} {median:5.2f}"
            if least < 0.97:
                below.append((name, way, least))
        text += "".join(f"  {way}: {why}" for way, why in failures.items())
        print(f"{name:32s} {min(seconds['eager']) * 1e6:9.1f} us{text}", flush=True)
    print(f"\n{count} pairs, {len(below)} below 0.97" + "".join(f"\n  {name} {way} {least:.2f}" for name, way, least in below))
    for name, way, collections, size in garbage:
        if collections > 2 or size > 64 << 10:
            print(f"garbage: {name} {way}: {collections} collections in 200 forwards, {size / 1024:.0f} KB on Go's heap for each")
    return 0


def collected(run) -> tuple[int, float]:
    """Collections in 200 calls, and the bytes that each allocates on Go's heap."""
    statistics_of_heap = _native.function("heap_statistics")
    before = statistics_of_heap()
    for _ in range(200):
        run()
    after = statistics_of_heap()
    return after[0] - before[0], (after[1] - before[1]) / 200


if __name__ == "__main__":
    sys.exit(main())
