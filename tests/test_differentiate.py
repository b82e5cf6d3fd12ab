"""torch._C._jit_differentiate: the graphs that it makes compute what autograd does."""

import pytest

import torchjit as torch
from torchjit import _C

# A program of tensors x, y and z, which are (2, 3), (3,) and (3, 4), and of images i (1, 2, 6, 6).
PROGRAMS = """
torch.abs(x); torch.acos(x * 0.3); torch.asin(x * 0.3); torch.atan(x); torch.ceil(x); torch.cos(x); torch.cosh(x); torch.erf(x); torch.erfc(x)
torch.exp(x); torch.expm1(x); torch.floor(x); torch.frac(x); torch.nn.functional.gelu(x); torch.hardshrink(x); torch.nn.functional.hardsigmoid(x)
torch.nn.functional.hardswish(x); torch.nn.functional.hardtanh(x); torch.nn.functional.leaky_relu(x, 0.2); torch.log(x * x); torch.log10(x * x)
torch.log1p(x * x); torch.log2(x * x); -x; torch.reciprocal(x); torch.relu(x); torch.nn.functional.relu6(x * 5); torch.round(x); torch.rsqrt(x * x)
torch.sigmoid(x); torch.nn.functional.silu(x); torch.sin(x); torch.sinh(x); torch.nn.functional.softplus(x); torch.sqrt(x * x); torch.tan(x); torch.tanh(x)
torch.threshold(x, 0.1, 2.0); torch.trunc(x); x.type_as(y); x + y; x - y; torch.add(x, y, alpha=2); torch.rsub(x, y, alpha=3); x + 1.5; x - 2; 3 - x
x * y; x * 2; x / y; x / 3; torch.div(x, y, rounding_mode="floor"); torch.div(x, 2, rounding_mode="trunc"); torch.fmod(x, 0.7); torch.remainder(x, 0.7)
x ** 3; x ** 0; (x * x) ** y; 2 ** x; torch.addcmul(x, y, y, value=0.5); torch.lerp(x, y, 0.3); torch.lerp(x, y, y); torch.clamp(x, -0.5, 0.5)
torch.clamp(x, min=0.1); torch.clamp(x, torch.tensor(-0.5), torch.tensor(0.5)); torch.max(x, y); torch.min(x, y); torch.where(x > y, x, y); x.mean(); x.mean(1); x.mean([0, 1], True)
x.var(); x.var(False); x.var([1], False); x.std(); x.std([0], True, True); torch.logsumexp(x, 1); torch.softmax(x, 1); torch.log_softmax(x, 0)
torch.mm(x, z); torch.bmm(x.unsqueeze(0), z.unsqueeze(0)); torch.mv(x, y); torch.dot(y, y); torch.matmul(x, z); torch.matmul(x, y); torch.matmul(y, z)
torch.matmul(x.unsqueeze(0), z); torch.addmm(z.mean(0), x, z, beta=2, alpha=3)
torch.nn.functional.linear(x, z.t()); torch.nn.functional.linear(y, x, x.mean(1)); x.contiguous(); y.expand_as(x); x.permute([1, 0]); x.reshape([3, 2])
x.unsqueeze(0).squeeze(); x.unsqueeze(1).squeeze(1); x.t(); x.transpose(0, 1); x.view([6]); torch.cat(x.unbind(1), 0) + y.mean(); torch.cat(x.split(2, 1), 1) * y; torch.layer_norm(x, [3], y, y); torch.layer_norm(x, [3])
torch.batch_norm(x, y, y, None, None, True, 0.1, 1e-5, False); torch.nn.functional.avg_pool2d(i, 2); torch.nn.functional.max_pool2d(i, [2, 2])
torch.nn.functional.adaptive_avg_pool2d(i, [3, 2]); torch.max_pool2d_with_indices(i, [3, 3], [2, 2])[0]; torch.dropout(x, 0.0, True); torch.dropout(x, 1.0, True)
torch._C._nn.nll_loss(x, torch.tensor([0, 2])); torch.embedding(z, torch.tensor([0, 2, 0])); torch.tanh(x * y) * torch.sigmoid(x) + x
torch.native_batch_norm(x, y, y, None, None, True, 0.1, 1e-5)[0]; torch._C._nn.adaptive_avg_pool3d(i.unsqueeze(0), [2, 3, 3]); torch.adaptive_avg_pool1d(x.unsqueeze(0), 2)
"""


def programs():
    return [p.strip() for line in PROGRAMS.strip().splitlines() for p in line.split(";")]


