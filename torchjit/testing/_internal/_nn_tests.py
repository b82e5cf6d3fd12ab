"""Tests of modules and losses that are made of the dictionaries of common_nn: calls, references, gradients, copies by pickle."""

from __future__ import annotations

import copy
import io
import unittest
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.autograd import gradcheck, gradgradcheck
from torchjit.testing._internal._conditions import TEST_CUDA
from torchjit.testing._internal.common_utils import TestCase, freeze_rng_state, to_gpu

PRECISION = 1e-5


def get_reduction(m: Any) -> Any:
    """How a loss joins those of samples."""
    return getattr(m, "reduction", None) or ("mean" if getattr(m, "sizeAverage", True) else "sum")


def get_weight(m: Any) -> Any:
    """The weights of classes of a loss, None where it has none."""
    return getattr(m, "weight", None) if getattr(m, "weight", None) is not None else getattr(m, "weights", None)


def _mapped(value: Any, f: Callable[[Any], Any]) -> Any:
    """A value with f of the tensors in it."""
    if isinstance(value, torch.Tensor):
        return f(value)
    return type(value)(_mapped(x, f) for x in value) if isinstance(value, (tuple, list)) else value


def _to(kind: Any) -> Callable[[Any], Any]:
    return lambda t: t.to(kind)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for x in value for t in _flat(x)] if isinstance(value, (tuple, list)) else []


def _wants(value: Any) -> Any:
    """Leaves of the tensors of real and complex numbers in a value, that require gradients."""
    return _mapped(value, lambda t: t.detach().clone().requires_grad_() if t.is_floating_point() or t.is_complex() else t)


class NNTestCase(TestCase):
    """A test case for modules: their derivatives, by backward and by finite differences."""

    def _forward(self, module: Any, input: Any) -> Any:
        with freeze_rng_state():
            return module(*input) if isinstance(input, tuple) else module(input)

    def _backward(self, module: Any, input: Any, output: Any, grad_output: Any, create_graph: bool = False) -> Any:
        output.backward(grad_output, retain_graph=True, create_graph=create_graph)
        return _mapped(input, lambda t: t.grad)

    def _get_parameters(self, module: Any) -> tuple[list[Any], list[Any]]:
        """The parameters of a module and their gradients, zero where there is none."""
        params = list(module.parameters())
        return params, [torch.zeros_like(p) if p.grad is None else p.grad for p in params]

    def _zero_grad_parameters(self, module: Any) -> None:
        for p in module.parameters():
            if p.grad is not None:
                p.grad.detach_().zero_()

    def _zero_grad_input(self, input: Any) -> None:
        for t in _flat(input):
            if t.requires_grad and t.grad is not None:
                t.grad.detach_().zero_()

    def _flatten_tensors(self, x: Any) -> Any:
        return torch.cat([t.to_dense().reshape(-1) if t.is_sparse else t.reshape(-1) for t in _flat(x)])

    def check_jacobian(self, module: Any, input: Any, jacobian_input: bool = True) -> None:
        """Fails unless the gradients of inputs and parameters are those by finite differences."""
        wanted = [t for t in _flat(input) if t.requires_grad] if jacobian_input else []
        wanted += list(module.parameters())
        if wanted:
            self.assertTrue(gradcheck(lambda *_: self._forward(module, input), tuple(wanted), check_batched_grad=False, nondet_tol=1e-12))


