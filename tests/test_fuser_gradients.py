"""Gradients through elementwise operators of compiled code that run as one kernel: those of the operators one by one."""

import os
import random
import subprocess
import sys

import pytest

import torchjit as torch

UNARY = (
    "torch.exp(-{0})", "torch.tanh({0})", "torch.sigmoid({0})", "torch.relu({0})", "torch.sin({0})", "torch.abs({0})", "{0} * {0}",
    "-{0}", "torch.log1p(torch.abs({0}))", "torch.sqrt(torch.abs({0}) + 0.5)", "torch.clamp({0}, -0.5, 0.5)", "{0} * 0.5", "1 - {0}",
    "{0} ** 2", "{0} * n", "{0} + r", "torch.erf({0})", "torch.atan({0})", "torch.gelu({0})", "torch.floor({0})",
)  # fmt: skip
BINARY = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / (torch.abs({1}) + 1.0)", "torch.maximum({0}, {1})", "torch.sub({0}, {1}, alpha=2)",
    "({0} > {1}) * {0}",
)  # fmt: skip
SHAPES = {
    "one": [(5,)] * 3, "rows": [(3, 4), (4,), (3, 4)], "columns": [(3, 4), (3, 1), (4,)], "number": [(2, 3), (), (2, 3)],
    "single": [(2, 3), (1, 1), (1,)], "none": [(0, 3), (3,), (0, 3)], "scalars": [()] * 3, "wide": [(2, 3, 4), (4,), (1, 4)],
    "outer": [(3, 1), (1, 4), (3, 4)],
}  # fmt: skip


def program(choose, outputs):
    """The text of a function f(x, y, z, n, r) of random operators with some results."""
    names, lines = ["x", "y", "z"], []
    for i in range(choose.randint(3, 9)):
        if choose.random() < 0.4:
            made = choose.choice(UNARY).format(choose.choice(names[-3:]))
        else:
            made = choose.choice(BINARY).format(names[-1], choose.choice(names))
        lines.append(f"    t{i} = {made}")
        names.append(f"t{i}")
    given = names[3:][-outputs:]
    return "def f(x, y, z, n: int, r: float):\n" + "\n".join(lines) + f"\n    return ({', '.join(given)},)\n"


def results(fused, f, args, needs, second=True):
    """Outputs, gradients and, of those that are recorded, gradients again."""
    torch._C._jit_set_texpr_fuser_enabled(fused)
    try:
        leaves = [a.detach().requires_grad_(n) for a, n in zip(args, needs)]
        outs = f(*leaves, 3, 0.25)
        wanted = [x for x in leaves if x.requires_grad]
        found = [list(outs), [o.requires_grad for o in outs]]
        outs = [o for o in outs if o.requires_grad]
        if not outs:
            return found
        seeds = [torch.linspace(0.5, 1.5, o.numel(), dtype=o.dtype).reshape(o.shape) for o in outs]
        found.append(torch.autograd.grad(outs, wanted, seeds, retain_graph=True, allow_unused=True))
        for o, s in zip(outs, seeds):
            found.append(torch.autograd.grad([o], wanted, [s], retain_graph=True, allow_unused=True))
        once = torch.autograd.grad(outs, wanted, seeds, create_graph=second, allow_unused=True)
        found.append(once)
        total = [(g * g).sum() for g in once if g is not None and g.requires_grad]
        if total:
            found.append(torch.autograd.grad(total, wanted, allow_unused=True))
        return found
    finally:
        torch._C._jit_set_texpr_fuser_enabled(True)


def same(a, b, rounding):
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y, rounding)
    elif a is None or isinstance(a, bool):
        assert a is b
    else:
        assert a.dtype == b.dtype and a.shape == b.shape
        torch.testing.assert_close(a.detach(), b.detach(), rtol=rounding, atol=rounding, equal_nan=True)


