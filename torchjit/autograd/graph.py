"""torch.autograd.graph: the nodes that made tensors, and hooks on what they save."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torchjit import _native
from torchjit._tensor import Tensor

__all__ = ["disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]

_NODE_HANDLE = 8


class _Box:
    """An object of Python that the library keeps as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Node(_native.Handle):
    """What made a tensor that is no leaf: a recorded operation, or what adds up the gradient of a leaf.

    The class of a node has its name. What it saved for its derivative is there under the names of the operator's
    arguments, such as _saved_self, and of results, such as _saved_result; a node of a custom function has
    the attributes of its context.
    """

    def name(self) -> str:
        return _native.grad_node_full_name(self)

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """Pairs of the node that the gradient of each input goes to, or None, and the number of its output there."""
        return tuple((_named(node), i) for node, i in _native.grad_node_next(self))

    @property
    def metadata(self) -> dict[Any, Any]:
        """What the user keeps with the node."""
        return _native.grad_node_metadata(self, _Box({})).value

    requires_grad = True

    def register_hook(self, fn: Callable[..., Any]) -> Any:
        """Has fn(grad_inputs, grad_outputs) called after the node has been differentiated; a tuple that it returns takes the
        place of grad_inputs. Returns a handle whose remove() ends that."""
        return _NodeHook(_native.grad_node_register_hook(self, _counted(fn), False))

    def register_prehook(self, fn: Callable[..., Any]) -> Any:
        """Has fn(grad_outputs) called before the node is differentiated; a tuple that it returns takes their place."""
        return _NodeHook(_native.grad_node_register_hook(self, fn, True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            found = _native.grad_node_saved(self, name[len("_saved_"):])
            if found is not None:
                return tuple(found[0]) if isinstance(found[0], list) else found[0]
        if name.startswith("_raw_saved_") and "*" + name[len("_raw_saved_"):] in _native.grad_node_saved_names(self):
            return _raw(self, name[len("_raw_saved_"):])
        context = None if name.startswith("__") else _native.grad_node_context(self)
        if context is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if name in ("saved_tensors", "saved_variables") and _native.grad_node_released(self):
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
                "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True "
                "if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
            )
        return getattr(context, name)

    def __dir__(self) -> list[str]:
        saved = _native.grad_node_saved_names(self)
        names = [f"_saved_{name.lstrip('*')}" for name in saved] + [f"_raw_saved_{name[1:]}" for name in saved if name.startswith("*")]
        return sorted({*super().__dir__(), *names})

    def __repr__(self) -> str:
        where = "torch.autograd.function." if _native.grad_node_context(self) is not None else ""
        return f"<{where}{type(self).__name__} object at {hex(id(self))}>"


def _counted(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A hook of gradients of inputs, which must give as many as it gets."""

    def hook(inputs: Any, outputs: Any) -> Any:
        made = fn(inputs, outputs)
        count = len(made) if isinstance(made, tuple) else 1
        if made is not None and count != len(inputs):
            name = getattr(fn, "__name__", "unknown")
            raise RuntimeError(f"hook '{name}' has returned an incorrect number of values (got {count}, but expected {len(inputs)})")
        return made

    return hook


def _raw(node: Node, name: str) -> Any:
    """A tensor that a node keeps, as it keeps it."""
    from torchjit._C._autograd import SavedTensor

    raw: Any = object.__new__(SavedTensor)
    raw._node, raw._name = node, name
    return raw


class _NodeHook:
    """What registering a hook of a node returns."""

    def __init__(self, remove: Callable[[], None]) -> None:
        self._remove: Callable[[], None] | None = remove

    def remove(self) -> None:
        """Takes the hook away. A second time does nothing."""
        if self._remove is not None:
            self._remove()
            self._remove = None

    def __enter__(self) -> _NodeHook:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.remove()


_native.register_handle_class(_NODE_HANDLE, Node)

# The classes of nodes by their names.
_classes: dict[str, type] = {}


def _named(node: Any) -> Any:
    """A node with the class of its name."""
    if type(node) is Node:
        name = _native.grad_node_name(node)
        if name not in _classes:
            members: dict[str, Any] = {"__module__": "builtins"}
            if name == "AccumulateGrad":
                members["variable"] = property(_native.grad_node_variable, doc="The leaf whose gradient the node adds up.")
            _classes[name] = type(name, (Node,), members)
        node.__class__ = _classes[name]
    return node


# Why hooks on saved tensors are not allowed, None where they are.
_forbidden: list[str | None] = [None]


class saved_tensors_hooks:  # noqa: N801
    """A context in which what nodes save is given to pack_hook(tensor); unpack_hook gets what that returned and gives the tensor back."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _forbidden[-1] is not None:
            raise RuntimeError(_forbidden[-1])
        _native.push_saved_hooks(self._pack, self._unpack)

    def __exit__(self, *args: object) -> None:
        _native.pop_saved_hooks()

    def _pack(self, tensor: Any) -> _Box:
        return _Box(self.pack_hook(tensor))

    def _unpack(self, packed: _Box) -> Any:
        found = self.unpack_hook(packed.value)
        if not isinstance(found, Tensor):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(found).__name__}")
        return found


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """A context in which saved tensors are copied to the CPU, where all of them are already; pin_memory has no effect."""

    def __init__(self, pin_memory: bool = False) -> None:
        super().__init__(lambda tensor: tensor.detach().cpu(), lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A context in which saved_tensors_hooks raises an error of this text."""
    _forbidden.append(error_message)
    try:
        yield
    finally:
        _forbidden.pop()
