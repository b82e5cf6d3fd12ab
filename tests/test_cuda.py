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
libraries = pytest.mark.parametrize("used", ["", "0"], ids=["libraries", "own kernels"])  # GOJIT_CUDA_LIBRARIES
software = pytest.mark.skipif(ON_GPU, reason="of the software device alone")
pytestmark = pytest.mark.skipif(bool(os.environ.get("GOJIT_CHECK")), reason="the programs of these tests run without GOJIT_CHECK, where other tests run with it")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The library of the software device, None for a GPU."""
    if ON_GPU:
        return None
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("driver") / "libhost.so"
    header = f'-DHOST_HEADER="{SOURCE / "host.h"}"'
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", header, "-o", path, *sorted(SOURCE.glob("host_*.c")), "-ldl", "-lm"], check=True)
    return path


def python(arguments, driver, **variables):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GOJIT_CHECK": "", **variables}  # guarded blocks are of exact sizes
    if driver:
        env["GOJIT_CUDA_DRIVER"] = str(driver)
    if driver and pathlib.Path(driver).exists() and "GOJIT_CUDA_CACHE" not in variables:
        env["GOJIT_CUDA_CACHE"] = str(pathlib.Path(driver).parent / "compiled")  # shared by the tests
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(program, driver, **variables):
    with tempfile.TemporaryDirectory() as folder:  # a file: functions are compiled from their source
        path = pathlib.Path(folder) / "program.py"
        path.write_text("import torchjit as torch\n" + program)
        return python([path], driver, **variables)


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
for f in (lambda: x + torch.ones(2, 3), lambda: x.to_sparse(), lambda: x.numpy(), lambda: torch.ones(1, device="cuda:3")):
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
        "NotImplementedError Could not run 'aten::to_sparse' with arguments fro",
        "TypeError can't convert cuda:0 device type tensor to numpy. ",
        "RuntimeError CUDA error: invalid device ordinal: there is no de",
        "tensor([2., 2., 2.], device='cuda:0')",
    ]


@software
def test_kernels_are_kept(driver, tmp_path):
    """A second process compiles nothing: kernels, reductions and routines are in the cache on disk."""
    counts = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        out = run(
            """
x = torch.arange(6.).reshape(2, 3).cuda()
f = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh()).cuda())
print((x + 1).sum().item(), f(x).shape, x.sort(1)[0].tolist(), torch.linalg.svdvals(x)[0].item() > 7)
""",
            driver,
            GOJIT_CUDA_CACHE=str(tmp_path / "kept"),
            HOST_TEXTS=str(folder),
        )
        assert out == "21.0 torch.Size([2, 2]) [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] True\n"
        counts.append(len(list(folder.iterdir())))
    assert counts[0] > 3 and counts[1] == 0, counts


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


def test_properties(driver):
    out = run(
        """
c = torch.cuda
p = c.get_device_properties(0)
major, minor = c.get_device_capability()
print(c.get_device_name() == c.get_device_name("cuda:0") == p.name != "", (p.major, p.minor) == (major, minor), p.total_memory == c.mem_get_info()[1], p.multi_processor_count > 0)
print(c.current_device(), c.device_count(), c.is_initialized())
with c.device(0):
    print(torch.ones(1, device="cuda").device)
""",
        driver,
    )
    assert out.splitlines() == ["True True True True", "0 1 True", "cuda:0"]


@pytest.mark.parametrize("on", ["0", "1"])
def test_operators_without_a_form(driver, on):
    """They run on the processor only if asked: with copies of what they take and give, in eager and in compiled code."""
    out = run(
        """
x = torch.ones(1000, device="cuda")
f = torch.jit.trace(lambda x: torch.quantize_per_tensor(x * 4, 0.5, 1, torch.quint8), torch.ones(3))
for quantize in (lambda: torch.quantize_per_tensor(x * 4, 0.5, 1, torch.quint8), lambda: f(x)):
    before = torch.cuda.memory_stats()["copies.device_to_host"]
    try:
        y = quantize()
        print(y.device, torch.cuda.memory_stats()["copies.device_to_host"] > before, set(y.int_repr().tolist()) == {9})
    except NotImplementedError as e:
        print("aten::quantize_per_tensor" in str(e), "cuda:0" in str(e), "GOJIT_CUDA_FALLBACK=1" in str(e))
""",
        driver,
        GOJIT_CUDA_FALLBACK=on,
    )
    assert out.splitlines() == (["cuda:0 True True"] * 2 if on == "1" else ["True True True"] * 2)


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
    for _ in range(3):  # the third tries whether one launch does it
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


# Archives whose operators PyTorch has no form of for CUDA either: dynamically quantized layers.
ARCHIVES_OF_THE_PROCESSOR = {"quant_dynamic_linear: entry 0, call 0": "quantized::linear_dynamic"}
# How many operators of attack/samples.txt have samples alone that the processor refuses: they are compared by those of test_samples or not at all.
OPERATORS_WITHOUT_CALLS = 53
ASK_FOR_THE_DEVICE = {"dtypes_dev: entry 2, call 0", "shapes: entry 3, call 0", "tc_props: entry 0, call 0", "prints: entry 1, call 0", "prints: entry 1, call 1"}


# Whose samples put several elements in one place, where any of them may stay.
PUT_IN_ONE_PLACE = {"aten::max_unpool2d", "aten::max_unpool3d", "aten::put", "aten::scatter.src", "aten::scatter_.src"}


@pytest.mark.parametrize("backwards", [False, pytest.param(True, marks=software)])
def test_every_record(driver, backwards, monkeypatch):
    """Every operator agrees with the processor, or refuses with the error that names it and the device; so it does where threads and blocks of kernels run
    from the last to the first, but for what any order may decide."""
    if backwards:
        monkeypatch.setenv("HOST_BACKWARDS", "1")
    found = json.loads(python([ROOT / "tests" / "cuda_records.py"], driver).splitlines()[-1])
    assert found["wrong"].keys() <= (PUT_IN_ONE_PLACE if ON_GPU or backwards else set()), found["wrong"]
    assert found["refused"] == []
    assert len(found["skipped"]) <= OPERATORS_WITHOUT_CALLS, found["skipped"]
    assert len(found["agree"]) > 650


@pytest.mark.parametrize("backwards", [False, pytest.param(True, marks=software)])
def test_samples(driver, backwards, monkeypatch):
    """The samples of torch.testing's tables, with gradients."""
    if backwards:
        monkeypatch.setenv("HOST_BACKWARDS", "1")
    found = json.loads(python([ROOT / "tests" / "cuda_samples.py"], driver).splitlines()[-1])
    assert found["wrong"] == {}
    assert found["refused"] == {}
    assert found["agree"] > 540


@pytest.mark.parametrize("backwards", [False, pytest.param(True, marks=software)])
def test_sizes(driver, backwards, monkeypatch):
    """Kernels that divide work by its size agree at all of them, whichever thread comes first."""
    if backwards:
        monkeypatch.setenv("HOST_BACKWARDS", "1")
    assert python([ROOT / "tests" / "cuda_sizes.py"], driver, GOJIT_CUDA_LIBRARIES="0").splitlines()[-1] == "agree"


def test_transforms_and_factors_of_libraries(driver):
    """What cuFFT and cuSOLVER compute agrees, and fails as on the processor."""
    assert python([ROOT / "tests" / "cuda_sizes.py", "transforms", "solvers", "decompositions"], driver).splitlines()[-1] == "agree"


