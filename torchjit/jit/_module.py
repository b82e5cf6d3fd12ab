"""Compiled modules as Python sees them."""

from __future__ import annotations

import inspect
import itertools
import types
import typing
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _C, _advice, _native
from torchjit import _jit_internal as _marks
from torchjit.jit import _state
from torchjit.jit._magic import add_special_methods
from torchjit.jit._module_dicts import BufferDict, ModuleDict, ParameterDict
from torchjit.jit._stubs import ScriptMethodStub, make_stub
from torchjit.nn.modules import _hooks, container
from torchjit.nn.modules.module import Module

_MODULE_HANDLE, _OBJECT_HANDLE = 4, 6


class ScriptObjectProperty(typing.NamedTuple):
    """A property of a class of a program: the methods that read and set it, None where it cannot be set."""

    name: str
    getter: Any
    setter: Any


class _CModule(_native.Handle):
    """A module of the library."""

    def __str__(self) -> str:
        return "ScriptObject"

    def _method_names(self) -> list[str]:
        return _native.module_method_names(self)

    def _get_method(self, name: str) -> Any:
        found = _native.module_method(self, name)
        if found is None:
            raise RuntimeError(f"Method '{name}' is not defined.")
        return found

    def _has_method(self, name: str) -> bool:
        return name in self._method_names()

    def _type(self) -> Any:
        return _C._module_type(self)

    qualified_name = property(lambda self: _native.module_class_name(self))
    graph = property(lambda self: self._get_method("forward").graph)
    code = property(lambda self: self._get_method("forward").code)
    code_with_constants = property(lambda self: self._get_method("forward").code_with_constants)

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else _native.module_method(self, name)
        if found is not None:
            return found
        if self.hasattr(name):
            return _native.module_get(self, name)
        raise AttributeError(f"{_native.module_class_text(self)} does not have a field with name '{name}'")

    def _properties(self) -> list[ScriptObjectProperty]:
        """The properties of the class."""
        return [ScriptObjectProperty(*found) for found in _native.module_properties(self)]

    def _get_forward_hooks(self) -> list[Any]:
        return list(_native.module_hooks(self)[1])

    def _get_forward_pre_hooks(self) -> list[Any]:
        return list(_native.module_hooks(self)[0])

    def children(self) -> list[Any]:
        """The modules in this one."""
        return [_native.module_get(self, n) for n, kind in _native.module_slots(self) if kind == "module"]

    def apply(self, fn: Any) -> Any:
        """Calls fn with every module in this one, then with this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def dump_to_str(self, code: bool = True, attrs: bool = True, params: bool = True) -> str:
        """The module as text: with the graphs of methods, the values of attributes and of parameters, or without."""
        from torchjit.jit._module_text import module_text

        return module_text(self, code, attrs, params)

    def dump(self, code: bool = True, attrs: bool = True, params: bool = True) -> None:
        """Prints the module as text."""
        print(self.dump_to_str(code, attrs, params))

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Writes the module to a file that torch.jit.load reads."""
        from torchjit.jit._serialization import save_to_path

        save_to_path(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: dict[str, Any] | None = None) -> bytes:
        """The bytes of the file that save writes."""
        from torchjit.jit._serialization import save_to_buffer

        return save_to_buffer(self, _extra_files)

    def _save_for_mobile(
        self, path: Any, _extra_files: dict[str, Any] | None = None, _save_mobile_debug_info: bool = False, _use_flatbuffer: bool = False
    ) -> None:
        """Writes the module to a file for the lite interpreter, which may be a FlatBuffer: that has no debug information."""
        from torchjit.jit._serialization import get_ff_module, save_for_lite_interpreter

        if _use_flatbuffer:
            get_ff_module()._save_jit_module(self, path, _extra_files or {})
        else:
            save_for_lite_interpreter(self, path, _extra_files, _save_mobile_debug_info)

    def _save_to_buffer_for_mobile(
        self, _extra_files: dict[str, Any] | None = None, _save_mobile_debug_info: bool = False, _use_flatbuffer: bool = False
    ) -> bytes:
        """The bytes of the file that _save_for_mobile writes."""
        from torchjit.jit._serialization import get_ff_module, save_to_buffer_for_lite_interpreter

        if _use_flatbuffer:
            return get_ff_module()._save_jit_module_to_bytes(self, _extra_files or {})
        return save_to_buffer_for_lite_interpreter(self, _extra_files, _save_mobile_debug_info)

    def hasattr(self, name: str) -> bool:
        return any(slot[0] == name for slot in _native.module_slots(self))

    def getattr(self, name: str) -> Any:
        if not self.hasattr(name):
            raise AttributeError(f"{_native.module_class_text(self)} does not have a field with name '{name}'")
        return _native.module_get(self, name)

    def setattr(self, name: str, value: Any) -> None:
        if not self.hasattr(name):
            raise RuntimeError(f"{_native.module_class_text(self)} does not have an attribute with name '{name}'")
        _native.module_set(self, name, value)

    def _register_attribute(self, name: str, type: Any, value: Any) -> None:
        """Sets an attribute; where there is none of that name, adds one of a type, which all modules of the class get."""
        if self.hasattr(name):
            _native.module_set(self, name, value)
        else:
            _C._add_attribute(self, name, type, value)

    def _define(self, concrete_type: Any, script: str, rcb: Callable[[str], Any]) -> None:
        """Adds the methods of a source text; rcb gives the values of names."""
        from torchjit.jit._resolve import CallbackScope

        _native.define_module_method(self, script, CallbackScope(rcb))

    def _create_method_from_trace(
        self, name: str, func: Any, example_inputs: tuple[Any, ...], var_name_lookup_fn: Any, strict: bool, force_outplace: bool, argument_names: Any = ()
    ) -> None:  # fmt: skip
        """Adds as a method what a call of a function does. Values have the names of the function's variables."""
        from torchjit.jit._trace import _record

        _record(func, tuple(example_inputs), self, "", name, strict, list(argument_names), force_outplace)

    def _set_optimized(self, optimized: bool) -> None:
        """Does nothing, as in PyTorch: torch._C._set_graph_executor_optimize is what counts."""

    def _replicate_for_data_parallel(self) -> Any:
        """A copy that shares the tensors."""
        return _native.module_copy(self, False)

    def __copy__(self) -> Any:
        return _native.module_copy(self, False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self), _native.module_copy(self, True))

    def get_debug_state(self) -> Any:
        """The plans of forward, which has been called."""
        return self._get_method("forward").get_debug_state()