def laid_out(t, how):
    """A copy of t that lies in memory otherwise."""
    if how == "turned" and t.dim() > 1:
        return t.transpose(0, -1).contiguous().transpose(0, -1)
    if how == "gaps" and t.dim() > 0:
        return torch.cat([t, t], -1)[..., : t.shape[-1]]
    return t


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_are_those_of_the_nodes(kind, dtype):
    choose = random.Random(kind + dtype)
    torch.manual_seed(1)
    for _ in range(12):
        text = program(choose, choose.randint(1, 3))
        f = torch.jit.CompilationUnit(text).f
        layouts = [choose.choice(["plain", "turned"])] * 3
        if choose.random() < 0.5:
            layouts = choose.choices(["plain", "turned", "gaps"], [4, 1, 1], k=3)
        args = [laid_out(torch.randn(s, dtype=getattr(torch, dtype)), how) for s, how in zip(SHAPES[kind], layouts)]
        needs = choose.choice([(True, True, True), (True, False, False), (False, True, True), (False, True, False)])
        fused, apart = results(True, f, args, needs), results(False, f, args, needs)
        try:
            same(fused[0], apart[0], 0)
            same(fused[1:], apart[1:], 1e-3 if dtype == "float32" else 1e-9)
        except AssertionError as e:
            raise AssertionError(f"{text}\nneeds {needs}, {layouts}: {e}") from None


@torch.jit.script
def gate(x, w, b):
    return torch.sigmoid(x * w + b) * torch.tanh(x)


@torch.jit.script
def two(x, w):
    t = torch.exp(x)
    return t * w, torch.sin(t)


@torch.jit.script
def through(x):
    a = torch.exp(x)
    return a, torch.tanh(a) * a


@torch.jit.script
def shifted(x):
    return x * 2 + 1


def leaf(n=4):
    return torch.linspace(-1, 1, n).requires_grad_()


def outcome(run):
    """What a run gives: its result, or the error."""
    try:
        return run()
    except RuntimeError as e:
        return str(e).split(", which is output")[0]


def test_a_group_has_one_node():
    y = gate(leaf(), leaf(), leaf())
    assert y.grad_fn.name() == "MulBackward0"
    assert [n.name() for n, _ in y.grad_fn.next_functions] == ["torch::autograd::AccumulateGrad"] * 3


def test_the_log_tells_what_is_not_differentiated_in_kernels(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torchjit as torch\n@torch.jit.script\ndef f(x):\n    return torch.digamma(x * x)\nf(torch.ones(2).requires_grad_())\n"
    )
    environment = {**os.environ, "GOJIT_LOG": "fuser", "PYTHONPATH": os.path.dirname(os.path.dirname(torch.__file__))}
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "gradients: aten::polygamma is not computed in a kernel" in done.stderr


def write_saved_input():
    x = leaf() * 1
    y = gate(x, leaf(), leaf())
    with torch.no_grad():
        x.add_(1)
    return y.sum().backward()


def write_unsaved_input():
    x, w, b = leaf(), leaf(), leaf() * 1
    y = gate(x, w, b)
    b.add_(1)
    y.sum().backward()
    return x.grad, w.grad


def write_before_double_backward():
    x, w, b = leaf(), leaf(), leaf() * 1
    y = gate(x, w, b)
    b.add_(1)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), [x, w])


def write_result():
    x = leaf()
    a, b = through(x)
    a.add_(1)
    return b.sum().backward()


def write_result_that_is_not_read():
    x = leaf()
    y = shifted(x)
    y.mul_(3)
    y.sum().backward()
    return x.grad, y.grad_fn.name()


def backward_twice():
    y = gate(leaf(), leaf(), leaf()).sum()
    y.backward()
    return y.backward()


def backward_twice_where_nothing_is_saved():
    x = leaf()
    y = shifted(x).sum()
    y.backward()
    y.backward()
    return x.grad


def backward_of_one_result_after_the_other():
    x, w = leaf(), leaf()
    a, b = two(x, w)
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    return x.grad, w.grad


def backward_of_one_result_after_the_other_without_graph():
    a, b = two(leaf(), leaf())
    a.sum().backward()
    return b.sum().backward()