@software
def test_ways_of_solvers(driver):
    """What cuSOLVER is asked for, without a wait where nobody asks what failed, and with another way where the first comes to no end; what it says of matrices is told."""
    out = run(
        """
import ctypes, os
host = ctypes.CDLL(os.environ["GOJIT_CUDA_DRIVER"])
linalg = torch.linalg
torch.manual_seed(0)
a = torch.randn(4, 4)
b, c = torch.randn(4, 2).cuda(), a.cuda()
stats = torch.cuda.memory_stats
linalg.inv_ex(c), linalg.det(c), linalg.cholesky_ex(c), linalg.solve_ex(c, b), linalg.qr(c)
print("waits", stats()["copies.device_to_host"])
for info in (0, 5, 3):
    host.host_next_info(info)
    try:
        u, s, vh = linalg.svd(c)
        print(host.host_last_work(), torch.allclose(((u * s) @ vh).cpu(), a, atol=1e-5))
    except RuntimeError as e:
        print(host.host_last_work(), e)
host.host_next_info(2)
try:
    linalg.eigh(c)
except RuntimeError as e:
    print(host.host_last_work(), e)
""",
        driver,
    )
    lines = out.splitlines()
    assert lines[:3] == ["waits 0", "9 True", "11 True"]
    assert lines[3].startswith("9 linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned")
    assert lines[4].startswith("7 linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned") and lines[4].endswith("(error code: 2).")


@software
def test_plans_of_transforms(driver):
    """The plans of cuFFT that are kept, as PyTorch tells of them; transforms in graphs; without libraries there are none."""
    program = """
cache = torch.backends.cuda.cufft_plan_cache
cache.clear()
print(cache.size, cache.max_size)
x = torch.arange(24.).reshape(3, 8).cuda()
want = torch.fft.fft(x)
torch.fft.irfft(torch.fft.rfft(x))
print(cache.size, cache[0].size, cache["cuda:0"].max_size)
cache[0].max_size = 1
print(cache.size)
torch.fft.fft(x)
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = torch.fft.fft(x)
cache.clear()
g.replay()
print(torch.equal(y, want), cache.size)
for f in (lambda: cache[3], lambda: setattr(cache, "max_size", -1)):
    try:
        f()
    except RuntimeError as e:
        print(e)
"""
    errors = ["cufft_plan_cache: expected 0 <= device index < 1, but got device with index 3", "cuFFT plan cache size must be non-negative, but got -1"]
    assert run(program, driver).splitlines() == ["0 4096", "3 3 4096", "1", "True 0", *errors]
    assert run(program, driver, GOJIT_CUDA_LIBRARIES="0").splitlines() == ["0 4096", "0 0 4096", "0", "True 0", *errors]


@libraries
def test_modules(driver, used):
    """Forward, backward and a step of an optimizer, eager and scripted."""
    found = json.loads(python([ROOT / "tests" / "cuda_modules.py"], driver, GOJIT_CUDA_LIBRARIES=used).splitlines()[-1])
    assert found["wrong"] == {}
    assert found["refused"] == {}
    assert len(found["agree"]) > 265


def test_programs(driver):
    """The calls of tests/programs, and of the archives that PyTorch saved, but for those whose programs mix in tensors that they make on the processor."""
    found = json.loads(python([ROOT / "tests" / "cuda_programs.py"], driver).splitlines()[-1])
    programs, archives = found["programs"], found["archives"]
    assert programs["wrong"].keys() <= ASK_FOR_THE_DEVICE, programs["wrong"]
    assert programs["refused"] == {}
    assert programs["agree"] > 500 and len(programs["mixed"]) < 25
    assert archives["wrong"] == {}
    assert archives["refused"] == ARCHIVES_OF_THE_PROCESSOR
    assert archives["agree"] > 35 and len(archives["mixed"]) < 5


# How many kernels a forward is: at most one for each convolution and product and, where it is compiled, one for each region of elementwise operators and each other
# operator between them. Of the frozen ResNet-18 those are 20 convolutions, a product, 17 regions and 2 poolings; of the transformer 12 products and 26 norms,
# softmaxes, sums, activations and changes of layout.
LAUNCHES = {
    "resnet18, eager": 68, "resnet18, scripted": 60, "resnet18, frozen": 40,
    "transformer, eager": 38, "transformer, scripted": 38, "transformer, frozen": 38,
}  # fmt: skip


@libraries
def test_counts(driver, used):
    """No more kernels, or calls of libraries, than these; nothing is copied, and nothing allocated once memory is there. What is compiled becomes one launch, between
    copies of its argument and of its result."""
    found = json.loads(python([ROOT / "tests" / "cuda_nets.py"], driver, GOJIT_CUDA_LIBRARIES=used).splitlines()[-1])
    if used == "0" or not ON_GPU:  # cuDNN itself chooses algorithms, and some add no bias
        assert {name: counts["second"]["launches"] for name, counts in found.items()} == LAUNCHES
    products, others = found["resnet18, frozen"]["kernels"]
    assert (products, others) == (21, 19) and LAUNCHES["resnet18, frozen"] <= products + others
    assert all(counts["second"][what] == 0 for counts in found.values() for what in ("uploads", "downloads", "copies", "graphs"))
    for name, counts in found.items():
        launches, graphs, copies = (counts["second"]["launches"], 0, 0) if "eager" in name else (0, 1, 2)
        assert counts["last"] == {"launches": launches, "graphs": graphs, "uploads": 0, "downloads": 0, "copies": copies, "allocations": 0}


@libraries
def test_convolutions(driver, used):
    """Values, gradients and how results lie are as on the processor: with groups, dilations and strides, transposed, channels last, of one to three dimensions."""
    out = run(
        """
import torchjit.nn.functional as F
torch.backends.cudnn.allow_tf32 = False
torch.manual_seed(1)
cases = [
    ("conv1d", (2, 4, 9), (6, 2, 3), dict(stride=2, padding=1, groups=2)),
    ("conv2d", (2, 4, 7, 6), (6, 4, 3, 2), dict(padding=(1, 0), dilation=(2, 1))),
    ("conv2d", (2, 4, 5, 5), (4, 1, 3, 3), dict(padding=1, groups=4)),
    ("conv2d", (1, 3, 4, 4), (5, 3, 1, 1), dict(stride=2)),
    ("conv3d", (1, 2, 4, 5, 4), (3, 2, 2, 3, 2), dict(stride=(1, 2, 1))),
    ("conv_transpose2d", (2, 4, 4, 3), (4, 3, 3, 2), dict(stride=2, padding=1, output_padding=1)),
    ("conv_transpose2d", (1, 2, 3, 3), (2, 2, 2, 2), dict(dilation=3, output_padding=2)),
    ("conv_transpose1d", (2, 4, 5), (4, 1, 3), dict(groups=4)),
]
for name, size, filters, options in cases:
    for dtype in torch.float32, torch.float64, torch.float16, torch.bfloat16:
        for last in (False, True):
            if last and len(size) != 4:
                continue
            x, w = torch.randn(size), torch.randn(filters) / 4
            b = torch.randn(filters[1] * options.get("groups", 1) if "transpose" in name else filters[0])
            results = []
            for device in "cpu", "cuda":
                leaves = [t.detach().to(device, dtype).requires_grad_() for t in (x, w, b)]
                given = leaves[0].contiguous(memory_format=torch.channels_last) if last else leaves[0]
                y = getattr(F, name)(given, *leaves[1:], **options)
                (y.float() * torch.arange(y.numel(), device=device).reshape(y.shape).sin()).sum().backward()
                results.append([y, *(t.grad for t in leaves)])
            for one, other in zip(*results):
                assert one.stride() == other.stride(), (name, size, dtype, last, one.stride(), other.stride())
                tolerance = {torch.float16: 0.02, torch.bfloat16: 0.15}.get(dtype, 1e-4)
                torch.testing.assert_close(other.cpu(), one, rtol=tolerance, atol=tolerance)
print("agree")
""",
        driver,
        GOJIT_CUDA_LIBRARIES=used,
    )
    assert out == "agree\n"


