"""From what is exported to a graph of aten operators: tensors of modules are inputs behind the others, with names."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import torchjit as torch
from torchjit import _C
from torchjit.jit._trace import _clone_inputs
from torchjit.onnx import _functions


class Program:
    """A graph to export.

    state has a module's tensors by the names of the inputs that they are, inputs the values of the other inputs, results what the program
    returned for them, calls those of autograd functions.
    """

    def __init__(self, graph: Any, state: dict[str, Any], inputs: list[Any], results: Any, calls: Any = ()) -> None:
        self.graph, self.state, self.inputs, self.results, self.calls = graph, state, inputs, results, calls


def capture(model: Any, args: tuple[Any, ...]) -> Program:
    """The program of a module, which is traced, or of a compiled module or function, which is taken as it is.

    Raises TypeError for other objects, RuntimeError where the arguments do not fit.
    """
    if isinstance(model, torch.jit.ScriptModule):
        return _compiled_module(model, args)
    if isinstance(model, torch.jit.ScriptFunction):
        args = _with_defaults(model.schema.arguments, args)
        return _with_arguments(model.graph.copy(), {}, args, _results(model, args))
    if isinstance(model, torch.nn.Module):
        if _has_quantized(model):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
                return _compiled_module(torch.jit.trace(model, args, check_trace=False), args)
        return _traced(model, args)
    raise TypeError(
        f"expected a torch.nn.Module, a ScriptModule or a ScriptFunction to export but found a {type(model).__name__}"
    )


def arguments(model: Any, args: Any) -> tuple[Any, ...]:
    """The arguments of an export by position: a dictionary at the end has those that are given by name, and missing ones have their
    defaults.

    Raises KeyError or ValueError where the names are not the model's.
    """
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if not args or not isinstance(args[-1], dict):
        return args
    by_name, given = args[-1], list(args[:-1])
    if not by_name:
        return tuple(given)
    try:
        signature = inspect.signature(model.forward if hasattr(model, "forward") else model)
    except (TypeError, ValueError):
        return args
    parameters = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    known = {p.name for p in parameters}
    unknown = [name for name in by_name if name not in known]
    if unknown:
        others = {p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
        if others.issuperset(unknown) or any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            return args
        raise ValueError(f"the last of the arguments of the export names {unknown}, but forward takes {sorted(known)}")
    for p in parameters[len(given) :]:
        if p.name in by_name:
            given.append(by_name[p.name])
        elif p.default is not p.empty:
            given.append(p.default)
        else:
            raise ValueError(f"the argument '{p.name}' of forward is missing")
    return tuple(given)


def _has_quantized(model: Any) -> bool:
    """Whether a module has quantized tensors or packed parameters, which are constants of what is exported."""
    values = model.state_dict(keep_vars=True).values()
    return any(isinstance(v, tuple) or isinstance(v, torch.Tensor) and v.is_quantized for v in values)


# ---- compiled programs ----


def _compiled_module(model: Any, args: tuple[Any, ...]) -> Program:
    names = {t.data_ptr(): name for name, t in reversed(list(model.state_dict(keep_vars=True).items()))}
    method = next(
        (m for m in (getattr(model, n, None) for n in ("forward", "forward__0")) if hasattr(m, "graph")), None
    )
    if method is None:
        raise RuntimeError(f"{type(model).__name__} has no compiled method forward to export")
    args = _with_defaults(method.schema.arguments[1:], args)
    results = _results(model, args)
    frozen = not getattr(model, "training", False) and method.name == "forward"
    module = _C._freeze_module(model._c, preserveParameters=True) if frozen else model._c
    graph, tensors = _C._jit_pass_lower_graph(module._get_method(method.name).graph, module)
    state: dict[str, Any] = {}
    for value, tensor in zip(list(graph.inputs())[-len(tensors) :] if tensors else [], tensors):
        name = names.get(tensor.data_ptr()) if tensor.numel() else None
        if name is None or name in state:
            name = f"{name or 'constant'}.{len(state)}"
        state[name] = tensor
        value.setDebugName(name)
    return _with_arguments(graph, state, args, results)


def _with_defaults(parameters: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with the defaults of those that were not given."""
    rest = parameters[len(args) :]
    missing = [a.name for a in rest if not a.has_default_value()]
    if missing:
        raise RuntimeError(f"the export was given {len(args)} arguments; the program takes {missing} too")
    return (*args, *(a.default_value for a in rest))


def _results(model: Any, args: tuple[Any, ...]) -> Any:
    """What a compiled program returns for the arguments: their tensors are copied, as the program may write them."""
    with torch.no_grad():
        return model(*_clone_inputs(args))


def _with_arguments(graph: Any, state: dict[str, Any], args: tuple[Any, ...], results: Any) -> Program:
    """Gives the inputs of a graph the types that the arguments have: tuples become several inputs."""
    _C._jit_pass_inline(graph)
    flat = _spread(graph, args, len(list(graph.inputs())) - len(state))
    _C._jit_pass_lower_all_tuples(graph)
    for value, tensor in zip(graph.inputs(), flat):
        if isinstance(tensor, torch.Tensor) and value.type().kind() == "TensorType":
            value.setType(_C.TensorType.create_from_tensor(tensor.detach()))
    return Program(graph, state, flat, results)