add_special_methods(_CModule)
_CModule.__name__, _CModule.__qualname__, _CModule.__module__ = "ScriptModule", "ScriptModule", "torchjit._C"

_python_sides: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def python_side(c: _CModule) -> Any:
    """The Python module of a module of the library."""
    found = _python_sides.get(_native.module_identity(c))
    return RecursiveScriptModule._wrap(c) if found is None else found


class RecursiveScriptClass(_native.Handle):
    """An instance of a compiled class."""

    def __getattr__(self, name: str) -> Any:
        return _native.object_get(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _native.object_set(self, name, value)

    def __repr__(self) -> str:
        return f"<torch.ScriptObject object of {_native.object_class_name(self)}>"

    def _method_names(self) -> list[str]:
        return _native.module_method_names(self)

    def _has_method(self, name: str) -> bool:
        return name in self._method_names()

    def _get_method(self, name: str) -> Any:
        if not self._has_method(name):
            raise RuntimeError(f"Method '{name}' is not defined.")
        return _native.object_get(self, name)

    def _type(self) -> Any:
        return _C.ClassType(_native.object_class_name(self))

    def getattr(self, name: str) -> Any:
        """An attribute. Raises RuntimeError where the class has none of the name."""
        return _native.object_get(self, name)

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute."""
        _native.object_set(self, name, value)

    def hasattr(self, name: str) -> bool:
        """Whether the class has an attribute of the name."""
        return any(slot == name for slot, _ in _native.module_slots(self))

    def _properties(self) -> list[Any]:
        """The properties of the class: their methods are listed with the others."""
        return []


def _forward_magic(name: str) -> Any:
    """A special method that calls the compiled class's method of the same name."""

    def method(self: Any, *args: Any) -> Any:
        return _native.object_get(self, name)(*args)

    method.__name__ = name
    return method


_MAGIC_METHODS = (
    "add", "sub", "mul", "truediv", "mod", "lt", "gt", "le", "ge", "and", "or", "xor", "neg", "len", "contains", "getitem", "setitem",
    "call", "int", "float",
)  # fmt: skip
for _name in _MAGIC_METHODS:
    setattr(RecursiveScriptClass, f"__{_name}__", _forward_magic(f"__{_name}__"))
add_special_methods(RecursiveScriptClass)


class _Slots(typing.MutableMapping[str, Any]):
    """The slots of one kind of a compiled module, as the dict that a Module has."""

    def __init__(self, c: Any, kind: str) -> None:
        self._module, self._kind = c, kind
        self._c = (ParameterDict if kind == "parameter" else BufferDict)(c)

    def _names(self) -> list[str]:
        return [name for name, kind in _native.module_slots(self._module) if kind == self._kind]

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return _native.module_get(self._module, name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._names():
            raise RuntimeError(f"Can't add a new parameter after ScriptModule construction. Tried to add '{name}'")
        _native.module_set(self._module, name, value)

    def __delitem__(self, name: str) -> None:
        raise RuntimeError("cannot delete methods or parameters of a script module")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def copy(self) -> dict[str, Any]:
        return dict(self)


class _Modules(dict[str, Any]):
    """The submodules of a compiled module: those that it was made with, which other compiled ones may replace. _c has those that the
    library knows.
    """

    def __init__(self, c: Any, modules: dict[str, Any]) -> None:
        super().__init__(modules)
        self._c = ModuleDict(c)

    def __setitem__(self, name: str, module: Any) -> None:
        if name not in self or not hasattr(module, "_c"):
            raise RuntimeError(
                "Cannot re-assign modules in a ScriptModule with non-scripted module, "
                f"tried to replace existing module '{name}': {module}"
            )
        super().__setitem__(name, module)

    def __delitem__(self, name: str) -> None:
        raise RuntimeError("cannot delete methods or parameters of a script module")


class _CachedForward:
    """forward of a compiled module, which has none where its class has none."""

    def __get__(self, obj: Any, cls: type) -> Any:
        return self if obj is None else obj.__getattr__("forward")


class ScriptMeta(type):
    """The class of classes of compiled modules."""

    @property
    def _methods(cls) -> dict[str, Any]:
        """What the compiler needs of the methods marked with @script_method, by name."""
        return {name: make_stub(fn, name) for name, fn in getattr(cls, "_script_methods", {}).items()}

    @property
    def _constants_set(cls) -> set[str]:
        """The names in __constants__ of the class and those it derives from."""
        return {name for base in cls.__mro__ for name in vars(base).get("__constants__", ())}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Makes a module. One of a class that is written as a subclass of ScriptModule is compiled when it has been made."""
        made = super().__call__(*args, **kwargs)
        if cls is not ScriptModule and not getattr(cls, "_disable_script_meta", False) and not made._is_compiled():
            made._compile()
        return made


class ScriptModule(Module, metaclass=ScriptMeta):
    """A module whose methods are compiled.

    Subclasses may be written directly: methods that are marked with @script_method are compiled
    when an instance has been made.

    >>> class Scale(torch.jit.ScriptModule):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.k = nn.Parameter(torch.full((1,), 3.0))
    ...     @torch.jit.script_method
    ...     def forward(self, x):
    ...         return self.k * x
    >>> Scale()(torch.ones(1))
    tensor([3.], grad_fn=<MulBackward0>)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._script_methods = {
            **getattr(cls, "_script_methods", {}),
            **{n: m.original_method for n, m in vars(cls).items() if isinstance(m, ScriptMethodStub)},
        }
        for name, fn in cls._script_methods.items():
            if name in vars(cls):
                setattr(cls, name, fn)

    _script_methods: dict[str, Any] = {}

    def _is_compiled(self) -> bool:
        return "_c" in self.__dict__

    def _methods_of_class(self) -> list[Any]:
        return [make_stub(fn, name) for name, fn in self._script_methods.items()]

    def _compile(self) -> None:
        from torchjit.jit._recursive import create_script_module

        texts = self.__dict__.pop("_texts", ())
        compiled = create_script_module(self, lambda m: m._methods_of_class(), share_types=not texts, texts=texts)
        self.__dict__["_compiled"] = compiled
        self.__dict__["_c"] = compiled._c
        state = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            state[kind] = compiled.__dict__[kind]
        for name, kind in _native.module_slots(self._c):
            if kind == "attribute":
                state.pop(name, None)
        self._show_methods()

    def _show_methods(self) -> None:
        """Has the instance of a class of the program show the methods that are compiled."""
        if (compiled := self.__dict__.get("_compiled")) is not None:
            for name in _native.module_method_names(self._c):
                self.__dict__[name] = getattr(compiled, name)

    def __getattr__(self, name: str) -> Any:
        compiled = self.__dict__.get("_compiled")
        return super().__getattr__(name) if compiled is None else getattr(compiled, name)

    def __setattr__(self, name: str, value: Any) -> None:
        compiled = self.__dict__.get("_compiled")
        if compiled is not None and (name in compiled._constants() or any(slot == name for slot, _ in _native.module_slots(self._c))):
            setattr(compiled, name, value)
            return
        if compiled is None and isinstance(value, _marks.Attribute):
            annotations = vars(type(self)).get("__annotations__")
            if annotations is None:
                annotations = type(self).__annotations__ = {}
            annotations[name] = value.type
            value = value.value
        super().__setattr__(name, value)

    def define(self, src: str) -> None:
        """Adds methods from source text. In __init__, they are compiled with the module."""
        from torchjit.jit._resolve import Scope

        frame = inspect.currentframe()
        scope = Scope.of_frame(frame.f_back if frame else None)
        if self._is_compiled():
            _native.define_module_method(self._c, src, scope)
            self._show_methods()
        else:
            self.__dict__.setdefault("_texts", []).append((src, scope))

    def _text(self, kind: str) -> Any:
        if not self._is_compiled():
            raise RuntimeError("the module has not been compiled")
        method = _native.module_method(self._c, "forward")
        if method is None:
            raise RuntimeError("Method 'forward' is not defined.")
        return getattr(method, kind)

    @property
    def graph(self) -> Any:
        return self._text("graph")

    def graph_for(self, *args: Any, **kwargs: Any) -> Any:
        """Calls forward and returns its graph as PyTorch's executor optimizes it."""
        return self._text("graph_for")(*args, **kwargs)

    def get_debug_state(self) -> Any:
        """What forward runs now, as a GraphExecutorState. Raises RuntimeError before the first call."""
        return self._text("get_debug_state")()

    @property
    def inlined_graph(self) -> Any:
        return self._text("inlined_graph")

    @property
    def code(self) -> str:
        return self._text("code")

    @property
    def code_with_constants(self) -> Any:
        return self._text("code_with_constants")

    @property
    def schema(self) -> Any:
        return self._text("schema")

    @property
    def original_name(self) -> str:
        """The name of the class that was compiled, "" before."""
        return _native.module_class_name(self._c).rpartition(".")[2] if self._is_compiled() else ""

    def forward_magic_method(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """Calls a compiled special method. Raises NotImplementedError where there is none."""
        method = _native.module_method(self._c, method_name)
        if method is None:
            raise NotImplementedError
        return method(*args, **kwargs)

    @staticmethod
    def _construct(cpp_module: Any, init_fn: Callable[[Any], None]) -> RecursiveScriptModule:
        """The Python side of a module of the library, for which init_fn has been called."""
        made = RecursiveScriptModule._wrap(cpp_module)
        init_fn(made)
        return made

    @staticmethod
    def _finalize_scriptmodule(script_module: RecursiveScriptModule) -> None:
        """Copies to a compiled module what stays in Python of the one that it was made from."""
        script_module._finish()

    def _reconstruct(self, cpp_module: Any) -> None:
        """Makes this the Python side of another module of the library."""
        kind = type(self) if isinstance(self, RecursiveScriptModule) else RecursiveScriptModule
        made = kind._wrap(cpp_module)
        self.__dict__.clear()
        self.__dict__.update(made.__dict__)
        _python_sides[_native.module_identity(self._c)] = self

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Writes the module to a file that torch.jit.load reads."""
        from torchjit.jit._serialization import save_to_path

        save_to_path(self._c, f, _extra_files)

    def __reduce__(self) -> Any:
        from torchjit.jit._serialization import reduce_module

        if not self._is_compiled():
            raise RuntimeError("the module has not been compiled")
        return reduce_module(self)

    def save_to_buffer(self, _extra_files: dict[str, Any] | None = None) -> bytes:
        """The bytes of the file that save writes."""
        from torchjit.jit._serialization import save_to_buffer

        return save_to_buffer(self._c, _extra_files)

    def _save_for_lite_interpreter(self, *args: Any, **kwargs: Any) -> None:
        """Writes the module to a file that torch.jit.mobile and PyTorch's lite interpreter read: see torch.jit.mobile.

        The arguments are the path, _extra_files, _save_mobile_debug_info and _use_flatbuffer.
        """
        self._c._save_for_mobile(*args, **kwargs)

    def _save_to_buffer_for_lite_interpreter(self, *args: Any, **kwargs: Any) -> bytes:
        """The bytes of the file that _save_for_lite_interpreter writes."""
        return self._c._save_to_buffer_for_mobile(*args, **kwargs)


def script_method(fn: Any) -> Any:
    """Marks a method of a ScriptModule subclass as compiled.

    >>> class Scale(torch.jit.ScriptModule):
    ...     @torch.jit.script_method
    ...     def forward(self, x):
    ...         return 3 * x
    >>> Scale()(torch.ones(1))
    tensor([3.])
    """
    return make_stub(fn, fn.__name__) if _state._enabled else fn


class RecursiveScriptModule(ScriptModule):
    """A compiled module. Parameters, buffers and attributes live in the library.

    >>> m = torch.jit.script(nn.Linear(3, 2))
    >>> isinstance(m, torch.jit.RecursiveScriptModule), m.original_name
    (True, 'Linear')
    """

    _disable_script_meta = True
    forward: Any = _CachedForward()
    __call__: Any = _native.module_call(
        Module.__call__, (_hooks.global_forward_pre, _hooks.global_forward, _hooks.global_backward), _advice.note_module
    )

    def __init__(self, c: Any) -> None:
        raise RuntimeError("RecursiveScriptModule objects are made by torch.jit.script and torch.jit.load")

    @classmethod
    def _wrap_new(cls, c: Any, concrete: Any, original: Any, submodules: dict[str, Any]) -> RecursiveScriptModule:
        self = cls.__new__(cls)
        Module.__init__(self)
        state = self.__dict__
        state.pop("training", None)
        state["_c"], state["_concrete_type"], state["_original"] = c, concrete, original
        state["_parameters"], state["_buffers"] = _Slots(c, "parameter"), _Slots(c, "buffer")
        state["_modules"] = _Modules(c, submodules)
        _python_sides[_native.module_identity(c)] = self
        return self

    @classmethod
    def _wrap(cls, c: Any) -> RecursiveScriptModule:
        """The Python side of a module that was loaded."""
        children = {
            name: cls._wrap(_native.module_get(c, name)) for name, kind in _native.module_slots(c) if kind == "module"
        }
        self = cls._wrap_new(c, None, None, children)
        self._finish()
        return self

    def _finish(self) -> None:
        """Copies to the compiled module what stays in Python."""
        pre_hooks, hooks = _native.module_hooks(self._c)
        self.__dict__["_forward_pre_hooks"] = {i: _hook(h) for i, h in enumerate(pre_hooks)}
        self.__dict__["_forward_hooks"] = {i: _hook(h) for i, h in enumerate(hooks)}
        forward = _native.module_method(self._c, "forward")
        if forward is not None:
            self.__dict__["forward"] = forward
        elif overloads := list(_overloads_of_forward(self._c)):
            self.__dict__["forward"] = _Overloads(overloads)
        original = self.__dict__["_original"]
        if original is None:
            return
        for name, overloads in self.__dict__["_concrete_type"].overloads.items():
            self.__dict__[name] = _Overloads([_native.module_method(self._c, o) for o in overloads])
        state = self.__dict__
        for name in getattr(original, "__jit_ignored_attributes__", ()):
            if name in original.__dict__:
                state[name] = original.__dict__[name]
        if original._modules:
            absent = {} if isinstance(self, TracedModule) else {name: None for name, child in original._modules.items() if child is None}
            known = {**self._modules, **absent}
            state["_modules"] = _Modules(self._c, {name: known[name] for name in original._modules if name in known})

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        if "_c" not in state:
            raise AttributeError(name)
        if name in state["_modules"]:
            return state["_modules"][name]
        c = state["_c"]
        for slot, _ in _native.module_slots(c):
            if slot == name:
                return _native.module_get(c, name)
        method = _native.module_method(c, name)
        if method is not None:
            state[name] = method
            return method
        return self._python_attribute(name)

    def _python_attribute(self, name: str) -> Any:
        """Constants, and methods that stayed in Python."""
        concrete = self.__dict__["_concrete_type"]
        constants = self._constants()
        if name in constants:
            return constants[name]
        if concrete is not None:
            if isinstance(inspect.getattr_static(concrete.python_class, name, None), staticmethod):
                return getattr(concrete.python_class, name)
            member = getattr(concrete.python_class, name, None)
            if isinstance(member, property) and name not in getattr(concrete.python_class, "__jit_unused_properties__", ()):
                return member.fget(self)  # type: ignore[misc]
            if isinstance(member, types.FunctionType) and _marks.is_ignored(member):
                return types.MethodType(member, self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _constants(self) -> dict[str, Any]:
        """The constants of the class."""
        return dict(_native.module_constants(self._c))

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if name in state["_modules"]:
            if hasattr(value, "_c"):
                _native.module_set(self._c, name, value._c)
            state["_modules"][name] = value
            return
        if isinstance(value, Module) and name not in state:
            if hasattr(value, "_c"):
                raise RuntimeError(f"{_native.module_class_text(self._c)} does not have an attribute with name '{name}'")
            state["_modules"][name] = value  # which says that it cannot be
            return
        constants = self._constants()
        if name in constants:
            raise RuntimeError(f"Can't set constant '{name}' which has value:{_C._stream_text(constants[name])}")
        if any(slot == name for slot, _ in _native.module_slots(self._c)):
            _native.module_set(self._c, name, value)
            return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        kinds = dict(_native.module_slots(self._c))
        if kinds.get(name, "attribute") != "attribute":
            raise RuntimeError("cannot delete methods or parameters of a script module")
        if name not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        object.__delattr__(self, name)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    def _repr_svg_(self) -> str | None:
        """The graph of forward as a picture, with all calls inlined; None where there is none, or it is too large for a picture."""
        forward: Any = getattr(self, "forward", None)
        return forward.inlined_graph._repr_svg_() if hasattr(forward, "inlined_graph") else None

    def _repr_html_(self) -> str | None:
        """What _repr_svg_ gives, and the text of the graph."""
        forward: Any = getattr(self, "forward", None)
        return forward.inlined_graph._repr_html_() if hasattr(forward, "inlined_graph") else None

    def get_extra_state(self) -> Any:
        return None

    def __len__(self) -> int:
        return self._container_call("__len__", lambda: len(self._modules))

    def __iter__(self) -> Iterator[Any]:
        return self._container_call("__iter__", lambda: iter(self._keys_or_values()))

    def __getitem__(self, index: Any) -> Any:
        return self._container_call("__getitem__", lambda: self._item(index), index)

    def __contains__(self, key: Any) -> bool:
        return self._container_call("__contains__", lambda: key in self._modules, key)

    def keys(self) -> Any:
        return self._modules.keys()

    def items(self) -> Any:
        return self._modules.items()

    def values(self) -> Any:
        return self._modules.values()

    def _is_list(self) -> bool:
        return all(k.isdigit() for k in self._modules)

    def _keys_or_values(self) -> Any:
        return list(self._modules.values()) if self._is_list() else list(self._modules)

    def _item(self, index: Any) -> Any:
        if isinstance(index, int) and not -len(self._modules) <= index < len(self._modules):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules.values())[index] if isinstance(index, (int, slice)) else self._modules[index]

    def _is_container(self) -> bool:
        concrete = self.__dict__["_concrete_type"]
        if concrete is not None:
            return issubclass(concrete.python_class, (container.Sequential, container.ModuleList, container.ModuleDict))
        return self.original_name in ("Sequential", "ModuleList", "ModuleDict")

    def _container_call(self, name: str, otherwise: Callable[[], Any], *args: Any) -> Any:
        method = _native.module_method(self._c, name)
        if method is not None:
            return method(*args)
        if not self._is_container():
            raise NotImplementedError
        return otherwise()

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted(
            {*super().__dir__(), *(s for s, _ in _native.module_slots(self._c)), *_native.module_method_names(self._c)}
        )

    def __copy__(self) -> RecursiveScriptModule:
        return self._wrap(_native.module_copy(self._c, False))

    def __deepcopy__(self, memo: Any) -> RecursiveScriptModule:
        return self._wrap(_native.module_copy(self._c, True))

    def _replicate_for_data_parallel(self) -> RecursiveScriptModule:
        return self._wrap(self._c._replicate_for_data_parallel())


def _make_fail(name: str) -> Any:
    """A method that says that compiled modules have none of this name."""

    def fail(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} is not supported on ScriptModules")

    fail.__name__, fail.__doc__ = name, "Raises RuntimeError: what backward does is the library's."
    return fail


for _name in ("register_backward_hook", "register_full_backward_hook"):
    setattr(RecursiveScriptModule, _name, _make_fail(_name))


# The methods of a Module that a compiled one has with the same meaning.
_compiled_methods_allowlist = {
    name for name, member in vars(Module).items()
    if isinstance(member, types.FunctionType) and not name.startswith("__") and name not in ("register_backward_hook", "register_full_backward_hook")
}  # fmt: skip


def _hook(compiled: Any) -> Any:
    """A compiled hook as one that a Module calls with itself."""
    return lambda module, *shown: compiled(module._c, *shown)


def _overloads_of_forward(module: Any) -> Iterator[Any]:
    """The compiled methods that a forward with overloads stands for."""
    for i in itertools.count():
        method = _native.module_method(module, f"forward__{i}")
        if method is None:
            return
        yield method


class _Overloads:
    """Compiled methods that have one name in Python: a call runs the first that takes the arguments. Its attributes are those of the one that ran last."""

    def __init__(self, methods: list[Any]) -> None:
        self._methods = methods
        self._ran = methods[0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for method in self._methods:
            try:
                result = method(*args, **kwargs)
            except RuntimeError as e:
                if method is self._methods[-1] or "Declaration: " not in str(e) or "TorchScript" in str(e):
                    raise
                continue
            self._ran = method
            return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_ran" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._ran, name)


class TracedModule(RecursiveScriptModule):
    """A module inside a traced one."""

    def _get_name(self) -> str:
        return self.original_name


class TopLevelTracedModule(TracedModule):
    """A traced module.

    >>> m = torch.jit.trace(nn.Linear(3, 2), torch.rand(1, 3))
    >>> isinstance(m, torch.jit.TopLevelTracedModule), m.original_name
    (True, 'Linear')
    """


_native.register_handle_class(_MODULE_HANDLE, _CModule)
_native.register_handle_class(_OBJECT_HANDLE, RecursiveScriptClass)