@libraries
def test_products(driver, used):
    """Products of all types, of matrices, vectors and batches, with what is added to them, agree with the processor."""
    out = run(
        """
torch.manual_seed(1)
for dtype in torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128, torch.int64:
    def make(*size):
        return torch.randint(-5, 5, size) if dtype == torch.int64 else torch.randn(size, dtype=dtype if dtype.is_complex else None).to(dtype)
    a, b, c, v, row, left, right = make(3, 4), make(4, 5), make(3, 5), make(4), make(5), make(2, 3, 4), make(2, 4, 5)
    calls = [
        (torch.mm, a, b), (torch.mm, b.t(), a.t()), (torch.mv, a, v), (torch.dot, v, v), (torch.vdot, v, a[0]), (torch.matmul, v, b), (torch.matmul, left, b), (torch.matmul, a, right), (torch.bmm, left, right),
        (torch.addmm, c, a, b), (torch.addmm, row, a, b), (torch.addmm, c[:, :1], a, b), (torch.baddbmm, c, left, right), (torch.mm, a[:, :0], b[:0]), (torch.mm, a[::2], b[:, ::2]),
        (torch.matmul, left.transpose(1, 2), left), (torch.einsum, "bij,bjk->ik", left, right), (torch.nn.functional.linear, left, b.t(), row),
    ]
    for f, *given in calls:
        want = f(*given)
        got = f(*(t.cuda() if isinstance(t, torch.Tensor) else t for t in given))
        assert got.device.type == "cuda" and got.dtype == want.dtype and got.stride() == want.stride(), (f, dtype)
        torch.testing.assert_close(got.cpu(), want, rtol=0.02, atol=0.1 if dtype == torch.bfloat16 else 0.02 if dtype == torch.float16 else 1e-4)
print("agree")
""",
        driver,
        GOJIT_CUDA_LIBRARIES=used,
    )
    assert out == "agree\n"


def test_gradients_go_back_to_their_device(driver):
    """A gradient is on the device of what it belongs to, where tensors were copied in between."""
    out = run(
        """
x, c = torch.arange(3.0, requires_grad=True), torch.arange(3.0, device="cuda", requires_grad=True)
@torch.jit.script
def scripted(x):
    return x.to("cuda")
for there in (lambda: x.cuda(), lambda: x.to("cuda", torch.float64), lambda: x.to("cuda").cpu().cuda(), lambda: torch.ones(3, device="cuda") * x[1], lambda: torch.zeros(3, device="cuda").copy_(x), lambda: scripted(x)):
    x.grad = None
    y = there()
    (y * y).sum().backward()
    print(y.device, x.grad)
(c.cpu() * 2).sum().backward()
print(c.grad, *torch.autograd.grad((x.cuda() ** 3).sum(), x, create_graph=True))
""",
        driver,
    )
    assert out.splitlines() == [
        "cuda:0 tensor([0., 2., 4.])", "cuda:0 tensor([0., 2., 4.])", "cuda:0 tensor([0., 2., 4.])", "cuda:0 tensor([0., 6., 0.])", "cuda:0 tensor([0., 2., 4.])", "cuda:0 tensor([0., 2., 4.])",
        "tensor([2., 2., 2.], device='cuda:0') tensor([ 0.,  3., 12.], grad_fn=<ToCopyBackward0>)",
    ]  # fmt: skip


@software
def test_libraries(driver):
    """What is used of CUDA's libraries is told, and settings choose how they compute."""
    program = """
import ctypes, os
host = ctypes.CDLL(os.environ["GOJIT_CUDA_DRIVER"])
print(torch.backends.cudnn.is_available(), torch.backends.cudnn.version())
from torchjit.utils import collect_env
told = collect_env.get_env_info()
print(told.is_cuda_available, told.nvidia_gpu_models, told.cudnn_version)
x, image, filters = torch.ones(2, 2, device="cuda"), torch.ones(1, 1, 4, 4, device="cuda"), torch.ones(1, 1, 2, 2, device="cuda")
print(torch.backends.cudnn.is_acceptable(x), torch.backends.cudnn.is_acceptable(x.long()), torch.backends.cudnn.is_acceptable(x.cpu()))
def used(call):
    before = host.host_products() + host.host_sums(), host.host_convolutions()
    call()
    return host.host_products() + host.host_sums() - before[0], host.host_convolutions() - before[1]
def product():
    used(lambda: x @ x)
    return host.host_last_compute()
def convolution():
    used(lambda: torch.conv2d(image, filters))
    return host.host_last_math()
print(used(lambda: x @ x), used(lambda: torch.conv2d(image, filters)), used(lambda: x.long() @ x.long()))
with torch.backends.cudnn.flags(enabled=False):
    print(used(lambda: torch.conv2d(image, filters)))
if torch.backends.cudnn.is_available():
    print(product(), torch.backends.cuda.matmul.allow_tf32)
    torch.backends.cuda.matmul.allow_tf32 = True
    print(product(), torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision("highest")
    print(product(), torch.backends.cuda.matmul.allow_tf32)
    print(convolution())
    torch.backends.cudnn.allow_tf32 = False
    print(convolution())
    image.requires_grad_()
    for on in (False, True):
        torch.use_deterministic_algorithms(on)
        torch.conv2d(image, filters).sum().backward()
        print(host.host_last_algorithm())
"""
    assert run(program, driver).splitlines() == [
        "True 92801", "True GPU 0: software device 92801", "True False False", "(1, 0) (0, 1) (0, 0)", "(0, 0)",
        "68 False", "77 high", "68 False", "0", "3", "1", "0",
    ]  # fmt: skip
    assert run(program, driver, GOJIT_CUDA_LIBRARIES="0").splitlines() == ["False None", "True GPU 0: software device None", "False False False", "(0, 0) (0, 0) (0, 0)", "(0, 0)"]


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
          lambda: x @ torch.ones(3, 3), lambda: torch.empty(1 << 30, device="cuda"), lambda: x.to_sparse(), lambda: torch.zeros(2, 2, layout=torch.sparse_coo, device="cuda"), launch_fails):
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
        "NotImplementedError Could not run 'aten::to_sparse' with arguments from the 'CUDA' backend: the operator has n",
        "NotImplementedError sparse tensors on the device cuda are not implemented",
        "RuntimeError CUDA error: unspecified launch failure (cuLaunchKernel)",
    ]


