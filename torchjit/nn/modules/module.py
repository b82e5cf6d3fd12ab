"""Module, the base class of all modules."""

from __future__ import annotations

import functools
import sys
import threading
from collections import OrderedDict
from typing import Any, Callable, ClassVar, Iterator, Mapping, TypeVar

from torchjit import _advice, _native
from torchjit._pytorch_tensors import data_of
from torchjit._tensor import Tensor
from torchjit.nn.modules import _hooks
from torchjit.nn.modules._hooks import RemovableHandle as RemovableHandle
from torchjit.nn.modules._hooks import register_module_backward_hook as register_module_backward_hook
from torchjit.nn.modules._hooks import register_module_forward_hook as register_module_forward_hook
from torchjit.nn.modules._hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from torchjit.nn.modules._hooks import register_module_full_backward_hook as register_module_full_backward_hook
from torchjit.nn.parameter import Buffer, Parameter, is_lazy

_EXTRA_STATE = "_extra_state"


class _Traces(threading.local):
    """The modules whose calls a thread's trace records: their paths in the traced module."""

    active = 0  # of all threads
    paths: dict[Any, str] | None = None


_traces = _Traces()


class _IncompatibleKeys(tuple[list[str], list[str]]):
    """The keys that load_state_dict missed and did not expect."""

    def __new__(cls, missing_keys: list[str], unexpected_keys: list[str]) -> _IncompatibleKeys:
        return tuple.__new__(cls, (missing_keys, unexpected_keys))

    @property
    def missing_keys(self) -> list[str]:
        """Names of the module that the state lacks."""
        return self[0]

    @property
    def unexpected_keys(self) -> list[str]:
        """Names of the state that the module lacks."""
        return self[1]

    def __repr__(self) -> str:
        if not self[0] and not self[1]:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self[0]}, unexpected_keys={self[1]})"


