"""Captures modules and functions as programs of Export IR."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._advice import advised
from torchjit.export._calls import Calls
from torchjit.export._errors import UserError
from torchjit.export._program import stack_trace, write_argument
from torchjit.export.dynamic_shapes import Declarations, children_of
from torchjit.utils import _pytree as pytree


class Captured:
    """A program as the library gave it, with its tensors."""

    def __init__(self, text: str, constants: dict[str, Any], classes: dict[str, Any], in_spec: Any, out_spec: Any) -> None:
        self.text, self.constants, self.classes = text, constants, classes
        self.in_spec, self.out_spec = in_spec, out_spec
        self.argument_names: list[str] | None = None
        self.calls: dict[str, Any] = {}


class Arguments:
    """The arguments of a call as leaves, with a name for each."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        self.bound = _bound(function, args, kwargs)
        self.leaves, self.spec = pytree.tree_flatten((args, kwargs))
        self.argument_names = _argument_names(function, args, kwargs)
        self.names = [name for key, x in self.bound.items() for name in _leaf_names(key, x)]
        if len(self.names) != len(self.leaves):
            self.names = [f"arg{i}" for i in range(len(self.leaves))]

    def copies(self) -> list[Any]:
        """The leaves; tensors are copies, which the program may write to."""
        return [_copy(x) if isinstance(x, torch.Tensor) else x for x in self.leaves]


def _copy(x: Any) -> Any:
    with torch.no_grad():
        made = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)
        if x.device.type != "meta":
            made.copy_(x)
    return made.requires_grad_(x.requires_grad)


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by names, in the order in which they are given. Raises TypeError where they do not fit."""
    bound: dict[str, Any] = {}
    parameters = list(inspect.signature(function).parameters.values())
    inspect.signature(function).bind(*args, **kwargs)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for i, x in enumerate(args):
        if i < len(positional):
            bound[positional[i].name] = x
        else:
            rest = next(p for p in parameters if p.kind == p.VAR_POSITIONAL)
            bound[rest.name] = (*bound.get(rest.name, ()), x)
    return {**bound, **kwargs}


def _argument_names(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each argument: rest_0, rest_1 for those that a parameter *rest takes."""
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "")
    return [*positional[: len(args)], *(f"{rest}_{i}" for i in range(len(args) - len(positional))), *kwargs]


def _leaf_names(name: str, x: Any) -> Iterator[str]:
    children, keys = children_of(x)
    if children is None:
        yield name
        return
    for key, child in zip(keys, children, strict=True):
        yield from _leaf_names(f"{name}_{key}", child)


class ModuleState:
    """The tensors of a module that are inputs of a program, and what restores them afterwards."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.parameters = dict(_members(module, "_parameters")) if module is not None else {}
        self.buffers = dict(_members(module, "_buffers")) if module is not None else {}
        self.constants = dict(_constants(module)) if module is not None else {}
        self.attributes = [(path, m, dict(m.__dict__)) for path, m in module.named_modules()] if module is not None else []
        self.saved = {name: (b._version, b.detach().clone()) for name, b in {**self.buffers, **self.constants}.items()}

    def check_attributes(self) -> None:
        """Raises AssertionError where the program has set an attribute of a module to a tensor: buffers alone may be set."""
        for path, m, before in self.attributes:
            for name, x in m.__dict__.items():
                if isinstance(x, torch.Tensor) and before.get(name) is not x:
                    where = f"{path}.{name}" if path else name
                    raise AssertionError(
                        f"Mutating module attribute {where} during export. Tensors that a program keeps are buffers: register_buffer in the "
                        "module's __init__."
                    )

    def persistent(self, name: str) -> bool:
        prefix, _, last = name.rpartition(".")
        return last not in self.module.get_submodule(prefix)._non_persistent_buffers_set

    def inputs(self) -> list[tuple[dict[str, Any], Any]]:
        """The inputs that they are."""
        found = []
        for kind, letter, tensors in (("PARAMETER", "p", self.parameters), ("BUFFER", "b", self.buffers), ("CONSTANT_TENSOR", "c", self.constants)):
            for name, t in tensors.items():
                spec: dict[str, Any] = {"kind": kind, "name": f"{letter}_{name.replace('.', '_')}", "target": name}
                if kind == "BUFFER":
                    spec["persistent"] = self.persistent(name)
                found.append((spec, t))
        return found

    def assigned(self) -> list[tuple[str, Any]]:
        """The buffers for which the program has put another tensor."""
        now = dict(_members(self.module, "_buffers")) if self.module is not None else {}
        return [(name, now[name]) for name, b in self.buffers.items() if name in now and now[name] is not b]

    def restore(self) -> None:
        """Gives the module its tensors back, with the elements that they had."""
        for _, m, before in self.attributes:
            for name in [n for n, x in m.__dict__.items() if isinstance(x, torch.Tensor) and before.get(n) is not x]:
                if name in before:
                    m.__dict__[name] = before[name]
                else:
                    del m.__dict__[name]
        for name, b in self.buffers.items():
            prefix, _, last = name.rpartition(".")
            self.module.get_submodule(prefix)._buffers[last] = b
        with torch.no_grad():
            for name, (version, elements) in self.saved.items():
                t: Any = self.buffers.get(name, self.constants.get(name))
                if t._version != version:
                    t.copy_(elements)


def _modules(module: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The modules by all their paths: one that stands in two places has two."""
    yield prefix, module
    for name, child in module._modules.items():
        if child is not None:
            yield from _modules(child, f"{prefix}.{name}" if prefix else name)