def test_streams_and_events(driver):
    out = run(
        """
import threading
first, last, other = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True), torch.cuda.Stream()
with torch.cuda.stream(other):
    assert torch.cuda.current_stream() == other != torch.cuda.default_stream()
    seen = []
    for _ in range(8):  # a thread may begin as what one was that has ended
        thread = threading.Thread(target=lambda: (seen.append(torch.cuda.current_stream()), torch.cuda.set_stream(other)))
        thread.start()
        thread.join()
    first.record()
    x = torch.ones(3, device="cuda") + 1
    last.record()
torch.cuda.current_stream().wait_stream(other)
torch.cuda.current_stream().wait_event(last)
other.synchronize()
print(torch.cuda.current_stream() == torch.cuda.default_stream(), other.query(), last.query(), first.elapsed_time(last) >= 0, x.sum().item(), other.device)
print(set(seen) == {torch.cuda.default_stream()}, len({torch.cuda.Stream() for _ in range(40)}))
low, high = torch.cuda.Stream.priority_range()
print(torch.cuda.Stream(priority=high).priority == high < low == 0 == other.priority, torch.cuda.ExternalStream(other.cuda_stream) == other)
x.record_stream(torch.cuda.default_stream())
try:
    torch.cuda.Event().elapsed_time(last)
except RuntimeError as e:
    print(e)
""",
        driver,
    )
    assert out.splitlines() == ["True True True True 6.0 cuda:0", "True 32", "True True", "Both events must be created with argument 'enable_timing=True'."]


def test_pinned_memory(driver):
    out = run(
        """
x = torch.arange(6.).reshape(2, 3).pin_memory()
print(x.is_pinned(), x[0].is_pinned(), torch.ones(3).is_pinned(), x.pin_memory() is x, x.t().contiguous().t().pin_memory().stride())
y = x.to("cuda", non_blocking=True)
z, w = y.to("cpu", non_blocking=True), torch.empty(2, 3, pin_memory=True)
w.copy_(y, non_blocking=True)
torch.cuda.synchronize()
print(torch.equal(z, x), torch.equal(w, x), z.is_pinned(), y.is_pinned(), y.to("cpu").is_pinned(), y.to("cpu", torch.float64, non_blocking=True).sum().item())
print([t.is_pinned() for t in (torch.zeros(3, pin_memory=True), torch.rand(3, pin_memory=True), torch.arange(3, pin_memory=True), torch.tensor([1, 2], pin_memory=True),
                               torch.ones_like(x, pin_memory=True), torch.full((2,), 1.0, pin_memory=True), x.new_empty(3, pin_memory=True))])
y.copy_(torch.ones(2, 3, dtype=torch.float64).pin_memory(), non_blocking=True)
print(y.sum().item(), y.to("cuda", torch.float64, non_blocking=True).dtype)
for f in (lambda: y.pin_memory(), lambda: torch.empty(3, device="cuda", pin_memory=True), lambda: x.pin_memory("cpu")):
    try:
        f()
    except RuntimeError as e:
        print(e)
data = torch.utils.data.TensorDataset(torch.arange(8.), torch.arange(8))
for workers in (0, 2):
    print([(a.is_pinned(), b.is_pinned(), a.tolist()) for a, b in torch.utils.data.DataLoader(data, 4, pin_memory=True, num_workers=workers)])
""",
        driver,
    )
    batches = "[(True, True, [0.0, 1.0, 2.0, 3.0]), (True, True, [4.0, 5.0, 6.0, 7.0])]"
    assert out.splitlines() == [
        "True True False True (1, 2)",
        "True True True False False 15.0",
        str([True] * 7),
        "6.0 torch.float64",
        "cannot pin a tensor on the device cuda:0: only dense CPU tensors can be pinned",
        "Only dense CPU tensors can be pinned, not one on the device cuda",
        "memory is pinned for CUDA devices, not for cpu",
        batches,
        batches,
    ]


def test_graphs(driver):
    """Captured work reads and writes what it was captured with, on streams that join the capture too."""
    out = run(
        """
x = torch.arange(6.).reshape(2, 3).cuda()
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = (x * 2).relu()
    z = y.sum()
print(torch.cuda.is_current_stream_capturing())
g.replay()
print(z.item(), y.tolist())
x.fill_(1)
g.replay()
print(z.item())
pool, first, second = torch.cuda.graph_pool_handle(), torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
s, t = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()
with torch.cuda.stream(s):
    first.capture_begin(pool=pool)
    u = x + 1
    print(torch.cuda.is_current_stream_capturing(), first.pool() is pool)
    t.wait_stream(s)
    with torch.cuda.stream(t):
        v = u * 10
    s.wait_stream(t)
    w = u + v
    first.capture_end()
with torch.cuda.graph(second, pool=first.pool(), stream=s):
    r = w * 2
first.replay()
second.replay()
print(r.tolist())
first.reset()
for f in (first.replay, second.capture_end, lambda: torch.cuda.CUDAGraph().capture_begin(), lambda: second.debug_dump("x"), lambda: second.capture_begin(capture_error_mode="none")):
    try:
        f()
    except (RuntimeError, NotImplementedError) as e:
        print(e)
host = torch.zeros(2, 3).pin_memory()
with torch.cuda.graph(torch.cuda.CUDAGraph()) as nothing:
    pass
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    x.copy_(host, non_blocking=True)
    q = x + 1
host.fill_(4)
g.replay()
print(q.sum().item())
""",
        driver,
    )
    assert out.splitlines() == [
        "False",
        "30.0 [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]",
        "12.0",
        "True True",
        "[[44.0, 44.0, 44.0], [44.0, 44.0, 44.0]]",
        "Called CUDAGraph::replay without a preceding successful capture.",
        "a capture was ended that had not begun: capture_begin() comes first",
        "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the default stream.)",
        "torch.cuda.CUDAGraph.debug_dump is not implemented: graphs are not written down",
        "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got none",
        "30.0",
    ]


def test_what_graphs_refuse(driver):
    """The capture ends with an error that says what was asked for, and the process goes on."""
    out = run(
        """
x, at, n = torch.arange(6.).reshape(2, 3).cuda(), torch.tensor([0, 1]).cuda(), torch.arange(1, 3).cuda()
torch.cuda.synchronize()
other = torch.cuda.CUDAGraph()
with torch.cuda.graph(other):
    x + 1
s = torch.cuda.Stream()
for f in (lambda: x.sum().item(), lambda: torch.cuda.synchronize(), lambda: s.synchronize(), lambda: s.query(), lambda: x[:, at],
          lambda: torch.ones(3).cuda(), lambda: x.nonzero(), lambda: n // n, lambda: other.replay(), lambda: s.record_event().synchronize(),
          lambda: torch.cuda.manual_seed(1), lambda: torch.cuda.get_rng_state(), lambda: (torch.manual_seed(1), torch.rand(3, device="cuda"))):
    g = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(g, stream=s):
            y = x + 1
            f()
    except RuntimeError as e:
        print(e)
    assert not torch.cuda.is_current_stream_capturing() and (x + 1).sum().item() == 21
g = torch.cuda.CUDAGraph()
with torch.cuda.stream(s):
    g.capture_begin()
    try:
        x.tolist()
    except RuntimeError as e:
        pass
    try:
        g.capture_end()
    except RuntimeError as e:
        print(e)
g.reset()
with torch.cuda.graph(g):
    y = x + 1
g.replay()
print(y.sum().item())
""",
        driver,
    )
    refused = "CUDA error: operation not permitted when stream is capturing: "
    assert out.splitlines() == [
        refused + "elements are copied to the processor",
        refused + "a device is synchronized",
        refused + "a stream is synchronized",
        refused + "a stream is queried",
        refused + "what indices are is looked at (by 'aten::index.Tensor')",
        refused + "elements are copied from memory of the processor that is not pinned (by 'aten::to.device')",
        refused + "elements are copied to the processor (by 'aten::nonzero')",
        refused + "a division of integers looks for zeros (by 'aten::floor_divide')",
        refused + "a graph is launched",
        "CUDA error: operation not permitted on an event last recorded in a capturing stream: an event is waited for or queried",
        refused + "the state of random numbers is set, which is that of each replay",
        refused + "the state of random numbers is asked for, which is that of each replay",
        refused + "the seed of random numbers is set, which are drawn from where each replay begins",
        "CUDA error: operation failed due to a previous error during capture: " + refused + "elements are copied to the processor",
        "21.0",
    ]


