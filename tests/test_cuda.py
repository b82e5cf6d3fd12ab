"""Tensors on CUDA devices, on the software device of gojit/internal/gpu/testdata: what a process without it sees, and what one with it does.

With GOJIT_TEST_GPU=1 on a GPU, but for what only the software device has.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "gojit" / "internal" / "gpu" / "testdata"
ON_GPU = bool(os.environ.get("GOJIT_TEST_GPU"))
software = pytest.mark.skipif(ON_GPU, reason="of the software device alone")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The library of the software device, None for a GPU."""
    if ON_GPU:
        return None
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("driver") / "libhost.so"
    header = f'-DHOST_HEADER="{SOURCE / "host.h"}"'
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", header, "-o", path, SOURCE / "host_driver.c", SOURCE / "host_libraries.c", "-ldl"], check=True)
    return path


def python(arguments, driver, **variables):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GOJIT_CHECK": "", **variables}  # guarded blocks are of exact sizes
    if driver:
        env["GOJIT_CUDA_DRIVER"] = str(driver)
    if driver and pathlib.Path(driver).exists():
        env["GOJIT_CUDA_CACHE"] = str(pathlib.Path(driver).parent / "compiled")  # shared by the tests
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(program, driver):
    with tempfile.TemporaryDirectory() as folder:  # a file: functions are compiled from their source
        path = pathlib.Path(folder) / "program.py"
        path.write_text("import torchjit as torch\n" + program)
        return python([path], driver)


def test_without_a_driver():
    out = run(
        """
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.memory_allocated())
try:
    torch.ones(3).cuda()
except AssertionError as e:
    print(e, e.__notes__[0])
""",
        "/nowhere/libcuda.so",
    )
    assert out.startswith("False 0 0\nTorch not compiled with CUDA enabled NVIDIA's driver was not found: looked for /nowhere/libcuda.so as the variable GOJIT_CUDA_DRIVER says")


