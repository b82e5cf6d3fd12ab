"""torch.jit.trace: records what a function or module does on example inputs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor


class TracerWarning(Warning):
    """A trace may not do what the program does on other inputs."""


TracerWarning.__module__ = "torchjit.jit"


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
) -> Any:
    """The operations that func does on the example inputs, as a compiled function or module.

    func is a function or a module; example_inputs a tensor or a tuple of tensors and of lists and tuples
    of tensors, or dictionaries from names to tensors. Numbers and decisions that Python takes from
    tensors are fixed in the result. A dictionary is returned only where strict is False. With
    check_trace the result is run once on the example inputs, and a RuntimeError is raised where it
    gives something else.
    """
    from torchjit.jit._module import ScriptModule
    from torchjit.nn import Module

    if isinstance(func, (_native.ScriptFunction, ScriptModule)):
        warnings.warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.", stacklevel=2)
        return func
    inputs = (example_inputs,) if isinstance(example_inputs, (Tensor, dict)) else tuple(example_inputs)
    if isinstance(func, Module):
        return trace_module(func, {"forward": inputs}, optimize, check_trace, check_inputs, check_tolerance, strict)
    from torchjit.jit._resolve import qualified_name

    traced = _record(func, func, inputs, None, qualified_name(func), "", strict)
    if check_trace:
        _check(func, traced, [inputs, *_tuples(check_inputs)], check_tolerance)
    return traced


def trace_module(
    mod: Any,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
) -> Any:
    """The operations that methods of a module do on example inputs, as a compiled module.

    inputs has the example inputs of each method by its name. The parameters and buffers are shared with mod.
    """
    from torchjit.jit import _recursive
    from torchjit.jit._module import TopLevelTracedModule

    compiled = _recursive.create_traced_module(mod, TopLevelTracedModule)
    for name, example in inputs.items():
        example = (example,) if isinstance(example, (Tensor, dict)) else tuple(example)
        method = getattr(mod, name)
        call = mod if name == "forward" else method
        _record(call, method, example, compiled._c, "", name, strict)
        if check_trace:
            _check(call, _native.module_method(compiled._c, name), [example], check_tolerance)
    compiled._finish()
    return compiled


def _tuples(inputs: Any) -> list[Any]:
    return [x if isinstance(x, tuple) else (x,) for x in inputs or ()]


def _names(func: Callable[..., Any], count: int) -> list[str]:
    """The names of the parameters that the inputs are for."""
    names: list[str] = []
    for p in inspect.signature(func).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            break
        names.append(p.name)
    return [names[i] if i < len(names) else f"arg_{i}" for i in range(count)]


_CONTAINER = (
    "Encountering a {} at the output of the tracer might cause the trace to be incorrect, this is only valid if the container "
    "structure does not change based on the module's inputs. Consider using a constant container instead (e.g. for `list`, use a "
    "`tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and know the side effects, pass "
    "strict=False to trace() to allow this behavior."
)


def _check_containers(result: Any) -> None:
    """Says of a result's lists and dictionaries that their lengths are fixed in a trace."""
    if isinstance(result, dict):
        raise RuntimeError(_CONTAINER.format("dict"))
    if isinstance(result, list):
        warnings.warn(_CONTAINER.format("list"), TracerWarning, stacklevel=5)
    elif isinstance(result, tuple):
        for item in result:
            _check_containers(item)


def _record(call: Any, signature_of: Any, inputs: tuple[Any, ...], module: Any, name: str, method: str, strict: bool) -> Any:
    bound = _native.trace_begin(module, _names(signature_of, len(inputs)), inputs)
    try:
        result = call(*bound)
        if strict:
            _check_containers(result)
        return _native.trace_end(name, result, module, method)
    finally:
        _native.trace_abort()


def _check(func: Any, traced: Any, cases: list[Any], tolerance: float) -> None:
    """Runs both on each case. Fails where they give different results."""
    for inputs in cases:
        expected, actual = func(*_copy(inputs)), traced(*_copy(inputs))
        for a, b in zip(_tensors(expected), _tensors(actual)):
            if a.shape != b.shape or a.dtype != b.dtype or not a.allclose(b, rtol=tolerance, atol=tolerance, equal_nan=True):
                warnings.warn(
                    "Output of the traced function does not match that of the Python function. It may draw random numbers, "
                    f"or decide by the values of its inputs.\nPython: {a}\ntraced: {b}",
                    TracerWarning,
                    stacklevel=4,
                )
                return


def _copy(inputs: Any) -> Any:
    if isinstance(inputs, Tensor):
        return inputs.clone()
    if isinstance(inputs, dict):
        return {name: _copy(x) for name, x in inputs.items()}
    return type(inputs)(_copy(x) for x in inputs)


def _tensors(x: Any) -> list[Tensor]:
    if isinstance(x, Tensor):
        return [x.detach()]
    if isinstance(x, dict):
        x = list(x.values())
    return [t for item in x for t in _tensors(item)] if isinstance(x, (list, tuple)) else []