def test_graphed_callables(driver):
    """A module that was made graphs trains as one that was not."""
    out = run(
        """
from torchjit import nn
torch.manual_seed(0)
m, n = (nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda() for _ in range(2))
n.load_state_dict(m.state_dict())
g = torch.cuda.make_graphed_callables(n, (torch.randn(3, 4).cuda(),))
before = torch.cuda.memory_stats()["graph_launches"]
for _ in range(3):
    x = torch.randn(3, 4).cuda()
    for q in (m, g):
        q.zero_grad()
        q(x).square().sum().backward()
        with torch.no_grad():
            for p in q.parameters():
                p -= 0.1 * p.grad
print(g is n, all(torch.allclose(a, b) for a, b in zip(m.parameters(), n.parameters())), torch.cuda.memory_stats()["graph_launches"] - before)
n.eval()
print(torch.allclose(n(x), m(x)), torch.cuda.memory_stats()["graph_launches"] - before)
f, h = torch.cuda.make_graphed_callables((lambda x: x * 2 + 1, lambda x, y: (x.relu() * y, y + 1)), ((x.clone(),), (x.clone().requires_grad_(), x.clone())))
z = torch.randn(3, 4).cuda().requires_grad_()
a, b = h(z, x)
a.sum().backward()
print(torch.equal(f(x), x * 2 + 1), torch.equal(a, z.relu() * x), torch.equal(b, x + 1), torch.equal(z.grad, (z > 0) * x))
try:
    torch.cuda.make_graphed_callables(lambda x: x, (1,))
except TypeError as e:
    print(e)
""",
        driver,
    )
    assert out.splitlines() == ["True True 6", "True 6", "True True True True", "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."]


# What the programs of the tests of replays begin with.
REPLAYS = """
import threading
from torchjit import nn

def graphs():
    return torch.cuda.memory_stats()["graph_launches"]

def calls(f, *args, n=5):
    "The results of some calls, and how many of them were one launch."
    before = graphs()
    results = [f(*args) for _ in range(n)]
    return results, graphs() - before

@torch.jit.script
def chain(x, w, k: int):
    for _ in range(k):
        x = torch.softmax((x @ w).relu(), -1)
    return x, x.sum()

torch.manual_seed(0)
x, w = torch.randn(4, 4), torch.randn(4, 4)
a, b = x.cuda(), w.cuda()

def close(p, q):
    return all(torch.allclose(s.cpu(), t.cpu(), atol=1e-6) for s, t in zip(p, q))
"""


def test_replays(driver):
    """Calls of one kind are one launch from the third on, with the results that any call gives: tensors of their own."""
    out = run(
        REPLAYS
        + """
results, n = calls(chain, a, b, 6)
print(n, all(close(r, chain(x, w, 6)) for r in results))
results[3][0].fill_(7)
print(results[4][0].max().item() <= 1, chain(a, b, 6)[0].max().item() <= 1)
print(calls(chain, a, b, 7)[1], close(chain(a, b, 7), chain(x, w, 7)))
y = torch.randn(4, 4)
print(close(chain(y.cuda(), b, 6), chain(y, w, 6)), calls(chain, a.t(), b, 6)[1], close(chain(a.t(), b, 6), chain(x.t(), w, 6)))
b.requires_grad_()
results, n = calls(chain, a, b, 6)
results[-1][1].backward()
print(n, b.grad is not None)
b.requires_grad_(False)
with torch.inference_mode():
    results, n = calls(chain, a, b, 6)
    print(n, all(t.is_inference() for r in results for t in r))
s = torch.cuda.Stream()
with torch.cuda.stream(s):
    s.wait_stream(torch.cuda.default_stream())
    results, n = calls(chain, a, b, 6)
    print(n, close(results[-1], chain(x, w, 6)))
torch.cuda.synchronize()
wrong = []
def work(i):
    q = torch.full((4, 4), float(i))
    want = chain(q, w, 6)
    for _ in range(20):
        if not close(chain(q.cuda(), b, 6), want):
            wrong.append(i)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(wrong)
""",
        driver,
    )
    assert out.splitlines() == ["3 True", "True True", "3 True", "True 3 True", "0 True", "3 True", "3 True", "[]"]


def test_replays_of_modules(driver):
    """Parameters are read where they are: what is written there counts, and others end what was captured."""
    out = run(
        REPLAYS
        + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(4, 4) for _ in range(6)])
        self.norm = nn.BatchNorm1d(4)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.norm(x)

m = Net().eval()
with torch.no_grad():
    s = torch.jit.script(m)
    want = s(x)
    s.cuda(), m.cuda()
    results, n = calls(s, a)
    print(n, close(results[-1:], [want]))
    s.layers[0].weight.mul_(2)
    print(close([s(a)], [m(a)]), calls(s, a)[1])
    s.layers[0].weight.data = torch.randn(4, 4).cuda()
    results, n = calls(s, a)
    print(n, close([results[0], results[-1]], [m(a), m(a)]))
    s.train()
    print(calls(s, a)[1], s.norm.num_batches_tracked.item())
    s.eval()
    print(calls(s, a)[1], close([s(a)], [m(a)]))
    torch.backends.cuda.matmul.allow_tf32 = True  # other settings are another kind of calls
    print(calls(s, a)[1])
    torch.backends.cuda.matmul.allow_tf32 = False
    print(calls(s, a)[1])
""",
        driver,
    )
    assert out.splitlines() == ["3 True", "True 5", "3 True", "0 5", "5 True", "3", "5"]


def test_what_is_not_replayed(driver):
    """What a graph cannot hold runs as before, and torch.jit.explain tells why."""
    out = run(
        REPLAYS
        + """
import warnings

def steps(x):
    for _ in range(8):
        x = torch.softmax(x, -1)
    return x

@torch.jit.script
def views(x):
    y = steps(x)
    return y, y.t()

@torch.jit.script
def reads(x):
    y = steps(x)
    if bool(y.sum() > 0):
        y = y + 1
    return y

@torch.jit.script
def writes(x):
    y = steps(x)
    x.add_(1)
    return y

@torch.jit.script
def draws(x):
    return steps(x) * float(torch.rand((), device="cpu"))

@torch.jit.script
def warns(x):
    warnings.warn("steps")
    return steps(x)

@torch.jit.script
def short(x):
    return x.sum() + 1

