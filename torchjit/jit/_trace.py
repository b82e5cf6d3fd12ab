"""torch.jit.trace: records what a function or module does on example inputs."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from torchjit import _C as _classes
from torchjit import _host, _lazy, _native
from torchjit._advice import advised
from torchjit._pytorch_tensors import converted
from torchjit._tensor import Tensor
from torchjit._types import preserve_format
from torchjit.jit import _state
from torchjit.nn.modules import module as _modules

if TYPE_CHECKING:
    from torchjit._native import ScriptFunction
    from torchjit.jit._module import TopLevelTracedModule
    from torchjit.nn.modules.module import Module

_P = ParamSpec("_P")
_R = TypeVar("_R")

_C: Any = _classes  # its members are made when it is loaded


class TracerWarning(Warning):
    """A trace may not do what the program does on other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Leaves out what this package itself does, except in torchjit.jit."""
        warnings.filterwarnings("ignore", category=TracerWarning, module="torchjit.(?!jit)")


TracerWarning.__module__ = "torch.jit._trace"
TracerWarning.ignore_lib_warnings()


# What a type checker knows of trace: a function keeps its parameters and its result.
@overload
def trace(  # type: ignore[overload-overlap]  # a module is callable, too
    func: Module,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
) -> TopLevelTracedModule: ...
@overload
def trace(
    func: Callable[_P, _R],
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
) -> ScriptFunction[_P, _R]: ...
def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
) -> Any:
    """The operations that func does on the example inputs, as a compiled function or module.

    func is a function or a module; example_inputs a tensor or a tuple of tensors and of lists and tuples
    of tensors, or dictionaries of tensors. Sizes of tensors stay sizes; other numbers and decisions that Python
    takes from tensors are fixed in the result, and a TracerWarning names the line. A dictionary is returned only
    where strict is False.

    Example inputs may be given by name instead, as the dictionary example_kwarg_inputs, and so are those of check_inputs then.

    With check_trace the program is traced again, on the example inputs or on each of check_inputs, and both
    traces are run: a TracingCheckError is raised where the graphs differ, and a TracerWarning issued where the
    outputs differ by more than check_tolerance. With check_inputs of other shapes the error lists the constants
    that depend on the example.

    With _force_outplace what writes a tensor is recorded as what makes a new one; writes to views of it are lost then.

    >>> f = torch.jit.trace(lambda x: x * 2 + 1, torch.rand(3))
    >>> f(torch.tensor([1.0, 2.0]))
    tensor([3., 5.])
    """
    from torchjit.jit._module import ScriptModule
    from torchjit.nn import Module

    _warn_of_optimize(optimize)
    named = example_kwarg_inputs is not None
    _check_examples(example_inputs, example_kwarg_inputs)
    if not _state._enabled:
        return func
    if isinstance(func, ScriptModule):
        warnings.warn(
            "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.",
            stacklevel=2,
        )
        return func
    bound_to = getattr(func, "__self__", None)
    if isinstance(bound_to, Module) and not isinstance(func, Module):
        if func.__name__ != "forward":
            raise AttributeError(
                "trace doesn't support compiling individual module's functions.\nPlease use trace_module"
            )
        func = bound_to
    if isinstance(func, Module):
        methods = None if check_inputs is None else [{"forward": c} for c in check_inputs]
        return trace_module(
            func,
            {"forward": example_kwarg_inputs if named else example_inputs},
            None,
            check_trace,
            methods,
            check_tolerance,
            strict,
            _force_outplace,
            _module_class,
            example_inputs_is_kwarg=named,
        )
    from torchjit._jit_internal import qualified_name

    call: Any = func
    given: Any = example_inputs
    if example_kwarg_inputs is not None:
        call, given = _ByName(func, example_kwarg_inputs), example_kwarg_inputs
    names = call.names if named else _argument_names(func)
    inputs = _examples(call, given)
    traced = _record(call, inputs, None, qualified_name(func), "", strict, names, _force_outplace)
    if check_trace:
        cases: Any = [given if named else inputs] if check_inputs is None else check_inputs
        _check_trace(cases, call, traced, check_tolerance, strict, _force_outplace, False, _module_class)
    return traced


def _check_examples(example_inputs: Any, example_kwarg_inputs: Any) -> None:
    """Fails unless the example inputs of a trace are given in one of the two ways."""
    if example_kwarg_inputs is None:
        if example_inputs is None:
            raise TypeError("trace() missing 1 required positional argument: 'example_inputs'")
    elif example_inputs is not None:
        raise TypeError("trace() takes example_inputs or example_kwarg_inputs, not both")
    elif not isinstance(example_kwarg_inputs, dict):
        raise TypeError(f"example_kwarg_inputs must be a dictionary of inputs by name, but it is a {type(example_kwarg_inputs).__name__}")


class _ByName:
    """A function that is called with inputs by name: it takes them by position, those of its parameters in their order first."""

    def __init__(self, func: Any, inputs: dict[str, Any]) -> None:
        self.func, self.__self__ = func, getattr(func, "__self__", func)
        try:
            parameters = list(inspect.signature(func).parameters)
        except (TypeError, ValueError):
            parameters = []
        self.names = [name for name in parameters if name in inputs]
        self.names += [name for name in inputs if name not in self.names]

    def __call__(self, *inputs: Any) -> Any:
        return self.func(**dict(zip(self.names, inputs, strict=True)))

    def examples(self, inputs: dict[str, Any]) -> tuple[Any, ...]:
        """Inputs by name in the order of the names, which must be these."""
        if not isinstance(inputs, dict) or set(inputs) != set(self.names):
            found = list(inputs) if isinstance(inputs, dict) else f"a {type(inputs).__name__}"
            raise TypeError(f"expected inputs by the names {self.names}, but found {found}")
        inputs = converted(inputs)
        return tuple(inputs[name] for name in self.names)


def _examples(call: Any, inputs: Any) -> tuple[Any, ...]:
    return call.examples(inputs) if isinstance(call, _ByName) else _as_tuple(inputs)


def trace_module(
    mod: Module,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
) -> TopLevelTracedModule:
    """The operations that methods of a module do on example inputs, as a compiled module.

    inputs has the example inputs of each method by its name, and so has each of check_inputs: with example_inputs_is_kwarg a dictionary of
    them by the names of the parameters. The parameters and
    buffers are shared with mod. The forward of each submodule becomes a method of the submodule. See trace.

    >>> m = torch.jit.trace_module(nn.Linear(3, 2), {"forward": torch.rand(1, 3)})
    >>> m(torch.rand(4, 3)).shape
    torch.Size([4, 2])
    """
    from torchjit.nn import Module

    _warn_of_optimize(optimize)
    if not _state._enabled:
        return mod  # type: ignore[return-value]  # PYTORCH_JIT=0 leaves what would be compiled as it is
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    compiled = make_module(mod, _module_class, _compilation_unit)
    with _Paths(mod):
        for name, example in inputs.items():
            method = getattr(mod, name)
            call = mod if name == "forward" else method
            names = _argument_names(method)
            if example_inputs_is_kwarg:
                by_name = _ByName(method, example)
                call, names, by_name.func = by_name, by_name.names, call
            _record(call, _examples(call, example), compiled._c, "", name, strict, names, _force_outplace)
            if check_trace:
                cases = [inputs] if check_inputs is None else check_inputs
                _check_trace(cases, call, _native.module_method(compiled._c, name), check_tolerance, strict, _force_outplace, True, _module_class)
    compiled._finish()
    return compiled


def make_module(mod: Any, _module_class: Any, _compilation_unit: Any) -> Any:
    """The compiled module into which calls of a module's methods can be recorded; a compiled one is itself."""
    from torchjit.jit import _recursive
    from torchjit.jit._module import ScriptModule, TopLevelTracedModule

    return mod if isinstance(mod, ScriptModule) else _recursive.create_traced_module(mod, _module_class or TopLevelTracedModule)