@pytest.mark.parametrize("text", programs())
def test_gradients(text):
    torch.manual_seed(3)
    values = [torch.randn(2, 3), torch.randn(3), torch.randn(3, 4), torch.randn(1, 2, 6, 6)]
    compiled = torch.jit.CompilationUnit(f"def f(x, y, z, i):\n    return {text}\n").f
    graph = compiled.graph.copy()
    _C._jit_pass_inline(graph)
    _C._jit_pass_constant_propagation(graph)
    gradient = _C._jit_differentiate(graph)
    leaves = [v.clone().requires_grad_() for v in values]
    expected = eval(text, {"torch": torch}, dict(zip("xyzi", leaves, strict=True)))
    given = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, leaves, given, allow_unused=True)
    outs = _C._jit_interpret_graph(gradient.f, tuple(values))
    outs = outs if isinstance(outs, tuple) else (outs,)
    torch.testing.assert_close(outs[0], expected.detach())
    captured = [values[k] for k in gradient.df_input_captured_inputs] + [outs[k] for k in gradient.df_input_captured_outputs]
    found = _C._jit_interpret_graph(gradient.df, (given, *captured))
    for i, grad in zip(gradient.df_output_vjps, found, strict=True):
        torch.testing.assert_close(grad, wanted[i])
    assert all(i in gradient.df_output_vjps or w is None or not w.any() for i, w in enumerate(wanted))


def test_lists():
    graph = _C.parse_ir("graph(%l : Tensor[], %dim : int):\n  %c : Tensor = aten::cat(%l, %dim)\n  return (%c)")
    gradient = _C._jit_differentiate(graph)
    (found,) = _C._jit_interpret_graph(gradient.df, (torch.arange(6).reshape(2, 3), [torch.ones(2, 1), torch.ones(2, 2)], 1))
    assert [f.tolist() for f in found] == [[[0], [3]], [[1, 2], [4, 5]]]


def run(text, *inputs, seed=0):
    """What the graph gives for inputs, and the gradients of the sum of that by name of input."""
    graph = _C.parse_ir(text)
    gradient = _C._jit_differentiate(graph)
    torch.manual_seed(seed)
    outs = _C._jit_interpret_graph(gradient.f, inputs)
    outs = outs if isinstance(outs, tuple) else (outs,)
    captured = [inputs[k] for k in gradient.df_input_captured_inputs] + [outs[k] for k in gradient.df_input_captured_outputs]
    found = _C._jit_interpret_graph(gradient.df, (torch.ones_like(outs[0]), *captured))
    names = [v.debugName() for v in graph.inputs()]
    return outs[0], dict(zip((names[i] for i in gradient.df_output_vjps), found, strict=True))


def test_dropout_is_drawn_once():
    """The gradient of a product reads the elements that were kept, not those of a second draw."""
    x = torch.ones(64)
    y, grads = run(
        """graph(%x : Tensor, %p : float, %train : bool):
  %d : Tensor = aten::dropout(%x, %p, %train)
  %y : Tensor = aten::mul(%d, %d)
  return (%y)""",
        x, 0.5, True,
    )  # fmt: skip
    assert 0 < int((y == 4).sum()) < 64 and torch.equal(grads["x"], torch.where(y == 4, 8.0, 0.0))


UNKNOWN = [
    ("%y : Tensor = aten::mean(%x, %dims, %keep, %none)", lambda x: x.mean([0, -1], False)),
    ("%y : Tensor = aten::var(%x, %dims, %keep, %keep)", lambda x: x.var([0, -1], False, False)),
    ("%y : Tensor = aten::std(%x, %dims, %three, %keep)", lambda x: x.std([0, -1], correction=3, keepdim=False)),
    ("%y : Tensor = aten::logsumexp(%x, %dims, %keep)", lambda x: x.logsumexp([0, -1], False)),
    ("%y : Tensor = aten::permute(%x, %order)", lambda x: x.permute([1, -1, 0])),
    ("%y : Tensor = aten::mean(%x, %none)", lambda x: x.mean()),
    ("%y : Tensor = aten::mean(%x, %double)", lambda x: x.mean(dtype=torch.float64)),
    ("%y : Tensor = aten::linear(%x, %w, %bias)", lambda x: torch.nn.functional.linear(x, W, B)),
    ("%y : Tensor = aten::linear(%x, %w, %none)", lambda x: torch.nn.functional.linear(x, W)),
    ("%y : Tensor = aten::linear(%x, %bias, %none)", lambda x: torch.nn.functional.linear(x, B)),
    ("%y : Tensor = aten::matmul(%x, %bias)", lambda x: x @ B),
    ("%y : Tensor = aten::layer_norm(%x, %sizes, %bias, %none, %eps, %keep)", lambda x: torch.layer_norm(x, [4], B)),
    ("%y : Tensor = aten::clamp(%x, %none, %eps)", lambda x: x.clamp(max=1e-5)),
]
W, B = torch.arange(16.0).reshape(4, 4) / 7, torch.arange(4.0) - 1


