"""The rows that kernels.py compares. It runs under PyTorch and under torchjit alike:

    python kernels_work.py MODULE GLOB

It prints, for every row whose "group: name" matches, the best time of the fastest way to do the work.
"""

import ctypes
import fnmatch
import importlib
import json
import math
import os
import pathlib
import subprocess
import sys
import time

torch = importlib.import_module(sys.argv[1])
if sys.argv[1] == "torchjit":
    torch.install_as_torch()
import quantized_rows  # noqa: E402  it imports torch

nn, F = torch.nn, torch.nn.functional
peer = sys.argv[1] == "torch"

MILLION = 1000000
SAMPLE, BUDGET = 0.002, 0.04  # seconds of one sample, and of all samples of one way


def best(call):
    """The best time of one call in nanoseconds."""
    call()
    begin = time.perf_counter()
    call()
    once = time.perf_counter() - begin
    times = range(max(1, int(SAMPLE / once)))
    found, end = once if len(times) == 1 else float("inf"), begin + BUDGET
    while True:
        begin = time.perf_counter()
        for _ in times:
            call()
        now = time.perf_counter()
        found = min(found, (now - begin) / len(times))
        if now > end:
            return found * 1e9


def warm_up():
    """Computes for a second: a processor that has rested takes a while to its full speed, and the two sides' imports differ."""
    a = torch.randn(256, 256)
    end = time.perf_counter() + 1
    while time.perf_counter() < end:
        torch.mm(a, a)


class Rows:
    """The rows that match a pattern, measured as they are added."""

    def __init__(self, pattern):
        self.pattern, self.found = pattern, []

    def wants(self, group, name):
        return fnmatch.fnmatch(f"{group}: {name}", self.pattern)

    def add(self, group, name, make, *inputs):
        """make(*inputs) gives the ways to do the work, by name: what to call, or the time it takes. inputs are made
        here from functions."""
        if not self.wants(group, name):
            return
        row = {"group": group, "name": name}
        self.found.append(row)
        try:
            ways = make(*[i() for i in inputs])
            row["ns"], row["way"] = min((best(call) if callable(call) else call, way) for way, call in ways.items())
        except Exception as e:
            row["error"] = f"{type(e).__name__}: {e}".splitlines()[0]

    def add_threads(self, name, make):
        """Measures with one thread and with two."""
        if not self.wants("two threads", name):
            return
        work = make()
        alone = best(work)
        torch.set_num_threads(2)
        try:
            self.found.append({"group": "two threads", "name": name, "ns": best(work), "alone": alone})
        finally:
            torch.set_num_threads(1)


def with_out(call, out):
    """A call that makes its result, and one that is given it."""
    ways = {"eager": call}
    if out is not None:
        ways["out="] = out
    return ways


def pointwise(rows):
    def large():
        return torch.randn(MILLION)

    for name in ("add", "mul"):
        f = getattr(torch, name)
        rows.add("bandwidth", f"{name} 1M", lambda x, y, o, f=f: with_out(lambda: f(x, y), lambda: f(x, y, out=o)), large, large, large)
    rows.add("bandwidth", "relu 1M", lambda x, o: with_out(lambda: torch.relu(x), lambda: torch.clamp(x, min=0, out=o)), large, large)
    rows.add("bandwidth", "sum 1M", lambda x: {"eager": lambda: torch.sum(x)}, large)
    for name in ("exp", "tanh", "sigmoid"):
        f = getattr(torch, name)
        rows.add("compute", f"{name} 1M", lambda x, o, f=f: with_out(lambda: f(x), lambda: f(x, out=o)), large, large)
    rows.add("compute", "gelu 1M", lambda x, o: with_out(lambda: F.gelu(x), lambda: torch.ops.aten.gelu(x, out=o)), large, large)
    for name in ("max", "argmax"):
        f = getattr(torch, name)
        rows.add("compute", f"{name} 1M", lambda x, f=f: {"eager": lambda: f(x)}, large)

    def four():
        return torch.ones(4)

    rows.add("small", "add 4 elements", lambda x, o: with_out(lambda: x + x, lambda: torch.add(x, x, out=o)), four, four)


def gate(x, w, b):
    return torch.sigmoid(x * w + b) * torch.tanh(x)