def _spread(graph: Any, args: tuple[Any, ...], count: int) -> list[Any]:
    """The arguments as a list with the elements of tuples, and None's in the graph as the constants that they are."""
    if len(args) != count:
        raise RuntimeError(f"the program takes {count} arguments but the export was given {len(args)}")
    flat: list[Any] = []
    for value, arg in reversed(list(zip(graph.inputs(), args))):
        if arg is None:
            with graph.insert_point_guard(next(iter(graph.nodes()), graph.return_node())):
                node = graph.insertNode(graph.create("prim::Constant", [], 1))
            node.output().setType(_C.NoneType.get())
            value.replaceAllUsesWith(node.output())
            graph.eraseInput(value.offset())
        else:
            flat[:0] = _leaves(arg)
    return flat


def _leaves(arg: Any) -> list[Any]:
    if isinstance(arg, (tuple, list)):
        return [leaf for item in arg for leaf in _leaves(item)]
    return [arg]


# ---- modules that are traced ----


def _traced(model: Any, args: tuple[Any, ...]) -> Program:
    """Records a call of a module. Arguments that are no tensors are constants of the program."""
    from torchjit.jit import _trace
    from torchjit.nn.modules import module as _modules

    tensors: list[Any] = []
    form = _positions(args, tensors)
    if any(t.is_sparse for t in tensors):
        raise RuntimeError("ONNX has no sparse tensors as inputs")
    state = _trace._unique_state_dict(model, keep_vars=True)
    outer, _modules._traces.paths = _modules._traces.paths, _scopes(model)
    _modules._Traces.active += 1
    try:
        with _functions.recorded() as calls, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Encountering a")
            graph, results = _trace._get_trace_graph(_Call(model, form), tuple(tensors), strict=False)
    finally:
        _modules._traces.paths = outer
        _modules._Traces.active -= 1
    _C._jit_pass_lower_all_tuples(graph)
    inputs = list(graph.inputs())
    for value, name in zip(inputs[len(tensors) :], state):
        value.setDebugName(name)
    return Program(graph, dict(state), tensors, results, calls)


def _positions(arg: Any, tensors: list[Any]) -> Any:
    """The form of arguments: tensors are put into a list, and a function from the list stands for each."""
    if isinstance(arg, torch.Tensor):
        tensors.append(arg)
        return _Position(len(tensors) - 1)
    if isinstance(arg, tuple) and hasattr(arg, "_fields"):
        return type(arg)(*(_positions(a, tensors) for a in arg))
    if isinstance(arg, (tuple, list)):
        return type(arg)(_positions(a, tensors) for a in arg)
    if isinstance(arg, dict):
        return {k: _positions(a, tensors) for k, a in arg.items()}
    return arg


class _Position(int):
    """Where in the list of tensors an argument is."""


def _filled(form: Any, tensors: Any) -> Any:
    if isinstance(form, _Position):
        return tensors[form]
    if isinstance(form, tuple) and hasattr(form, "_fields"):
        return type(form)(*(_filled(f, tensors) for f in form))
    if isinstance(form, (tuple, list)):
        return type(form)(_filled(f, tensors) for f in form)
    if isinstance(form, dict):
        return {k: _filled(f, tensors) for k, f in form.items()}
    return form


class _Call(torch.nn.Module):
    """A call of a module with tensors alone; what it has is that of the module."""

    def __init__(self, model: Any, form: Any) -> None:
        super().__init__()
        self.__dict__["_model"], self.__dict__["_form"] = model, form
        self.__dict__["_modules"], self.__dict__["_parameters"], self.__dict__["_buffers"] = (
            model._modules,
            model._parameters,
            model._buffers,
        )

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self._model.state_dict(*args, **kwargs)

    def forward(self, *tensors: Any) -> Any:
        given = _filled(self._form, tensors)
        by_name = given[-1] if given and isinstance(given[-1], dict) and not _takes(self._model, len(given)) else None
        return _leaf_results(self._model(*given[:-1], **by_name) if by_name is not None else self._model(*given))


def _takes(model: Any, count: int) -> bool:
    """Whether a module's forward takes so many arguments by position."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.kind is p.VAR_POSITIONAL for p in parameters) or count <= sum(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
    )


def _leaf_results(results: Any) -> Any:
    """Results without what is None, which a graph of ONNX does not return."""
    if isinstance(results, dict):
        return tuple(_leaf_results(r) for r in results.values() if r is not None)
    if isinstance(results, (tuple, list)):
        return tuple(_leaf_results(r) for r in results if r is not None)
    return results


def _scopes(model: Any) -> dict[Any, str]:
    """The scopes of calls of modules: the class and the name, before which that of the outer module stands where it is a number."""
    names = {model: ""}
    for parent in model.modules():
        for name, child in parent.named_children():
            names.setdefault(child, f"{names[parent]}.{name}" if name.isdigit() and names[parent] else name)
    return {module: f"{_class_name(module)}::{name}" for module, name in names.items()}


def _class_name(module: Any) -> str:
    """The name of a module's class; those of this library have the names of PyTorch's."""
    name = f"{type(module).__module__}.{type(module).__qualname__}"
    return "torch." + name.removeprefix("torchjit.") if name.startswith("torchjit.") else name