def test_tensors(driver):
    out = run(
        """
x = torch.arange(6.).reshape(2, 3).to("cuda")
print(torch.cuda.is_available(), x.device, x.is_cuda, x.get_device(), torch.ones(2, device="cuda:0"))
print((x + 1).tolist(), x.t().relu().exp().sum().item() == x.cpu().t().relu().exp().sum().item(), torch.where(x > 2, x, -x).cpu())
x[0, 1] = 7
x[1].fill_(2).add_(1)
y = torch.zeros(2, 3)
print(y.copy_(x).tolist(), x.amax(0).tolist())
for f in (lambda: x + torch.ones(2, 3), lambda: torch.linalg.svd(x), lambda: x.numpy(), lambda: torch.ones(1, device="cuda:3")):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e)[:50])
w = torch.ones(3, device="cuda", requires_grad=True)
(w * w).sum().backward()
print(w.grad)
""",
        driver,
    )
    assert out.splitlines() == [
        "True cuda:0 True 0 tensor([1., 1.], device='cuda:0')",
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] True tensor([[-0., -1., -2.],",
        "        [ 3.,  4.,  5.]])",
        "[[0.0, 7.0, 2.0], [3.0, 3.0, 3.0]] [3.0, 7.0, 3.0]",
        "RuntimeError Expected all tensors to be on the same device, but",
        "NotImplementedError Could not run 'aten::linalg_svd' with arguments fr",
        "TypeError can't convert cuda:0 device type tensor to numpy. ",
        "RuntimeError CUDA error: invalid device ordinal: there is no de",
        "tensor([2., 2., 2.], device='cuda:0')",
    ]


@software
def test_memory(driver):
    out = run(
        """
x = torch.empty(1000, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
del x
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved())
torch.cuda.empty_cache()
print(torch.cuda.memory_reserved(), torch.cuda.mem_get_info() == (1 << 30, 1 << 30))
try:
    torch.empty(1 << 30, device="cuda")
except torch.cuda.OutOfMemoryError as e:
    print(str(e).partition("(")[0])
""",
        driver,
    )
    assert out.splitlines() == ["4096 2097152", "0 4096 2097152", "0 True", "CUDA out of memory. Tried to allocate 4.00 GiB "]


def test_files(driver):
    """Tensors are loaded to where they were, or to where map_location says."""
    out = run(
        """
import io
file = io.BytesIO()
x = torch.arange(6.).reshape(2, 3).t()
torch.save([x, x.cuda()], file)
for where in (None, "cpu", "cuda", {"cuda:0": "cpu"}, {"cpu": "cuda"}):
    file.seek(0)
    a, b = torch.load(file, map_location=where)
    print(a.device, b.device, a.stride(), b.stride(), a.tolist() == b.tolist() == x.tolist())
""",
        driver,
    )
    assert out.splitlines() == [
        "cpu cuda:0 (1, 3) (1, 3) True",
        "cpu cpu (1, 3) (1, 3) True",
        "cuda:0 cuda:0 (1, 3) (1, 3) True",
        "cpu cpu (1, 3) (1, 3) True",
        "cuda:0 cuda:0 (1, 3) (1, 3) True",
    ]


def test_compiled_modules(driver):
    out = run(
        """
m = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()))
x = torch.ones(2, 3)
want = m(x)
y = m.to("cuda")(x.cuda())
print(y.device, torch.allclose(y.cpu(), want))
f = torch.jit.trace(lambda x: (x * 2 + 1).relu().sum(), x)
print(f(x.cuda()))
""",
        driver,
    )
    assert out.splitlines() == ["cuda:0 True", "tensor(18., device='cuda:0')"]


def test_frozen_modules(driver):
    """Convolutions with normalizations are folded on the device, and constants of two devices are not one."""
    out = run(
        """
m = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, bias=False), torch.nn.BatchNorm2d(4)).eval()
m[1].running_var.uniform_(0.5, 2)
x = torch.randn(2, 3, 5, 5)
want = m(x)
f = torch.jit.freeze(torch.jit.script(m.cuda()))
print("batch_norm" in str(f.graph), torch.allclose(f(x.cuda()).cpu(), want, atol=1e-5))

class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = torch.ones(3), torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
    def forward(self):
        return self.a + 1, self.b + 1, self.c + 1
f = torch.jit.freeze(torch.jit.script(Two().eval()))
print([y.device.type for y in f()], str(f.graph).count("prim::Constant[value= 1  1  1"))
""",
        driver,
    )
    assert out.splitlines() == ["False True", "['cpu', 'cuda', 'cuda'] 2"]


def test_regions(driver):
    """A chain of elementwise operators is one kernel, with the sum behind it and with gradients; tensors of two devices run one by one."""
    out = run(
        """
def f(x, w):
    y = torch.tanh(x * w + 1) * torch.sigmoid(x)
    return y, y.sum(-1)

@torch.jit.script
def total(x, w):
    return torch.tanh(x * w + 1).mean(-1)

def launches(call):
    call()
    call()
    before = torch.cuda.memory_stats()["launches"]
    call()
    return torch.cuda.memory_stats()["launches"] - before

g = torch.jit.script(f)
x, w = torch.randn(4, 100), torch.randn(100)
a, b = x.cuda(), w.cuda()
print(launches(lambda: f(a, b)), launches(lambda: g(a, b)), launches(lambda: total(a, b)), torch.allclose(total(a, b).cpu(), total(x, w)))
print([torch.equal(p.cpu(), q) for p, q in zip(g(a, b), g(x, w))])
print(launches(lambda: g(a, torch.tensor(2.0))))
a.requires_grad_(), x.requires_grad_()
for t, u in ((a, b), (x, w)):
    for _ in range(3):
        t.grad = None
        y, s = g(t, u)
        (y.sum() + s.sum()).backward()
print(torch.allclose(a.grad.cpu(), x.grad))
print(torch.randn(3, 0).cuda().shape, [tuple(r.shape) for r in g(torch.ones(0, 3).cuda(), torch.ones(3).cuda())])
""",
        driver,
    )
    assert out.splitlines() == ["6 2 2 True", "[True, True]", "6", "True", "torch.Size([3, 0]) [(0, 3), (0,)]"]


# How many operators of attack/samples.txt have no form for the device, and which modules of benchmarks/compiled.py meet one: fewer is better, and more a failure.
OPERATORS_WITHOUT_FORM = 64
MODULES_WITHOUT_FORM = {"FractionalMaxPool2d", "EmbeddingBag"}
CALLS_OF_PROGRAMS_WITHOUT_FORM = 4  # of tests/programs
ASK_FOR_THE_DEVICE = {"dtypes_dev: entry 2, call 0", "shapes: entry 3, call 0", "tc_props: entry 0, call 0", "prints: entry 1, call 0", "prints: entry 1, call 1"}


def test_every_record(driver):
    """Every operator agrees with the processor, or refuses with the error that names it and the device."""
    found = json.loads(python([ROOT / "tests" / "cuda_records.py"], driver).splitlines()[-1])
    assert found["wrong"] == {}
    assert len(found["refused"]) <= OPERATORS_WITHOUT_FORM, found["refused"]
    assert len(found["agree"]) > 500


def test_modules(driver):
    """Forward, backward and a step of an optimizer, eager and scripted."""
    found = json.loads(python([ROOT / "tests" / "cuda_modules.py"], driver).splitlines()[-1])
    assert found["wrong"] == {}
    assert {name.removesuffix(", scripted") for name in found["refused"]} == MODULES_WITHOUT_FORM
    assert len(found["agree"]) > 250


def test_programs(driver):
    """The calls of tests/programs, but for those whose programs mix in tensors that they make on the processor."""
    found = json.loads(python([ROOT / "tests" / "cuda_programs.py"], driver).splitlines()[-1])
    assert found["wrong"].keys() <= ASK_FOR_THE_DEVICE, found["wrong"]
    assert len(found["refused"]) <= CALLS_OF_PROGRAMS_WITHOUT_FORM, found["refused"]
    assert found["agree"] > 500 and len(found["mixed"]) < 25


# How many kernels a forward is: a kernel for each convolution and product, and one for each chain of elementwise operators between them where it is
# compiled. Of the frozen ResNet-18 those are 20 convolutions, 17 regions, a product, 3 for the mean of a plane and one for the largest of windows.
LAUNCHES = {
    "resnet18, eager": 70, "resnet18, scripted": 62, "resnet18, frozen": 42,
    "transformer, eager": 38, "transformer, scripted": 38, "transformer, frozen": 38,
}  # fmt: skip


def test_counts(driver):
    """No more kernels than these, and nothing is copied. What is compiled becomes one launch, between copies of its argument and of its result."""
    found = json.loads(python([ROOT / "tests" / "cuda_nets.py"], driver, GOJIT_CUDA_LIBRARIES="0").splitlines()[-1])
    assert {name: counts["second"]["launches"] for name, counts in found.items()} == LAUNCHES
    assert all(counts["second"][what] == 0 for counts in found.values() for what in ("uploads", "downloads", "copies", "graphs"))
    assert all(counts["second"]["allocations"] <= 40 for counts in found.values()), found  # what the collector has not brought back yet
    for name, counts in found.items():
        launches, graphs, copies = (LAUNCHES[name], 0, 0) if "eager" in name else (0, 1, 2)
        assert counts["fifth"] == {"launches": launches, "graphs": graphs, "uploads": 0, "downloads": 0, "copies": copies, "allocations": counts["fifth"]["allocations"]}


@software
def test_errors_leave_the_process_usable(driver):
    out = run(
        """
import ctypes, os
x = torch.arange(6.).reshape(2, 3).cuda()
at = torch.tensor([0, 7]).cuda()
host = ctypes.CDLL(os.environ["GOJIT_CUDA_DRIVER"])
def launch_fails():
    host.host_fail_launch(1)
    return x + 1
for f in (lambda: x[:, at], lambda: torch.gather(x, 1, at.expand(2, 2)), lambda: torch.nn.functional.embedding(at, x), lambda: x.index_add(0, at, x),
          lambda: x @ torch.ones(3, 3), lambda: torch.empty(1 << 30, device="cuda"), lambda: torch.linalg.svd(x), launch_fails):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e).partition(".")[0][:90])
    assert (x + 1).sum().item() == 21
""",
        driver,
    )
    assert out.splitlines() == [
        "IndexError index 7 is out of bounds for dimension 1 with size 3",
        "RuntimeError index 7 is out of bounds for dimension 1 with size 3",
        "IndexError index out of range in self",
        "IndexError index out of range in self",
        "RuntimeError Expected all tensors to be on the same device, but found at least two devices, cuda:0 and ",
        "OutOfMemoryError CUDA out of memory",
        "NotImplementedError Could not run 'aten::linalg_svd' with arguments from the 'CUDA' backend: the operator has ",
        "RuntimeError CUDA error: unspecified launch failure (cuLaunchKernel)",
    ]


def test_streams_and_events(driver):
    out = run(
        """
first, last, other = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True), torch.cuda.Stream()
with torch.cuda.stream(other):
    assert torch.cuda.current_stream() == other
    first.record()
    x = torch.ones(3, device="cuda") + 1
    last.record()
torch.cuda.current_stream().wait_stream(other)
torch.cuda.current_stream().wait_event(last)
other.synchronize()
print(torch.cuda.current_stream() == torch.cuda.default_stream(), other.query(), last.query(), first.elapsed_time(last) >= 0, x.sum().item(), other.device)
try:
    torch.cuda.Event().elapsed_time(last)
except RuntimeError as e:
    print(e)
""",
        driver,
    )
    assert out.splitlines() == ["True True True True 6.0 cuda:0", "Both events must be created with argument 'enable_timing=True'."]


def test_random_numbers(driver):
    """The numbers that PyTorch draws on a GPU for so few of them, by the seed of torch.manual_seed or of torch.cuda.manual_seed."""
    out = run(
        """
for seed in torch.manual_seed, torch.cuda.manual_seed:
    seed(0)
    print(torch.rand(4, device="cuda"))
    seed(0)
    print(torch.randn(4, device="cuda"))
kept = torch.nn.functional.dropout(torch.ones(4000, device="cuda"), 0.25)
print(set(kept.tolist()) == {0.0, kept.max().item()}, 2850 < (kept > 0).sum().item() < 3150)
""",
        driver,
    )
    uniform, normal = "tensor([0.3990, 0.5167, 0.0249, 0.9401], device='cuda:0')", "tensor([-0.9247, -0.4253, -2.6438,  0.1452], device='cuda:0')"
    assert out.splitlines() == [uniform, normal, uniform, normal, "True True"]


def test_archives(driver):
    """Modules are loaded to where map_location says, or where they were."""
    out = run(
        """
import io
m = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()))
x = torch.ones(1, 3)
want, file, away = m(x), io.BytesIO(), io.BytesIO()
torch.jit.save(m, file)
torch.jit.save(m.to("cuda"), away)
for saved in file, away:
    for where in (None, "cpu", "cuda"):
        saved.seek(0)
        n = torch.jit.load(saved, map_location=where)
        device = next(n.parameters()).device
        print(device, torch.allclose(n(x.to(device)).cpu(), want))
""",
        driver,
    )
    assert out.splitlines() == ["cpu True", "cpu True", "cuda:0 True", "cuda:0 True", "cpu True", "cuda:0 True"]