def _members(module: Any, kind: str) -> Iterator[tuple[str, Any]]:
    for prefix, inner in _modules(module):
        for name, t in getattr(inner, kind).items():
            if t is not None:
                yield (f"{prefix}.{name}" if prefix else name), t


def _constants(module: Any) -> Iterator[tuple[str, Any]]:
    """Tensors that are attributes of modules and neither parameters nor buffers."""
    for prefix, inner in _modules(module):
        for name, x in inner.__dict__.items():
            if isinstance(x, torch.Tensor):
                yield (f"{prefix}.{name}" if prefix else name), x


@contextmanager
def _scopes(module: Any) -> Iterator[None]:
    from torchjit.jit._trace import _Paths

    if module is None:
        yield
    else:
        with _Paths(module):
            yield


@contextmanager
def _random_state() -> Iterator[None]:
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


def capture(
    function: Callable[..., Any], module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any = None,
    names: list[str] | None = None, bare: bool = False, preserved: tuple[str, ...] = (),
) -> Captured:  # fmt: skip
    """The program that function(*args, **kwargs) is; module, if not None, is what its parameters and buffers belong to.

    names are those of the inputs; bare lets a single output be no tuple; preserved are the paths of modules whose calls are noted.
    """
    given = Arguments(module.forward if module is not None else function, args, kwargs)
    declared = dynamic_shapes if isinstance(dynamic_shapes, Declarations) else Declarations()
    if dynamic_shapes and dynamic_shapes is not declared:
        declared.read(dynamic_shapes, given.bound, given.leaves)
    state = ModuleState(module)
    leaves = given.copies()
    inputs = state.inputs()
    for i, (name, x) in enumerate(zip(names or given.names, leaves, strict=True)):
        spec: dict[str, Any] = {"kind": "USER_INPUT", "name": name, "dims": declared.form(i)}
        if not isinstance(x, torch.Tensor):
            spec["constant"] = _constant(x, name)
        inputs.append((spec, x if isinstance(x, torch.Tensor) else None))
    call_args, call_kwargs = pytree.tree_unflatten(leaves, given.spec)
    options = {
        "inputs": [spec for spec, _ in inputs], "symbols": [s.form() for s in declared.symbols], "bare": bare,
        "modules": {path: _class_name(type(m)) for path, m in module.named_modules()} if module is not None else {},
    }  # fmt: skip
    calls = Calls(module, preserved)
    with _scopes(module), _random_state(), calls:
        _native.export_begin([t for _, t in inputs], not declared.symbols)
        try:
            result = function(*call_args, **call_kwargs)
            state.check_attributes()
            flat, out_spec = pytree.tree_flatten(result)
            results, tensors = _results(state.assigned(), flat)
            points = calls.tensors()
            options["results"] = results + [{"kind": "POINT"}] * len(points)
            tensors += points
            text, lifted = _native.export_end(tensors, json.dumps(options))
        except Exception as e:
            raise _at_user_code(e) from None
        finally:
            _native.trace_abort()
            state.restore()
    constants = {**state.constants, **{f"lifted_tensor_{i}": t for i, t in enumerate(lifted)}}
    classes = {_class_name(type(m)): type(m) for m in module.modules()} if module is not None else {}
    made = Captured(text, constants, classes, given.spec, out_spec)
    made.argument_names = given.argument_names
    made.calls = calls.signatures(json.loads(text)) if preserved else {}
    return made