def _check_trace(
    check_inputs: Any, func: Any, traced_func: Any, check_tolerance: float, strict: bool, force_outplace: bool, is_trace_module: bool,
    _module_class: Any,
) -> None:  # fmt: skip
    """Compares a trace of a function, or of a method of a module, with it on inputs: for a method, dictionaries of those of each method.

    Issues a TracerWarning where results differ. Raises TracingCheckError where the graphs differ or one of them does not run.
    """
    from torchjit.jit._trace_check import check, clone

    for case in check_inputs:

        def again(copied: Any, case: Any = case) -> Any:
            settings: Any = {"check_trace": False, "strict": strict, "_force_outplace": force_outplace, "_module_class": _module_class}
            if not is_trace_module:
                if isinstance(func, _ByName):
                    return trace(func.func, example_kwarg_inputs=dict(zip(func.names, copied, strict=True)), **settings)
                return trace(func, copied, **settings)
            named = isinstance(func, _ByName)
            examples = {name: clone(example if named else _as_tuple(example)) for name, example in case.items()}
            second = trace_module(getattr(func, "__self__", func), examples, example_inputs_is_kwarg=named, **settings)
            return _native.module_method(second._c, traced_func.name)

        check(func, traced_func, _examples(func, case[traced_func.name] if is_trace_module else case), again, check_tolerance)


