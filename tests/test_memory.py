"""A long run of calls leaves memory as it was."""

import gc
import os
import pathlib

import pytest

import torchjit as torch
from torchjit import _native

reuses = pytest.mark.skipif("guard" in os.environ.get("GOJIT_CHECK", ""), reason="guarded memory is not used again")

STATM = pathlib.Path("/proc/self/statm")


def identity(x):
    return x


def some(x):
    return torch.relu(x + 1).mul(2)


def resident_pages() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1])


@reuses
@pytest.mark.skipif(not STATM.exists(), reason="reads the resident memory from /proc")
@pytest.mark.parametrize("fn, times", [(identity, 1_000_000), (some, 100_000)])
def test_calls_hold_memory_flat(fn, times):
    compiled = torch.jit.script(fn)
    x = torch.ones(64, 64)
    for _ in range(3 * times):  # the collector lets much be allocated before it runs for the first time
        compiled(x)
    handles, before = _native.function("live_handles")(), resident_pages()
    for _ in range(times):
        compiled(x)
    assert resident_pages() - before < 16 * 256, "more than 16 MiB were added"
    assert _native.function("live_handles")() <= handles + 1


def test_profile(tmp_path):
    start, stop = _native.function("cpu_profile_start"), _native.function("cpu_profile_stop")
    target = tmp_path / "cpu.pprof"
    start(str(target))
    with pytest.raises(RuntimeError, match="is being recorded already"):
        start(str(target))
    stop()
    assert target.stat().st_size > 0
    with pytest.raises(RuntimeError, match="no profile is being recorded"):
        stop()
    with pytest.raises(RuntimeError, match="cannot be written"):
        start(str(tmp_path / "missing" / "cpu.pprof"))


def chain(x, w):
    return torch.sigmoid(x * w + 1) * torch.tanh(x)


def test_dropped_tensors_become_others():
    kept = [torch.full((2,), float(i)) for i in range(200)]
    views = [x.view(2, 1) for x in kept]
    del kept[::2]
    for i in range(300):
        y = torch.full((2, 1), -1.0).t()
        y.add_(i)
        del y
    assert [v.tolist() for v in views] == [[[i], [i]] for i in range(200)]
    assert [x._version for x in (torch.ones(2), torch.ones(2) + 1)] == [0, 0]
    assert torch.zeros(3).tolist() == [0, 0, 0]


def test_the_next_call_gives_memory_of_others_back():
    array = bytearray(8)
    x = torch.frombuffer(array, dtype=torch.float32)
    with pytest.raises(BufferError):
        array.append(0)
    del x
    torch.empty(1)
    array.append(0)


def test_many_small_tensors_wait_for_no_call():
    live = _native.function("live_handles")
    before = live()
    tensors = [torch.ones(2) for _ in range(1000)]
    assert live() == before + 1000
    del tensors
    assert live() == before


@reuses
@pytest.mark.parametrize("fn", [chain, torch.jit.script(chain)], ids=["eager", "scripted"])
def test_large_results_reuse_memory(fn):
    resource = pytest.importorskip("resource")
    x, w = torch.ones(500, 1000), torch.ones(500, 1000)
    for _ in range(10):
        fn(x, w)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        fn(x, w)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 20 * 100, "new memory for a result is 488 pages"


def returned_argument(x):
    y = x + 1
    z = torch.dropout(y, 0.5, False)  # y itself
    u = y * 2 + 5
    return z + u


def shown(x):
    y = x + 1
    v = y[1:]
    u = (y * 2 + 5)[1:] * 3
    return v + u


def contained(x):
    y = x + 1
    both = [y, x]
    u = y * 2 + 5
    return both[0] + u * 2


def listed_argument(x):
    y = x + 1
    both = [y]
    z = torch.ops.aten.chain_matmul(both)  # y itself
    u = z * 2 + 5
    return both[0] + u


def branched(x):
    y = x * 3
    if bool(x.sum() > 0):
        z = y + 1
    else:
        z = y - 1
    return (z * 2 + 1) * (y + 1)


def carried(x):
    a = x + 1
    b = a
    for i in range(4):
        c = a * 2 + i
        a, b = c - b, a
    return a * 3 + b


def written(x):
    y = x + 1
    y.add_(x * 2)
    z = (y * 2).mul_(y + 1)
    y.mul_(z + 3)
    return y + z


def called(x):
    y = x * 2
    return contained(y + 1) + y * 5


def optional(x):
    bias = x[0] + 1
    return torch.nn.functional.linear(x * 2, x + 3, bias * 2) + bias


@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")
@pytest.mark.parametrize("fn", [chain, returned_argument, shown, contained, listed_argument, branched, carried, written, called, optional], ids=lambda f: f.__name__)
def test_memory_is_reused_only_when_nobody_reads_it(fn):
    x = torch.arange(900).to(torch.float32).view(30, 30) / 900
    args = (x, x + 2) if fn is chain else (x,)
    compiled = torch.jit.script(fn)
    for _ in range(3):
        assert torch.equal(compiled(*args), fn(*args))
    leaf = x.clone().requires_grad_()
    plain = x.clone().requires_grad_()
    compiled(leaf, *args[1:]).sum().backward()
    fn(plain, *args[1:]).sum().backward()
    assert torch.equal(leaf.grad, plain.grad)
