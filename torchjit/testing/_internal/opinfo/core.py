"""What describes an operator for tests: the function and its variants, element types, and samples of its inputs.

    for op in op_db:
        for sample in op.sample_inputs("cpu", torch.float32, requires_grad=True):
            op(sample.input, *sample.args, **sample.kwargs)

The tables are in `opinfo.definitions`; common_methods_invocations has all of them as op_db.
"""

from __future__ import annotations

import enum
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import torchjit as torch
from torchjit.testing import make_tensor as make_tensor
from torchjit.testing._dtypes import floating_and_complex_types as floating_and_complex_types
from torchjit.testing._dtypes import floating_and_complex_types_and as floating_and_complex_types_and
from torchjit.testing._dtypes import floating_types as floating_types
from torchjit.testing._internal.common_utils import is_iterable_of_tensors as is_iterable_of_tensors
from torchjit.testing._internal.common_utils import noncontiguous_like as noncontiguous_like
from torchjit.utils._pytree import tree_map

# Sizes of samples.
XS, S, M, L = 3, 5, 10, 20

_DERIVED = object()  # a variant that is found by the name of the operator
_Samples = Callable[..., Iterable["SampleInput"]]


class DecorateInfo:
    """Decorators for some of the tests that are made for an operator: by the names of the class and of the test, device and element type."""

    __slots__ = ["active_if", "cls_name", "decorators", "device_type", "dtypes", "test_name"]

    def __init__(
        self, decorators: Any, cls_name: str | None = None, test_name: str | None = None, *, device_type: str | None = None, dtypes: Iterable[Any] | None = None,
        active_if: bool = True,
    ) -> None:  # fmt: skip
        self.decorators = list(decorators) if isinstance(decorators, Sequence) else [decorators]
        self.cls_name, self.test_name, self.device_type, self.dtypes, self.active_if = cls_name, test_name, device_type, dtypes, active_if
        for dtype in dtypes or ():
            assert isinstance(dtype, torch.dtype)

    def is_active(self, cls_name: str | None, test_name: str | None, device_type: str | None, dtype: Any) -> bool:
        """Whether the decorators are those of a test."""
        wanted = ((self.cls_name, cls_name), (self.test_name, test_name), (self.device_type, device_type))
        return self.active_if and all(own is None or own == other for own, other in wanted) and (self.dtypes is None or dtype in self.dtypes)


def active_decorators(decorators: Iterable[Any], test_class: str, test_name: str, device: str, dtype: Any) -> list[Any]:
    """The decorators of a test: those that count for all, and those of a DecorateInfo that is for it."""
    found: list[Any] = []
    for decorator in decorators:
        if not isinstance(decorator, DecorateInfo):
            found.append(decorator)
        elif decorator.is_active(test_class, test_name, device, dtype):
            found.extend(decorator.decorators)
    return found


