"""Tensors of classes with __torch_dispatch__: their objects live as long as anyone needs them, and no longer."""

import gc
import pickle
import weakref

import pytest

import torchjit as torch
from torchjit import _native
from torchjit.utils._python_dispatch import TorchDispatchMode
from torchjit.utils._pytree import tree_map

alive = 0


class Counted(torch.Tensor):
    """A wrapper with an attribute in a slot."""

    __slots__ = ["elem"]

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        global alive
        alive += 1
        made = torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype, requires_grad=requires_grad)
        made.elem = elem
        return made

    def __del__(self):
        global alive
        alive -= 1

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        plain = lambda x: x.elem if isinstance(x, cls) else x  # noqa: E731
        made = func(*tree_map(plain, args), **tree_map(plain, kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, made)


def collect():
    for _ in range(4):
        gc.collect()
        _native.collect()
        torch.ones(1)


def test_results_that_nobody_holds_go_at_once():
    before = alive
    x = Counted(torch.ones(10))
    for _ in range(20):
        x + 1
    assert alive - before == 1


def test_what_was_saved_for_a_gradient_keeps_its_attributes_and_goes_with_it():
    before = alive
    w = Counted(torch.full((3,), 2.0), True)
    y = (w * w).sin().sum()
    collect()
    y.backward()
    assert torch.allclose(w.grad.elem, 4 * torch.tensor(4.0).cos().expand(3))
    grad = id(w.grad)
    assert id(w.grad) == grad
    del w, y
    collect()
    assert alive == before


def test_cycles_through_attributes_are_collected():
    before = alive
    x = Counted(torch.ones(3), True)
    y = x * 2
    y.elem.owner = y
    y.sum().backward()
    x.elem.gradient = x.grad
    del x, y
    collect()
    assert alive == before


def test_a_weak_reference_ends_where_only_the_library_holds_the_tensor():
    w = Counted(torch.ones(3), True)
    y = w * 2
    seen = weakref.ref(y)
    z = y.sin()
    del y
    assert seen() is None
    z.sum().backward()
    assert w.grad is not None


def test_memory_that_is_not_there_is_not_lent():
    w = Counted(torch.ones(3))
    for lend in (memoryview, torch.from_dlpack):
        try:
            lend(w)
        except TypeError as e:
            assert "meta" in str(e)
        else:
            raise AssertionError("elements were read")


def test_pickles_keep_attributes():
    assert torch.equal(pickle.loads(pickle.dumps(Counted(torch.ones(3)))).elem, torch.ones(3))


def test_classes_run_operators_in_inference_mode():
    with torch.inference_mode():
        assert (Counted(torch.ones(3)) + 1).elem.tolist() == [2, 2, 2]


# What a mode sees of composite operators, as PyTorch 1.13 shows it: what their records say they are made of.
SEEN = {
    "relu6": (lambda x: torch.ops.aten.relu6(x), "hardtanh.default"),
    "log_sigmoid": (lambda x: torch.nn.functional.logsigmoid(x), "log_sigmoid_forward.default"),
    "outer": (lambda x: torch.outer(x[0], x[1]), "select.int select.int _reshape_alias.default mul.Tensor"),
    "item": (lambda x: x[0, 0].item(), "select.int select.int _local_scalar_dense.default"),
    "narrow": (lambda x: x.narrow(1, 0, 2), "slice.Tensor"),
    "softmax": (lambda x: x.softmax(0), "_softmax.default"),
    "std": (lambda x: x.std(), "std.correction"),
    "var": (lambda x: x.var(1), "var.correction"),
    "square": (lambda x: x.square(), "pow.Tensor_Scalar"),
    "max": (lambda x: torch.max(x, x), "maximum.default"),
    "expand_as": (lambda x: x.expand_as(x), "expand.default"),
    "movedim": (lambda x: x.movedim(0, 1), "permute.default"),
    "swapaxes": (lambda x: x.swapaxes(0, 1), "transpose.int"),
    "flatten": (lambda x: x.flatten(), "_reshape_alias.default"),
    "conv1d": (lambda x: torch.nn.functional.conv1d(x, torch.ones(2, 3, 2)), "ones.default unsqueeze.default convolution.default squeeze.dim"),
    "pool": (lambda x: torch.nn.functional.adaptive_avg_pool2d(x[None], 1), "unsqueeze.default mean.dim"),
}


@pytest.mark.parametrize("name", SEEN)
def test_modes_see_what_composite_operators_are_made_of(name):
    f, names = SEEN[name]
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            seen.append(str(operator).removeprefix("aten."))
            return operator(*args, **(kwargs or {}))

    x = torch.ones(3, 4)
    with Mode():
        f(x)
    assert seen == names.split()


@pytest.mark.parametrize(
    "f, name",
    [
        (lambda x, n: x[:n], "slice.Tensor"),
        (lambda x, n: x.narrow(0, 0, n), "slice.Tensor"),
        (lambda x, n: x.select(0, n), "select.int"),
        (lambda x, n: torch.arange(n), "arange.default"),
        (lambda x, n: torch.full((2,), n), "full.default"),
        (lambda x, n: torch.add(x, x, alpha=n), "add.Tensor"),
    ],
)
def test_modes_see_tensors_become_numbers(f, name):
    """What PyTorch 1.13.1's modes see; make_fx, which is one, refuses such programs."""
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            seen.append(str(operator).removeprefix("aten."))
            return operator(*args, **(kwargs or {}))

    x, n = torch.ones(4, 4), torch.tensor(2)
    with Mode():
        f(x, n)
    assert seen == ["_local_scalar_dense.default", name]
