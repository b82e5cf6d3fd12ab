"""The memory of activations and gradients is used again as soon as nobody needs it, and not before."""

import os
import pathlib
import subprocess
import sys

import pytest

import torchjit as torch


def churn():
    """Writes whatever memory waits for its next use."""
    made = [torch.full((n,), -7.0) for n in (4, 16, 100, 300, 1000, 20000) for _ in range(4)]
    del made


def leaf(n=20000):
    return (torch.arange(n) % 7).to(torch.float32).requires_grad_()


@pytest.mark.skipif("guard" in os.environ.get("GOJIT_CHECK", ""), reason="guarded memory is not used again")
def test_the_next_step_uses_the_same_memory():
    x = leaf()
    seen = set()
    for _ in range(40):
        y = torch.relu(x * 2)
        seen.add(y.data_ptr())
        y.sum().backward()
        x.grad = None
        del y
    assert len(seen) <= 8


def test_a_gradient_outlives_its_leaf_and_its_place():
    x = leaf()
    (x * 3).sum().backward()
    g = x.grad
    x.grad = None
    del x
    churn()
    assert g.eq(3).all()
    y = leaf()
    (y * 3).sum().backward()
    y.grad.add_(1)
    churn()
    assert y.grad.eq(4).all()


def test_a_base_outlives_its_name():
    x = torch.arange(1000.0)
    v = x.view(10, 100)
    del x
    base = v._base
    del v
    churn()
    assert base.equal(torch.arange(1000.0))
    y = leaf() * 1
    v = y.view(-1)
    del y
    base = v._base
    del v
    churn()
    assert base.equal(leaf())


OVER = [torch.relu, torch.nn.functional.relu6, torch.nn.functional.hardtanh, lambda x: torch.nn.functional.threshold(x, 0.5, 0.0)]


@pytest.mark.parametrize("activation", OVER, ids=["relu", "relu6", "hardtanh", "threshold"])
def test_activations_write_over_gradients_that_nobody_else_has(activation):
    x = ((torch.arange(20000) % 7).to(torch.float32) - 3).requires_grad_()
    once = x.detach().clone().requires_grad_()
    (slope,) = torch.autograd.grad(activation(once).sum(), once)
    assert 0 < slope.sum() < slope.numel()
    seen = []

    def made():
        h = x * 1
        y = activation(h)
        return h, y, y * 3

    def agree(*found):
        churn()
        for g, factor in found:
            assert g.equal(factor * slope if isinstance(factor, float) else factor), factor

    threes = torch.full_like(slope, 3)
    h, y, z = made()
    agree((torch.autograd.grad(z.sum(), x)[0], 3.0))
    given = threes.clone()
    h, y, z = made()
    y.backward(given)  # what the caller gave stays
    agree((given, threes), (x.grad, 3.0))
    h, y, z = made()
    gy, gh = torch.autograd.grad(z.sum(), (y, h))
    agree((gy, threes), (gh, 3.0))
    h, y, z = made()
    y.retain_grad()
    z.sum().backward()
    agree((y.grad, threes))
    h, y, z = made()
    y.register_hook(seen.append)
    z.sum().backward()
    agree((seen.pop(), threes))
    h, y, z = made()
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend([inputs[0], outputs[0]]))
    z.sum().backward()
    agree((seen.pop(), threes), (seen.pop(), 3.0))
    h, y, z = made()
    w = z.sum() + (y * 2).sum()
    for _ in range(2):
        agree((torch.autograd.grad(w, x, retain_graph=True)[0], 5.0))
    for _ in range(2):
        (g,) = torch.autograd.grad(z.sum(), x, create_graph=True)
        agree((g.detach(), 3.0))


def test_saved_tensors_outlive_their_names():
    x = leaf()
    y = torch.exp(x * 0.1)
    z = y * y
    node = z.grad_fn
    del y, z
    churn()
    assert node._saved_self.allclose(torch.exp(leaf() * 0.1))
    kept = node._saved_self
    del node
    churn()
    assert kept.allclose(torch.exp(leaf() * 0.1))


def goes_back(make):
    """Whether the memory of what make gives from a leaf, and keeps in the graph of its second result, is used again when its name is gone."""
    for _ in range(3):  # what else is made has its place by then
        y, result = make(leaf())
        at = y.data_ptr()
        del y
        again = [torch.empty(20000) for _ in range(8)]
        found = at in [t.data_ptr() for t in again]
        del result, again
    return found


READ = {
    "add": (False, lambda y: y + 1),
    "difference": (False, lambda y: 1 - y),
    "sum": (False, lambda y: y.sum()),
    "mean": (False, lambda y: y.view(100, 200).mean(1)),
    "sigmoid": (False, lambda y: y.sigmoid()),
    "softmax": (False, lambda y: y.softmax(0)),
    "cat": (False, lambda y: torch.cat([y, y])),
    "part of a product": (False, lambda y: torch.chunk(y * 2, 2)[0].exp()),
    "product": (True, lambda y: y * y),
    "gelu": (True, lambda y: torch.nn.functional.gelu(y)),
    "matrices": (True, lambda y: y.view(100, 200) @ torch.ones(200, 2, requires_grad=True)),
}