class SampleInput:
    """Arguments of a call of an operator: input (a tensor, or a list of them), and what follows."""

    __slots__ = ["args", "broadcasts_input", "input", "kwargs", "name", "output_process_fn_grad"]

    def __init__(
        self, input: Any, *var_args: Any, args: Any = None, kwargs: Any = None, output_process_fn_grad: Any = None, broadcasts_input: bool | None = None,
        name: str | None = None, **var_kwargs: Any,
    ) -> None:  # fmt: skip
        if args is not None or kwargs is not None:
            assert not var_args and not var_kwargs, "arguments of a SampleInput are given as they are, or by args and kwargs, not both"
        elif var_args or var_kwargs:
            assert output_process_fn_grad is None and broadcasts_input is None and name is None, "what a SampleInput knows of arguments is set by with_metadata"
        self.input = input
        self.args = tuple(args) if args is not None else var_args
        self.kwargs = kwargs if kwargs is not None else var_kwargs
        self.output_process_fn_grad = output_process_fn_grad or (lambda x: x)
        self.broadcasts_input = bool(broadcasts_input)
        self.name = name or ""

    def with_metadata(self, *, output_process_fn_grad: Any = None, broadcasts_input: bool | None = None, name: str | None = None) -> SampleInput:
        """Sets what is known of the arguments."""
        if output_process_fn_grad is not None:
            self.output_process_fn_grad = output_process_fn_grad
        if broadcasts_input is not None:
            self.broadcasts_input = broadcasts_input
        if name is not None:
            self.name = name
        return self

    def _text(self, show: Callable[[Any], Any]) -> str:
        shown = [f"{key}={show(getattr(self, key))}" for key in ("input", "args", "kwargs", "output_process_fn_grad", "broadcasts_input")]
        return f"SampleInput({', '.join(shown)}, name={self.name!r})"

    def __repr__(self) -> str:
        return self._text(lambda value: value)

    def summary(self) -> str:
        """The text, with sizes for tensors."""

        def show(value: Any) -> str:
            if isinstance(value, torch.Tensor):
                return f"Tensor[{','.join(map(str, value.shape))}{'' if value.dim() > 1 else ','}]"
            if isinstance(value, dict):
                return "{" + ", ".join(f"{key!r}: {show(item)}" for key, item in value.items()) + "}"
            if isinstance(value, (list, tuple)):
                left, right = "[]" if isinstance(value, list) else "()"
                return left + ", ".join(map(show, value)) + right
            return str(value)

        return self._text(show)

    def transform(self, f: Callable[[Any], Any]) -> SampleInput:
        """A sample whose tensors and element types are what a function makes of them."""

        def one(value: Any) -> Any:
            with torch.no_grad():
                changed = f(value)
            keep = isinstance(value, torch.Tensor) and isinstance(changed, torch.Tensor)
            return changed.requires_grad_(value.requires_grad) if keep else changed

        def within(value: Any) -> Any:
            return tree_map(lambda v: one(v) if isinstance(v, (torch.Tensor, torch.dtype)) else v, value)

        return SampleInput(
            within(self.input), args=within(self.args), kwargs=within(self.kwargs), output_process_fn_grad=self.output_process_fn_grad,
            broadcasts_input=self.broadcasts_input, name=self.name + "_transformed",
        )  # fmt: skip

    def numpy(self) -> SampleInput:
        """The sample with arrays and types of NumPy's."""
        from torchjit.testing._internal.common_utils import torch_to_numpy_dtype_dict

        def array(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return torch_to_numpy_dtype_dict[value]
            value = value.detach().cpu().resolve_conj().resolve_neg()
            return (value.float() if value.dtype is torch.bfloat16 else value).numpy()

        return self.transform(array)

    def noncontiguous(self) -> SampleInput:
        """The sample with tensors that equal its own and are not contiguous."""
        return self.transform(lambda value: noncontiguous_like(value) if isinstance(value, torch.Tensor) else value)


class ErrorInput:
    """A sample that an operator refuses, with the class of the error and a pattern for its text."""

    __slots__ = ["error_regex", "error_type", "sample_input"]

    def __init__(self, sample_input: Any, *, error_type: Any = RuntimeError, error_regex: str) -> None:
        self.sample_input, self.error_type, self.error_regex = sample_input, error_type, error_regex


class NumericsFilter:
    """Elements that a comparison leaves out: where a condition holds, tensors have a safe value."""

    __slots__ = ["condition", "safe_val"]

    def __init__(self, condition: Callable[[Any], Any], safe_val: Any) -> None:
        self.condition, self.safe_val = condition, safe_val


class AliasInfo:
    """Another name of an operator, with its variants."""

    def __init__(self, alias_name: str) -> None:
        self.name = alias_name
        self.op = _named(alias_name)
        self.method_variant = getattr(torch.Tensor, alias_name, None)
        self.inplace_variant = getattr(torch.Tensor, alias_name + "_", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)


def _named(name: str) -> Any:
    """The function torch.a.b of a name a.b."""
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


class OpInfo:
    """An operator: how it is called, which element types it has on the CPU, what it supports, and samples."""

    def __init__(
        self, name: str, *, ref: Any = None, aliases: Iterable[str] | None = None, variant_test_name: str = "", op: Any = None, method_variant: Any = _DERIVED,
        inplace_variant: Any = _DERIVED, operator_variant: Any = _DERIVED, inplace_operator_variant: Any = _DERIVED, skips: Sequence[Any] = (),
        decorators: Sequence[Any] = (), sample_inputs_func: _Samples | None = None, reference_inputs_func: _Samples | None = None, error_inputs_func: Any = None,
        dtypes: Iterable[Any] | None = None, dtypesIfCUDA: Iterable[Any] | None = None, dtypesIfROCM: Iterable[Any] | None = None,
        backward_dtypes: Iterable[Any] | None = None, backward_dtypesIfCUDA: Iterable[Any] | None = None, backward_dtypesIfROCM: Iterable[Any] | None = None,
        supports_out: bool = True, supports_autograd: bool = True, supports_gradgrad: bool | None = None, supports_fwgrad_bwgrad: bool = False,
        supports_inplace_autograd: bool | None = None, supports_forward_ad: bool = False, supports_varargs: bool = False, gradcheck_wrapper: Any = None,
        check_batched_grad: bool | None = None, check_batched_gradgrad: bool | None = None, check_batched_forward_grad: bool | None = None,
        check_inplace_batched_forward_grad: bool | None = None, gradcheck_nondet_tol: float = 0.0, gradcheck_fast_mode: bool | None = None,
        aten_name: str | None = None, decomp_aten_name: str | None = None, aten_backward_name: str | None = None, assert_autodiffed: bool = False,
        autodiff_nonfusible_nodes: list[str] | None = None, autodiff_fusible_nodes: list[str] | None = None, supports_sparse: bool = False,
        supports_scripting: bool = True, supports_tracing: bool = True, supports_sparse_csr: bool = False, supports_sparse_csc: bool = False,
        supports_sparse_bsr: bool = False, supports_sparse_bsc: bool = False, test_conjugated_samples: bool = True, test_neg_view: bool = True,
        assert_jit_shape_analysis: bool = False, supports_expanded_weight: bool = False, is_factory_function: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.ref, self.variant_test_name = name, ref, variant_test_name
        self.op = op if op is not None else _named(name)
        self.method_variant = self._variant(method_variant, torch.Tensor, name)
        self.inplace_variant = self._variant(inplace_variant, torch.Tensor, name + "_")
        self.operator_variant = self._variant(operator_variant, operator, name)
        self.inplace_operator_variant = self._variant(inplace_operator_variant, operator, "i" + name)
        self.aliases = tuple(AliasInfo(alias) for alias in aliases or ())
        self.skips, self.decorators = tuple(skips), (*decorators, *skips)
        self.sample_inputs_func, self.reference_inputs_func, self.error_inputs_func = sample_inputs_func, reference_inputs_func, error_inputs_func
        self.dtypes = set(floating_types() if dtypes is None else dtypes)
        self.dtypesIfCUDA = self.dtypes if dtypesIfCUDA is None else set(dtypesIfCUDA)
        self.dtypesIfROCM = self.dtypesIfCUDA if dtypesIfROCM is None else set(dtypesIfROCM)
        of_numbers = {d for d in self.dtypes if d.is_floating_point or d.is_complex}
        self.backward_dtypes = of_numbers if backward_dtypes is None else set(backward_dtypes)
        self.backward_dtypesIfCUDA = self.backward_dtypes if backward_dtypesIfCUDA is None else set(backward_dtypesIfCUDA)
        self.backward_dtypesIfROCM = self.backward_dtypesIfCUDA if backward_dtypesIfROCM is None else set(backward_dtypesIfROCM)
        self.supports_out, self.supports_autograd = supports_out, supports_autograd
        self.supports_gradgrad = supports_autograd if supports_gradgrad is None else supports_gradgrad
        self.supports_inplace_autograd = (
            supports_autograd and self.inplace_variant is not None if supports_inplace_autograd is None else supports_inplace_autograd
        )
        self.supports_forward_ad, self.supports_fwgrad_bwgrad = supports_forward_ad, supports_fwgrad_bwgrad
        self.supports_varargs, self.supports_sparse = supports_varargs, supports_sparse
        self.supports_scripting, self.supports_tracing = supports_scripting, supports_tracing
        self.supports_sparse_csr, self.supports_sparse_csc = supports_sparse_csr, supports_sparse_csc
        self.supports_sparse_bsr, self.supports_sparse_bsc = supports_sparse_bsr, supports_sparse_bsc
        self.gradcheck_wrapper = gradcheck_wrapper or (lambda op, *args, **kwargs: op(*args, **kwargs))
        self.check_batched_grad = supports_autograd if check_batched_grad is None else check_batched_grad
        self.check_batched_gradgrad = self.supports_gradgrad if check_batched_gradgrad is None else check_batched_gradgrad
        self.check_batched_forward_grad = supports_forward_ad if check_batched_forward_grad is None else check_batched_forward_grad
        self.check_inplace_batched_forward_grad = (
            self.check_batched_forward_grad if check_inplace_batched_forward_grad is None else check_inplace_batched_forward_grad
        )
        self.gradcheck_nondet_tol, self.gradcheck_fast_mode = gradcheck_nondet_tol, gradcheck_fast_mode
        last = name.split(".")[-1] if name.startswith("nn.functional.") else name.replace(".", "_")
        self.aten_name = last if aten_name is None else aten_name
        self.decomp_aten_name, self.aten_backward_name = decomp_aten_name, aten_backward_name
        self.assert_autodiffed = assert_autodiffed
        self.autodiff_fusible_nodes = autodiff_fusible_nodes or []
        self.autodiff_nonfusible_nodes = ["aten::" + name] if autodiff_nonfusible_nodes is None else autodiff_nonfusible_nodes
        self.test_conjugated_samples, self.test_neg_view = test_conjugated_samples, test_neg_view
        self.assert_jit_shape_analysis, self.supports_expanded_weight, self.is_factory_function = assert_jit_shape_analysis, supports_expanded_weight, is_factory_function

    @staticmethod
    def _variant(given: Any, place: Any, name: str) -> Any:
        return getattr(place, name, None) if given is _DERIVED else given

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)

    def __str__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, variant_test_name={self.variant_test_name!r}, op={self.op!r})"

    @property
    def full_name(self) -> str:
        """The name, with that of the variant behind it."""
        return self.name + ("." + self.variant_test_name if self.variant_test_name else "")

    @property
    def formatted_name(self) -> str:
        """The name, with that of the variant, as part of a test's name."""
        return self.name.replace(".", "_") + ("_" + self.variant_test_name.replace(".", "_") if self.variant_test_name else "")

    def get_op(self) -> Any:
        """The function."""
        return self.op

    def get_method(self) -> Any:
        """The method, or None."""
        return self.method_variant

    def get_inplace(self) -> Any:
        """The method that writes, or None."""
        return self.inplace_variant

    def get_operator(self) -> Any:
        """The function of the module operator, or None."""
        return self.operator_variant

    def get_inplace_operator(self) -> Any:
        """The function of the module operator that writes, or None."""
        return self.inplace_operator_variant

    def sample_inputs(self, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any) -> Iterator[SampleInput]:
        """Samples of an element type; with include_conjugated_inputs also conjugated ones of complex numbers."""
        conjugated = kwargs.pop("include_conjugated_inputs", False)
        assert self.sample_inputs_func is not None
        for sample in self.sample_inputs_func(self, device, dtype, requires_grad, **kwargs):
            yield sample
            if conjugated and isinstance(sample.input, torch.Tensor) and sample.input.is_complex():
                yield sample.transform(lambda value: value.conj() if isinstance(value, torch.Tensor) and value.is_complex() else value)

    def conjugate_sample_inputs(self, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any) -> Iterator[SampleInput]:
        """Samples whose input is a conjugated view."""
        for sample in self.sample_inputs(device, dtype, requires_grad, **kwargs):
            first = sample.input if isinstance(sample.input, torch.Tensor) else sample.input[0]
            if first.is_complex():
                yield sample.transform(lambda value: value.conj() if isinstance(value, torch.Tensor) else value)

    def reference_inputs(self, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any) -> Iterator[SampleInput]:
        """More samples, for comparisons with a reference."""
        samples = self.reference_inputs_func or self.sample_inputs_func
        assert samples is not None
        yield from samples(self, device, dtype, requires_grad, **kwargs)

    def error_inputs(self, device: Any, **kwargs: Any) -> Iterable[ErrorInput]:
        """Samples that are refused."""
        return self.error_inputs_func(self, device, **kwargs) if self.error_inputs_func else ()

    def get_decorators(self, test_class: str, test_name: str, device: str, dtype: Any) -> list[Any]:
        """The decorators of a test."""
        return active_decorators(self.decorators, test_class, test_name, device, dtype)

    def supported_dtypes(self, device_type: str) -> set[Any]:
        """The element types on devices of a type."""
        return self.dtypesIfCUDA if torch.device(device_type).type == "cuda" else self.dtypes

    def supported_backward_dtypes(self, device_type: str) -> set[Any]:
        """Those of which there are gradients."""
        if not self.supports_autograd:
            return set()
        return self.backward_dtypesIfCUDA if torch.device(device_type).type == "cuda" else self.backward_dtypes

    def supports_dtype(self, dtype: Any, device_type: str) -> bool:
        """Whether the operator has an element type."""
        return dtype in self.supported_dtypes(device_type)


