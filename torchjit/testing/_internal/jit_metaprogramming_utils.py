"""What tests make of names of operators and of modules: programs that call them, traces of them, and their inputs."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit import _C, _lazy
from torchjit.testing._internal.common_nn import module_tests, new_module_tests

L, M, S = 20, 10, 5

script_template = "\ndef the_method({}):\n    return {}\n"
script_method_template = "\ndef forward({}):\n    return {}\n"

# Names of tests whose functions and modules do not compile.
EXCLUDE_SCRIPT: set[str] = {"test_nn_ctc_loss"}
EXCLUDE_SCRIPT_MODULES: set[str] = {"test_nn_CrossMapLRN2d"}

# Functions of torch.nn.functional: their names, the size of the first argument, the others, and how often autograd differentiates them.
nn_functional_tests: list[tuple[Any, ...]] = [
    ("conv1d", (S, S, S), ((S, S, S),)), ("conv2d", (S, S, S, S), ((S, S, S, S),)), ("conv3d", (S, S, S, S, S), ((S, S, S, S, S),)),
    ("conv_transpose1d", (S, S, S), ((S, S, S),)), ("conv_transpose2d", (S, S, S, S), ((S, S, S, S),)),
    ("conv_transpose3d", (S, S, S, S, S), ((S, S, S, S, S),)), ("avg_pool1d", (S, S, S), (3,)), ("avg_pool2d", (S, S, S, S), (3,)),
    ("avg_pool3d", (S, S, S, S, S), (3,)), ("max_pool1d", (S, S, S), (2, 1)), ("max_pool2d", (S, S, S, S), (2, 1)),
    ("max_pool3d", (S, S, S, S, S), (2, 1)), ("lp_pool1d", (S, S, S), (2.0, 3, 2)), ("lp_pool2d", (S, S, S, S), (2.0, 3, 2)),
    ("adaptive_max_pool1d", (S, S, S), (5,)), ("adaptive_max_pool2d", (S, S, S, S), ([5, 7],)), ("adaptive_avg_pool1d", (S, S, S), (5,)),
    ("adaptive_avg_pool2d", (S, S, S, S), ([5, 7],)), ("dropout", (S, S, S), (0.5,)), ("alpha_dropout", (S, S, S), (0.5,)),
    ("threshold", (S, S, S), (0.1, 2.0)), ("relu", (S, S, S), ()), ("glu", (S - 1, S - 1, S - 1), ()), ("hardtanh", (S, S, S), (-0.5, 0.5)),
    ("relu6", (S, S, S), ()), ("elu", (S, S, S), (0.9,)), ("selu", (S, S, S), ()), ("celu", (S, S, S), (0.9,)), ("leaky_relu", (S, S, S), (0.02,)),
    ("rrelu", (S, S), (0.1, 0.3, False)), ("hardshrink", (S, S, S), (0.4,)), ("tanhshrink", (S, S, S), ()), ("softsign", (S, S, S), ()),
    ("softplus", (S, S, S), ()), ("softmin", (S, S, S), (0,)), ("softmax", (S, S, S), (0,)), ("log_softmax", (S, S, S), (0,)),
    ("tanh", (S, S, S), ()), ("sigmoid", (S, S, S), ()), ("silu", (S, S, S), ()), ("mish", (S, S, S), ()), ("gelu", (S, S, S), ()),
    ("hardsigmoid", (S, S, S), ()), ("hardswish", (S, S, S), ()), ("logsigmoid", (S, S, S), ()), ("linear", (S, S), ((M, S),)),
    ("bilinear", (S, S, S), ((S, S, M), (M, S, M))), ("batch_norm", (S, S), (None, None, None, None, True)),
    ("instance_norm", (S, S, S), ()), ("layer_norm", (S, S, S, S), ([5],)), ("group_norm", (S, S, S), (1,)),
    ("local_response_norm", (S, S, S), (2,)), ("normalize", (S, S, S), ()), ("pixel_shuffle", (1, 9, 4, 4), (3,)),
    ("pixel_unshuffle", (1, 1, 12, 12), (3,)), ("pad", (3, 3, 4, 2), ([1, 1],)), ("pairwise_distance", (S, S), ((S, S),)),
    ("cosine_similarity", (S, S), ((S, S),)), ("mse_loss", (S, S), ((S, S),)), ("l1_loss", (S, S), ((S, S),)),
    ("smooth_l1_loss", (S, S), ((S, S),)), ("huber_loss", (S, S), ((S, S),)), ("unfold", (S, S, S, S), ([2, 3],)),
    ("interpolate", (1, 1, 4, 4), (None, 2.0)),
]  # fmt: skip

additional_module_tests: list[dict[str, Any]] = [
    {"module_name": "Bilinear", "constructor_args": (S, S, M), "input_size": (S, S), "extra_args": ((S, S),)},
    {"module_name": "RNNCell", "constructor_args": (S, S), "input_size": (S, S)},
    {"module_name": "LSTMCell", "constructor_args": (S, S), "input_size": (S, S)},
    {"module_name": "GRUCell", "constructor_args": (S, S), "input_size": (S, S)},
    {"module_name": "MultiheadAttention", "constructor_args": (128, 8), "input_size": (10, 8, 128), "extra_args": ((10, 8, 128), (10, 8, 128))},
    {"module_name": "Transformer", "constructor_args": (1, 1, 1, 1, 2), "input_size": (3, 1, 1), "extra_args": ((3, 1, 1),)},
]  # fmt: skip


class dont_convert(tuple):  # noqa: N801  (its name in PyTorch)
    """A tuple that create_input leaves as it is."""


non_differentiable = collections.namedtuple("non_differentiable", ["tensor"])


def unpack_variables(args: Any) -> Any:
    """The arguments, tuples in them as tuples."""
    return tuple(unpack_variables(a) for a in args) if isinstance(args, tuple) else args


def create_input(
    call_args: Any, requires_grad: bool = True, non_contiguous: bool = False, call_kwargs: Any = None, dtype: Any = torch.float64,
    device: Any = None,
) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """The arguments of a call: sizes become tensors of random numbers, tensors copies, of which gradients are asked for; functions are called."""
    if not isinstance(call_args, tuple):
        call_args = (call_args,)

    def fresh(t: Any) -> Any:
        wanted = requires_grad and (t.is_floating_point() or t.is_complex())
        made = t.detach().clone() if not non_contiguous or t.dim() == 0 else torch.stack([t.detach()] * 2, -1)[..., 0]
        return made.requires_grad_(wanted)

    def convert(arg: Any) -> Any:
        if isinstance(arg, (torch.Size, dont_convert)):
            return arg
        if isinstance(arg, tuple) and not arg:
            return fresh(torch.randn((), dtype=dtype, device=device))
        if isinstance(arg, tuple) and not isinstance(arg[0], torch.Tensor) and not isinstance(arg, non_differentiable):
            return fresh(torch.randn(arg, dtype=dtype, device=device))
        if isinstance(arg, non_differentiable):
            return arg.tensor.detach().clone() if isinstance(arg.tensor, torch.Tensor) else torch.randn(arg.tensor, dtype=dtype)
        if isinstance(arg, torch.Tensor):
            return fresh(arg)
        return convert(arg(dtype=dtype, device=device)) if callable(arg) else arg

    return tuple(map(convert, call_args)), {k: convert(v) for k, v in (call_kwargs or {}).items()}


def value_to_literal(value: Any) -> str:
    """A value as source text."""
    if isinstance(value, str):
        return ascii(value)
    return f"torch.tensor({value.tolist()})" if isinstance(value, torch.Tensor) else str(value)


def get_call(method_name: str, func_type: str, args: list[str], kwargs: dict[str, Any]) -> str:
    """The source text of a call: of a method of the first argument, of a function of torch ("functional") or of torch.nn.functional."""
    named = [f"{k}={value_to_literal(v)}" for k, v in kwargs.items()]
    if func_type == "method":
        return f"{args[0]}.{method_name}({', '.join([*args[1:], *named])})"
    places = {"functional": "torch", "nn_functional": "torch.nn.functional"}
    if func_type not in places:
        raise RuntimeError("Unsupported function type")
    return f"{places[func_type]}.{method_name}({', '.join([*args, *named])})"


def get_constant(x: Any) -> Any:
    """A constant as source text can have it."""
    return "math.inf" if x == math.inf else "-math.inf" if x == -math.inf else x


def get_script_args(args: Any) -> tuple[list[str], list[Any], list[str]]:
    """The parameters of a function that is called with tensors alone, the tensors, and the arguments that its body gives to what it calls."""
    formals: list[str] = []
    tensors: list[Any] = []
    actuals: list[str] = []
    for arg in args:
        name = f"i{len(formals)}"
        is_list = isinstance(arg, (list, tuple)) and bool(arg) and all(isinstance(a, torch.Tensor) for a in arg)
        if isinstance(arg, torch.Tensor) or is_list:
            formals.append(f"{name}: List[torch.Tensor]" if is_list else name)
            tensors.append(list(arg) if is_list else arg)
            actuals.append(name)
        else:
            actuals.append(ascii(arg) if isinstance(arg, str) else str(arg if isinstance(arg, torch.Tensor) else get_constant(arg)))
    return formals, tensors, actuals


def gen_script_fn_and_args(method_name: str, func_type: str, *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
    """A compiled function that calls an operator, and the tensors to call it with."""
    formals, tensors, actuals = get_script_args(args)
    source = script_template.format(", ".join(formals), get_call(method_name, func_type, actuals, kwargs))
    return torch.jit.CompilationUnit(source).the_method, tensors


def create_script_fn(self: Any, method_name: str, func_type: str) -> Callable[..., Any]:
    """A function that compiles a call of an operator for its arguments and runs it; last_graph is what ran."""

    def script_fn(*args: Any, **kwargs: Any) -> Any:
        fn, tensors = gen_script_fn_and_args(method_name, func_type, *args, **kwargs)
        if self is not None:
            self.assertExportImport(fn.graph, tensors)
        output = fn(*tensors)
        script_fn.last_graph = fn.graph_for(*tensors)  # type: ignore[attr-defined]
        return output

    return script_fn


class SplitInputs:
    """Arguments, the tensors apart from the others."""

    def __init__(self, args: Any, kwargs: dict[str, Any]) -> None:
        self.arg_types = ["t" if self._is_tensor_input(a) else "s" for a in args]
        self.kwarg_types = {k: "t" if self._is_tensor_input(v) else "s" for k, v in kwargs.items()}
        self.tensor_args = [a for a in args if self._is_tensor_input(a)]
        self.nontensor_args = [a for a in args if not self._is_tensor_input(a)]
        self.tensor_kwargs = {k: v for k, v in kwargs.items() if self._is_tensor_input(v)}
        self.nontensor_kwargs = {k: v for k, v in kwargs.items() if not self._is_tensor_input(v)}
        self.kwarg_order = list(kwargs)
        self.all_tensors = [*self.tensor_args, *self.tensor_kwargs.values()]

    @staticmethod
    def _is_tensor_input(arg: Any) -> bool:
        return isinstance(arg, torch.Tensor) or isinstance(arg, (list, tuple)) and bool(arg) and all(isinstance(a, torch.Tensor) for a in arg)

    def nontensors_match(self, other: SplitInputs) -> bool:
        """Whether all but the tensors is the same."""
        return (self.arg_types, self.kwarg_types, self.kwarg_order, self.nontensor_args, self.nontensor_kwargs) == (
            other.arg_types, other.kwarg_types, other.kwarg_order, other.nontensor_args, other.nontensor_kwargs
        )  # fmt: skip


def partial_apply_nontensors(fn: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Callable[..., Any], SplitInputs]:
    """A function of the tensors among arguments alone, and the arguments."""
    split = SplitInputs(args, kwargs)

    def of_tensors(*tensors: Any) -> Any:
        given, others = iter(tensors), iter(split.nontensor_args)
        positional = [next(given if kind == "t" else others) for kind in split.arg_types]
        named = {k: next(given) if split.kwarg_types[k] == "t" else split.nontensor_kwargs[k] for k in split.kwarg_order}
        return fn(*positional, **named)

    return of_tensors, split


def create_traced_fn(self: Any, fn: Callable[..., Any], cache_traced_fn: bool = False) -> Callable[..., Any]:
    """A function that traces another one for its arguments and runs the trace, which is kept for like arguments where cache_traced_fn says so."""

    def traced_fn(*inputs: Any, **kwargs: Any) -> Any:
        of_tensors, split = partial_apply_nontensors(fn, inputs, kwargs)
        kept = getattr(traced_fn, "kept", None)
        if not cache_traced_fn or kept is None or not kept[1].nontensors_match(split):
            kept = traced_fn.kept = torch.jit.trace(of_tensors, split.all_tensors, check_trace=False), split  # type: ignore[attr-defined]
        traced = kept[0]
        if self is not None:
            self.assertExportImport(traced.graph, split.all_tensors)
        output = traced(*split.all_tensors)
        traced_fn.last_graph = traced.graph_for(*split.all_tensors)  # type: ignore[attr-defined]
        traced_fn.graph = traced.graph  # type: ignore[attr-defined]
        return output

    return traced_fn


def get_nn_functional_compiled_fn_and_inputs(name: str, self_size: Any, args: Any, variant_name: str = "", *extra_args: Any) -> tuple[Any, list[Any]]:
    """The compiled call of a function of torch.nn.functional, and tensors to call it with."""
    first = create_input((self_size,))[0][0]
    others, kwargs = create_input(args)
    return gen_script_fn_and_args(name, "nn_functional", first, *unpack_variables(others), **kwargs)


def create_script_module(self: Any, nn_module: Callable[..., Any], constructor_args: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """A function that compiles a module in a module of its own and runs it; last_graph is what ran."""

    def script_module(*args: Any, **kwargs: Any) -> Any:
        formals, tensors, actuals = get_script_args(args)
        source = script_method_template.format(", ".join(["self", *formals]), f"self.submodule({', '.join(actuals)})")

        class TheModule(torch.jit.ScriptModule):
            def __init__(self) -> None:
                super().__init__()
                self.submodule = nn_module(*constructor_args)
                self.define(source)

        module = TheModule()
        if self is not None:
            self.assertExportImportModule(module, tensors)
        output = module(*tensors)
        create_script_module.last_graph = module.graph  # type: ignore[attr-defined]
        script_module.module = module  # type: ignore[attr-defined]
        return output

    return script_module


def check_alias_annotation(method_name: str, args: Any, kwargs: dict[str, Any], *, aten_name: str, func_type: str = "method") -> None:
    """Fails where an operator writes or gives memory otherwise than its schema says."""
    fn, tensors = gen_script_fn_and_args(method_name, func_type, *args, **kwargs)
    _C._jit_pass_inline(fn.graph)
    _C._jit_pass_constant_propagation(fn.graph)
    _C._jit_check_alias_annotation(fn.graph, tuple(tensors), aten_name)


def get_nn_module_name_from_kwargs(**kwargs: Any) -> Any:
    """The name of the module that a test is of."""
    return kwargs.get("module_name") or kwargs.get("fullname") or kwargs["constructor"].__name__


def get_nn_mod_test_name(**kwargs: Any) -> str:
    """The name of the test of a module."""
    name = kwargs.get("fullname") or get_nn_module_name_from_kwargs(**kwargs)
    if "fullname" not in kwargs and "desc" in kwargs:
        name = f"{name}_{kwargs['desc']}"
    return f"test_nn_{name}"


def get_nn_module_class_from_kwargs(**kwargs: Any) -> str:
    """The class of the module that a test is of, by its name."""
    return str(get_nn_module_name_from_kwargs(**kwargs)).partition("_")[0]


def try_get_nn_module_compiled_mod_and_inputs(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]] | None:
    """A compiled module in a module of its own, and tensors to call it with; None where the module does not compile or the test is of eval mode."""
    name = get_nn_module_name_from_kwargs(**kwargs)
    if "eval" in kwargs.get("desc", "") or get_nn_mod_test_name(**kwargs) in EXCLUDE_SCRIPT_MODULES:
        return None
    constructor = kwargs.get("constructor") or getattr(torch.nn, name)
    given = kwargs["input_fn"]() if "input_fn" in kwargs else (kwargs["input_size"],)
    inputs = given if isinstance(given, tuple) else (given,)
    extra = kwargs["extra_args"] if "extra_args" in kwargs else ()
    if "target_size" in kwargs:
        extra = (*extra, kwargs["target_size"])
    elif "target_fn" in kwargs:
        extra = (*extra, kwargs["target_fn"]())
    variables, _ = create_input((*inputs, *extra), dtype=torch.get_default_dtype())
    run = create_script_module(None, constructor, kwargs.get("constructor_args", ()))
    run(*variables)
    return run.module, get_script_args(variables)[1]  # type: ignore[attr-defined]


def get_all_nn_module_tests() -> list[dict[str, Any]]:
    """The tests of modules."""
    return [*module_tests, *new_module_tests, *additional_module_tests]


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._jit_internal": "BroadcastingList2 BroadcastingList3",
    "torchjit.testing._internal.common_utils": "is_iterable_of_tensors",
})  # fmt: skip
