"""Operators that are defined at run time."""

import io

import pytest

import torchjit as torch
from torchjit.library import Library, define, impl, register_autograd, register_fake

lib = Library("mine", "DEF")
lib.define("scale(Tensor x, float by=2.0) -> Tensor")
lib.define("halves(Tensor x, int at) -> (Tensor, Tensor)")
lib.define("log(str text) -> ()", "CONSERVATIVE")
lib.define("pure(Tensor x) -> Tensor", "PURE_FUNCTION")
lib.define("cube(Tensor x) -> Tensor")
lib.define("add_to_(Tensor(a!) x, Tensor y) -> Tensor(a!)")
lib.define("unready(Tensor x) -> Tensor")
logged = []


@impl(lib, "scale")
def scale(x, by):
    return x * by


@impl(lib, "halves", "CPU")
def halves(x, at):
    return x[:at], x[at:].clone()


lib.impl("log", lambda text: logged.append(text), "CPU")
lib.impl("pure", lambda x: x.neg(), "CPU")
lib.impl("cube", lambda x: x**3, "CPU")
lib.impl("add_to_", lambda x, y: x.add_(y), "CPU")
register_autograd("mine::cube", lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
register_fake("mine::cube", lambda x: torch.empty_like(x))


def test_calls():
    x = torch.arange(3.0)
    assert torch.ops.mine.scale(x).tolist() == [0.0, 2.0, 4.0] and torch.ops.mine.scale(x, by=3.0).tolist() == [0.0, 3.0, 6.0]
    assert [t.tolist() for t in torch.ops.mine.halves(x, 1)] == [[0.0], [1.0, 2.0]]
    assert torch.ops.mine.add_to_(x, x) is x and x.tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(RuntimeError, match="mine::scale.. Expected a value of type 'Tensor'"):
        torch.ops.mine.scale("x")


def test_compiled_saved_and_loaded():
    @torch.jit.script
    def f(x):
        torch.ops.mine.log("called")
        torch.ops.mine.pure(x)
        a, b = torch.ops.mine.halves(torch.ops.mine.scale(x, 0.5), 1)
        return a + b

    text = str(f.graph)
    assert "mine::scale" in text and "mine::log" in text
    logged.clear()
    assert f(torch.tensor([1.0, 2.0, 3.0])).tolist() == [1.5, 2.0] and logged == ["called"]
    file = io.BytesIO()
    torch.jit.save(f, file)
    assert "ops.mine.scale" in f.code and torch.jit.load(io.BytesIO(file.getvalue()))(torch.ones(2)).tolist() == [1.0]


def test_passes_keep_what_is_conservative():
    graph = torch._C.parse_ir('graph(%x : Tensor):\n  %t : str = prim::Constant[value="a"]()\n   = mine::log(%t)\n  %y : Tensor = mine::pure(%x)\n  return (%x)\n')
    torch._C._jit_pass_dce(graph)
    assert "mine::log" in str(graph) and "mine::pure" not in str(graph)


def test_traced():
    traced = torch.jit.trace(lambda x: torch.ops.mine.cube(x) + 1, torch.ones(2))
    assert "mine::cube" in str(traced.graph) and "aten::pow" not in str(traced.graph)
    assert traced(torch.tensor([2.0])).tolist() == [9.0]


def test_gradients():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.ops.mine.scale, (x,)) and torch.autograd.gradcheck(torch.ops.mine.cube, (x,))
    assert torch.autograd.gradgradcheck(torch.ops.mine.cube, (x,))
    torch.jit.script(lambda_free_cube)(x).sum().backward()
    assert torch.allclose(x.grad, 3 * x.detach() ** 2)
    with pytest.raises(RuntimeError, match="derivative for mine::pure is not implemented"):
        torch.ops.mine.pure(x).sum().backward()


def lambda_free_cube(x):
    return torch.ops.mine.cube(x)


def test_shapes_without_elements():
    assert torch.ops.mine.cube(torch.empty(2, 3, device="meta")).shape == (2, 3)


def test_mistakes():
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("scale(Tensor x, float by=2.0) -> Tensor")
    with pytest.raises(RuntimeError, match="expected|Expected|schema"):
        lib.define("bad(Tensor x -> Tensor")
    with pytest.raises(RuntimeError, match="Invalid alias_analysis type MAYBE"):
        lib.define("other(Tensor x) -> Tensor", "MAYBE")
    with pytest.raises(RuntimeError, match="already a kernel registered"):
        lib.impl("scale", scale)
    with pytest.raises(NotImplementedError):
        torch.ops.mine.unready(torch.ones(1))
    with pytest.raises(ValueError, match="Unsupported kind"):
        Library("mine", "OTHER")

    @define(lib, "wrong(Tensor x) -> Tensor")
    def wrong(x):
        return 5

    with pytest.raises(TypeError, match="mine::wrong returns a Tensor, but its function returned"):
        torch.ops.mine.wrong(torch.ones(1))

    @define(lib, "fails(Tensor x) -> Tensor")
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        torch.ops.mine.fails(torch.ones(1))