for f in (views, reads, writes, draws, short):
    z = a.clone()
    print(f.name, calls(f, z)[1], (z - a).sum().item())
    print(str(torch.jit.explain(f)).strip().splitlines()[-1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(calls(warns, a)[1], len(caught))
with torch.cuda.graph(torch.cuda.CUDAGraph()):
    print(calls(chain, a, b, 2)[1])
""",
        driver,
    )
    kind = "calls with float32 (4, 4) are not one launch: "
    refused = "CUDA error: operation not permitted when stream is capturing: "
    lines = out.splitlines()
    assert lines == [
        "views 0 0.0",
        kind + "a result shares its memory with an argument, an attribute, a constant or another result",
        "reads 0 0.0",
        kind + refused + "elements are copied to the processor (by 'aten::Bool.Tensor')",
        "writes 0 80.0",
        kind + "an argument, an attribute or a constant is written",
        "draws 0 0.0",
        kind + "random numbers are drawn on the processor",
        "short 0 0.0",
        kind + lines[9].removeprefix(kind),
        "0 5",
        "0",
    ]
    assert lines[9].endswith("and its tensors would be 2 copies")


@software
def test_arenas_of_replays(driver):
    """What compiled code makes on the way lies in one arena, in which what is not needed at the same time shares its place, as other functions share the arena."""
    out = run(
        REPLAYS
        + """
@torch.jit.script
def long(x):
    for _ in range(8):
        x = torch.softmax(x, -1)
    return x

@torch.jit.script
def two(x):
    y = torch.softmax(x, -1)
    for _ in range(8):
        y = torch.softmax(y, -1) + x
    return y.sum(-1), y[0] * 2

x = torch.randn(256, 1024).cuda()
want, sums = long(x), two(x)
for _ in range(4):
    assert torch.equal(long(x), want) and all(map(torch.equal, two(x), sums))
print(graphs())
for f in long, two:
    print(str(torch.jit.explain(f)).strip().splitlines()[-1])
""",
        driver,
    )
    kind = "calls with float32 (256, 1024) are one launch of "
    assert out.splitlines() == ["6", kind + "8 kernels, arena of 2097152 bytes", kind + "19 kernels, arena of 2097152 bytes"]


@software
def test_replays_give_memory_up(driver):
    """Where the device has no memory left, what was captured goes, and calls run as before."""
    out = run(
        REPLAYS
        + """
import ctypes, os
host = ctypes.CDLL(os.environ["GOJIT_CUDA_DRIVER"])

@torch.jit.script
def wide(x):
    for _ in range(8):
        x = torch.softmax(x, -1)
    return x.sum()

x = torch.randn(1000, 1000).cuda()
want = wide(x).item()
print(calls(wide, x)[1])
torch.cuda.synchronize()
host.host_set_limit(ctypes.c_longlong(host.host_allocated() + (5 << 20)))
y = torch.empty(6 << 20, dtype=torch.uint8, device="cuda")
host.host_set_limit(ctypes.c_longlong(1 << 30))
results, n = calls(wide, x)
print(n, all(r.item() == want for r in results))
print(str(torch.jit.explain(wide)).strip().splitlines()[-1])
""",
        driver,
    )
    assert out.splitlines() == ["4", "0 True", "calls with float32 (1000, 1000) are not one launch: the device has no memory left for it"]


def test_replays_switched_off(driver):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.py"
        path.write_text("import torchjit as torch\n" + REPLAYS + "print(calls(chain, a, b, 6)[1])\n")
        assert python([path], driver, GOJIT_CUDA_GRAPHS="0") == "0\n"


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


def test_distributions(driver):
    """Numbers of further distributions are made of those that rand and randn draw, on the device and from its stream; doubles have all their bits."""
    out = run(
        """
import math
n = 4000
def of(f, dtype=torch.float32):
    torch.cuda.manual_seed(2)
    return f(torch.empty(n, dtype=dtype, device="cuda")).double().cpu()
for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-12)):
    u, z = of(lambda x: x.uniform_(), dtype), of(lambda x: x.normal_(), dtype)
    close = lambda a, b: torch.allclose(a, b, rtol=tolerance, atol=tolerance)
    print(close(of(lambda x: x.exponential_(2.0), dtype), -u.log() / 2), close(of(lambda x: x.log_normal_(1.0, 0.5), dtype), (z / 2 + 1).exp()),
          ((of(lambda x: x.cauchy_(1.0, 2.0), dtype) - 1).div(2).atan() / math.pi + 0.5 - u).abs().max().item() < 1e-5, (u * 2**33 % 1 != 0).any().item() == (dtype == torch.float64), abs(u.mean().item() - 0.5) < 0.02,
          abs(z.mean().item()) < 0.05, abs(z.std().item() - 1) < 0.05)
print(torch.equal(of(lambda x: x.geometric_(0.25)), (of(lambda x: x.uniform_()).log() / math.log1p(-0.25)).ceil()))
before = torch.cuda.memory_stats()["copies.host_to_device"]
for draw in (lambda: torch.randint(-3, 5, (n,), device="cuda"), lambda: torch.randint(1 << 40, (n,), device="cuda"), lambda: torch.empty(n, dtype=torch.int64, device="cuda").random_(),
             lambda: torch.empty(n, dtype=torch.uint8, device="cuda").random_(), lambda: torch.randint_like(torch.zeros(n, device="cuda"), 2, 4), lambda: torch.nn.functional.gumbel_softmax(torch.zeros(n, 2, device="cuda"))):
    torch.cuda.manual_seed(4)
    a, b = draw(), draw()
    torch.cuda.manual_seed(4)
    print(a.dtype, torch.equal(a, draw()), torch.equal(a, b))
    if a.dim() == 1:
        low, high = a.double().aminmax()
        print("    ", [f"{x:.1e}" if x > 1000 else x for x in (low.item(), high.item())], round(math.log2(a.double().mean().item() + 4)))
print(torch.cuda.memory_stats()["copies.host_to_device"] - before)
""",
        driver,
    )
    drawn = [
        "torch.int64 True False", "     [-3.0, 4.0] 2", "torch.int64 True False", "     ['2.7e+08', '1.1e+12'] 39", "torch.int64 True False", "     ['2.5e+15', '9.2e+18'] 62",
        "torch.uint8 True False", "     [0.0, 255.0] 7", "torch.float32 True False", "     [2.0, 3.0] 3", "torch.float32 True False",
    ]  # fmt: skip
    assert out.splitlines() == ["True " * 6 + "True", "True " * 6 + "True", "True", *drawn, "0"]


def test_numbers_with_parameters(driver):
    """Numbers whose distribution has tensors of parameters are drawn on the device: by its seed, with the moments that they must have, and anew at each replay of a graph."""
    out = run(
        """
n = 40000
def check(f, mean, variance):
    torch.cuda.manual_seed(5)
    before = torch.cuda.memory_stats()["copies.host_to_device"]
    a, b = f(), f()
    torch.cuda.manual_seed(5)
    again = f()
    copies = torch.cuda.memory_stats()["copies.host_to_device"] - before
    same, other, a = torch.equal(a, again), torch.equal(a, b), a.double().cpu()
    within = abs(a.mean().item() - mean) < 4.5 * (variance / n) ** 0.5 and abs(a.var().item() / variance - 1) < 0.06
    assert (a.min() >= 0, same, other, within) == (True, True, False, True) and copies == 0, (mean, a.mean(), variance, a.var(), same, other, copies)
full = lambda v, d=torch.float32: torch.full((n,), v, dtype=d, device="cuda")
for rate in (0.5, 9.0, 15.0, 400.0):
    for d in (torch.float32, torch.float64, torch.float16):
        check(lambda: torch.poisson(full(rate, d)), rate, rate)
for count, p in ((10.0, 0.3), (10.0, 0.8), (100.0, 0.3), (1000.0, 0.9)):
    check(lambda: torch.binomial(full(count), torch.full((1,), p, device="cuda")), count * p, count * p * (1 - p))
for shape in (0.9, 1.0, 5.0, 100.0):
    check(lambda: torch._standard_gamma(full(shape)), shape, shape)
