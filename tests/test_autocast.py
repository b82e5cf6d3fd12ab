"""Autocast around and in compiled functions, and what torch says and sets of it."""

import os
import pathlib
import subprocess
import sys

import pytest

import torchjit as torch
from torchjit import _C
from torchjit.testing import FileCheck

F, B = torch.float32, torch.bfloat16

# What PyTorch 1.13 gives: in compiled code, whether the autocast is inside or around it, and in Python.
TYPES = [
    ("torch.mm(a, b)", B, B),
    ("torch.exp(torch.mm(a, b))", F, B),
    ("torch.softmax(torch.mm(a, b), 0)", B, B),
    ("torch.log_softmax(torch.mm(a, b), 0)", F, B),
    ("torch.sum(torch.mm(a, b))", F, B),
    ("torch.sum(torch.mm(a, b), dtype=torch.bfloat16)", B, B),
    ("torch.mv(a, b[0])", B, F),
    ("torch.mm(a, b) + torch.mm(a, b)", F, B),
    ("torch.mm(a, b) * 2", F, B),
    ("torch.layer_norm(torch.mm(a, b), [2])", F, B),
    ("torch.cat([torch.mm(a, b), a])", F, F),
    ("torch.relu(torch.mm(a, b))", B, B),
    ("torch.nn.functional.mse_loss(torch.mm(a, b), a)", F, F),
    ("torch.mm(a.double(), b.double())", torch.float64, torch.float64),
    ("torch.lerp(torch.mm(a, b), torch.mm(a, b), 0.5)", B, B),
    ("torch.prelu(a, b[0])", B, F),
    ("torch.einsum('ij,jk->ik', [a, b])", B, B),
    ("torch.einsum('ii->i', [a])", F, F),
    ("torch.inner(torch.mm(a, b), a)", B, B),
    ("torch.linalg.multi_dot([a, b])", B, B),
    ("torch.matrix_power(a, 3)", B, B),
    ("torch.linalg.matmul(a, b)", B, B),
    ("torch.lstm_cell(a, [b, b], torch.cat([a, a, a, a]), torch.cat([b, b, b, b]), None, None)[0]", F, F),
    ("torch.gru_cell(a, b, torch.cat([a, a, a]), torch.cat([b, b, b]), None, None)", B, F),
    ("torch.rnn_tanh_cell(a, b, a, b, None, None)", B, B),
    ("torch.gru(a.unsqueeze(0), b.unsqueeze(0), [torch.cat([a, a, a]), torch.cat([b, b, b])], False, 1, 0.0, False, False, False)[0]", F, F),
    ("torch.rnn_relu(torch.mm(a, b).unsqueeze(0), b.unsqueeze(0), [a, b], False, 1, 0.0, False, False, False)[0]", B, B),
]




@pytest.mark.parametrize(("text", "compiled", "eager"), TYPES)
def test_types(text, compiled, eager):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    f = torch.jit.CompilationUnit(f"def f(a, b):\n    return {text}\n").f
    with torch.autocast("cpu"):
        assert f(x, x).dtype == compiled
        assert eval(text, {"torch": torch}, {"a": x, "b": x}).dtype == eager
    _C._jit_set_autocast_mode(False)
    try:
        with torch.autocast("cpu"):
            assert f(x, x).dtype == eager
    finally:
        _C._jit_set_autocast_mode(True)
    assert f(x, x).dtype == eval(text, {"torch": torch}, {"a": x, "b": x}).dtype


def nested(a, b):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        c = torch.mm(a, b)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
            d = torch.mm(a, b)
        e = torch.exp(c)
    return c, d, e, torch.mm(a, b)


def test_inside():
    x = torch.ones(2, 2)
    f = torch.jit.script(nested)
    assert [t.dtype for t in f(x, x)] == [B, F, F, F]
    _C._jit_set_autocast_mode(False)
    try:
        assert [t.dtype for t in f(x, x)] == [F, F, F, F]
    finally:
        _C._jit_set_autocast_mode(True)


