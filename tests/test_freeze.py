"""torch.jit.freeze: attributes become constants, submodules are inlined, convolutions take in what follows them."""

import copy
import io

import pytest

import torchjit as torch
from torchjit import _C, nn
from torchjit.testing import FileCheck, assert_close


class ConvNorm(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 1, bias=bias)
        self.norm = nn.BatchNorm2d(2)
        self.norm.running_mean.fill_(0.5)
        self.norm.running_var.fill_(4.0)
        self.drop = nn.Dropout()
        self.k = 3

    def forward(self, x):
        y = self.drop(self.norm(self.conv(x)))
        if self.k > 2:
            y = y * self.k
        if self.training:
            y = y + 1
        return y


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.weight = nn.Parameter(torch.ones(3))
        self.version = 1
        self.calls = 0
        self.inner = ConvNorm()

    def forward(self, x):
        self.total.add_(1)
        self.calls += 1
        return x * self.weight + self.total + self.version * self.calls

    @torch.jit.export
    def weigh(self, x):
        return self.weight + x


def scripted(module):
    return torch.jit.script(module.eval())


def names(pairs):
    return [name for name, _ in pairs]


@pytest.mark.parametrize("bias", [True, False])
def test_convolutions_take_in_what_follows(bias):
    m = scripted(ConvNorm(bias))
    x = torch.arange(9.0).reshape(1, 1, 3, 3)
    frozen = torch.jit.freeze(m)
    assert_close(frozen(x), m(x))
    assert (
        not names(frozen.named_parameters())
        and not names(frozen.named_buffers())
        and names(frozen.named_modules()) == [""]
    )
    assert not hasattr(frozen, "training") and not hasattr(frozen, "k")
    only = FileCheck().check_not("GetAttr").check_count("aten::conv2d", 1, exactly=True)
    only.check_not("aten::").check("return").run(str(frozen.graph).split("prim::Constant")[-1].split("\n", 1)[1])
    assert names(m.named_parameters()) and m.k == 3, "the module itself stays as it was"


def test_names_of_folded_constants():
    text = torch.jit.freeze(scripted(ConvNorm())).graph.str(False)
    FileCheck().check("%self.conv.bias_fused_bn_fused_mul : Float(2, 1, 1, 1").check("aten::conv2d(%x.1, ").run(text)
    kept = torch.jit.freeze(scripted(ConvNorm()), optimize_numerics=False).graph.str(False)
    FileCheck().check("%self.conv.weight").check("aten::batch_norm").check_not("aten::dropout").check("aten::mul").run(
        kept
    )


def test_what_is_written_stays():
    m = scripted(Stateful())
    frozen = torch.jit.freeze(m)
    x = torch.ones(3)
    assert frozen(x).tolist() == [3.0, 3.0, 3.0] and frozen(x).tolist() == [5.0, 5.0, 5.0] and frozen.calls == 2
    assert (
        names(frozen.named_buffers()) == ["total"] and not hasattr(frozen, "version") and not hasattr(frozen, "inner")
    )
    FileCheck().check('prim::GetAttr[name="total"]').check('prim::SetAttr[name="calls"]').run(frozen.graph)
    assert m.calls == 0


def test_preserved_attributes_and_methods():
    m = scripted(Stateful())
    frozen = torch.jit.freeze(m, preserved_attrs=["version", "weigh", "inner"])
    frozen.version = 10
    assert frozen(torch.ones(3)).tolist() == [12.0, 12.0, 12.0]
    assert frozen.weigh(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    image = torch.ones(1, 1, 2, 2)
    assert_close(frozen.inner(image), m.inner(image))
    with pytest.raises(RuntimeError, match="Unknown name: nope"):
        torch.jit.freeze(m, preserved_attrs=["nope"])


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = 11, 2, 3

    def forward(self, x):
        return x * self.a

    @torch.jit.export
    def method(self, x):
        return x * self.b + self.forward(x)


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Parts()

    def forward(self, x):
        return self.sub(x)


@pytest.mark.parametrize(
    ("preserved", "methods", "attributes"),
    [(["sub.method"], ["method"], []), (["sub.method", "sub.c"], ["method"], ["c"]), (["sub"], ["forward", "method"], ["a", "b", "c"]), (["sub.b"], [], ["b"])],
)
def test_methods_of_submodules_stay(preserved, methods, attributes):
    frozen = torch.jit.freeze(torch.jit.script(Holder().eval()), preserved_attrs=preserved)
    assert torch.equal(frozen(torch.ones(2)), torch.full((2,), 11.0))
    assert frozen.sub._c._method_names() == methods and [n for n in ("a", "b", "c") if hasattr(frozen.sub, n)] == attributes
    if "method" in methods:
        assert torch.equal(frozen.sub.method(torch.ones(2)), torch.full((2,), 13.0))
    copied = torch.jit.load(io.BytesIO(frozen.save_to_buffer()))
    assert copied.sub._c._method_names() == methods and torch.equal(copied(torch.ones(2)), torch.full((2,), 11.0))


def test_what_cannot_be_frozen():
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input. Please use torch.jit.script"):
        torch.jit.freeze(ConvNorm())
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode. Please call .eval"):
        torch.jit.freeze(torch.jit.script(ConvNorm()).train())
    with pytest.raises(RuntimeError, match="optimize_for_inference expects a ScriptModule as input"):
        torch.jit.optimize_for_inference(ConvNorm())


def test_traces_freeze():
    m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Dropout(), nn.Linear(3, 1)).eval()
    x = torch.ones(4, 2)
    frozen = torch.jit.freeze(torch.jit.trace(m, x))
    assert_close(frozen(x), m(x))
    FileCheck().check_count("aten::linear", 2, exactly=True).run(frozen.graph)
    FileCheck().check_not("aten::dropout").check_not("GetAttr").run(frozen.graph)