class TestBase:
    """A test that is made of a dictionary."""

    _required_arg_names = {"constructor_args", "input", "extra_args"}

    def __init__(self, constructor: Any, desc: str = "", reference_fn: Any = None, fullname: str | None = None, **kwargs: Any) -> None:
        self.constructor, self.desc, self.reference_fn, self.fullname = constructor, desc, reference_fn, fullname
        for name in self._required_arg_names:
            if not any(name + end in kwargs for end in ("", "_fn", "_size")):
                if name not in ("constructor_args", "extra_args"):
                    raise ValueError(f"{self.get_name()}: Specify {name} by a value, a function to generate it, or it's size!")
                kwargs[name] = ()
        self._extra_kwargs, self._arg_cache = kwargs, {}  # type: ignore[var-annotated]

    def get_name(self) -> str:
        """The name of the test: that of the module, and what distinguishes it."""
        if self.fullname is not None:
            return "test_" + self.fullname
        return f"test_{self.constructor.__name__}" + (f"_{self.desc}" if self.desc else "")

    def _unpack(self, value: Any) -> Any:
        return value

    @property
    def constructor_args(self) -> Any:
        return self._get_arg("constructor_args", True)

    @property
    def extra_args(self) -> Any:
        return self._get_arg("extra_args", True)

    def _get_arg(self, name: str, unpack: bool) -> Any:
        """An argument: a value that was given, what a function gives, or random numbers of a size. It is the same each time."""
        if name not in self._arg_cache:
            given = self._extra_kwargs
            if name in given:
                self._arg_cache[name] = given[name]
            elif name + "_fn" in given:
                self._arg_cache[name] = given[name + "_fn"]()
            else:
                self._arg_cache[name] = self._random(given[name + "_size"])
        value = self._arg_cache[name]
        return self._unpack(value) if unpack else value

    def _random(self, size: Any) -> Any:
        if isinstance(size, list) or size and isinstance(size[0], (tuple, torch.Size)):
            return tuple(self._random(s) for s in size)
        return torch.randn(size)

    def _get_input(self, unpack: bool = True) -> Any:
        return self._get_arg("input", unpack)

    def __call__(self, test_case: Any) -> None:
        raise NotImplementedError


class InputVariableMixin:
    """Inputs that require gradients, where they are numbers."""

    def _get_input(self, unpack: bool = True) -> Any:
        return _mapped(super()._get_input(False), lambda t: t.requires_grad_() if t.is_floating_point() or t.is_complex() else t)  # type: ignore[misc]


