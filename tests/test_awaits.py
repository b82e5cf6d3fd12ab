"""torch.jit._awaitable: calls that run when their result is asked for, as in PyTorch 2.15."""

import io
from typing import Union

import pytest

import torchjit as torch
from torchjit import nn

Tensor, _Await = torch.Tensor, torch.jit._Await
ONE = torch.ones(1)


def add(x: Tensor, y: int = 1) -> Tensor:
    return x + y


def said(x: Tensor) -> Tensor:
    print("called")
    return x * x


def both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x + 10, y * 5


def text(graph):
    return torch._C._jit_pass_canonicalize(graph, False).str(False)


def test_in_python(capsys):
    later = torch.jit._awaitable(said, ONE)
    assert (later.fn(), later.args(), later.is_nowait()) == (said, (ONE,), False) and isinstance(later, torch._C._Await)
    assert capsys.readouterr().out == ""
    assert later.shape == (1,) and torch.jit._awaitable_wait(later) == 1 and capsys.readouterr().out == "called\n"
    ready = torch.jit._awaitable_nowait(ONE)
    assert ready.is_nowait() and ready.args() == (ONE,) and torch.jit._awaitable_wait(ready) is ONE
    assert torch.jit._awaitable_wait(torch.jit._awaitable(add, ONE, y=4)) == 5
    with pytest.raises(RuntimeError, match="does not have fn"):
        ready.fn()
    with pytest.raises(TypeError, match=r"torch._C._Await\) -> object"):
        torch.jit._awaitable_wait(3)
    with pytest.raises(TypeError, match="takes a function, but got a int"):
        torch.jit._awaitable(3)


def test_in_a_program(capsys):
    @torch.jit.script
    def f(x: Tensor):
        _ = torch.jit._awaitable(said, x)
        later: _Await[Tensor] = torch.jit._awaitable(said, x)
        print("before")
        return torch.jit._awaitable_wait(later) + torch.jit._awaitable_wait(later) + later.sum()

    for _ in range(3):
        assert f(torch.full((1,), 3.0)) == 27 and capsys.readouterr().out == "before\ncalled\n"
    x = torch.full((1,), 3.0, requires_grad=True)
    f(x).backward()
    assert x.grad == 18
    assert text(f.graph).endswith("""\
with prim::awaitable_0 = graph(%0 : Tensor):
  %1 : Function = prim::Constant[name="said"]()
  %2 : Tensor = prim::CallFunction(%1, %0)
  return (%2)
""")


def test_results_of_several_kinds():
    @torch.jit.script
    def f(x: Tensor, c: bool):
        first, second = torch.jit._awaitable_wait(torch.jit._awaitable(both, x, x))
        later = torch.jit._awaitable_nowait(first)
        if c:
            later = torch.jit._awaitable(add, second, 2)
        return torch.jit._awaitable_wait(later)

    assert (f(ONE, True), f(ONE, False)) == (7, 11)

    @torch.jit.script
    def either(x: Union[_Await[Tensor], Tensor]) -> Tensor:  # noqa: UP007
        if isinstance(x, Tensor):
            return x
        return torch.jit._awaitable_wait(x)

    assert either(ONE) == 1 and either(torch.jit._awaitable(add, ONE)) == 2

    @torch.jit.script
    def given(xs: list[_Await[Tensor]], n: int) -> _Await[Tensor]:
        total = torch.zeros(1)
        for x in xs:
            total = total + torch.jit._awaitable_wait(x)
        return torch.jit._awaitable(add, total, n)

    later = given([torch.jit._awaitable(add, ONE), torch.jit._awaitable_nowait(ONE)], 4)
    assert str(given.schema) == "given(Await(Tensor)[] xs, int n) -> Await(Tensor)"
    assert torch.jit._awaitable_wait(later) == 7 and later.dim() == 1 and given([later], 0).item() == 7


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)

    def twice(self, x: Tensor) -> Tensor:
        return self.l(x) * 2

    def forward(self, x: Tensor):
        a, b = torch.jit._awaitable(self.twice, x), torch.jit._awaitable(self.l, x)
        return torch.jit._awaitable_wait(a) + torch.jit._awaitable_wait(b)


def test_archives_and_other_forms():
    module, x = torch.jit.script(Layers()).eval(), torch.ones(1, 2)
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    assert "  def __awaitable_function():\n    return (self).twice(x, )\n  a = awaitable(__awaitable_function)\n" in loaded.code
    expected = module.l(x) * 3
    for form in (module, loaded, torch.jit.freeze(module), torch.jit.freeze(loaded), torch.jit.trace(Layers(), x, check_trace=False)):
        assert form(x).shape == expected.shape
    assert all(torch.allclose(form(x), expected) for form in (module, loaded, torch.jit.freeze(module), torch.jit.freeze(loaded)))
    assert str(torch._C.parse_ir(text(module.graph))) == text(module.graph)


def test_refusals():
    def of_no_function(x: Tensor):
        torch.jit._awaitable(3, x)

    def of_a_tensor(x: Tensor):
        return torch.jit._awaitable_wait(x)

    def of_a_string(x: Tensor):
        torch.jit._awaitable(add, x, "s")

    def without_a_type(x: _Await):
        return x

    for f, message in {
        of_no_function: "cannot call a value of type 'int'", of_a_tensor: "Cannot match an await to Tensor",
        of_a_string: "Expected a value of type 'int' for argument 'y' but instead found type 'str'",
        without_a_type: "_Await without a contained type",
    }.items():  # fmt: skip
        with pytest.raises(RuntimeError, match=message):
            torch.jit.script(f)

    @torch.jit.script
    def fails(x: Tensor):
        if x.sum() > 0:
            raise ValueError("bad")
        return x

    @torch.jit.script
    def f(x: Tensor):
        later = torch.jit._awaitable(fails, x)
        return torch.jit._awaitable_wait(later)

    with pytest.raises(RuntimeError, match="ValueError: bad"):
        f(ONE)
    assert f(-ONE) == -1
    with pytest.raises(RuntimeError, match="Expected a value of type 'Await"):
        torch.jit.CompilationUnit("def f(x: Await[Tensor]):\n  return x\n").f(ONE)


def test_types():
    t = torch._C.AwaitType(torch._C.IntType.get())
    assert (repr(t), t.str(), t.kind(), str(t.getElementType())) == ("Await[int]", "Await(int)", "AwaitType", "int")
    assert not t.isSubtypeOf(torch._C.FutureType(torch._C.IntType.get())) and t == torch._C.AwaitType(torch._C.IntType.get())