parts = torch._sample_dirichlet(torch.tensor([[0.5, 1.0, 2.0]], device="cuda").expand(n, 3)).cpu()
print((parts.mean(0) - torch.tensor([1, 2, 4]) / 7).abs().max().item() < 0.006, (parts.sum(1) - 1).abs().max().item() < 1e-6)
shape, x = torch.tensor([0.2, 1.0, 3.0, 9.0]), torch.tensor([0.3, 4.0, 2.0, 9.5])
there = shape.cuda().requires_grad_()
torch._standard_gamma(there).sum().backward()
print(torch.allclose(torch._standard_gamma_grad(shape.cuda(), x.cuda()).cpu(), torch._standard_gamma_grad(shape, x)), there.grad.device, torch.poisson(full(1.0)[:0]).shape)
print(torch.poisson(torch.tensor([0.0, -1.0], device="cuda")).tolist(), torch.binomial(full(3.0)[:2], torch.tensor([0.0, 1.0], device="cuda")).tolist())
g = torch.cuda.CUDAGraph()
rates = full(20.0)
with torch.cuda.graph(g):
    y = torch.poisson(rates)
g.replay()
first = y.tolist()
g.replay()
print(first != y.tolist())
try:
    torch.binomial(full(3.0), torch.tensor([0.5]))
except RuntimeError as e:
    print(e)
""",
        driver,
    )
    assert out.splitlines() == [
        "True True", "True cuda:0 torch.Size([0])", "[0.0, nan] [0.0, 3.0]", "True", "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ]  # fmt: skip


def test_classes_of_distributions(driver):
    """All of torch.distributions on the device of their parameters: samples are there, functions of them agree with the processor, gradients flow."""
    out = run(
        """
def t(*v):
    return torch.tensor(v)
two = torch.eye(2)
cases = dict(
    Gamma=(t(1.0, 2.0), t(2.0, 1.0)), Beta=(t(1.0), t(2.0)), Dirichlet=(t(1.0, 2.0),), Poisson=(t(3.0),), StudentT=(t(3.0),), Binomial=(10, t(0.5)), NegativeBinomial=(t(10.0), t(0.5)),
    Chi2=(t(3.0),), FisherSnedecor=(t(3.0), t(3.0)), VonMises=(t(3.0), t(3.0)), Gumbel=(t(3.0), t(3.0)), Multinomial=(4, t(0.5, 0.5)), Categorical=(t(0.5, 0.5),), Bernoulli=(t(0.3),), Cauchy=(t(0.0), t(1.0)),
    ContinuousBernoulli=(t(0.3),), Exponential=(t(2.0),), Geometric=(t(0.3),), HalfCauchy=(t(1.0),), HalfNormal=(t(1.0),), Kumaraswamy=(t(1.0), t(2.0)), Laplace=(t(0.0), t(1.0)), LKJCholesky=(3, t(1.0)),
    LogNormal=(t(0.0), t(1.0)), LogisticNormal=(t(0.0, 1.0), t(1.0, 1.0)), LowRankMultivariateNormal=(t(0.0, 0.0), torch.ones(2, 1), t(1.0, 1.0)), MultivariateNormal=(t(0.0, 0.0), two), Normal=(t(0.0), t(1.0)),
    OneHotCategorical=(t(0.5, 0.5),), Pareto=(t(1.0), t(1.0)), RelaxedBernoulli=(t(1.0), t(0.3)), RelaxedOneHotCategorical=(t(1.0), t(0.5, 0.5)), Uniform=(t(0.0), t(1.0)), Weibull=(t(1.0), t(1.0)),
    Wishart=(t(3.0), two),
)
there = lambda x: x.cuda() if isinstance(x, torch.Tensor) else x
functions = dict(
    sample=lambda d, x: d.sample(), rsample=lambda d, x: d.rsample(), log_prob=lambda d, x: d.log_prob(x), cdf=lambda d, x: d.cdf(x), entropy=lambda d, x: d.entropy(), mean=lambda d, x: d.mean,
    variance=lambda d, x: d.variance, mode=lambda d, x: d.mode, enumerate_support=lambda d, x: d.enumerate_support(), expand=lambda d, x: d.expand((2, *d.batch_shape)).sample(),
)
compared = 0
for name, parameters in cases.items():
    made = getattr(torch.distributions, name)
    here, far = made(*parameters), made(*map(there, parameters))
    x = here.sample()
    for what, f in functions.items():
        try:
            want = f(here, x)
        except (NotImplementedError, AttributeError):
            continue
        got = f(far, there(x))
        assert (got.device.type, got.shape, got.dtype) == ("cuda", want.shape, want.dtype), (name, what, got)
        assert what in ("sample", "rsample", "expand") or torch.allclose(got.cpu(), want, 1e-4, 1e-5, equal_nan=True), (name, what, got, want)
        compared += 1
    if made.has_rsample:
        leaves = [there(p).requires_grad_() if isinstance(p, torch.Tensor) else p for p in parameters]
        made(*leaves).rsample().sum().backward()
print(compared)
""",
        driver,
    )
    assert int(out) > 230


def test_permutations(driver):
    """Permutations are drawn on the device, each as often as the others, by its seed and anew at each replay of a graph."""
    out = run(
        """
torch.randperm(3, device="cuda")
before = torch.cuda.memory_stats()["copies.host_to_device"]
torch.cuda.manual_seed(1)
p, q = torch.randperm(5000, device="cuda"), torch.randperm(5000, device="cuda", dtype=torch.int32)
torch.cuda.manual_seed(1)
print(p.device, q.dtype, torch.equal(p, torch.randperm(5000, device="cuda")), torch.equal(p, q.long()), torch.cuda.memory_stats()["copies.host_to_device"] - before)
print(torch.equal(p.sort()[0].cpu(), torch.arange(5000)), torch.randperm(0, device="cuda").shape, torch.randperm(1, device="cuda").tolist())
counts = torch.zeros(27)
for _ in range(600):
    counts[int((torch.randperm(3, device="cuda").cpu() * torch.tensor([9, 3, 1])).sum())] += 1
found = counts[counts > 0]
print(len(found), ((found - 100) ** 2 / 100).sum().item() < 25)  # chi-square with five degrees of freedom: one of 7000 is above it
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = torch.randperm(50, device="cuda")
g.replay()
first = y.tolist()
g.replay()
print(first != y.tolist(), sorted(first) == sorted(y.tolist()) == list(range(50)))
""",
        driver,
    )
    assert out.splitlines() == ["cuda:0 torch.int32 True False 0", "True torch.Size([0]) [0]", "6 True", "True True"]


def test_random_numbers_of_graphs(driver):
    """A graph draws at each replay what its calls would have drawn, and what is drawn behind it goes on from there; so does compiled code that is one launch."""
    out = run(
        REPLAYS
        + """
s, x, y, train = torch.cuda.Stream(), torch.ones(5000, device="cuda"), torch.empty(6000, device="cuda"), nn.Dropout(0.5)

def draws():
    y[:5000] = train(x) + torch.rand_like(x)
    y[5000:] = torch.randn(1000, device="cuda")

def sequence(step):
    torch.cuda.manual_seed(5)
    results = []
    for _ in range(4):
        step()
        results += [y.clone(), torch.rand(3, device="cuda")]
    return results, torch.cuda.get_rng_state().tolist()

def same(a, b):
    return all(map(torch.equal, a[0], b[0])) and a[1] == b[1]

want = sequence(draws)
g, h = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
before = torch.cuda.get_rng_state()
for graph in g, h:
    with torch.cuda.graph(graph, stream=s):
        draws()
print(torch.equal(before, torch.cuda.get_rng_state()), same(sequence(g.replay), want), torch.equal(want[0][0], want[0][2]))
turns = [g, h] * 2
print(same(sequence(lambda: turns.pop().replay()), want))
torch.manual_seed(5)  # the device's stream begins with the processor's
g.replay()
print(torch.equal(y, want[0][0]))
g.reset()

