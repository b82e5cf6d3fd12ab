"""torch.fx: what PyTorch's version of it fails with on this Python, and what recorded answers (answers/fx.txt) do not show."""

import subprocess
import sys

import pytest

import torchjit as torch
from torchjit.fx import Tracer, symbolic_trace

F = torch.nn.functional


def test_parameters_of_any_kind():
    def f(x, *args, scale: int = 2, **kwargs):
        return x * scale + args[0] + kwargs["a"]

    traced = symbolic_trace(f)
    assert "def forward(self, x, scale : int = 2, *args, **kwargs):" in traced.code


def test_sizes_that_are_proxies_reach_functions_that_make_tensors():
    traced = symbolic_trace(lambda x: torch.zeros(x.shape[0], 3) + torch.arange(x.size(1)))
    assert traced(torch.ones(2, 3)).tolist() == [[0, 1, 2]] * 2


def test_compiled_functions_are_called():
    compiled = torch.jit.CompilationUnit("def f(x, y: int):\n    return x + y").f
    traced = symbolic_trace(lambda x: compiled(x, 2))
    assert traced(torch.ones(1)).tolist() == [3]


def test_asserts_are_recorded_where_asked_for():
    class Asserts(Tracer):
        trace_asserts = True

    scope = {}  # pytest rewrites the asserts of this file
    exec("def f(x):\n    assert x.sum() > 0, 'positive'\n    return x", scope)
    graph = Asserts().trace(scope["f"])
    assert [n.name for n in graph.nodes] == ["x", "sum_1", "gt", "assert_fn", "output"]


class Recording:
    """Has functions give what they were called with."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs


@pytest.mark.parametrize("function", [torch.add, F.mse_loss, torch.Tensor.add, torch.ops.aten.add, torch.ops.aten.add.Tensor])
def test_functions_that_arguments_override(function):
    it = Recording()
    func, types, args, _ = function(torch.ones(1), it)
    assert (func, types, args[1]) == (function, (Recording,), it)


def test_overriding_items_of_lists():
    ones, it = torch.ones(1), Recording()
    assert torch.cat([ones, it], dim=0)[2:] == (([ones, it],), {"dim": 0})


def test_no_override_is_an_error():
    class Declines:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="no implementation found for 'torch.add' on types that implement __torch_function__"):
        torch.add(Declines(), 1)


def test_checks_for_overrides_are_false_in_programs():
    @torch.jit.script
    def f(x):
        if torch.overrides.has_torch_function_unary(x):
            return undefined(x)  # noqa: F821
        return x + 1

    assert f.code == "def f(x: Tensor) -> Tensor:\n  return torch.add(x, 1)\n"


def test_fx_is_loaded_when_it_is_used():
    program = "import sys, torchjit; assert 'torchjit.fx' not in sys.modules; torchjit.fx.Graph(); from torchjit.fx import symbolic_trace"
    subprocess.run([sys.executable, "-c", program], check=True)