@pytest.mark.skipif("guard" in os.environ.get("GOJIT_CHECK", ""), reason="guarded memory is not used again")
@pytest.mark.parametrize("name", READ)
def test_what_no_derivative_reads_goes_back_at_once(name):
    kept, f = READ[name]

    def make(x):
        y = x * 0.5
        return y, f(y)

    assert goes_back(make) is not kept


@pytest.mark.skipif("guard" in os.environ.get("GOJIT_CHECK", ""), reason="guarded memory is not used again")
def test_results_that_a_derivative_reads_stay():
    def make(x):
        y = torch.exp(x * 0.1)
        return y, y + 1

    assert not goes_back(make)


@pytest.mark.parametrize("name", READ)
def test_gradients_where_memory_went_back(name):
    _, f = READ[name]
    x, other = leaf(), leaf()
    y = x * 0.5
    z = f(y)
    keep = f(other * 0.5)
    want = torch.autograd.grad(keep.sum(), other, create_graph=True)[0]
    del y
    churn()
    (got,) = torch.autograd.grad(z.sum(), x, create_graph=True)
    churn()
    assert got.equal(want) and want.isfinite().all()
    if got.requires_grad:
        again, wanted = torch.autograd.grad((got * got).sum(), x, allow_unused=True)[0], torch.autograd.grad((want * want).sum(), other, allow_unused=True)[0]
        assert (again is None and wanted is None) or again.equal(wanted)


def test_nodes_show_what_they_save():
    x = leaf()
    assert not hasattr((x * 2 + x).grad_fn, "_saved_self") and not hasattr((x * 2).sigmoid().grad_fn, "_saved_self")
    assert (x * 2).sigmoid().grad_fn._saved_result.equal((x * 2).sigmoid())
    product = (x * 2) * x
    assert product.grad_fn._saved_self.equal(x * 2) and product.grad_fn._saved_other is x


def test_leaves_and_bases_stay():
    y = leaf() + 1
    churn()
    assert y.grad_fn.next_functions[0][0].variable.equal(leaf())
    x = leaf()
    y = x * 2
    v = y[:10000]
    del y
    churn()
    assert v._base.equal(leaf() * 2)
    v.add_(1)
    churn()
    v.sum().backward()
    assert x.grad[:10000].eq(2).all() and x.grad[10000:].eq(0).all()


def test_a_graph_that_is_kept():
    x = leaf()
    loss = (torch.sigmoid(x * 0.1) * x).sum()
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    churn()
    (second,) = torch.autograd.grad(loss, x)
    assert first.equal(second)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(loss, x)


def test_nodes_that_save_nothing_go_twice():
    x = leaf()
    loss = (x + 1).sum()
    loss.backward()
    churn()
    loss.backward()
    assert x.grad.eq(2).all()


def test_hooks_keep_what_they_see():
    seen = []
    x = leaf()
    y = x * 2
    y.register_hook(seen.append)
    y.retain_grad()
    z = y * 3
    z.register_hook(lambda g: g * 2)
    z.sum().backward()
    churn()
    assert seen[0].eq(6).all() and y.grad.eq(6).all() and x.grad.eq(12).all()


def test_one_gradient_for_several():
    x, y = leaf(), leaf()
    z = x + y
    (z + z * 2 + x).sum().backward()
    churn()
    assert x.grad.eq(4).all() and y.grad.eq(3).all()
    x.grad.mul_(2)
    assert y.grad.eq(3).all()


def test_views_and_writes():
    x = leaf()
    y = x * 1
    v = y[:10000]
    v.mul_(3)
    w = y.view(2, 10000)
    del y, v
    churn()
    (w * w).sum().backward()
    del w
    churn()
    want = torch.cat([18 * leaf()[:10000], 2 * leaf()[10000:]])
    assert x.grad.equal(want)


def test_gradients_of_gradients():
    x = leaf(2000)
    y = (x * 0.1).tanh().pow(3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    del y
    churn()
    (h,) = torch.autograd.grad((g * g).sum(), x)
    z = leaf(2000)
    t = (z * 0.1).tanh()
    d = 1 - t * t
    first = 0.3 * t * t * d
    second = 0.03 * (2 * t * d * d - 2 * t * t * t * d)
    assert h.allclose(2 * first * second, atol=1e-6)


def test_functions_of_users():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            square = x * x
            ctx.save_for_backward(x, square)
            return square * x

        @staticmethod
        def backward(ctx, g):
            x, square = ctx.saved_tensors
            churn()
            return g * 3 * square

    x = leaf()
    y = Cube.apply(x * 1)
    churn()
    y.sum().backward()
    assert x.grad.equal(3 * leaf() * leaf())


def test_hooks_of_saved_tensors():
    packed = []

    def pack(t):
        packed.append(t)
        return len(packed) - 1

    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda i: packed[i] * 1):
        y = (x * 2).exp2()
        z = y * y
    del y
    churn()
    z.sum().backward()
    assert x.grad.allclose(4 * torch.log(torch.tensor(2.0)) * torch.exp2(4 * leaf()), rtol=1e-5)