def gradient_of_a_result_by_another():
    x = leaf()
    a, b = through(x)
    seen = []
    a.register_hook(lambda g: seen.append(g.clone()))
    a.retain_grad()
    (given,) = torch.autograd.grad(b.sum(), a, retain_graph=True)
    (b.sum() + a.sum()).backward()
    return given, seen, a.grad, x.grad


def hook_that_changes():
    x = leaf()
    y = gate(x, leaf(), leaf())
    y.register_hook(lambda g: g * 3)
    y.sum().backward()
    return x.grad


def view_as_input():
    x = leaf(6)
    y = gate(x.view(2, 3).t(), leaf(6).view(3, 2), x[:2])
    y.sum().backward()
    return x.grad


def one_tensor_for_two():
    x = leaf()
    gate(x, x, x).sum().backward()
    return x.grad


def without_gradients():
    x = leaf()
    with torch.no_grad():
        y = gate(x, x, x)
    with torch.inference_mode():
        z = gate(x, x, x)
    return y.requires_grad, z.requires_grad, z.is_inference(), y, z


def of_inference_tensors():
    with torch.inference_mode():
        w = torch.ones(4)
    return gate(leaf(), w, w)


def tangents():
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(leaf(), torch.ones(4))
        return torch.autograd.forward_ad.unpack_dual(gate(x, leaf(), leaf())).tangent


def anomaly():
    x = torch.zeros(3).requires_grad_()
    f = torch.jit.CompilationUnit("def f(x):\n    return torch.sqrt(x * 0) * 2\n").f
    with pytest.warns(UserWarning), torch.autograd.detect_anomaly():
        return f(x).sum().backward()


def saved_tensors_hooks():
    sizes = []
    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.shape) or t * 2, lambda t: t / 2):
        y = gate(x, leaf(), leaf())
    y.sum().backward()
    return len(sizes), x.grad


def spread_gradient():
    x = leaf(6)
    y = gate(x.view(2, 3), leaf(3), torch.tensor(0.5))
    y.backward(torch.tensor(2.0).expand(2, 3))
    return x.grad


def turned_gradient():
    x = leaf(6)
    y = gate(x.view(2, 3), leaf(3), torch.tensor(0.5))
    y.backward(torch.arange(6.0).view(3, 2).t())
    return x.grad


def checked_by_differences():
    x, w, b = (torch.linspace(a, 2, 3, dtype=torch.float64).requires_grad_() for a in (-1, 0.5, 1))
    return torch.autograd.gradcheck(gate, (x, w, b)), torch.autograd.gradgradcheck(gate, (x, w, b))


def chained_calls():
    x = leaf()
    y = x
    for _ in range(5):
        y = gate(y, x, y)
    y.sum().backward()
    return x.grad


def parameters_that_move():
    w = leaf()
    losses = []
    for _ in range(4):
        loss = (gate(leaf(), w, w) ** 2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        losses.append(loss.detach())
    return losses, w.detach()


SCENES = [
    write_saved_input, write_unsaved_input, write_before_double_backward, write_result, write_result_that_is_not_read, backward_twice,
    backward_twice_where_nothing_is_saved, backward_of_one_result_after_the_other,
    backward_of_one_result_after_the_other_without_graph, gradient_of_a_result_by_another, hook_that_changes, view_as_input,
    one_tensor_for_two, without_gradients, of_inference_tensors, tangents, anomaly, saved_tensors_hooks, spread_gradient,
    turned_gradient, checked_by_differences, chained_calls, parameters_that_move,
]  # fmt: skip


@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.__name__)
def test_scenes_end_as_with_the_nodes(scene):
    found = []
    for fused in (True, False):
        torch._C._jit_set_texpr_fuser_enabled(fused)
        try:
            found.append(outcome(scene))
        finally:
            torch._C._jit_set_texpr_fuser_enabled(True)
    compare(*found)


def compare(a, b):
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            compare(x, y)
    elif isinstance(a, torch.Tensor):
        assert torch.allclose(a, b, equal_nan=True), (a, b)
    else:
        assert a == b