def run_go(*command, **variables):
    """The lines that a Go command prints."""
    here = pathlib.Path(__file__).resolve().parent
    environment = {**os.environ, **variables}
    done = subprocess.run(["go", *command], cwd=here.parent, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def kernel_time(name, n):
    """The nanoseconds of a kernel over n elements, from its text."""
    return int(run_go("run", "./gojit/cmd/gojit", "kernel", f"benchmarks/{name}", str(n))[-1].split()[-2])


def go_benchmark(package, name, *options, runs=4, **variables):
    """The nanoseconds of the benchmarks of a package of linalg that have a name, the best of some runs of each, which take turns."""
    lines = run_go("test", f"./gojit/internal/linalg/{package}", "-run", "^$", "-bench", name, "-count", str(runs), *options, **variables)
    found = {}
    for words in map(str.split, lines):
        if words and words[0].startswith("Benchmark"):
            found[words[0]] = min(float(words[2]), found.get(words[0], math.inf))
    return list(found.items())


def fused(rows):
    for group, n in (("fused 32K", 32768), ("fused 1M", MILLION)):

        def make(x, w, b, n=n):
            if peer:
                return {"eager": lambda: gate(x, w, b)}
            return {"one kernel": kernel_time("gate.kernel", n)}

        rows.add(group, "sigmoid(x*w+b)*tanh(x)", make, *[lambda n=n: torch.randn(n)] * 3)


def normalizing(rows):
    def square():
        return torch.randn(1024, 1024)

    def softmax(x, o):
        return with_out(lambda: torch.softmax(x, 1), lambda: torch.ops.aten._softmax.out(x, 1, False, out=o))

    def layer_norm(x, w, b):
        return {"eager": lambda: F.layer_norm(x, (1024,), w, b)}

    rows.add("rows", "softmax 1024x1024", softmax, square, square)
    rows.add("rows", "layer_norm 1024x1024", layer_norm, square, lambda: torch.randn(1024), lambda: torch.randn(1024))


POINTER, NUMBER, INTEGER, SIZE = ctypes.c_void_p, ctypes.c_float, ctypes.c_int, ctypes.c_int64


def openblas_product(name="cblas_sgemm", number=NUMBER):
    library = ctypes.CDLL("libopenblas.so.0")
    library.openblas_set_num_threads(1)
    gemm = getattr(library, name)
    gemm.argtypes = [INTEGER] * 6 + [number, POINTER, INTEGER, POINTER, INTEGER, number, POINTER, INTEGER]
    return lambda m, n, k, a, b, c: gemm(101, 111, 111, m, n, k, 1, a, k, b, n, 0, c, n)


def onednn_product(version):
    sgemm = ctypes.CDLL(f"libdnnl.so.{version}").dnnl_sgemm
    sgemm.argtypes = [ctypes.c_char] * 2 + [SIZE] * 3 + [NUMBER, POINTER, SIZE, POINTER, SIZE, NUMBER, POINTER, SIZE]
    return lambda m, n, k, a, b, c: sgemm(b"N", b"N", m, n, k, 1, a, k, b, n, 0, c, n)


SINGLE = (("OpenBLAS", openblas_product), ("oneDNN", lambda: onednn_product(3)), ("oneDNN", lambda: onednn_product(2)))
DOUBLE = (("OpenBLAS", lambda: openblas_product("cblas_dgemm", ctypes.c_double)),)


def blas_libraries(products):
    """The products of OpenBLAS and oneDNN, called by ctypes where the libraries are installed."""
    found = {}
    for name, load in products:
        if name not in found:
            try:
                found[name] = load()
            except OSError:
                pass
    return found


PRODUCTS = [(1, n, n, n) for n in (32, 64, 128, 256, 512, 1024, 2048)]
PRODUCTS += [(1, 1, 1024, 1024), (1, 8, 768, 3072), (1, 128, 768, 3072), (12, 128, 64, 128)]  # batch, m, k, n


def product_ways(libraries, dtype, batch, m, k, n):
    lead = (batch,) if batch > 1 else ()
    a, b, c = torch.randn(*lead, m, k, dtype=dtype), torch.randn(*lead, k, n, dtype=dtype), torch.zeros(*lead, m, n, dtype=dtype)
    size = a.element_size()
    multiply = torch.bmm if batch > 1 else torch.mm
    ways = with_out(lambda: multiply(a, b), lambda: multiply(a, b, out=c))
    for name, sgemm in libraries.items():
        places = [(a.data_ptr() + size * i * m * k, b.data_ptr() + size * i * k * n, c.data_ptr() + size * i * m * n) for i in range(batch)]

        def each(sgemm=sgemm, places=places):
            for at in places:
                sgemm(m, n, k, *at)

        ways[name] = each
    return ways


def products(rows):
    for group, dtype, loads in (("gemm", torch.float32, SINGLE), ("gemm f64", torch.float64, DOUBLE)):
        libraries = blas_libraries(loads) if peer else {}
        for batch, m, k, n in PRODUCTS:
            name = f"{m}x{k}x{n}" if batch == 1 else f"{batch} times {m}x{k}x{n}"
            rows.add(group, name, lambda libraries=libraries, dtype=dtype, s=(batch, m, k, n): product_ways(libraries, dtype, *s))


def narrow_products(rows):
    """Cubes with AVX2, against the time that their multiplications take at the peak of AVX2."""
    names = {f"1x{n}x{n}x{n}": n for n in (32, 64, 128, 256, 512, 1024, 2048)}
    wanted = [name for name in names if rows.wants("gemm avx2", name[2:])]
    if peer or not wanted:
        return
    lines = run_go("test", "./gojit/internal/kernel/amd64", "-run", "^$", "-bench", "Peak/avx2", "-benchtime", "10ms", "-count", "5")
    peak = max(float(words[-2]) for words in map(str.split, lines) if words and words[0].startswith("Benchmark"))  # GFLOPS
    found = go_benchmark("gemm", "Product/^(" + "|".join(wanted) + ")$/false", "-benchtime", "10ms", GOJIT_TARGET="avx2")
    for name in wanted:
        ns = min(time for benchmark, time in found if f"/{name}/" in benchmark)
        rows.found.append({"group": "gemm avx2", "name": name[2:], "ns": ns, "alone": 2 * names[name] ** 3 / peak, "against": "peak"})


def half_products(rows):
    def ways(m, k, n):
        a, b, w = (torch.randn(*shape).to(torch.bfloat16) for shape in ((m, k), (k, n), (n, k)))
        return {"mm": lambda: torch.mm(a, b)}, {"linear": lambda: F.linear(a, w)}

    for s in ((512, 512, 512), (1, 1024, 1024), (128, 768, 3072)):
        for way, call in enumerate(("mm", "linear")):
            rows.add("gemm bf16", f"{call} {s[0]}x{s[1]}x{s[2]}", lambda s=s, way=way: ways(*s)[way])


# in channels, size of the image, out channels, kernel, stride, groups
RESNET18 = [
    (3, 224, 64, 7, 2, 1), (64, 56, 64, 3, 1, 1), (64, 56, 128, 3, 2, 1), (64, 56, 128, 1, 2, 1), (128, 28, 128, 3, 1, 1),
    (128, 28, 256, 3, 2, 1), (128, 28, 256, 1, 2, 1), (256, 14, 256, 3, 1, 1), (256, 14, 512, 3, 2, 1), (256, 14, 512, 1, 2, 1),
    (512, 7, 512, 3, 1, 1),
]  # fmt: skip


def mobilenet_v2():
    """The different convolutions of MobileNetV2."""
    layers = [(3, 224, 32, 3, 2, 1)]
    channels, size = 32, 112
    for expand, out, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            step, hidden = stride if i == 0 else 1, channels * expand
            if expand > 1:
                layers.append((channels, size, hidden, 1, 1, 1))
            layers.append((hidden, size, hidden, 3, step, hidden))
            size //= step
            layers.append((hidden, size, out, 1, 1, 1))
            channels = out
    layers.append((channels, size, 1280, 1, 1, 1))
    return list(dict.fromkeys(layers))


def convolution_ways(batch, inside, size, outside, kernel, stride, groups):
    x, w = torch.randn(batch, inside, size, size), torch.randn(outside, inside // groups, kernel, kernel)
    last = torch.channels_last
    xl, wl = x.contiguous(memory_format=last), w.contiguous(memory_format=last)
    padding = kernel // 2
    ways = {
        "nchw": lambda: F.conv2d(x, w, None, stride, padding, 1, groups),
        "nhwc": lambda: F.conv2d(xl, wl, None, stride, padding, 1, groups),
    }
    if peer:  # oneDNN's own layouts, the weight reordered beforehand
        pads, strides, ones = (padding, padding), (stride, stride), (1, 1)
        xm = x.to_mkldnn()
        wm = torch._C._nn.mkldnn_reorder_conv2d_weight(w.to_mkldnn(), pads, strides, ones, groups)
        ways["oneDNN's layout"] = lambda: torch.mkldnn_convolution(xm, wm, None, pads, strides, ones, groups)
    return ways


def convolutions(rows):
    wanted = []
    for net, layers in (("ResNet-18", RESNET18), ("MobileNetV2", mobilenet_v2())):
        for batch in (1, 8):
            for layer in layers:
                inside, size, outside, kernel, stride, groups = layer
                text = f"{inside}x{size}x{size} to {outside}, {kernel}x{kernel}" + f"/{stride}" * (stride > 1) + " by channel" * (groups > 1)
                if rows.wants("conv", f"{net} b{batch} {text}"):
                    wanted.append((f"{net} b{batch} {text}", (batch, *layer)))
    plans = {} if peer else convolution_plans([layer for _, layer in wanted])
    for name, layer in wanted:
        rows.add("conv", name, lambda s=layer: {**convolution_ways(*s), **plans.get(s, {})})


def convolution_plans(layers):
    """The nanoseconds of convolutions on plans of package conv, whose weights are packed beforehand."""
    if not layers:
        return {}
    texts = {",".join(map(str, layer)): layer for layer in layers}
    found = {}
    for name, ns in go_benchmark("conv", "Plans", "-benchtime", "40ms", GOJIT_LAYERS=" ".join(texts)):
        _, text, way = name.split("/")
        found.setdefault(texts[text], {})["plan, " + way.rsplit("-", 1)[0]] = ns
    return found


def recurrent_ways(name, batch):
    layer = getattr(nn, name)(256, 256).eval()
    if not name.endswith("Cell"):
        x = torch.randn(64, batch, 256)
        return {"eager": lambda: layer(x)}
    x, state = torch.randn(batch, 256), torch.randn(batch, 256)
    if name == "LSTMCell":
        state = (state, torch.randn(batch, 256))
    return {"eager": lambda: layer(x, state)}


def recurrent(rows):
    for name in ("LSTM", "GRU", "RNN"):
        for batch in (1, 16):
            rows.add("recurrent", f"{name}(256, 256) b{batch}, 64 steps", lambda s=(name, batch): recurrent_ways(*s))
    for name in ("LSTMCell", "GRUCell"):
        rows.add("recurrent", f"{name}(256, 256) b32", lambda s=(name, 32): recurrent_ways(*s))


class Block(nn.Module):
    """A basic block of ResNet."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Identity()
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.downsample(x))


def resnet18():
    blocks = [Block(64, 64, 1), Block(64, 64, 1), Block(64, 128, 2), Block(128, 128, 1), Block(128, 256, 2), Block(256, 256, 1), Block(256, 512, 2), Block(512, 512, 1)]  # fmt: skip
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).eval()


def resnet_ways():
    model, x = resnet18(), torch.randn(1, 3, 224, 224)
    ways = {"eager": lambda: model(x)}
    if peer:
        last = resnet18().to(memory_format=torch.channels_last)
        xl = x.contiguous(memory_format=torch.channels_last)
        frozen = torch.jit.freeze(torch.jit.script(model))
        inference = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(model)))
        for _ in range(3):
            frozen(x), inference(x)
        ways |= {"eager nhwc": lambda: last(xl), "frozen": lambda: frozen(x), "for inference": lambda: inference(x)}
    return ways


def plan_times():
    """The nanoseconds of ResNet-18 on plans of package conv, with one thread and with two."""
    return [ns for _, ns in go_benchmark("conv", "ResNet18/winograd", "-benchtime", "2x", runs=30)]


def networks(rows):
    def ways():
        return resnet_ways() if peer else {**resnet_ways(), "plans": plan_times()[0]}

    rows.add("network", "ResNet-18 b1", ways)


def threads(rows):
    if peer:
        return

    def cube(n):
        a, b = torch.randn(n, n), torch.randn(n, n)
        return lambda: torch.mm(a, b)

    for n in (512, 1024, 2048):
        rows.add_threads(f"{n}x{n}x{n}", lambda n=n: cube(n))
    if rows.wants("two threads", "ResNet-18 b1 on plans"):
        alone, both = plan_times()
        rows.found.append({"group": "two threads", "name": "ResNet-18 b1 on plans", "ns": both, "alone": alone})


def main():
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    warm_up()
    rows = Rows(sys.argv[2])
    for family in (pointwise, fused, normalizing, products, narrow_products, half_products, convolutions, recurrent, networks, quantized_rows.add_rows, threads):
        family(rows)
    print(json.dumps(rows.found))


main()
