"""Which methods of a module are compiled, and what the compiler needs of each."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from torchjit import _jit_internal as _marks
from torchjit.jit._resolve import Scope


class ScriptMethodStub(NamedTuple("ScriptMethodStub", [("resolution_callback", Any), ("def_", Any), ("original_method", Any)])):
    """A method to compile: what gives the values of the names that it sees, its definition as a Tree, and the function.

    `for_compiler` is what the library asks for: (name, Tree, scope, defaults, signature or None).
    """

    for_compiler: tuple[str, Any, Scope, Any, Any]


class PropertyStub(tuple):
    """What the compiler needs to compile a property: (name, stub of the getter, stub of the setter or None)."""

    __slots__ = ()
    name = property(lambda self: self[0], doc="The name of the property.")


def make_stub(func: Any, name: str, signature_of: Any = None) -> ScriptMethodStub:
    """What the compiler needs to compile a function as a method, with the signature of another one."""
    from torchjit.frontend import get_default_args, get_jit_def
    from torchjit.jit._callables import createResolutionCallbackFromClosure
    from torchjit.jit.frontend import merged

    func = getattr(func, "__func__", func)
    tree = get_jit_def(func, name, self_name="RecursiveScriptModule", unused=_marks.is_unused(func))
    signature = None
    if signature_of is not None:
        signature = get_jit_def(signature_of, name, self_name="RecursiveScriptModule").data
    made = ScriptMethodStub(createResolutionCallbackFromClosure(func), merged(tree), func)
    made.for_compiler = (name, tree.data, Scope.of_function(func), get_default_args(signature_of or func), signature)
    return made


def for_compiler(stubs: Iterable[ScriptMethodStub]) -> list[tuple[str, Any, Scope, Any, Any]]:
    """What the library asks for of methods."""
    return [stub.for_compiler for stub in stubs]


def make_stub_from_method(nn_module: Any, method_name: str) -> ScriptMethodStub:
    """What the compiler needs to compile a method of a module."""
    return make_stub(getattr(nn_module, method_name), method_name)


def infer_methods_to_compile(nn_module: Any) -> list[ScriptMethodStub]:
    """The methods that are compiled though nothing calls them: forward and those marked @export."""
    from torchjit.jit._recursive import check_module_initialized

    check_module_initialized(nn_module)
    cls = type(nn_module)
    names = []
    forward = getattr(cls, "forward", None)
    if forward is not None and not _is_missing_forward(forward) and not _marks.is_ignored(forward):
        names.append("forward")
    for name, member in _marks.functions_of(cls).items():
        if _marks.modifier_of(member) == _marks.FunctionModifiers.EXPORT and name not in names:
            names.append(name)
    if "forward" in nn_module.__dict__ and isinstance(nn_module.__dict__["forward"], types.MethodType):
        names = [n for n in names if n != "forward"]
    stubs = []
    overloaded = _marks.overloaded_methods(cls)
    for name in [*names, *(n for n in overloaded if n not in names)]:
        if name in overloaded:
            from torchjit.jit import _overloads

            _overloads.check_implementation("method", getattr(cls, name), overloaded[name])
            stubs += [make_stub(getattr(cls, name), f"{name}__{i}", o) for i, o in enumerate(overloaded[name])]
        else:
            stubs.append(make_stub(getattr(cls, name), name))
    return stubs


def make_stubs_from_exported_methods(mod: Any) -> list[ScriptMethodStub]:
    """The methods marked @export, which are compiled where the module is traced."""
    cls = type(mod)
    members = {name: inspect.getattr_static(cls, name, None) for name in dir(cls)}
    names = [n for n, m in members.items() if isinstance(m, types.FunctionType) and _marks.modifier_of(m) == _marks.FunctionModifiers.EXPORT]
    return [make_stub(getattr(cls, name), name) for name in names]


def interface_methods(interface: type) -> Callable[[Any], list[ScriptMethodStub]]:
    """Chooses the methods that an interface asks for."""

    def choose(module: Any) -> list[ScriptMethodStub]:
        stubs = infer_methods_to_compile(module)
        have = {s.for_compiler[0] for s in stubs}
        for name, member in vars(interface).items():
            if isinstance(member, types.FunctionType) and name not in have:
                stubs.append(make_stub_from_method(module, name))
        return stubs

    return choose


def _is_missing_forward(forward: Any) -> bool:
    from torchjit.nn.modules.module import Module

    return forward is Module.forward


def get_property_stubs(nn_module: Any) -> list[PropertyStub]:
    """The properties of a module's class that are compiled."""
    cls = type(nn_module)
    found = []
    unused = set(getattr(cls, "__jit_unused_properties__", ()))
    for name, member in inspect.getmembers(cls, lambda m: isinstance(m, property)):
        if (
            name in unused
            or _marks.is_ignored(member.fget)
            or not getattr(member.fget, "is_compiled", False)
            and (cls.__module__.startswith("torchjit.") or _is_inherited_library_property(cls, name))
        ):
            continue
        setter = member.fset if member.fset and not _marks.is_ignored(member.fset) else None
        getter = make_stub(member.fget, f"__{name}_getter").for_compiler
        found.append(PropertyStub((name, getter, setter and make_stub(setter, f"__{name}_setter").for_compiler)))
    return found


def _is_inherited_library_property(cls: type, name: str) -> bool:
    owner = next((c for c in cls.__mro__ if name in vars(c)), cls)
    return owner.__module__.startswith("torchjit.")


def get_hook_stubs(nn_module: Any) -> tuple[list[ScriptMethodStub], list[ScriptMethodStub]]:
    """The forward hooks and pre-hooks of a module. Raises RuntimeError where two of them have one name."""
    functions: dict[str, Any] = {}
    for kind, hooks in (("Hook", nn_module._forward_hooks), ("Pre-hook", nn_module._forward_pre_hooks)):
        for hook in hooks.values():
            name = getattr(hook, "__name__", "hook")
            if functions.setdefault(name, hook) != hook:
                raise RuntimeError(
                    f"{kind} '{name}' on {type(nn_module).__name__} has at least two different python definitions. "
                    "Please use unique names for all hooks."
                )
    found = [make_stub(h, getattr(h, "__name__", "hook")) for h in nn_module._forward_hooks.values()]
    pre_hooks = [make_stub(h, getattr(h, "__name__", "hook")) for h in nn_module._forward_pre_hooks.values()]
    return found, pre_hooks