def test_programs_and_checkpoints():
    @torch.jit.script
    def f(x):
        y = x * 2
        z = torch.relu(y - 3)
        return y + z

    x = leaf()
    (f(x) + torch.utils.checkpoint.checkpoint(f, x * 1)).sum().backward()
    churn()
    assert x.grad.equal(2 * (2 + 2 * (2 * leaf() > 3).to(torch.float32)))


STEPS = """
import torchjit as torch
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.LayerNorm(64), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 8))
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(256, 64), torch.randint(0, 8, (256,))
seen, losses = set(), []
for module in net:
    module.register_forward_hook(lambda module, given, result: seen.add(result.data_ptr()))
for _ in range(30):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
print(len(seen))
"""


def test_a_training_step_needs_no_new_memory():
    """In a process of its own: what waits for its next use here comes from other tests."""
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent.parent), "GOJIT_CHECK": ""}  # what is guarded is not used again
    done = subprocess.run([sys.executable, "-c", STEPS], env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) <= 30, "of the 150 results of modules"


def test_gradients_of_what_a_generator_gives():
    net = torch.nn.Linear(3, 2)
    weight, bias = torch.autograd.grad(net(torch.ones(1, 3)).sum(), net.parameters())
    assert weight.eq(1).all() and bias.eq(1).all()


KEPT = """
import torchjit as torch
from torchjit import _native

def resident():
    for _ in range(2):
        _native.function("collect")()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096

def rows(keep, n=150):
    w, kept = torch.randn(1000, 100, requires_grad=True), []
    for _ in range(n):
        y = torch.tanh(w @ torch.randn(100, 300)) * 2
        kept.append(keep(y.t()[0] + y.sum()))
    return kept

for keep in (lambda y: y.detach(), lambda y: y.data, lambda y: y.detach().numpy(), lambda y: y.detach()[:]):
    rows(keep, 20)
    before = resident()
    kept = rows(keep)
    print((resident() - before) >> 20)
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="reads the resident memory from /proc")
def test_what_is_kept_of_a_result_keeps_no_tape():
    """150 rows of 4 KB, each of a graph of 2 MB."""
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent.parent), "GOJIT_CHECK": ""}
    done = subprocess.run([sys.executable, "-c", KEPT], env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert all(int(megabytes) < 60 for megabytes in done.stdout.split()), f"{done.stdout.split()} MB"


MOST = """
import torchjit as torch

def memory(name):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name)) >> 10

x = torch.ones(1 << 24, requires_grad=True)  # 64 MB
before = memory("VmRSS")
z = torch.relu(x)[:1000]
z.sum().backward()
print(memory("VmHWM") - before)
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="reads the most resident memory from /proc")
def test_the_gradient_of_relu_takes_no_memory_of_its_own():
    """There are a result and its gradient, which becomes that of the leaf."""
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent.parent), "GOJIT_CHECK": ""}
    done = subprocess.run([sys.executable, "-c", MOST], env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert 2 * 64 <= int(done.stdout) + 16 < 3 * 64, f"{done.stdout} MB"


SPREAD = """
import sys
import torchjit as torch

def memory(name):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name)) >> 10

x = torch.ones(2000, requires_grad=True)
y = eval(sys.argv[1])  # at least 16 MB
before = memory("VmHWM")
torch.autograd.grad(y, x, torch.ones(()).expand(y.shape))
print(memory("VmHWM") - before)
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="reads the most resident memory from /proc")
@pytest.mark.parametrize("code", ["x.diagflat(1)", "x.diag_embed()", "x.diag()", "x.tile(3000)", "x.repeat_interleave(3000)"])
def test_gradients_of_what_is_spread_take_no_table_of_places(code):
    """A table took 16 bytes for each element of the result, which has 4."""
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent.parent), "GOJIT_CHECK": ""}
    done = subprocess.run([sys.executable, "-c", SPREAD, code], env=env, stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) < 60, f"{done.stdout} MB"


LENT = """
import torchjit as torch

w = torch.randn(1000, 100, requires_grad=True)
for _ in range(4):
    kept = []
    for _ in range(150):
        y = torch.tanh(w @ torch.randn(100, 300)) * 2
        kept.append((y.t()[0] + y.sum()).detach().numpy())
"""


def test_arrays_are_lent_while_the_collector_runs():
    """What says where an array is lies in memory of C, in which there may be any addresses before."""
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent.parent), "GOGC": "5", "GOJIT_CHECK": ""}
    subprocess.run([sys.executable, "-c", LENT], env=env, check=True)