def replay_there():
    with torch.cuda.stream(s):
        h.replay()
    h.replay()  # behind the other
    s.synchronize()
torch.cuda.manual_seed(5)
replay_there()
for _ in range(2):
    torch.rand(3, device="cuda")
draws()
third = y.clone()
torch.cuda.manual_seed(5)
for _ in range(2):
    h.replay(), torch.rand(3, device="cuda")
h.replay()
print(torch.equal(y, third))

@torch.jit.script
def drops(x, train: bool):
    for _ in range(8):
        x = torch.softmax(x, -1) + torch.rand_like(x)
    return torch.dropout(x, 0.5, train)

def drawn():
    torch.cuda.manual_seed(3)
    return [drops(a, True) for _ in range(5)]

once, n = drawn(), graphs()
again = drawn()
print(all(map(torch.equal, once, again)), graphs() - n, torch.equal(again[0], again[1]))
""",
        driver,
    )
    assert out.splitlines() == ["True True False", "True", "True", "True", "True 5 False"]


def test_states_of_random_numbers(driver):
    out = run(
        """
torch.manual_seed(3)
torch.rand(5, device="cuda")
s = torch.cuda.get_rng_state()
print(s.dtype, s.tolist(), torch.cuda.initial_seed())
a = torch.rand(5, device="cuda")
torch.cuda.set_rng_state(s)
print(torch.equal(a, torch.rand(5, device="cuda")))
all = torch.cuda.get_rng_state_all()
b = torch.randn(3, device="cuda")
torch.cuda.set_rng_state_all(all)
print(torch.equal(b, torch.randn(3, device="cuda")))
for wrong in (torch.zeros(8, dtype=torch.uint8), torch.tensor([0] * 8 + [3] + [0] * 7, dtype=torch.uint8)):
    try:
        torch.cuda.set_rng_state(wrong)
    except RuntimeError as e:
        print(e)
torch.cuda.seed()
torch.cuda.seed_all()
for seed in (2**64 - 1, -1, -(2**63)):  # negative ones, and those above 2**63
    torch.cuda.manual_seed_all(seed)
    print(torch.cuda.initial_seed(), torch.cuda.get_rng_state().tolist()[7])
""",
        driver,
    )
    assert out.splitlines() == [
        "torch.uint8 [3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0] 3",
        "True",
        "True",
        "RNG state is wrong size: expected 16 bytes, got 8",
        "offset must be a multiple of 4, not 3",
        "18446744073709551615 255",
        "18446744073709551615 255",
        "9223372036854775808 128",
    ]


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


def test_autocast(driver):
    """Which type operators on a device give under an autocast of it, eager, in recurrent layers, scripted and traced; those on the processor have their own."""
    out = run(
        """
import warnings
F, nn = torch.nn.functional, torch.nn
warnings.simplefilter("ignore")  # a check of a trace compares in float16
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).cuda()
x, y = torch.randn(5, 8).cuda(), torch.randint(0, 4, (5,)).cuda()
def kinds(*tensors):
    print(*(str(t.dtype)[6:] for t in tensors))
with torch.autocast("cuda"):
    a = x @ x.t()
    kinds(a, m(x), F.conv1d(x[None], torch.ones(2, 5, 3).cuda()), nn.LSTM(8, 8).cuda()(x)[0], nn.GRUCell(8, 8).cuda()(x), nn.MultiheadAttention(8, 2).cuda()(x, x, x)[0], torch.einsum("ij,kj->ik", x, x))
    kinds(a.exp(), a.sum(), a.cumsum(0), a.softmax(-1), a.softmax(-1, dtype=torch.float64), F.layer_norm(a, (5,)), F.cross_entropy(m(x), y), F.mse_loss(a, a), a.pow(2), x.double() @ x.double().t())
    kinds(a + 1, a.relu(), torch.cat([a, x], 1), torch.cat([a, a]), torch.dot(a[0], x[0, :5]))
    print(torch.is_autocast_enabled(), torch.is_autocast_cpu_enabled())
    kinds(x.cpu() @ x.cpu().t())
    with torch.autocast("cpu"):
        kinds(x.cpu() @ x.cpu().t(), x @ x.t())
    with torch.autocast("cuda", enabled=False):
        kinds(x @ x.t())
    try:
        F.binary_cross_entropy(torch.sigmoid(a), torch.ones_like(a))
    except RuntimeError as e:
        print(str(e)[:41])
with torch.cuda.amp.autocast(dtype=torch.bfloat16):
    kinds(x @ x.t())
    print(torch.get_autocast_gpu_dtype())
s = torch.jit.script(m)
with torch.autocast("cuda"):
    kinds(s(x), torch.jit.trace(m, x)(x))
kinds(s(x), x @ x.t())

class Scaled(torch.autograd.Function):
    @staticmethod
    @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, t):
        kinds(t, t @ t.t())
        return t * 2
    @staticmethod
    @torch.cuda.amp.custom_bwd
    def backward(ctx, g):
        print(torch.is_autocast_enabled())
        return g * 2
with torch.autocast("cuda"):
    h = (x @ x.t()).requires_grad_()
    Scaled.apply(h).sum().backward()
kinds(h.grad)
""",
        driver,
    )
    assert out.splitlines() == [
        "float16 float16 float16 float16 float16 float16 float16",
        "float32 float32 float32 float32 float64 float32 float32 float32 float32 float64",
        "float16 float16 float32 float16 float32",
        "True False", "float32", "bfloat16 float16", "float32", "binary_cross_entropy is unsafe to autocas", "bfloat16", "torch.bfloat16",
        "float16 float16", "float32 float32", "float32 float32", "False", "float16",
    ]  # fmt: skip


def test_gradients_are_scaled(driver):
    """Losses are scaled and gradients unscaled; a step with an infinite gradient is left out, and the factor changes by what steps meet."""
    out = run(
        """
torch.manual_seed(0)
m = torch.nn.Linear(4, 3).cuda()
x, y = torch.randn(6, 4).cuda(), torch.randn(6, 3).cuda()
optimizer = torch.optim.SGD(m.parameters(), 0.1)
scaler = torch.cuda.amp.GradScaler(growth_interval=2)
def loss():
    return torch.nn.functional.mse_loss(m(x), y)
want = torch.autograd.grad(loss(), m.weight)[0]
for i in range(5):
    optimizer.zero_grad()
    scaler.scale(loss()).backward()
    if i == 0:
        scaler.unscale_(optimizer)
        print(torch.allclose(m.weight.grad, want))
        try:
            scaler.unscale_(optimizer)
        except RuntimeError as e:
            print(e)
    if i == 1:
        m.weight.grad[0, 0] = float("inf")
    before = m.weight.clone()
    scaler.step(optimizer)
    scaler.update()
    print(torch.equal(before, m.weight), scaler.get_scale(), scaler.state_dict()["_growth_tracker"])
other = torch.cuda.amp.GradScaler()
other.load_state_dict(scaler.state_dict())
print(other.state_dict() == scaler.state_dict(), [float(s) for s in other.scale([x.sum() * 0 + 1, x.sum() * 0 + 2])])
""",
        driver,
    )
    assert out.splitlines() == [
        "True", "unscale_() has already been called on this optimizer since the last update().",
        "False 65536.0 1", "True 32768.0 0", "False 32768.0 1", "False 65536.0 0", "False 65536.0 1",
        "True [65536.0, 131072.0]",
    ]  # fmt: skip