class _Paths:
    """Makes calls of the modules in mod known to traces of this thread, by their paths."""

    def __init__(self, mod: Any) -> None:
        self.paths: dict[Any, str] = {}
        self._add(mod, "__module")

    def _add(self, mod: Any, prefix: str) -> None:
        for name, child in mod.named_children():
            self.paths[child] = f"{prefix}.{name}"
            self._add(child, self.paths[child])

    def __enter__(self) -> None:
        self.outer, _modules._traces.paths = _modules._traces.paths, self.paths
        _modules._Traces.active += 1

    def __exit__(self, *exception: Any) -> None:
        _modules._traces.paths = self.outer
        _modules._Traces.active -= 1


def _warn_of_optimize(optimize: Any) -> None:
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution() instead",
            stacklevel=3,
        )


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    inputs = converted(inputs)
    return (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)


def _argument_names(func: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters; none where it has others than plain ones, and of compiled functions, as in PyTorch."""
    if isinstance(func, (_native.ScriptFunction, _native.ScriptMethod)):
        return []
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        return []
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return []
    return [p.name for p in parameters]


_CONTAINER = (
    "Encountering a {} at the output of the tracer might cause the trace to be incorrect, this is only valid if the container "
    "structure does not change based on the module's inputs. Consider using a constant container instead (e.g. for `list`, use a "
    "`tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and know the side effects, pass "
    "strict=False to trace() to allow this behavior."
)


def _check_containers(result: Any) -> None:
    """Says of a result's lists and dictionaries that their lengths are fixed in a trace."""
    if isinstance(result, dict):
        raise advised(RuntimeError(_CONTAINER.format("dict")))
    if isinstance(result, list):
        warnings.warn(_CONTAINER.format("list"), TracerWarning, stacklevel=5)
    elif isinstance(result, tuple):
        for item in result:
            _check_containers(item)


def _check_type(x: Any) -> None:
    """Fails where data has no type: a list without elements, or with such of several types."""
    found, why = _C._infer_type(x)
    if found is None:
        raise RuntimeError(f"Tracer cannot infer type of {x}\n:{why}")


def _record(
    call: Any, inputs: tuple[Any, ...], module: Any, name: str, method: str, strict: bool, names: list[str], outplace: bool = False
) -> Any:  # fmt: skip
    _check_type(inputs)
    bound = _native.trace_begin(module, names[: len(inputs)], inputs, outplace)
    try:
        result = call(*bound)
        if not isinstance(result, Tensor):
            _check_type(result)
        if strict:
            _check_containers(result)
        return _native.trace_end(name, result, module, method)
    finally:
        _host.naming.function = None
        _native.trace_abort()


def _flatten(*args: Any) -> Any:
    """torch._C._jit_flatten."""
    return _C._jit_flatten(*args)


def _unflatten(vars: Any, desc: Any) -> Any:
    """torch._C._jit_unflatten."""
    return _C._jit_unflatten(vars, desc)


def _unique_state_dict(module: Any, keep_vars: bool = False) -> Any:
    """The state of a module, each tensor once."""
    found: Any = OrderedDict()
    seen: set[int] = set()
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = tensor if keep_vars else tensor.detach()
    return found


def make_tuple(example_inputs: Any) -> tuple[Any, ...]:
    """Inputs as a tuple: one tensor or dictionary is the only input."""
    return _as_tuple(example_inputs)


def _get_trace_graph(
    f: Any, args: Any = (), kwargs: Any = None, strict: bool = True, _force_outplace: bool = False, return_inputs: bool = False,
    _return_inputs_states: bool = False,
) -> Any:  # fmt: skip
    """(graph, outputs) of a function or module, and copies of the graph's inputs with return_inputs. The graph has one level: its inputs
    are the tensors among the arguments and then the tensors of the module's state.
    """
    from torchjit.nn import Module

    kwargs = kwargs or {}
    args = args if isinstance(args, tuple) else (args,)
    given, form = _C._jit_flatten(args)
    state = list(_unique_state_dict(f, keep_vars=True).values()) if isinstance(f, Module) else []
    results: list[Any] = []
    copies: list[Any] = []

    def call(*tensors: Any) -> Any:
        copies.append(tuple(_copied(tensors)))
        bound = _C._jit_unflatten(tensors[: len(given)], form)
        for tensor, made in zip(state, tensors[len(given) :], strict=True):
            _C._set_value_trace(tensor, _C._get_value_trace(made))
        results.append(f(*bound, **kwargs))
        flat = _C._jit_flatten(results[0])[0]
        return flat[0] if len(flat) == 1 else tuple(flat)

    inputs = (*given, *state)
    _host.naming.function = _host.name_in_caller
    traced = _record(call, inputs, None, "__torch__.traced", "", strict, [], _force_outplace)
    made = (traced.graph, results[0])
    return (*made, copies[0]) if return_inputs else made


def _copied(tensors: Any) -> Iterator[Any]:
    """Copies of the inputs of a trace. They are values of the graph too, which nobody uses but which are numbered."""
    return (t.clone(memory_format=preserve_format) for t in tensors)


@contextlib.contextmanager
def _hide_source_ranges() -> Iterator[None]:
    """A context in which the texts of graphs have no places in the source."""
    former = _C.Graph.global_print_source_ranges
    _C.Graph.set_global_print_source_ranges(False)
    try:
        yield
    finally:
        _C.Graph.set_global_print_source_ranges(former)


def _onnx_traced_module() -> type:
    """ONNXTracedModule, which is a Module: made when it is first used."""
    from torchjit.nn import Module

    class ONNXTracedModule(Module):
        """A module whose call records one of another: it returns the graph and the outputs, and the inputs with return_inputs.

        With return_inputs_states the third is the inputs before the call and after it.
        """

        def __init__(
            self, inner: Any, strict: bool = True, force_outplace: bool = False, return_inputs: bool = False, return_inputs_states: bool = False
        ) -> None:  # fmt: skip
            super().__init__()
            self.inner = inner
            self.strict, self._force_outplace = strict, force_outplace
            self._return_inputs, self._return_inputs_states = return_inputs, return_inputs_states

        def forward(self, *args: Any) -> Any:
            before = _clone_inputs(args) if self._return_inputs_states else None
            found = _get_trace_graph(self.inner, args, None, self.strict, self._force_outplace, self._return_inputs)
            return (*found, (before, _clone_inputs(args))) if self._return_inputs_states else found

    ONNXTracedModule.__module__, ONNXTracedModule.__qualname__ = __name__, "ONNXTracedModule"
    return ONNXTracedModule


def _clone_inputs(args: Any) -> Any:
    """A copy of inputs, with tensors that share nothing with theirs."""
    from torchjit.jit._trace_check import clone

    return clone(args)


def wrap_check_inputs(check_inputs: Any) -> Any:
    """Inputs of forward, to check a trace with, as those of a module's methods."""
    return None if check_inputs is None else [{"forward": c} for c in check_inputs]


def _create_interpreter_name_lookup_fn(frames_up: int = 1) -> Callable[[Any], str]:
    """A function that gives the name of the local variable that holds a tensor, some frames above its caller; "" where none does."""

    def find(var: Any) -> str:
        frame = inspect.currentframe()
        for _ in range(frames_up + 1):
            frame = frame.f_back if frame else None
        if frame is None:
            raise RuntimeError("failed to get frame")
        held = next((name for name, value in frame.f_locals.items() if isinstance(value, Tensor) and value is var), "")
        return "" if held == "self" else held

    return find


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._jit_internal": "is_scripting is_tracing",
    "torchjit.jit": "_script_if_tracing",
    "torchjit.jit._callables": "_qualified_name get_callable_argument_names",
    "torchjit.jit._module": "ScriptModule TopLevelTracedModule TracedModule _CachedForward",
    "torchjit.jit._script": "script",
    "torchjit.jit._state": "_enabled _python_cu",
    "torchjit.jit._trace_check": "TracingCheckError _verify_equal indent verify",
    "torchjit.nn": "Module",
    "torchjit.testing._comparison": "default_tolerances",
}, {"ONNXTracedModule": _onnx_traced_module, "_trace_module_map": lambda: _modules._traces.paths})  # fmt: skip
