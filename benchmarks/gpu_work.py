"""The work that gpu.py compares, on a CUDA device, under PyTorch and under torchjit alike:

    python gpu_work.py MODULE

It answers each line of its input, the name of a row, with a line of JSON: the nanoseconds of a call, the least of several turns of many calls of which the
last is waited for, or what it says where it refuses the row. An empty line asks for the names.
"""

import json
import sys
import time

from nets_work import ResNet18, ViTBlock, mlp, torch

nn, F = torch.nn, torch.nn.functional
ROWS = {}


def row(name):
    def keep(make):
        ROWS[name] = make
        return make

    return keep


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def calls(name, f, *arguments):
    """A row that calls a function with tensors of these shapes."""
    ROWS[name] = lambda: (lambda given: lambda: f(*given))([randn(*a) if isinstance(a, tuple) else a for a in arguments])


calls("add, 1000 elements", lambda x, y: x + y, (1000,), (1000,))
calls("add, 64 M", lambda x, y: x + y, (1 << 26,), (1 << 26,))
calls("gelu, 64 M", F.gelu, (1 << 26,))
calls("add of a transposed matrix, 8192 x 8192", lambda x, y: x + y.t(), (8192, 8192), (8192, 8192))
calls("copy of a transposed matrix, 8192 x 8192", lambda x: x.t().contiguous(), (8192, 8192))
calls("sum, 64 M", torch.sum, (1 << 26,))
calls("sum of rows, 8192 x 8192", lambda x: x.sum(1), (8192, 8192))
calls("sum of columns, 8192 x 8192", lambda x: x.sum(0), (8192, 8192))
calls("softmax, 8192 x 8192", lambda x: F.softmax(x, -1), (8192, 8192))
calls("layer_norm, 16384 x 1024", lambda x: F.layer_norm(x, (1024,)), (16384, 1024))
calls("batch_norm that trains, 32 x 256 x 56 x 56", lambda x, m, v: F.batch_norm(x, m, v, training=True), (32, 256, 56, 56), (256,), (256,))
calls("cumsum, 8192 x 8192", lambda x: x.cumsum(1), (8192, 8192))
calls("cumsum, 4 M", lambda x: x.cumsum(0), (1 << 22,))
calls("sort, 4 M", lambda x: x.sort()[0], (1 << 22,))
calls("topk 10, 1024 x 32768", lambda x: x.topk(10)[0], (1024, 32768))
calls("max_pool2d, 32 x 64 x 112 x 112", lambda x: F.max_pool2d(x, 3, 2, 1), (32, 64, 112, 112))
calls("randn, 16 M", lambda: torch.randn(1 << 24, device="cuda"))
calls("cat, 2 of 32 M", lambda x, y: torch.cat([x, y]), (1 << 25,), (1 << 25,))


@row("embedding, 64 k of 50000 x 512")
def embedding():
    weight, at = randn(50000, 512), torch.randint(0, 50000, (1 << 16,)).cuda()
    return lambda: F.embedding(at, weight)


@row("index_add, 1 M rows into 1000 x 64")
def index_add():
    into, at, rows = torch.zeros(1000, 64, device="cuda"), torch.randint(0, 1000, (1 << 20,)).cuda(), randn(1 << 20, 64)
    return lambda: into.index_add_(0, at, rows)


for kind in ("float32", "bfloat16"):
    dtype = getattr(torch, kind)
    for n in (512, 4096):

        @row(f"product, {n} x {n} x {n}, {kind}")
        def product(n=n, dtype=dtype):
            x, y = randn(n, n, dtype=dtype), randn(n, n, dtype=dtype)
            return lambda: x @ y

    @row(f"product of batches, 256 x 128 x 64 x 128, {kind}")
    def batches(dtype=dtype):
        x, y = randn(256, 128, 64, dtype=dtype), randn(256, 128, 64, dtype=dtype).transpose(1, 2)
        return lambda: x @ y

    @row(f"linear, 4096 x 1024 to 4096, {kind}")
    def linear(dtype=dtype):
        x, w, b = randn(4096, 1024, dtype=dtype), randn(4096, 1024, dtype=dtype), randn(4096, dtype=dtype)
        return lambda: F.linear(x, w, b)

    @row(f"conv2d 3 x 3, 32 x 128 x 28 x 28, {kind}")
    def convolution(dtype=dtype):
        x, w = randn(32, 128, 28, 28, dtype=dtype), randn(128, 128, 3, 3, dtype=dtype)
        return lambda: F.conv2d(x, w, padding=1)


def chain(x, y):
    return torch.tanh(x * y + 1) * torch.sigmoid(x) - y


@row("scripted chain, 16 M")
def scripted():
    f, x, y = torch.jit.script(chain), randn(1 << 24), randn(1 << 24)
    return lambda: f(x, y)


def ways(name, make, shape):
    """Rows of a net: eager, and scripted and frozen."""

    @row(f"{name}, eager")
    def eager():
        module, x = make().eval().cuda(), randn(*shape)
        return lambda: module(x)

    @row(f"{name}, frozen")
    def frozen():
        module, x = torch.jit.freeze(torch.jit.script(make().eval().cuda())), randn(*shape)
        return lambda: module(x)


def transformer():
    return nn.Sequential(*[ViTBlock(512, 8) for _ in range(6)])


ways("ResNet-18, batch 1", ResNet18, (1, 3, 224, 224))
ways("ResNet-18, batch 32", ResNet18, (32, 3, 224, 224))
ways("transformer, 1 x 128", transformer, (1, 128, 512))
ways("transformer, 32 x 128", transformer, (32, 128, 512))
ways("perceptron, batch 64", mlp, (64, 784))


def training(name, make, shape, classes):
    @row(f"step of SGD, {name}")
    def step():
        module, x, y = make().cuda(), randn(*shape), torch.randint(0, classes, shape[:1]).cuda()
        optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)

        def run():
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(module(x), y).backward()
            optimizer.step()

        return run


training("ResNet-18, batch 32", ResNet18, (32, 3, 224, 224), 1000)
training("perceptron, batch 64", mlp, (64, 784), 10)

# A turn has as many calls as take this many seconds; so many turns.
TURN, TURNS = 0.02, 5


def timed(call, times):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(times):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / times


def measure(name):
    torch.manual_seed(0)
    with torch.set_grad_enabled(name.startswith("step")):
        call = ROWS[name]()
        for _ in range(4):  # compilers, allocations
            once = timed(call, 1)
        times = max(1, min(1000, int(TURN / once)))
        return 1e9 * min(timed(call, times) for _ in range(TURNS))


def main():
    for line in sys.stdin:
        name = line.rstrip("\n")
        try:
            said = measure(name) if name else list(ROWS)
        except (RuntimeError, NotImplementedError, AttributeError, TypeError) as e:
            said = str(e)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