def capture_script(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any = None) -> Captured:
    """The program that the method forward of a compiled module is. Conditions by elements of tensors become calls of cond."""
    from torchjit.export._containers import read_spec

    arguments = module.forward.schema.arguments[1:]
    if len(args) > len(arguments) or not {a.name for a in arguments[len(args) :]} >= set(kwargs):
        raise TypeError(f"the arguments do not fit {module.forward.schema}")
    bound = {**{a.name: x for a, x in zip(arguments, args, strict=False)}, **kwargs}
    leaves, spec = pytree.tree_flatten((args, kwargs))
    declared = Declarations()
    if dynamic_shapes:
        declared.read(dynamic_shapes, bound, leaves)
    inputs: list[tuple[dict[str, Any], Any]] = []
    persistent = set(module.state_dict())
    for kind, letter, tensors in (("PARAMETER", "p", module.named_parameters()), ("BUFFER", "b", module.named_buffers())):
        for name, t in tensors:
            inputs.append(({"kind": kind, "name": f"{letter}_{name.replace('.', '_')}", "target": name, "persistent": name in persistent}, t))
    names = [name for key, x in bound.items() for name in _leaf_names(key, x)]
    for i, (name, x) in enumerate(zip(names, leaves, strict=True)):
        form: dict[str, Any] = {"kind": "USER_INPUT", "name": name, "dims": declared.form(i)}
        if not isinstance(x, torch.Tensor):
            form["constant"] = _constant(x, name)
        inputs.append((form, x if isinstance(x, torch.Tensor) else None))
    options = {"inputs": [form for form, _ in inputs], "symbols": [s.form() for s in declared.symbols]}
    given = [bound.get(a.name, ...) for a in arguments]
    try:
        with _random_state():
            text, _ = _native.export_script(module._c, given, [t for _, t in inputs], json.dumps(options))
    except Exception as e:
        raise _at_user_code(e) from None
    made = Captured(text, {}, {}, spec, read_spec(json.loads(json.loads(text)["out_spec"])))
    made.argument_names = list(bound)
    return made


def _at_user_code(e: Exception) -> Exception:
    """An error of the library with the lines of the program that led to it."""
    what, found, frames = str(e).partition("\n\nfrom user code:\n")
    if found:
        message = f"{what.strip()}\n\nfrom user code:\n{stack_trace(frames)}"
    elif not _is_users(what):
        return e
    else:
        message = what.strip()
    return advised(UserError(message) if _is_users(what) else type(e)(message))


def _is_users(message: str) -> bool:
    """Whether an error is about what the export was asked for: sizes that cannot be what is said of them, decisions by elements."""
    return "Constraints violated" in message or message.startswith("The program makes a Python value of the elements")


def _class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _constant(x: Any, place: str) -> dict[str, Any]:
    if isinstance(x, (torch.dtype, torch.layout, torch.memory_format)):
        return write_argument(str(x))
    try:
        return write_argument(x)
    except TypeError:
        raise UserError(
            f"Unsupported input type {type(x)} of {place}. Export only supports pytree containers of basic types (Tensor, int, float, ...) "
            "as input. To register a custom dataclass, use torch.export.register_dataclass. To register a custom container type, use "
            "torch.utils._pytree.register_pytree_node."
        ) from None


def _results(assigned: list[tuple[str, Any]], flat: list[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """What the outputs are, and the tensors among them."""
    results: list[dict[str, Any]] = []
    tensors = []
    for name, t in assigned:
        results.append({"kind": "BUFFER_MUTATION", "target": name})
        tensors.append(t)
    for x in flat:
        if isinstance(x, torch.Tensor):
            results.append({"kind": "USER_OUTPUT"})
            tensors.append(x)
            continue
        try:
            results.append({"kind": "USER_OUTPUT", "value": write_argument(x)})
        except TypeError:
            raise UserError(f"It looks like one of the outputs with type {type(x)} is not supported or pytree-flattenable.") from None
    return results, tensors
