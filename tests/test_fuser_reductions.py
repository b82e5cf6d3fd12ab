"""Elementwise operators of compiled code and the reduction of what they give, which run as one kernel: the bits are those of the operators
one by one."""

import os
import subprocess
import sys

import pytest

import torchjit as torch

PROGRAMS = (
    "((x - y) ** 2).mean()", "(x * w).sum(-1)", "torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6)", "(x + w).sum((1, 2))",
    "(x + w).sum(0)", "(x * c).sum(-1, keepdim=True)", "torch.amax(x * y, -1)", "torch.amin(x * y, (-1, -2), True)", "(x * y).max()",
    "(x * y).min()", "(x * n).sum()", "torch.exp(x).mean((0, 1, 2))", "(x * torch.sigmoid(w)).sum(-1)",
    "(x * y).sum(-1) + (x * w).sum(-1)", "(x * y).sum(-1, dtype=torch.float64)", "(x > 0.5).sum()", "(torch.neg(x) * y).sum(dim=[])",
    "(x * 0.5).mean(1)",
)  # fmt: skip


def arguments(shape, dtype, turned):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=dtype)
    if turned:
        x = x.transpose(0, 2).contiguous().transpose(0, 2)
    return x, torch.randn(shape, dtype=dtype), torch.randn(shape[-1], dtype=dtype), torch.randn(shape[:-1] + (1,), dtype=dtype)


def outcome(fused, f, args, gradients):
    torch._C._jit_set_texpr_fuser_enabled(fused)
    try:
        leaves = [a.detach().requires_grad_(gradients) for a in args]
        out = f(*leaves, 3)
        if not out.requires_grad:
            return [out]
        return [out, *torch.autograd.grad(out, leaves, torch.ones_like(out), allow_unused=True)]
    except RuntimeError as e:
        return [str(e)]
    finally:
        torch._C._jit_set_texpr_fuser_enabled(True)


def same(a, b):
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)
    else:
        assert a == b


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 3, 40000), (0, 4, 5), (3, 0, 5), (1, 1, 1)], ids=str)
def test_same_bits(text, shape):
    f = torch.jit.CompilationUnit(f"def f(x, y, w, c, n: int):\n    return {text}\n").f
    for dtype in (torch.float32, torch.float64):
        for turned in (False, True):
            args = arguments(shape, dtype, turned)
            for gradients in (False, True):
                for a, b in zip(outcome(True, f, args, gradients), outcome(False, f, args, gradients)):
                    same(a, b)


@torch.jit.script
def distance(x, y):
    d = x - y
    return d, (d * d).sum(-1)


@torch.jit.script
def error(x, y):
    return ((x - y) ** 2).mean()


def test_values_that_others_use_are_results_too():
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    d, total = distance(x, y)
    assert torch.equal(d, x - y) and torch.equal(total, (d * d).sum(-1))


def test_the_number_of_threads_does_not_matter():
    x, y = torch.randn(1000, 300), torch.randn(300)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(error(x, y))
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2] == ((x - y) ** 2).mean()


def test_lists_that_are_written_are_read_when_they_are_used():
    f = torch.jit.CompilationUnit("def f(x):\n    d = [0]\n    d.clear()\n    d.append(1)\n    return (x * 2).sum(d)\n").f
    assert torch.equal(f(torch.ones(2, 3)), torch.full((2,), 6.0))


def test_errors_name_the_reduction():
    f = torch.jit.CompilationUnit("def f(x):\n    return (x * 2).sum(3)\n").f
    with pytest.raises(RuntimeError, match=r"Dimension out of range(.|\n)*|\(x \* 2\)\.sum\(3\)") as e:
        f(torch.ones(2, 3))
    assert "~~~ <--- HERE" in str(e.value)


def test_the_log_tells_of_reductions_alone(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import torchjit as torch\n@torch.jit.script\ndef f(x):\n    return (x * x).sum(0)\nf(torch.ones(2, 3))\n")
    root = os.path.dirname(os.path.dirname(torch.__file__))
    environment = {**os.environ, "GOJIT_LOG": "fuser", "PYTHONPATH": root}
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "the reduction runs alone" in done.stderr


@torch.jit.script
def energy(x, w):
    return torch.tanh(x * w).sum(-1)


def test_gradients_of_sums_that_are_in_the_kernel():
    torch.manual_seed(0)
    x, w = (torch.randn(s, dtype=torch.float64).requires_grad_() for s in ((3, 4), (4,)))
    for f in (error, energy):
        assert torch.autograd.gradcheck(f, (x, w)) and torch.autograd.gradgradcheck(f, (x, w))
    y = energy(x, w)
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.sum().backward()
    assert torch.equal(x.grad, 2 * first)
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
    z = error(x, w)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
    z.backward()  # the differences are kept, not what they are of
    z = energy(x, w)
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_sums_of_what_needs_no_gradient_need_none():
    x = torch.randn(3, 4)
    f = torch.jit.CompilationUnit("def f(x, y):\n    d = x * x\n    return y * 2, d.sum()\n").f
    a, b = f(x, torch.ones(2).requires_grad_())
    assert a.requires_grad and not b.requires_grad and torch.equal(b, (x * x).sum())