def test_pass():
    graph = torch.jit.script(nested).graph.copy()
    _C._jit_pass_inline(graph)
    _C._jit_pass_autocast(graph)
    reduced = "_autocast_to_reduced_precision"
    FileCheck().check_count(reduced, 2).check("aten::mm").check("prim::Enter").check_not("autocast_to").check("aten::mm").check("prim::Exit").run(graph)
    FileCheck().check("aten::_autocast_to_full_precision(%c").check("aten::exp").check("prim::Exit").check_not("autocast_to").check("aten::mm").run(graph)
    before = str(graph)
    _C._jit_pass_autocast(graph)
    assert str(graph) == before


def dynamic(a, on: bool):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=on):
        return torch.mm(a, a)


def test_pass_needs_constants():
    graph = torch.jit.script(dynamic).graph.copy()
    _C._jit_pass_inline(graph)
    with pytest.raises(RuntimeError, match="Autocast _enabled argument must be a constant"):
        _C._jit_pass_autocast(graph)


def test_settings():
    x = torch.ones(2, 2)
    with torch.autocast("cpu"):
        assert torch.autocast_increment_nesting() == 2 and torch.autocast_decrement_nesting() == 1
        torch.set_autocast_cpu_enabled(False)
        assert torch.mm(x, x).dtype == F and not torch.is_autocast_cpu_enabled()
        with torch.autocast("cpu", cache_enabled=False):
            assert not torch.is_autocast_cache_enabled() and torch.mm(x, x).dtype == B
        assert torch.is_autocast_cache_enabled() and not torch.is_autocast_cpu_enabled()
    torch.set_autocast_cpu_enabled(True)
    assert torch.mm(x, x).dtype == B
    torch.set_autocast_cpu_enabled(False)
    assert torch.mm(x, x).dtype == F
    torch.set_autocast_enabled(True)
    assert torch.is_autocast_enabled() and torch.mm(x, x).dtype == F
    torch.set_autocast_enabled(False)
    with pytest.raises(TypeError, match=r"enabled must be a bool \(got int\)"):
        torch.set_autocast_cpu_enabled(3)
    with pytest.raises(RuntimeError, match="Currently, AutocastCPU only support Bfloat16 as the autocast_cpu_dtype"):
        torch.set_autocast_cpu_dtype(torch.float16)


@pytest.mark.parametrize("kept", [True, False])
def test_cache(kept):
    weight = torch.ones(2, 2, requires_grad=True)
    x = torch.ones(2, 2)
    with torch.autocast("cpu", cache_enabled=kept):
        first, second = torch.mm(x, weight), torch.mm(x, weight)
    casts = [f.grad_fn.next_functions[1][0] for f in (first, second)]
    assert (casts[0] is casts[1]) == kept


# What add gives in an autocast by the static types of its inputs: it casts to float32 where one may be float32, as PyTorch 1.13.
ADDED = [("Tensor", "BFloat16(1)", F), ("BFloat16(1)", "BFloat16(1)", B), ("BFloat16(1)", "Long(1)", B), ("BFloat16(1)", "Double(1)", torch.float64), ("Float(1)", "BFloat16(1)", F)]


@pytest.mark.parametrize(("first", "second", "dtype"), ADDED)
def test_static_types(first, second, dtype):
    graph = _C.parse_ir(f"""graph(%x : {first}, %y : {second}):
  %one : int = prim::Constant[value=1]()
  %z : Tensor = aten::add(%x, %y, %one)
  return (%z)""")
    f = _C._create_function_from_graph("f", graph)
    of = {"Tensor": B, "BFloat16(1)": B, "Long(1)": torch.int64, "Double(1)": torch.float64, "Float(1)": F}
    with torch.autocast("cpu"):
        assert f(torch.ones(1, dtype=of[first]), torch.ones(1, dtype=of[second])).dtype == dtype