class UnaryUfuncInfo(OpInfo):
    """An operator on each element of one tensor. domain: the least and the greatest number that it takes, None for no limit."""

    def __init__(
        self, name: str, *, domain: tuple[Any, Any] = (None, None), handles_complex_extremal_values: bool = True, handles_large_floats: bool = True,
        supports_complex_to_float: bool = False, sample_inputs_func: Any = None, sample_kwargs: Any = None, reference_numerics_filter: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        kwargs.setdefault("supports_forward_ad", True)
        super().__init__(name, sample_inputs_func=sample_inputs_func or sample_inputs_elementwise_unary, **kwargs)
        self.domain, self.handles_complex_extremal_values, self.handles_large_floats = domain, handles_complex_extremal_values, handles_large_floats
        self.supports_complex_to_float, self.reference_numerics_filter = supports_complex_to_float, reference_numerics_filter
        self.sample_kwargs: Any = sample_kwargs or (lambda device, dtype, input: ({}, {}))


class BinaryUfuncInfo(OpInfo):
    """An operator on pairs of elements of two tensors, which are broadcast."""

    def __init__(
        self, name: str, *, sample_inputs_func: Any = None, lhs_make_tensor_kwargs: Any = None, rhs_make_tensor_kwargs: Any = None, promotes_int_to_float: bool = False,
        always_returns_bool: bool = False, supports_rhs_python_scalar: bool = True, supports_one_python_scalar: bool = False,
        supports_two_python_scalars: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        kwargs.setdefault("supports_forward_ad", True)
        super().__init__(name, sample_inputs_func=sample_inputs_func or sample_inputs_elementwise_binary, **kwargs)
        self.lhs_make_tensor_kwargs, self.rhs_make_tensor_kwargs = lhs_make_tensor_kwargs or {}, rhs_make_tensor_kwargs or {}
        self.promotes_int_to_float, self.always_returns_bool = promotes_int_to_float, always_returns_bool
        self.supports_rhs_python_scalar = supports_rhs_python_scalar
        self.supports_one_python_scalar = supports_one_python_scalar or supports_two_python_scalars
        self.supports_two_python_scalars = supports_two_python_scalars


class ReductionOpInfo(OpInfo):
    """An operator that makes one number of the elements along dimensions."""

    def __init__(
        self, name: str, *, identity: Any = None, nan_policy: str | None = None, supports_multiple_dims: bool = True, promotes_int_to_float: bool = False,
        promotes_int_to_int64: bool = False, result_dtype: Any = None, complex_to_real: bool = False, generate_args_kwargs: Any = None,
        sample_inputs_func: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, sample_inputs_func=sample_inputs_func or sample_inputs_reduction, **{"inplace_variant": None, **kwargs})
        assert nan_policy in (None, "propagate", "omit")
        self.identity, self.nan_policy, self.supports_multiple_dims = identity, nan_policy, supports_multiple_dims
        self.promotes_int_to_float, self.promotes_int_to_int64 = promotes_int_to_float, promotes_int_to_int64
        self.result_dtype, self.complex_to_real = result_dtype, complex_to_real
        self.generate_args_kwargs: Any = generate_args_kwargs or (lambda t, dim=None, keepdim=False: iter([((), {})]))


class SpectralFuncType(enum.Enum):
    """How many dimensions a Fourier transform has."""

    OneD = 0
    TwoD = 1
    ND = 2


class SpectralFuncInfo(OpInfo):
    """A Fourier transform."""

    def __init__(self, name: str, *, ndimensional: SpectralFuncType, sample_inputs_func: Any = None, **kwargs: Any) -> None:
        kwargs.setdefault("supports_forward_ad", True)
        super().__init__(name, sample_inputs_func=sample_inputs_func or sample_inputs_spectral_ops, **kwargs)
        self.ndimensional = ndimensional


class ShapeFuncInfo(OpInfo):
    """An operator that moves elements."""

    def __init__(self, name: str, *, ref: Any, sample_inputs_func: Any = None, **kwargs: Any) -> None:
        super().__init__(name, ref=ref, sample_inputs_func=sample_inputs_func, **kwargs)


class ForeachFuncInfo(OpInfo):
    """A function on lists of tensors: torch._foreach_NAME, by the name."""

    def __init__(self, name: str, *, dtypes: Any = None, supports_alpha_param: bool = False, sample_inputs_func: Any = None, **kwargs: Any) -> None:
        function, inplace, one, one_inplace = get_foreach_method_names(name)
        super().__init__(
            "_foreach_" + name, op=function, method_variant=function, inplace_variant=inplace, operator_variant=None, inplace_operator_variant=None,
            dtypes=floating_and_complex_types() if dtypes is None else dtypes, sample_inputs_func=sample_inputs_func or sample_inputs_foreach, **kwargs,
        )  # fmt: skip
        self.ref, self.ref_inplace = one, one_inplace
        self.supports_alpha_param = supports_alpha_param


def get_foreach_method_names(name: str) -> tuple[Any, Any, Any, Any]:
    """The function on lists, that which writes, and the function and the method for one tensor."""
    one = getattr(torch, name, None)
    return getattr(torch, "_foreach_" + name), getattr(torch, "_foreach_" + name + "_", None), one, getattr(torch.Tensor, name + "_", None)


# Samples of whole classes of operators.


def clone_sample(sample: SampleInput, **kwargs: Any) -> SampleInput:
    """A copy of a sample; kwargs are keyword arguments in place of its own."""

    def copied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    keywords = kwargs or {key: copied(value) for key, value in sample.kwargs.items()}
    return SampleInput(copied(sample.input), args=tuple(map(copied, sample.args)), kwargs=keywords)


def _within(domain: tuple[Any, Any], dtype: Any) -> dict[str, Any]:
    """Limits of make_tensor inside a domain, away from its ends, of floats."""
    low, high = domain
    if not (dtype.is_floating_point or dtype.is_complex):
        return {"low": low, "high": high}
    near = 1e-2 if dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128) else 5e-2
    return {"low": None if low is None else low + near, "high": None if high is None else high - near}


def sample_inputs_elementwise_unary(op_info: Any, device: Any, dtype: Any, requires_grad: bool, op_kwargs: Any = None, **kwargs: Any) -> Iterator[SampleInput]:
    """A matrix, a number and a tensor without elements."""
    for shape in ((L, L), (), (1, 0, 3)):
        made = make_tensor(shape, device=device, dtype=dtype, requires_grad=requires_grad, **_within(op_info.domain, dtype))
        yield SampleInput(made, kwargs=dict(op_kwargs or op_info.sample_kwargs(device, dtype, made)[0]))


_BROADCAST = (
    ((), ()), ((S,), ()), ((S, 1), (S,)), ((M, S), ()), ((S, M, S), (M, S)), ((S, M, S), (S, M, S)), ((M, 1, S), (M, S)), ((M, 1, S), (1, M, S)), ((0, 1, 3), (0, 10, 3)),
)  # fmt: skip


def sample_inputs_elementwise_binary(op: Any, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Iterator[SampleInput]:
    """Pairs of tensors of sizes that broadcast; kwargs may have exclude_zero and op_kwargs."""
    keywords = kwargs.get("op_kwargs", {})
    exclude_zero = kwargs.get("exclude_zero", False)
    make = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad, exclude_zero=exclude_zero)
    for left, right in _BROADCAST:
        sample = SampleInput(make(left, **op.lhs_make_tensor_kwargs), args=(make(right, **op.rhs_make_tensor_kwargs),), kwargs=dict(keywords))
        yield sample.with_metadata(broadcasts_input=torch.broadcast_shapes(left, right) != torch.Size(left))


def _dims(rank: int, several: bool) -> Iterator[dict[str, Any]]:
    yield {}
    yield {"dim": 0, "keepdim": True}
    yield {"dim": -1, "keepdim": False}
    if rank > 2:
        yield {"dim": rank // 2, "keepdim": True}
    if several:
        yield {"dim": tuple(range(rank)), "keepdim": False}
        if rank > 1:
            yield {"dim": (0, -1), "keepdim": True}


def sample_inputs_reduction(op_info: Any, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Iterator[SampleInput]:
    """Tensors of several sizes, over all dimensions, one and several."""
    make = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad)
    for shape in ((), (2,), (3, 5), (3, 2, 1, 2)):
        for reduction in _dims(len(shape), op_info.supports_multiple_dims):
            for args, keywords in op_info.generate_args_kwargs(make(shape), **reduction):
                yield SampleInput(make(shape), args=args, kwargs={**reduction, **keywords})


def sample_inputs_spectral_ops(self: Any, device: Any, dtype: Any, requires_grad: bool = False, **kwargs: Any) -> Iterator[SampleInput]:
    """Signals along one, two and all dimensions, with sizes and norms."""
    make = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad)
    shapes = ((31,), (7, 9)) if self.ndimensional is SpectralFuncType.OneD else ((7, 9), (2, 4, 6))
    for shape in shapes:
        yield SampleInput(make(shape))
        if self.ndimensional is SpectralFuncType.OneD:
            options: list[dict[str, Any]] = [{"n": 10}, {"dim": -1}, {"dim": 0}, {"norm": "ortho"}]
        else:
            options = [{"s": (4, 8), "dim": (-2, -1)}, {"dim": (-1, -2)}, {"norm": "ortho"}]
        for option in options:
            yield SampleInput(make(shape), kwargs=option)


def sample_inputs_foreach(
    self: Any, device: Any, dtype: Any, N: int, *, noncontiguous: bool = False, same_size: bool = False, low: Any = None, high: Any = None
) -> list[Any]:
    """N tensors of growing sizes, or of one size."""
    make = partial(make_tensor, dtype=dtype, device=device, noncontiguous=noncontiguous, low=low, high=high)
    return [make((N, N) if same_size else (N - i, N - i)) for i in range(N)]


# More samples: what generate_... makes holds for all element types.

_SMALL = (0, 1, -1, 2, -2, 3)
_FLOATS = (0.0, -0.0, 0.5, -0.5, 1.25, -1.25, 3.14, -3.14)


def _special(dtype: Any, group: str) -> list[Any]:
    whole = not (dtype.is_floating_point or dtype.is_complex)
    if dtype is torch.bool:
        return [True, False]
    if group == "small":
        if dtype is torch.uint8:
            return [0, 1, 2, 55, 127, 200]
        return [*_SMALL, 55, -55, 113] if whole else list(_FLOATS)
    if group == "large":
        return [-113, 113, -64, 64] if dtype is torch.int8 else [113, 200] if dtype is torch.uint8 else [-1113, 1113, -10701, 10701] if whole else [-501.0, 501.0, -1001.2, 1001.2]
    return [] if whole else [float("inf"), float("-inf"), float("nan")]


def _unary_of(values: list[Any], op: Any, device: Any, dtype: Any, requires_grad: bool) -> Iterator[SampleInput]:
    if values:
        made = torch.tensor(values, device=device, dtype=dtype, requires_grad=requires_grad)
        yield SampleInput(made, kwargs=dict(op.sample_kwargs(device, dtype, made)[0]))


def _binary_of(values: list[Any], op: Any, device: Any, dtype: Any, requires_grad: bool, exclude_zero: bool = False) -> Iterator[SampleInput]:
    pairs = [(a, b) for a, b in itertools.product(values, values) if not (exclude_zero and b == 0)]
    if pairs:
        left, right = (torch.tensor(list(side), device=device, dtype=dtype, requires_grad=requires_grad) for side in zip(*pairs))
        yield SampleInput(left, right)


def generate_elementwise_unary_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Iterator[SampleInput]:
    """Tensors of several sizes, contiguous or not."""
    for shape in ((1029,), (M, M), (S, XS, S), (), (0, 3)):
        for noncontiguous in (False, True):
            made = make_tensor(shape, device=device, dtype=dtype, requires_grad=requires_grad, noncontiguous=noncontiguous, **_within(op.domain, dtype))
            yield SampleInput(made, kwargs=dict(op.sample_kwargs(device, dtype, made)[0]))


def generate_elementwise_unary_small_value_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False) -> Iterator[SampleInput]:
    """Numbers around zero."""
    yield from _unary_of(_special(dtype, "small"), op, device, dtype, requires_grad)