class ModuleTest(TestBase):
    """A test of a module: its values by a reference, its gradients, other layouts of its input, and copies by pickle."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.jacobian_input = kwargs.get("jacobian_input", True)
        self.should_test_cuda, self.should_test_pickle = kwargs.get("test_cuda", True), kwargs.get("pickle", True)
        self.check_gradgrad, self.FIXME_no_cuda_gradgrad_comparison = kwargs.get("check_gradgrad", True), kwargs.get("FIXME_no_cuda_gradgrad_comparison", False)
        self.precision, self.check_forward_only = kwargs.get("precision", 2e-4), kwargs.get("check_forward_only", False)

    def __call__(self, test_case: Any) -> None:
        module, input = self.constructor(*self.constructor_args), self._get_input()
        if self.extra_args:  # the sizes of further inputs
            input = (input, *(self._random(size).requires_grad_() for size in self.extra_args))
        if self.reference_fn is not None:
            expected = self.reference_fn(copy.deepcopy(_mapped(input, torch.Tensor.detach)), test_case._get_parameters(module)[0], module)
            test_case.assertEqual(test_case._forward(module, input), expected, exact_dtype=False)
        if self.check_forward_only:
            return
        self.test_noncontig(test_case, module, input)
        if self.should_test_pickle:
            file = io.BytesIO()
            torch.save(module, file)
            file.seek(0)
            test_case.assertEqual(test_case._forward(torch.load(file, weights_only=False), input), test_case._forward(module, input))
        self._do_test(test_case, module, input)

    def test_noncontig(self, test_case: Any, module: Any, input: Any) -> None:
        """Fails unless an input that is not contiguous gives the same."""
        if isinstance(input, torch.Tensor) and input.dim() > 0:
            apart = torch.stack([torch.zeros_like(input), input.detach()], dim=-1).select(-1, 1)
            test_case.assertEqual(test_case._forward(module, apart), test_case._forward(module, input))

    def _do_test(self, test_case: Any, module: Any, input: Any) -> None:
        test_case.check_jacobian(module.double(), _wants(_mapped(input, lambda t: t.double() if t.is_floating_point() else t)), self.jacobian_input)

    def test_cuda(self, test_case: Any) -> None:
        """Fails unless a CUDA device gives the same values and gradients."""
        if not TEST_CUDA or not self.should_test_cuda:
            raise unittest.SkipTest("Excluded from CUDA tests")
        input = _mapped(self._get_input(), torch.Tensor.detach)
        module = self.constructor(*self.constructor_args)
        there = copy.deepcopy(module).cuda()
        here_in, there_in = _wants(input), _wants(to_gpu(input))
        here_out, there_out = test_case._forward(module, here_in), test_case._forward(there, there_in)
        test_case.assertEqual(here_out, there_out, atol=self.precision, rtol=0, exact_device=False)
        for out in (here_out, there_out):
            sum(t.sum() for t in _flat(out) if t.requires_grad).backward()
        for a, b in zip(module.parameters(), there.parameters(), strict=True):
            test_case.assertEqual(a.grad, b.grad, atol=self.precision, rtol=0, exact_device=False)


class NewModuleTest(InputVariableMixin, ModuleTest):
    """A test of a module that also converts it between element types."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cudnn, self.check_inplace = kwargs.get("cudnn", False), kwargs.get("check_inplace", False)
        self.skip_double, self.skip_half = kwargs.get("skip_double", False), kwargs.get("skip_half", False)
        self.with_tf32, self.tf32_precision = kwargs.get("with_tf32", False), kwargs.get("tf32_precision", 0.001)
        self.test_cpu, self.has_sparse_gradients = kwargs.get("test_cpu", True), kwargs.get("has_sparse_gradients", False)
        self.check_batched_grad, self.gradcheck_fast_mode = kwargs.get("check_batched_grad", True), kwargs.get("gradcheck_fast_mode")
        self.supports_forward_ad, self.supports_fwgrad_bwgrad = kwargs.get("supports_forward_ad", False), kwargs.get("supports_fwgrad_bwgrad", False)

    def _check_gradients(self, test_case: Any, module: Any, input: Any) -> None:
        params = tuple(module.parameters())
        wanted = tuple(t for t in _flat(input) if t.requires_grad) + params
        if not wanted or self.has_sparse_gradients:
            return
        check: dict[str, Any] = {"check_batched_grad": False, "nondet_tol": 1e-12}
        test_case.assertTrue(gradcheck(lambda *_: test_case._forward(module, input), wanted, **check))
        if self.check_gradgrad:
            test_case.assertTrue(gradgradcheck(lambda *_: test_case._forward(module, input), wanted, **check))

    def _do_test(self, test_case: Any, module: Any, input: Any) -> None:
        of_floats = all(t.is_floating_point() for t in _flat(input))
        doubles = _wants(_mapped(input, lambda t: t.detach().double() if t.is_floating_point() else t))
        self._check_gradients(test_case, module.double(), doubles)
        if self.check_inplace:
            inplace = self.constructor(*self.constructor_args, inplace=True).double()
            test_case.assertEqual(inplace(*_flat(_mapped(doubles, torch.Tensor.clone))), module(*_flat(doubles)))
        if of_floats:
            for kind in (torch.float64, torch.float32):
                module.to(kind)
                test_case._forward(module, _mapped(_mapped(input, torch.Tensor.detach), _to(kind)))
                for p in module.parameters():
                    test_case.assertEqual(p.dtype, kind)

    @property
    def constructor_args(self) -> Any:
        return self._get_arg("constructor_args", False)