def test_loops_and_tuples_of_frozen_modules():
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
            self.names = ["a", "b"]

        def forward(self, x):
            for layer in self.layers:
                x = torch.relu(layer(x))
            for i in range(3):
                x = x + i
            return x, len(self.names)

    m = scripted(Stack())
    frozen = torch.jit.freeze(m)
    x = torch.ones(1, 2)
    assert_close(frozen(x), m(x))
    FileCheck().check_not("prim::Loop").check_count("aten::linear", 2, exactly=True).run(frozen.graph)


def test_interfaces_are_inlined():
    @torch.jit.interface
    class Step(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            pass

    class Twice(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    class Uses(nn.Module):
        step: Step

        def __init__(self):
            super().__init__()
            self.step = Twice()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.step.forward(x)

    class Sets(Uses):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.step = self.step
            return self.step.forward(x)

    frozen = torch.jit.freeze(scripted(Uses()))
    FileCheck().check_not("CallMethod").check("aten::mul").run(frozen.graph)
    assert frozen(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="attempted to freeze a module that uses interface attributes"):
        torch._C._freeze_module(scripted(Uses())._c, [], False)
    with pytest.raises(RuntimeError, match="failed to freeze interface attribute 'step'"):
        torch.jit.freeze(scripted(Sets()), ["step"])  # somebody could set it behind the frozen program's back


def test_frozen_modules_are_saved_and_copied():
    m = scripted(Stateful())
    frozen = torch.jit.freeze(m, preserved_attrs=["version"])
    buffer = io.BytesIO()
    torch.jit.save(frozen, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    x = torch.ones(3)
    assert loaded(x).tolist() == frozen(x).tolist() == [3.0] * 3
    assert copy.deepcopy(loaded)(x).tolist() == loaded(x).tolist() == [5.0] * 3
    conv = torch.jit.freeze(scripted(ConvNorm()))
    buffer = io.BytesIO()
    torch.jit.save(conv, buffer)
    buffer.seek(0)
    image = torch.ones(1, 1, 2, 2)
    assert_close(torch.jit.load(buffer)(image), conv(image))


def test_code_with_constants():
    frozen = torch.jit.freeze(scripted(ConvNorm()))
    code, constants = frozen.code_with_constants
    assert (
        code
        == "def forward(self,\n    x: Tensor) -> Tensor:\n  _0 = torch.conv2d(x, CONSTANTS.c0, CONSTANTS.c1)\n  return _0\n"
    )
    assert constants.c0.shape == (2, 1, 1, 1) and list(constants.const_mapping) == ["c0", "c1"]


def test_optimize_for_inference_and_frozen_optimizations():
    m = scripted(ConvNorm())
    image = torch.ones(1, 1, 2, 2)
    assert_close(torch.jit.optimize_for_inference(m)(image), m(image))
    frozen = torch.jit.freeze(m, optimize_numerics=False)
    FileCheck().check("aten::batch_norm").run(frozen.graph)
    torch.jit.run_frozen_optimizations(frozen)
    FileCheck().check_not("aten::batch_norm").run(frozen.graph)
    assert_close(frozen(image), m(image))
    assert _C._freeze_module(m._c)._has_method("forward")


def test_forked_calls_are_frozen():
    class Child(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.ones(2)

        def forward(self, x):
            return self.a + x

    class Parent(nn.Module):
        def __init__(self):
            super().__init__()
            self.child = Child()

        def forward(self, x):
            total = x
            for _i in range(2):
                total = total + torch.jit.wait(torch.jit.fork(self.child, x))
            return total

    m = scripted(Parent())
    frozen = torch.jit.freeze(m)
    FileCheck().check_count("prim::fork", 2).check_not("GetAttr").check_not("CallMethod").run(frozen.graph)
    assert frozen(torch.ones(2)).tolist() == m(torch.ones(2)).tolist() == [5.0, 5.0]


def test_shared_and_aliased_attributes_stay_shared():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.t = torch.zeros(2)

        def forward(self, x):
            return x

    class Shared(nn.Module):
        def __init__(self, counter):
            super().__init__()
            self.a = counter
            self.b = counter
            self.base = torch.zeros(2, 2)
            self.row = self.base[0]

        def forward(self, x):
            self.a.t.add_(1)
            self.base.add_(1)
            return self.b.t + self.row + x

    m = scripted(Shared(Counter()))
    frozen = torch.jit.freeze(m)
    x = torch.zeros(2)
    assert [frozen(x).tolist(), frozen(x).tolist()] == [[2.0, 2.0], [4.0, 4.0]]


def test_modules_of_the_library():
    m = scripted(Stateful())
    frozen = _C._freeze_module(m._c, ["inner.k", "weigh"])
    assert (
        frozen.hasattr("total")
        and frozen.inner.hasattr("k")
        and not frozen.inner.hasattr("conv")
        and not frozen.hasattr("version")
    )
    assert frozen.forward(torch.ones(3)).tolist() == [3.0] * 3 and frozen.weigh(torch.ones(1)).tolist() == [2.0] * 3
    assert frozen._type().name() == "Stateful" and frozen.getattr("calls") == 1 and "GetAttr" in str(frozen.graph)
    with pytest.raises(AttributeError, match="does not have a field with name 'nope'"):
        frozen.nope  # noqa: B018
    assert torch.jit._recursive.wrap_cpp_module(frozen)(torch.ones(3)).tolist() == [5.0] * 3


def test_traces_of_nested_modules_freeze():
    inner = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.ReLU()))
    m = nn.Sequential(inner, nn.Linear(2, 1)).eval()
    x = torch.rand(3, 2)
    traced = torch.jit.trace(m, x)
    frozen = torch.jit.freeze(traced)
    assert_close(traced(x), m(x))
    assert_close(frozen(x), m(x))
    FileCheck().check_count("aten::linear", 3, exactly=True).run(frozen.graph)


def test_errors_of_frozen_modules_show_the_calls():
    frozen = torch.jit.freeze(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()).eval()))
    with pytest.raises(RuntimeError, match=r"(?s)input = module\(input\).*F\.linear\(input, self\.weight, self\.bias\).*cannot be multiplied"):
        frozen(torch.ones(4, 4))