def _forward_unimplemented(self: Any, *input: Any) -> None:
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module:
    """A part of a model: parameters, buffers, other modules, and forward, which computes.

    Parameters, buffers and modules that are assigned as attributes are registered under their
    names, show in state_dict and are found by the iterators.

    >>> class Double(nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Double()(torch.tensor([1.0, 2.0]))
    tensor([2., 4.])
    """

    dump_patches: ClassVar[bool] = False
    T_destination = TypeVar("T_destination", bound=dict[str, Any])
    training: bool
    _is_full_backward_hook: bool | None
    _version = 1

    def __init__(self) -> None:
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = OrderedDict()
        state["_buffers"] = OrderedDict()
        state["_non_persistent_buffers_set"] = set()
        state["_backward_hooks"] = OrderedDict()
        state["_is_full_backward_hook"] = None
        state["_forward_hooks"] = OrderedDict()
        state["_forward_pre_hooks"] = OrderedDict()
        state["_state_dict_hooks"] = OrderedDict()
        state["_load_state_dict_pre_hooks"] = OrderedDict()
        state["_load_state_dict_post_hooks"] = OrderedDict()
        state["_modules"] = OrderedDict()

    forward: Callable[..., Any] = _forward_unimplemented

    # Calling.

    def _call_impl(self, *input: Any, **kwargs: Any) -> Any:
        """Calls forward, and the hooks around it: what calling a module does."""
        forward = self._slow_forward if _Traces.active else self.forward
        hooked = self._forward_hooks or self._forward_pre_hooks or self.__dict__.get("_backward_hooks")
        try:
            if hooked or _hooks.global_forward_pre or _hooks.global_forward or _hooks.global_backward:
                return self._call_with_hooks(forward, input, kwargs)
            return forward(*input, **kwargs)
        except Exception as e:
            _advice.note_module(e, self)
            raise

    __call__: Callable[..., Any] = _call_impl

    def _call_with_hooks(self, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        full, others = self._get_backward_hooks()
        for hook in [*_hooks.global_forward_pre.values(), *self._forward_pre_hooks.values()]:
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        backward = _hooks.FullBackward(self, full) if full else None
        if backward is not None:
            args = backward.wrap_inputs(args)
        result = forward(*args, **kwargs)
        for hook in [*_hooks.global_forward.values(), *self._forward_hooks.values()]:
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        if backward is not None:
            result = backward.wrap_result(result)
        if others:
            _hooks.hook_last_operation(self, others, args, result)
        return result

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full hooks and the others that see gradients: those of all modules and the module's own."""
        return _hooks.backward_hooks(self)

    def _maybe_warn_non_full_backward_hook(self, inputs: Any, result: Any, grad_fn: Any) -> None:
        """Warns where hooks of register_backward_hook see other gradients than those of the inputs and the result of a call."""
        _hooks.warn_of_missing_gradients(inputs, result, grad_fn)

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        """forward, which a trace records as a call of this module where it is one of the traced module's."""
        path = _traces.paths.get(self) if _traces.paths else None
        if path is None or not _native.is_tracing() or isinstance(self.forward, _native.ScriptMethod):
            return self.forward(*input, **kwargs)
        _native.trace_push_scope(path)
        try:
            return self.forward(*input, **kwargs)
        finally:
            _native.trace_pop_scope()

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, args, result) after forward; what it returns replaces the result."""
        return _hooks.add(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, args) before forward; what it returns replaces the arguments."""
        return _hooks.add(self._forward_pre_hooks, hook)

    def register_full_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, grad_input, grad_output) when the gradients of the inputs are there.

        What it returns takes the place of grad_input. Inputs that need no gradient have None. Raises RuntimeError
        where the module has a hook of register_backward_hook.
        """
        return self._register_backward(hook, True)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As register_full_backward_hook, with the gradients of the last operation of forward for grad_input."""
        return self._register_backward(hook, False)

    def _register_backward(self, hook: Callable[..., Any], full: bool) -> RemovableHandle:
        if not self._backward_hooks:
            self._is_full_backward_hook = None
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = full
        return _hooks.add(self._backward_hooks, hook)

    # Attributes.

    def _registered(self) -> tuple[dict[str, Any], ...]:
        state = self.__dict__
        return state["_parameters"], state["_buffers"], state["_modules"]

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind in state and name in state[kind]:
                return state[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if isinstance(value, Tensor) and isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Buffer):
            if "_buffers" not in state:
                raise _advice.advised(AttributeError("cannot assign buffers before Module.__init__() call"))
            self._forget(name, "_buffers")
            state["_buffers"].pop(name, None)
            self.register_buffer(name, value, value.persistent)
        elif isinstance(value, Module):
            if "_modules" not in state:
                raise _advice.advised(AttributeError("cannot assign module before Module.__init__() call"))
            self._forget(name, "_modules")
            state["_modules"][name] = value
        elif "_parameters" in state and name in state["_parameters"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            state["_parameters"][name] = None
        elif "_modules" in state and name in state["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            state["_modules"][name] = None
        elif "_buffers" in state and name in state["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.Tensor or None expected)"
                )
            state["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, keep: str) -> None:
        state = self.__dict__
        state.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != keep and kind in state:
                state[kind].pop(name, None)

    def __delattr__(self, name: str) -> None:
        for registered in self._registered():
            if name in registered:
                del registered[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        for registered in self._registered():
            names.update(registered)
        return sorted(n for n in names if not n[:1].isdigit())

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name; None keeps the name for a parameter that is left out."""
        if "_parameters" not in self.__dict__:
            raise _advice.advised(AttributeError("cannot assign parameters before Module.__init__() call"))
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is not trained; a persistent one is part of the state_dict."""
        if "_buffers" not in self.__dict__:
            raise _advice.advised(AttributeError("cannot assign buffer before Module.__init__() call"))
        self._check_name("buffer", name, self._buffers)
        tensor = data_of(tensor)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a child module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        self.add_module(name, module)

    def _check_name(self, kind: str, name: str, registered: Mapping[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(
                f'{kind} name can\'t contain ".", got: {name}'
                if kind == "module"
                else f'{kind} name can\'t contain "."'
            )
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in registered:
            raise KeyError(f"attribute '{name}' already exists")

    def get_submodule(self, target: str) -> Module:
        module: Module = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        found = getattr(owner, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return owner._buffers[name]

    # Iterating.

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        seen = set()
        for name, child in self._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        for _, child in self.named_children():
            yield child

    def _named_members(self, kind: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen: dict[int, Any] = {}  # keeps the members: their ids must not be used again meanwhile
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, member in getattr(module, kind).items():
                if member is not None and id(member) not in seen:
                    seen[id(member)] = member
                    yield path + ("." if path else "") + name, member

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Parameter]]:
        return self._named_members("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        return self._named_members("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    # State.

    def get_extra_state(self) -> Any:
        raise RuntimeError("a module with extra state must have get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        raise RuntimeError("a module with extra state must have set_extra_state")

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not Module.get_extra_state and not hasattr(self, "_c")

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by their dotted names."""
        if args:
            destination = args[0]
            prefix = args[1] if len(args) > 1 else prefix
            keep_vars = args[2] if len(args) > 2 else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self.__dict__.get("_state_dict_hooks", {}).values():
            changed = hook(self, destination, prefix, local)
            if changed is not None:
                destination = changed
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        transient = self.__dict__.get("_non_persistent_buffers_set", ())
        for name, p in self._parameters.items():
            if p is not None:
                destination[prefix + name] = p if keep_vars else p.detach()
        for name, b in self._buffers.items():
            if b is not None and name not in transient:
                destination[prefix + name] = b if keep_vars else b.detach()
        if self._has_extra_state():
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> _IncompatibleKeys:
        """Copies the tensors of a state_dict into this module's. With strict the names must agree."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        errors: list[str] = []
        expected: set[str] = set()
        state = {key: data_of(value) for key, value in state_dict.items()}  # modules and hooks take out what they have used
        self._load_tree(state, "", missing, errors, expected, getattr(state_dict, "_metadata", {}), strict)
        unexpected = [k for k in state if k not in expected]
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{k}"' for k in unexpected) + ". ")
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ". ")
        if errors:
            raise _advice.advised(RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors)))
        return _IncompatibleKeys(missing, unexpected)

    def _load_tree(
        self,
        state: dict[str, Any],
        prefix: str,
        missing: list[str],
        errors: list[str],
        expected: set[str],
        metadata: Any,
        strict: bool,
    ) -> None:
        local = metadata.get(prefix[:-1], {}) if metadata else {}
        self._load_from_state_dict(state, prefix, local, strict, missing, [], errors)
        transient = self.__dict__.get("_non_persistent_buffers_set", ())
        expected.update(prefix + n for n in self._parameters)
        expected.update(prefix + n for n in self._buffers if n not in transient)
        if self._has_extra_state():
            expected.add(prefix + _EXTRA_STATE)
        for name, child in self._modules.items():
            if child is not None:
                child._load_tree(state, prefix + name + ".", missing, errors, expected, metadata, strict)
        keys = _IncompatibleKeys(missing, [])
        for hook in self.__dict__.get("_load_state_dict_post_hooks", {}).values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                    "if incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for hook in self.__dict__.get("_load_state_dict_pre_hooks", {}).values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        transient = self.__dict__.get("_non_persistent_buffers_set", ())
        own = [*self._parameters.items(), *((n, b) for n, b in self._buffers.items() if n not in transient)]
        for name, mine in own:
            if mine is None:
                continue
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
                continue
            given = state_dict[key]
            if is_lazy(mine) and is_lazy(given):
                continue
            if not isinstance(given, Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received {type(given)}'
                )
            elif given.shape != mine.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current model is {mine.shape}."
                )
            else:
                _copy_into(mine, given)
        if self._has_extra_state():
            if prefix + _EXTRA_STATE in state_dict:
                self.set_extra_state(state_dict[prefix + _EXTRA_STATE])
            else:
                missing_keys.append(prefix + _EXTRA_STATE)

    def _register_state_dict_hook(self, hook: Any) -> RemovableHandle:
        return _hooks.add(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Any, with_module: bool = False) -> RemovableHandle:
        """Calls hook(state_dict, prefix, ...) before the module loads; with_module puts the module before that."""
        bound = functools.partial(hook, self) if with_module else hook
        return _hooks.add(self._load_state_dict_pre_hooks, bound)

    def register_load_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Calls hook(module, incompatible_keys) after the module and its children have loaded; it may change the lists of keys."""
        return _hooks.add(self._load_state_dict_post_hooks, hook)

    # Changing all of it.

    def _replicate_for_data_parallel(self) -> Any:
        """A module of the same attributes, buffers and children whose parameters are to be set by who asked."""
        replica = type(self).__new__(type(self))
        replica.__dict__ = {**self.__dict__, "_parameters": OrderedDict(), "_is_replica": True}
        replica.__dict__.update({name: self.__dict__[name].copy() for name in ("_buffers", "_modules")})
        return replica

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Any:
        for child in self.children():
            child._apply(fn)
        future = sys.modules.get("torchjit.__future__")
        overwrite = future is not None and future.get_overwrite_module_params_on_conversion()
        for name, p in list(self._parameters.items()):
            if p is None:
                continue
            grad = p.grad
            if overwrite:
                p = self._parameters[name] = Parameter(fn(p.detach()), p.requires_grad)
            else:
                p.data = fn(p.data)
            if grad is not None:
                p.grad = fn(grad.detach()).requires_grad_(grad.requires_grad)
        for name, b in list(self._buffers.items()):
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def apply(self, fn: Callable[[Module], None]) -> Any:
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        from torchjit._tensor import _parse_to

        place, wanted, non_blocking, layout = _parse_to(*args, **kwargs)
        if wanted is not None and not (wanted.is_floating_point or wanted.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}"
            )

        def convert(t: Tensor) -> Tensor:
            dtype = wanted if t.is_floating_point() or t.is_complex() else None
            if layout is not None and t.dim() in (4, 5):
                return t.to(device=place, dtype=dtype, non_blocking=non_blocking, memory_format=layout)
            return t.to(device=place, dtype=dtype, non_blocking=non_blocking)

        return self._apply(convert)

    def type(self, dst_type: Any) -> Any:
        return self._apply(lambda t: t.type(dst_type))

    def _convert_floats(self, name: str) -> Any:
        from torchjit._types import dtypes

        return self._apply(lambda t: t.to(dtypes[name]) if t.is_floating_point() else t)

    def float(self) -> Any:
        return self._convert_floats("float32")

    def double(self) -> Any:
        return self._convert_floats("float64")

    def half(self) -> Any:
        return self._convert_floats("float16")

    def bfloat16(self) -> Any:
        return self._convert_floats("bfloat16")

    def cpu(self) -> Any:
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Raises AssertionError: this version runs on the CPU alone."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: Any = None) -> Any:
        """Raises RuntimeError: this version runs on the CPU alone. So does ipu."""
        return self._apply(lambda t: t.xpu(device))

    def ipu(self, device: Any = None) -> Any:
        return self._apply(lambda t: t.ipu(device))

    def to_empty(self, *, device: Any) -> Any:
        """The module on another device with numbers that are arbitrary."""
        from torchjit import empty_like

        return self._apply(lambda t: empty_like(t, device=device))

    def share_memory(self) -> Any:
        return self

    def train(self, mode: bool = True) -> Any:
        """Puts the module and its children into training mode, or out of it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Any:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = False) -> None:
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = p.grad.detach().zero_()

    # Printing.

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed of the module besides its children."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        children = [f"({name}): " + "\n  ".join(repr(child).split("\n")) for name, child in self._modules.items()]
        text = self._get_name() + "("
        lines = own + children
        if lines:
            if len(own) == 1 and not children:
                text += own[0]
            else:
                text += "\n  " + "\n  ".join(lines) + "\n"
        return text + ")"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _type_name(value: Any) -> str:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return value.type()
    kind = type(value)
    module = "torch" + kind.__module__[len("torchjit") :] if kind.__module__.startswith("torchjit") else kind.__module__
    return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"


def _copy_into(target: Tensor, source: Tensor) -> None:
    from torchjit.autograd.grad_mode import no_grad

    with no_grad():
        target.copy_(source)