class CriterionTest(InputVariableMixin, TestBase):
    """A test of a loss: its value by a reference, and its gradients."""

    _required_arg_names = TestBase._required_arg_names | {"target"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.should_test_cuda, self.check_forward_only = kwargs.get("test_cuda", True), kwargs.get("check_forward_only", False)
        self.check_gradgrad, self.check_half, self.check_bfloat16 = kwargs.get("check_gradgrad", True), kwargs.get("check_half", True), kwargs.get("check_bfloat16", False)
        self.check_complex, self.test_cpu = kwargs.get("check_complex", False), kwargs.get("test_cpu", True)
        self.with_tf32, self.tf32_precision = kwargs.get("with_tf32", True), kwargs.get("tf32_precision", 0.001)
        self.check_batched_grad, self.default_dtype = kwargs.get("check_batched_grad", True), kwargs.get("default_dtype")

    def _get_target(self) -> Any:
        return self._get_arg("target", True)

    @property
    def constructor_args(self) -> Any:
        return self._get_arg("constructor_args", False)

    @property
    def extra_args(self) -> Any:
        return self._get_arg("extra_args", False)

    def __call__(self, test_case: Any) -> None:
        module, input, target = self.constructor(*self.constructor_args), self._get_input(), self._get_target()
        extra = tuple(self.extra_args)
        if self.reference_fn is not None:
            expected = self.reference_fn(_mapped(copy.deepcopy(_mapped(input, torch.Tensor.detach)), lambda t: t), copy.deepcopy(target), *extra, module)
            test_case.assertEqual(module(*_args(input), target, *extra), expected, exact_dtype=False)
        if self.check_forward_only:
            return
        doubles = _wants(_mapped(input, lambda t: t.detach().double() if t.is_floating_point() else t))
        aim = _mapped(target, lambda t: t.double() if t.is_floating_point() else t)
        module = module.double()
        wanted = tuple(t for t in _flat(doubles) if t.requires_grad)
        test_case.assertTrue(gradcheck(lambda *_: module(*_args(doubles), aim, *extra), wanted, check_batched_grad=False))
        if self.check_gradgrad:
            test_case.assertTrue(gradgradcheck(lambda *_: module(*_args(doubles), aim, *extra), wanted, check_batched_grad=False))

    def test_cuda(self, test_case: Any, dtype: Any, extra_args: Any = None) -> None:
        """Fails unless a CUDA device gives the same loss and gradients for an element type."""
        if not TEST_CUDA or not self.should_test_cuda:
            raise unittest.SkipTest("Excluded from CUDA tests")
        kinds = lambda t: t.detach().to(dtype) if t.is_floating_point() else t  # noqa: E731
        module = self.constructor(*self.constructor_args).to(dtype)
        here, there = _wants(_mapped(self._get_input(), kinds)), _wants(to_gpu(_mapped(self._get_input(), kinds)))
        target, extra = _mapped(self._get_target(), kinds), tuple(extra_args or ())
        a = module(*_args(here), target, *extra)
        b = copy.deepcopy(module).cuda()(*_args(there), to_gpu(target), *extra)
        test_case.assertEqual(a, b, atol=1e-1 if dtype in (torch.half, torch.bfloat16) else 4e-4, rtol=0, exact_device=False, exact_dtype=False)


def _args(input: Any) -> tuple[Any, ...]:
    return input if isinstance(input, tuple) else (input,)


def _test_bfloat16_ops(test_case: Any, op: Any, device: Any, inp_dims: Any = (), prec: float = 1e-2, scale_factor: Any = None) -> None:
    """Fails unless a module gives about the same of bfloat16 as of float32, and its gradient too."""
    first = (torch.randn(inp_dims, device=device) * (1 if scale_factor is None else scale_factor)).bfloat16()
    ours, full = first.clone().requires_grad_(), first.float().requires_grad_()
    made, wanted = copy.deepcopy(op).bfloat16()(ours), copy.deepcopy(op).float()(full)
    test_case.assertEqual(made, wanted, atol=prec, rtol=prec, exact_dtype=False)
    step = torch.randn_like(made)
    made.backward(step)
    wanted.backward(step.float())
    test_case.assertEqual(ours.grad, full.grad, atol=prec, rtol=prec, exact_dtype=False)


def _test_module_empty_input(test_case: Any, module: Any, inp: Any, check_size: bool = True, inference: bool = False) -> None:
    """Fails unless a module takes an input without elements, and gives it a gradient."""
    if not inference:
        inp.requires_grad_(True)
    out = module(inp)
    if not inference:
        out.backward(torch.rand_like(out))
    if check_size:
        test_case.assertEqual(out.size(), inp.size())
    if not inference:
        for p in module.parameters():
            if p.requires_grad:
                test_case.assertEqual(p.grad, torch.zeros_like(p.grad))
        test_case.assertEqual(inp.grad, torch.zeros_like(inp))


def single_batch_reference_fn(input: Any, parameters: Any, module: Any) -> Any:
    """What a module gives of a sample without the dimension of samples: that of a batch of one."""

    def unsqueezed(value: Any) -> Any:
        return _mapped(value, lambda t: t.unsqueeze(0))

    with freeze_rng_state():
        given = _args(unsqueezed(input))
        return module(*given).squeeze(0)