def test_nested_loops_stay_loops():
    """Sixty rounds of sixty of sixty, each put behind the other, would be more than the memory holds."""

    class M(nn.Module):
        def forward(self, x):
            for _ in range(60):
                for _ in range(60):
                    for _ in range(60):
                        x = x + 1
            return x

    frozen = torch.jit.freeze(torch.jit.script(M().eval()))
    assert str(frozen.graph).count("prim::Loop") == 3


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = [torch.ones(1), torch.ones(1)], [torch.ones(1), torch.ones(1)]
        self.d, self.t, self.whole = {"k": torch.ones(1)}, (torch.ones(1), 2), torch.ones(2)


def test_elements_that_are_written_are_constants():
    class M(Lists):
        def forward(self, x):
            before = self.a[0] + 1
            self.a[0].add_(1)
            self.d["k"].mul_(2)
            self.t[0].sub_(1)
            return before, self.a[0] + 1, self.b[0] + x, self.d["k"] + self.t[0]

    m = torch.jit.script(M().eval())
    frozen = torch.jit.freeze(m)
    assert not any(hasattr(frozen, name) for name in ("a", "b", "d", "t"))
    x = torch.zeros(1)
    assert [y.item() for y in frozen(x)] == [2.0, 3.0, 1.0, 2.0]
    assert [y.item() for y in frozen(x)] == [3.0, 4.0, 1.0, 3.0], "the constants that are equal stay apart"
    loaded = torch.jit.load(io.BytesIO(frozen.save_to_buffer()))
    assert [y.item() for y in loaded(x)] == [4.0, 5.0, 1.0, 6.0]
    assert [y.item() for y in loaded(x)] == [5.0, 6.0, 1.0, 13.0], "each mention of a constant is the same tensor"


def test_written_elements_stay_attributes_where_two_methods_get_them():
    class M(Lists):
        @torch.jit.export
        def write(self):
            self.a[0].add_(1)

        def forward(self, x):
            return self.a[0] + x

    frozen = torch.jit.freeze(torch.jit.script(M().eval()), preserved_attrs=["write"])
    frozen.write()
    assert frozen(torch.zeros(1)).item() == 2.0


@pytest.mark.parametrize("written", ["a", "b"])
def test_written_elements_cannot_share_memory(written):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.whole = torch.ones(4)
            self.a, self.b = [self.whole[1:]], (self.whole.view(2, 2), 1)

        def forward(self, x):
            return self.a[0].add_(1).sum() + self.whole + x

    class N(M):
        def forward(self, x):
            return self.b[0].add_(1).sum() + self.a[0] + x

    with pytest.raises(RuntimeError, match="module contains attributes values that overlaps: " + written + " and "):
        torch.jit.freeze(torch.jit.script((M if written == "a" else N)().eval()))
