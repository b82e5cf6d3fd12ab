"""Elementwise operators of compiled code that run as one kernel."""

import os
import subprocess
import sys

import pytest

import torchjit as torch


@torch.jit.script
def gate(x, w, b):
    return torch.sigmoid(x * w + b) * torch.tanh(x)


@torch.jit.script
def scaled(x, n: int, r: float):
    y = x * n + r
    return torch.relu(y) / n, y


@torch.jit.script
def normalized(x, v, w):
    r = torch.rsqrt(v + 1e-6)
    return x * r * w, r


@pytest.fixture
def one_by_one():
    """Calls a function with fusing switched off."""

    def call(f, *args):
        torch._C._jit_set_texpr_fuser_enabled(False)
        try:
            return f(*args)
        finally:
            torch._C._jit_set_texpr_fuser_enabled(True)

    return call


@pytest.mark.parametrize(
    "shapes", [[(4,)] * 3, [(50, 70), (70,), (50, 1)], [(3, 1), (1, 4), (3, 4)], [(), (2, 2), ()], [(0, 3), (3,), (1,)]]
)
def test_same_bits(shapes, one_by_one):
    torch.manual_seed(0)
    args = [torch.randn(s) for s in shapes]
    assert torch.equal(gate(*args), one_by_one(gate, *args))


def test_smaller_results_are_computed_once(one_by_one):
    x, w = torch.randn(6, 8), torch.randn(8)
    v = (x * x).mean(-1, keepdim=True)
    fused, apart = normalized(x, v, w), one_by_one(normalized, x, v, w)
    assert fused[1].shape == (6, 1) and all(torch.equal(a, b) for a, b in zip(fused, apart))


def test_numbers_are_of_the_call(one_by_one):
    x = torch.randn(3, 5)
    for n, r in [(1, 0.5), (2, -1.0), (7, 1e10), (1000003, 2.0)]:
        for a, b in zip(scaled(x, n, r), one_by_one(scaled, x, n, r)):
            assert torch.equal(a, b)


def test_gradients_go_through_the_nodes():
    x = torch.randn(6, requires_grad=True)
    w, b = torch.randn(6), torch.randn(6)
    gate(x, w, b).sum().backward()
    s, t = torch.sigmoid(x.detach() * w + b), torch.tanh(x.detach())
    assert torch.allclose(x.grad, s * (1 - s) * w * t + s * (1 - t * t))


def test_tangents_go_through_the_nodes():
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))
        tangent = torch.autograd.forward_ad.unpack_dual(gate(x, torch.ones(3), torch.zeros(3))).tangent
    s, t = torch.sigmoid(torch.ones(3)), torch.tanh(torch.ones(3))
    assert torch.allclose(tangent, s * (1 - s) * t + s * (1 - t * t))


def test_errors_name_the_node():
    with pytest.raises(RuntimeError, match=r"x \* w \+ b\)(.|\n)*~~~~~ <--- HERE(.|\n)*must match the size"):
        gate(torch.ones(3), torch.ones(4), torch.ones(3))


def test_channels_last_stays():
    x = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert gate(x, x, x).is_contiguous(memory_format=torch.channels_last)


def test_the_log_tells_why_nodes_run_one_by_one(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torchjit as torch\n@torch.jit.script\ndef f(x):\n    return torch.exp(x) * x\nf(torch.ones(2, dtype=torch.complex64))\n"
    )
    root = os.path.dirname(os.path.dirname(torch.__file__))
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "GOJIT_LOG": "fuser", "PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "the nodes run one by one" in done.stderr


def squares(x, y):
    z = torch.tanh(x * y + 1.0)
    return ((z - x) ** 2).sum(-1)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.shift = torch.nn.Parameter(torch.linspace(0.5, 1.5, 8)), torch.nn.Parameter(torch.linspace(-1, 1, 8))

    def forward(self, x):
        for _ in range(12):
            x = x - torch.tanh(x * self.scale + self.shift)
        return x


@pytest.mark.parametrize("way", ["scripted", "traced", "frozen"])
def test_long_chains_are_several_kernels_and_constants_are_read(way, one_by_one):
    x, net = torch.linspace(-2, 2, 24).reshape(3, 8), Scaled().eval()
    f = torch.jit.trace(net, x) if way == "traced" else torch.jit.script(net)
    f = torch.jit.freeze(f) if way == "frozen" else f
    with torch.no_grad():
        assert torch.equal(f(x), one_by_one(net, x))
        assert "as one kernel" in str(torch.jit.explain(f)) and "one by one" not in str(torch.jit.explain(f))
    if way == "traced":
        assert str(torch.jit.explain(f)).count("as one kernel") == 2  # 48 operators, 32 of which are the most
    if way != "frozen":
        x.requires_grad_()
        places = [x, *f.parameters()]
        found = torch.autograd.grad(f(x).square().sum(), places)
        assert "one by one" not in str(torch.jit.explain(f))
        for mine, single in zip(found, torch.autograd.grad(one_by_one(f, x).square().sum(), places), strict=True):
            torch.testing.assert_close(mine, single, rtol=1e-4, atol=1e-5)


def test_explain_tells_what_runs_as_kernels_and_why_not():
    f = torch.jit.script(squares)
    text = str(torch.jit.explain(f))
    assert "prim::TensorExprGroup" in text and "operators as one kernel" in text and "one by one" not in text
    f(torch.ones(2, 3, dtype=torch.complex64), torch.ones(2, 3))
    assert "ran one by one: the operators cannot run as one kernel" in str(torch.jit.explain(f))
    assert "no group of elementwise operators" in str(torch.jit.explain(torch.jit.script(torch.nn.Identity())))
    with pytest.raises(TypeError, match="expects a compiled function, method or module, but got int"):
        torch.jit.explain(3)
