"""Tensors on CUDA devices, on the software device of gojit/internal/gpu/testdata: what a process without it sees, and what one with it does."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "gojit" / "internal" / "gpu" / "testdata"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The library of the software device."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("driver") / "libhost.so"
    header = f'-DHOST_HEADER="{SOURCE / "host.h"}"'
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", header, "-o", path, SOURCE / "host_driver.c", "-ldl"], check=True)
    return path


def python(arguments, driver):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GOJIT_CUDA_DRIVER": str(driver), "GOJIT_CHECK": ""}  # guarded blocks are of exact sizes
    if pathlib.Path(driver).exists():
        env["GOJIT_CUDA_CACHE"] = str(pathlib.Path(driver).parent / "compiled")  # shared by the tests
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(program, driver):
    return python(["-c", "import torchjit as torch\n" + program], driver)


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
    assert out.splitlines() == ["4096 4096", "0 4096 4096", "0 True", "CUDA out of memory. Tried to allocate 4.00 GiB "]


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


# How many operators of attack/samples.txt have no form for the device, and which modules of benchmarks/compiled.py meet one: fewer is better, and more a failure.
OPERATORS_WITHOUT_FORM = 66
MODULES_WITHOUT_FORM = {"RReLU", "FractionalMaxPool2d", "EmbeddingBag", "CTCLoss"}


def test_every_record(driver):
    """Every operator agrees with the processor, or refuses with the error that names it and the device."""
    found = json.loads(python([ROOT / "tests" / "cuda_records.py"], driver).splitlines()[-1])
    assert found["wrong"] == {}
    assert len(found["refused"]) == OPERATORS_WITHOUT_FORM, found["refused"]
    assert len(found["agree"]) > 500


def test_modules(driver):
    """Forward, backward and a step of an optimizer, eager and scripted."""
    found = json.loads(python([ROOT / "tests" / "cuda_modules.py"], driver).splitlines()[-1])
    assert found["wrong"] == {}
    assert {name.removesuffix(", scripted") for name in found["refused"]} == MODULES_WITHOUT_FORM
    assert len(found["agree"]) > 250
