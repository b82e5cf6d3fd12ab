"""The tables of operators with samples of torch.testing._internal: each sample runs, in all its forms alike."""

import io
import unittest

import pytest

import torchjit as torch
from torchjit.testing._internal.common_device_type import instantiate_device_type_tests, ops
from torchjit.testing._internal.common_methods_invocations import (
    DecorateInfo,
    OpInfo,
    SampleInput,
    foreach_binary_op_db,
    foreach_unary_op_db,
    op_db,
)
from torchjit.testing._internal.common_utils import TestCase

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of deprecated operators

RANDOM = {"empty", "empty_like", "new_empty", "randn", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial"}


def tensors(values):
    if isinstance(values, torch.Tensor):
        return [values]
    return [t for v in values for t in tensors(v)] if isinstance(values, (list, tuple)) else []


def equal(a, b):
    assert type(a) is type(b)
    torch.testing.assert_close(tensors(a), tensors(b), equal_nan=True)


def random(op):
    return op.name in RANDOM or "dropout" in op.name


@pytest.mark.parametrize("op", op_db, ids=lambda op: op.full_name)
def test_samples(op):
    """Every element type that an operator lists is computed; its gradients are those that it says it has."""
    kinds = (torch.float32, torch.complex64, torch.int64, torch.bool)
    wanted = [d for d in kinds if d in op.dtypes] or sorted(op.dtypes, key=str)[:1]
    for dtype in wanted:
        differentiable = dtype in op.supported_backward_dtypes("cpu")
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=differentiable))
        assert samples
        for sample in samples:
            found = op(sample.input, *sample.args, **sample.kwargs)
            if random(op):
                continue
            spread = sample.noncontiguous()
            if op.name not in ("as_strided", "view_as_complex"):  # whose results depend on strides
                equal(found, op(spread.input, *spread.args, **spread.kwargs))
            if op.method_variant is not None and isinstance(sample.input, torch.Tensor) and "out" not in sample.kwargs:
                equal(found, op.method_variant(sample.input, *sample.args, **sample.kwargs))
            if differentiable:
                wanted_of = [t for t in tensors(found) if t.requires_grad]
                assert wanted_of, "no result requires a gradient"
                total = sum((t.abs() if t.is_complex() else t).sum() for t in wanted_of)
                torch.autograd.grad(total, tensors(sample.input), allow_unused=True)


@pytest.mark.parametrize("op", [op for op in op_db if op.supports_out], ids=lambda op: op.full_name)
def test_out(op):
    """What supports_out says."""
    dtype = torch.float32 if torch.float32 in op.dtypes else sorted(op.dtypes, key=str)[0]
    for sample in op.sample_inputs("cpu", dtype):
        found = op(sample.input, *sample.args, **sample.kwargs)
        if random(op) or op.name in ("mean", "var", "std") and "dim" not in sample.kwargs:  # which have out= with dimensions alone
            continue
        out = torch.empty_like(found) if isinstance(found, torch.Tensor) else tuple(torch.empty_like(t) for t in found)
        op(sample.input, *sample.args, **sample.kwargs, out=out)
        torch.testing.assert_close(tensors(out), tensors(found), equal_nan=True)


@pytest.mark.parametrize("op", [op for op in op_db if op.supports_forward_ad and op.supports_autograd], ids=lambda op: op.full_name)
def test_tangents(op):
    """What supports_forward_ad says: the derivative in a direction is that of the gradient."""
    from torchjit.autograd import forward_ad

    if torch.float64 not in op.dtypes or random(op):
        pytest.skip("no numbers of double precision, or random ones")
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        if not isinstance(sample.input, torch.Tensor) or not sample.input.numel():
            continue
        kwargs = {key: value for key, value in sample.kwargs.items()}
        x, direction = sample.input.detach(), torch.ones_like(sample.input.detach())
        args = tuple(a.detach() if isinstance(a, torch.Tensor) else a for a in sample.args)
        with forward_ad.dual_level():
            dual = op(forward_ad.make_dual(x, direction), *args, **kwargs)
            moved = [forward_ad.unpack_dual(t) for t in tensors(dual) if t.is_floating_point() or t.is_complex()]
            tangent = [m.tangent if m.tangent is not None else torch.zeros_like(m.primal) for m in moved]
        leaf = x.clone().requires_grad_()
        found = [t for t in tensors(op(leaf, *args, **kwargs)) if t.is_floating_point() or t.is_complex()]
        for value, along in zip(found, tangent):
            if not value.requires_grad:
                continue
            weights = torch.linspace(0.5, 1.5, value.numel(), dtype=torch.float64).reshape(value.shape)
            real = torch.view_as_real(value.resolve_conj()) if value.is_complex() else value
            weights = weights.unsqueeze(-1).expand(real.shape) if value.is_complex() else weights
            (grad,) = torch.autograd.grad((real * weights).sum(), leaf, retain_graph=True, allow_unused=True)
            expected = torch.zeros((), dtype=torch.float64) if grad is None else (grad * direction).sum()
            along = torch.view_as_real(along.resolve_conj()) if along.is_complex() else along
            torch.testing.assert_close((along * weights).sum(), expected, rtol=1e-6, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("op", [*foreach_unary_op_db, *foreach_binary_op_db], ids=lambda op: op.name)
def test_lists(op):
    from torchjit.testing._internal.opinfo.core import sample_inputs_foreach

    first = sample_inputs_foreach(op, "cpu", torch.float32, 3, low=0.25, high=0.75)
    more = [sample_inputs_foreach(op, "cpu", torch.float32, 3, low=1, high=2)] if op in foreach_binary_op_db else []
    assert [t.shape for t in first] == [(3, 3), (2, 2), (1, 1)]
    for found, *given in zip(op(first, *more), first, *more):
        torch.testing.assert_close(found, op.ref(*given))


def test_instantiated_tests():
    seen = []

    class Tests(TestCase):
        @ops([op for op in op_db if op.name in ("abs", "linalg.det")], allowed_dtypes=(torch.float32, torch.int64))
        def test_it(self, device, dtype, op):
            seen.append((op.name, device, dtype))

    scope = {"Tests": Tests}
    instantiate_device_type_tests(Tests, scope)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(scope["TestsCPU"])
    assert unittest.TextTestRunner(verbosity=0, stream=io.StringIO()).run(suite).wasSuccessful()
    assert sorted(seen, key=str) == [("abs", "cpu", torch.float32), ("abs", "cpu", torch.int64), ("linalg.det", "cpu", torch.float32)]


def test_decorators_of_some_tests():
    marked = []
    op = OpInfo("add", dtypes=(torch.float32,), decorators=[DecorateInfo(marked.append, "Tests", "test_a", dtypes=(torch.float32,))])
    assert op.get_decorators("Tests", "test_a", "cpu", torch.float32) == [marked.append]
    assert op.get_decorators("Tests", "test_b", "cpu", torch.float32) == op.get_decorators("Tests", "test_a", "cpu", torch.float64) == []


def test_samples_are_given_once():
    with pytest.raises(AssertionError):
        SampleInput(1, 2, args=(3,))