def generate_elementwise_unary_large_value_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False) -> Iterator[SampleInput]:
    """Large numbers."""
    yield from _unary_of(_special(dtype, "large"), op, device, dtype, requires_grad)


def generate_elementwise_unary_extremal_value_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False) -> Iterator[SampleInput]:
    """Infinities and NaN."""
    yield from _unary_of(_special(dtype, "extremal"), op, device, dtype, requires_grad)


def generate_elementwise_binary_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False, exclude_zero: bool = False) -> Iterator[SampleInput]:
    """Pairs of one size."""
    make = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad)
    for shape in ((), (0, 3), (20,), (M, M), (S, XS, S)):
        yield SampleInput(make(shape, **op.lhs_make_tensor_kwargs), make(shape, exclude_zero=exclude_zero, **op.rhs_make_tensor_kwargs))


def generate_elementwise_binary_broadcasting_tensors(
    op: Any, *, device: Any, dtype: Any, requires_grad: bool = False, exclude_zero: bool = False
) -> Iterator[SampleInput]:
    """Pairs of sizes that broadcast."""
    yield from sample_inputs_elementwise_binary(op, device, dtype, requires_grad, exclude_zero=exclude_zero)


def generate_elementwise_binary_noncontiguous_tensors(
    op: Any, *, device: Any, dtype: Any, requires_grad: bool = False, exclude_zero: bool = False
) -> Iterator[SampleInput]:
    """Pairs that are not contiguous."""
    make = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad, noncontiguous=True)
    for shape in ((20,), (M, M)):
        yield SampleInput(make(shape, **op.lhs_make_tensor_kwargs), make(shape, exclude_zero=exclude_zero, **op.rhs_make_tensor_kwargs))