def test_trace_in_an_autocast():
    def f(x):
        return torch.mm(x, x) + 1

    with torch.autocast("cpu"):
        traced = torch.jit.trace(f, torch.ones(2, 2))
        assert traced(torch.ones(2, 2)).dtype == B == f(torch.ones(2, 2)).dtype
    assert traced(torch.ones(2, 2)).dtype == B


def test_a_traced_layer_casts_its_bias():
    """What is a tensor by its static type is cast, though the operator would do without it."""
    layer, x = torch.nn.Conv2d(3, 3, 1), torch.ones(1, 3, 4, 4)
    with torch.no_grad():
        traced = torch.jit.trace(layer, x)
        with torch.autocast("cpu"):
            assert traced(x).dtype == B == layer(x).dtype


class CastInside(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x, on: bool):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=on):
            y = torch.mm(self.first(x), self.second.weight)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
                z = torch.mm(y.float(), self.first.weight)
            y = torch.tanh(y) + y
        return torch.mm(x, self.second.weight), y, z


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("on", [False, True])
def test_profiling_executor_casts(on, outside):
    """Run after run, specialized or not, compiled autocast gives the same types and values, also in gradients."""
    torch.manual_seed(0)
    module, x = CastInside(), torch.randn(4, 4)
    scripted = torch.jit.script(module)

    def run(f):
        leaf = x.clone().requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=outside):
            results = f(leaf, on)
        return [*results, *torch.autograd.grad(sum(t.float().sum() for t in results), leaf)]

    old = torch._C._jit_set_profiling_executor(False)
    try:
        expected = run(torch.jit.script(module))
        torch._C._jit_set_profiling_executor(True)
        for _ in range(5):
            for a, b in zip(expected, run(scripted), strict=True):
                assert a.dtype == b.dtype
                assert torch.allclose(a.float(), b.float(), rtol=1e-2, atol=1e-2)
    finally:
        torch._C._jit_set_profiling_executor(old)


@pytest.mark.parametrize(
    ("layer", "of_float32", "of_bfloat16"),
    [("LSTM", (F, 13.582051), (B, 13.585938)), ("GRU", (F, 5.585121), (B, 5.578125)), ("RNN", (B, 20.609375), (B, 20.609375))],
)
def test_recurrent_layers_are_cast_inside(layer, of_float32, of_bfloat16):
    """The products of a layer are of bfloat16, as in PyTorch 1.13, whose sums these are; a layer behind a linear one takes what that gives."""
    module = getattr(torch.nn, layer)(3, 4)
    for parameter in module.parameters():
        parameter.data.fill_(0.3)
    x = torch.arange(18.0).view(2, 3, 3) / 10
    for given, (dtype, total) in ((x, of_float32), (x.to(B), of_bfloat16)):
        with torch.autocast("cpu"):
            found = module(given)[0], torch.jit.script(module)(given)[0]
        for out in found:
            assert out.dtype == dtype
            torch.testing.assert_close(out.float().sum().item(), total, rtol=1e-3, atol=0)
    with torch.autocast("cpu"):
        module(torch.nn.functional.linear(x, torch.eye(3)))[0].float().sum().backward()
    assert all(parameter.grad.dtype == F for parameter in module.parameters())


def test_compiled_for_a_device_that_is_not_there(tmp_path):
    """An autocast of CUDA devices in compiled code is disabled where there is none, as in Python: what runs under it is compiled code as ever."""
    path = tmp_path / "program.py"
    path.write_text(
        """
import torchjit as torch

@torch.jit.script
def f(x):
    with torch.autocast("cuda"):
        y, enabled = x @ x, torch.is_autocast_enabled()
    return y, enabled

y, enabled = f(torch.ones(2, 2))
print(y.dtype, enabled)
"""
    )
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(torch.__file__).parent.parent), "GOJIT_CUDA_DRIVER": "/nowhere/libcuda.so"}
    done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "torch.float32 False\n"