@pytest.mark.parametrize(("line", "same"), UNKNOWN)
def test_unknown_arguments(line, same):
    """Numbers, lists and what may be None are inputs of the graph, and no dimension is known."""
    text = f"""graph(%x : Tensor, %dims : int[], %keep : bool, %none : Tensor?, %three : int?, %order : int[], %w : Tensor, %bias : Tensor?,
      %sizes : int[], %eps : float, %double : int?):
  {line}
  return (%y)"""
    if "aten::mean(%x" in line or "clamp" in line:
        text = text.replace("%none : Tensor?", "%none : Scalar?" if "clamp" in line else "%none : int?")
    if "matmul" in line or "(%x, %bias" in line:
        text = text.replace("%bias : Tensor?", "%bias : Tensor")
    torch.manual_seed(1)
    x = torch.randn(2, 3, 4)
    leaf = x.clone().requires_grad_()
    expected = same(leaf)
    (wanted,) = torch.autograd.grad(expected.sum(), leaf)
    y, grads = run(text, x, [0, -1], False, None, 3, [1, -1, 0], W, B, [4], 1e-5, 7)
    torch.testing.assert_close(y, expected.detach())
    torch.testing.assert_close(grads["x"], wanted)


TWO_RESULTS = """graph(%x : Tensor, %y : Tensor):
  %a : Tensor = aten::mul(%x, %y)
  %b : Tensor = aten::sigmoid(%a)
  return (%b, %a)"""


def test_parts():
    gradient = _C._jit_differentiate(_C.parse_ir(TWO_RESULTS))
    assert gradient.f_real_outputs == 2 and len(list(gradient.f.outputs())) == 4
    assert gradient.df_input_vjps == [0, 1] and gradient.df_output_vjps == [0, 1]
    assert gradient.df_input_captured_inputs == [0, 1] and gradient.df_input_captured_outputs == [2, 3, 0]
    order = ["prim::GradOf[name=\"aten::sigmoid\"](%0)", "prim::AutogradAdd(%1,", "prim::GradOf[name=\"aten::mul\"]", "_grad_sum_to_size", "prim::TupleConstruct"]
    check = torch.testing.FileCheck()
    for text in order:
        check.check(text)
    check.run(gradient.df)


def test_undefined_gradients():
    gradient = _C._jit_differentiate(_C.parse_ir(TWO_RESULTS))
    x, y = torch.ones(2), torch.tensor([2.0, 3.0])
    outs = _C._jit_interpret_graph(gradient.f, (x, y))
    df = gradient.df.copy()
    df.inputs().__next__().replaceAllUsesWith(df.insertNode(zero := df.create("prim::AutogradZero")).output())
    zero.moveBefore(next(df.nodes()))
    found = _C._jit_interpret_graph(df, (x, x, x, y, outs[2], outs[3], outs[0]))
    assert [f.tolist() for f in found] == [[2, 3], [1, 1]]


def test_zeros():
    graph = _C.parse_ir("""graph(%x : Tensor):
  %z : Tensor = prim::AutogradZero()
  %a : Tensor = prim::AutogradAdd(%z, %x)
  %b : Tensor = prim::AutogradAdd(%a, %z)
  %c : Tensor = prim::AutogradAdd(%x, %b)
  return (%c)""")
    _C._jit_pass_specialize_autogradzero(graph)
    torch.testing.FileCheck().check_not("AutogradAdd").check("aten::add(%x, %x").run(graph)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("torch.cumsum(x, 0)", "aten::cumsum"), ("torch.cat([x, x], 0)", "prim::ListConstruct"), ("x.relu() if bool(x.sum() > 0) else x", "prim::If")],
)
def test_refused(text, kind):
    graph = torch.jit.CompilationUnit(f"def f(x):\n    return {text}\n").f.graph
    with pytest.raises(RuntimeError, match=f"differentiation of {kind} is not supported, or it is missing necessary type information"):
        _C._jit_differentiate(graph)