def generate_elementwise_binary_small_value_tensors(
    op: Any, *, device: Any, dtype: Any, requires_grad: bool = False, exclude_zero: bool = False
) -> Iterator[SampleInput]:
    """All pairs of numbers around zero."""
    yield from _binary_of(_special(dtype, "small"), op, device, dtype, requires_grad, exclude_zero)


def generate_elementwise_binary_large_value_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False) -> Iterator[SampleInput]:
    """All pairs of large numbers."""
    yield from _binary_of(_special(dtype, "large"), op, device, dtype, requires_grad)


def generate_elementwise_binary_extremal_value_tensors(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False) -> Iterator[SampleInput]:
    """All pairs of infinities and NaN."""
    yield from _binary_of(_special(dtype, "extremal"), op, device, dtype, requires_grad)


def generate_elementwise_binary_with_scalar_samples(op: Any, *, device: Any, dtype: Any, requires_grad: bool = False) -> Iterator[SampleInput]:
    """A tensor and a number."""
    make = partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad)
    for shape in ((), (3,), (S, XS)):
        if op.supports_rhs_python_scalar:
            yield SampleInput(make(shape, **op.lhs_make_tensor_kwargs), make_tensor((), device=device, dtype=dtype, **op.rhs_make_tensor_kwargs).item())


def reference_inputs_elementwise_unary(op: Any, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Iterator[SampleInput]:
    """The samples, and those of generate_elementwise_unary_..."""
    yield from op.sample_inputs_func(op, device, dtype, requires_grad, **kwargs)
    for make in (
        generate_elementwise_unary_tensors, generate_elementwise_unary_small_value_tensors, generate_elementwise_unary_large_value_tensors,
        generate_elementwise_unary_extremal_value_tensors,
    ):  # fmt: skip
        yield from make(op, device=device, dtype=dtype, requires_grad=requires_grad)


def reference_inputs_elementwise_binary(op: Any, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any) -> Iterator[SampleInput]:
    """The samples, and those of generate_elementwise_binary_..."""
    yield from op.sample_inputs_func(op, device, dtype, requires_grad, **kwargs)
    exclude_zero = kwargs.get("exclude_zero", False)
    for make in (generate_elementwise_binary_tensors, generate_elementwise_binary_noncontiguous_tensors, generate_elementwise_binary_small_value_tensors):
        yield from make(op, device=device, dtype=dtype, requires_grad=requires_grad, exclude_zero=exclude_zero)
    for special in (generate_elementwise_binary_large_value_tensors, generate_elementwise_binary_extremal_value_tensors):
        yield from special(op, device=device, dtype=dtype, requires_grad=requires_grad)


# What gradcheck calls for operators whose input must stay what it is.


def gradcheck_wrapper_hermitian_input(op: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The operator on a matrix made Hermitian."""
    return op(input + input.mH, *args, **kwargs)


def gradcheck_wrapper_triangular_input(op: Any, *args: Any, upper: bool = False, idx: int = 0, **kwargs: Any) -> Any:
    """The operator with a triangle of the matrix at a place of its arguments."""
    triangle = args[idx].triu() if upper else args[idx].tril()
    return op(*args[:idx], triangle, *args[idx + 1 :], upper, **kwargs)


def gradcheck_wrapper_triangular_input_real_positive_diagonal(op: Any, *args: Any, upper: bool = False, idx: int = 0, **kwargs: Any) -> Any:
    """gradcheck_wrapper_triangular_input with a diagonal of positive numbers."""
    matrix = args[idx]
    diagonal = matrix.diagonal(0, -2, -1)
    positive = matrix - torch.diag_embed(diagonal) + torch.diag_embed(diagonal.abs())
    return gradcheck_wrapper_triangular_input(op, *args[:idx], positive, *args[idx + 1 :], upper=upper, idx=idx, **kwargs)


def gradcheck_wrapper_masked_operation(op: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The operator, with zeros where its result is masked out."""
    found = op(input, *args, **kwargs)
    mask = kwargs.get("mask")
    return found if mask is None else torch.where(torch.masked._output_mask(op, input, *args, **kwargs), found, found.new_zeros(()))


def gradcheck_wrapper_masked_pointwise_operation(op: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """The operator on two masked tensors, with zeros where one of them is masked out."""
    found = op(input, *args, **kwargs)
    first, second = kwargs.get("input_mask"), kwargs.get("other_mask")
    return found if first is None or second is None else torch.where(first & second, found, found.new_zeros(()))
