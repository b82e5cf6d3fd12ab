"""Levels: what the transforms of torch.func (grad, jvp, vmap) are made of, and the tensors that belong to them.

A transform calls a function in a level. A level is a mode, which sees every operator below autograd, so levels nest as modes do: the
innermost takes the operator first, takes its own tensors apart, and what it then calls goes to the level around it. A tensor of a level stands
for a tensor of the levels around it, its value. Autograd records what is done to the tensor of a level and, apart from it, what is done to its
value, so no gradient of one level gets into another.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from torchjit import _native
from torchjit._dispatch_modes import TorchDispatchMode, mode_stack
from torchjit._override import _disabled_torch_function_impl
from torchjit._tensor import Tensor


class LevelTensor(Tensor):
    """A tensor of a level. It has the shape that the function sees; its value has the elements."""

    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]
    _level: Level
    _value: Any

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Runs an operator where the level of a tensor is over: the tensor has got out of the function."""

        def value(x: Any) -> Any:
            return x._level.value_outside(x) if isinstance(x, LevelTensor) and x._level not in mode_stack() else x

        return func(*map_values(value, args), **map_values(value, kwargs or {}))

    def __bool__(self) -> bool:
        level = batching_level(self)
        if level is not None:
            level.refuse(
                "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please file an "
                "issue at https://github.com/pytorch/pytorch/issues ."
            )
        return bool(Tensor.item(self))

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Raises RuntimeError: what requires gradients in a transform is what the transform says."""
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function being "
            "transformed by a functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, "
            "hessian) or call requires_grad_() outside of a function being transformed instead."
        )

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Raises RuntimeError: gradients in a transform are what the transform gives."""
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp instead or call "
            "backward() outside of functorch transforms."
        )

    def tolist(self) -> Any:
        """The numbers of the tensor. Raises RuntimeError inside vmap, where there are those of all samples."""
        return self._elements().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The array of the tensor's elements. Raises RuntimeError inside vmap, where there are those of all samples."""
        return self._elements().numpy(force=force)

    def _elements(self) -> Any:
        """The tensor with elements that it stands for."""
        if batching_level(self) is not None:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        found: Any = self
        while isinstance(found, LevelTensor):
            found = found._value
        return found.detach()

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        inner = repr(self._value).replace("\n", "\n    ")
        return f"{self._level.kind}(lvl={self._level.number}, {self._level.of_repr}value=\n    {inner}\n)"

    def __deepcopy__(self, memo: Any) -> Any:
        return self.clone()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("Cannot pickle a tensor of a functorch transform: it exists only while the transformed function runs")


def batching_level(x: Any) -> Any:
    """The level, of the tensor or of what it stands for, that has it once for each sample; None where there is none."""
    while isinstance(x, LevelTensor):
        if x._level.batches:
            return x._level
        x = x._value
    return None


def map_values(f: Callable[[Any], Any], x: Any) -> Any:
    """The arguments or results of an operator with what f makes of those that are in no list, tuple or dictionary."""
    if isinstance(x, (list, tuple)):
        items = [map_values(f, item) for item in x]
        return type(x)(items) if type(x) in (list, tuple) else items if isinstance(x, list) else type(x)(items)
    if isinstance(x, dict):
        return {key: map_values(f, item) for key, item in x.items()}
    return f(x)


def parts(x: Any) -> list[Any]:
    """What is in no list, tuple or dictionary among the arguments or results of an operator, in order."""
    found: list[Any] = []
    map_values(found.append, x)
    return found


class Facts:
    """What transforms ask of an overload."""

    def __init__(self, func: Any) -> None:
        from torchjit._dispatch_keys import Tag

        schema = func._schema
        self.name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        self.base = schema.name
        self.parameters = [(a.name, a.default_value if a.has_default_value() else None) for a in schema.arguments]
        self.places = {name: i for i, (name, _) in enumerate(self.parameters)}
        self.written_places = [i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
        self.writes = bool(self.written_places)
        tags = func.tags
        self.draws = Tag.nondeterministic_seeded in tags
        self.dynamic = Tag.dynamic_output_shape in tags
        self.moves = Tag.inplace_view in tags
        self.to_number = Tag.data_dependent_output in tags
        functional = schema.name[:-1] if self.writes and schema.name.endswith("_") else schema.name
        self.elementwise = _native.operator_is_elementwise(functional + self.name[len(schema.name) :])

    def written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The tensors among arguments that a call writes."""
        found = [args[i] if i < len(args) else kwargs.get(self.parameters[i][0]) for i in self.written_places]
        return [x for x in parts(found) if isinstance(x, Tensor)]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by their names, those that are left out too."""
        bound = dict(self.parameters)
        bound.update(zip((name for name, _ in self.parameters), args))
        bound.update(kwargs)
        return bound


_facts: dict[str, Facts] = {}


def facts_of(func: Any) -> Facts:
    """The facts of an overload, which are found once."""
    name = func.name()
    found = _facts.get(name)
    if found is None:
        found = _facts[name] = Facts(func)
    return found


class Level(TorchDispatchMode):
    """What the transforms have in common."""

    kind = ""
    of_repr = ""
    batches = False
    number = 0

    def __enter__(self) -> Any:
        self.number = 1 + sum(isinstance(mode, Level) for mode in mode_stack())
        self._recorded = _native.grad_enabled()
        return super().__enter__()

    def wrap(self, value: Any, size: Any = None, strides: Any = None) -> Any:
        """A tensor of the level."""
        if isinstance(value, LevelTensor) and value._level is self:
            return value
        made = Tensor._make_wrapper_subclass(
            LevelTensor, value.shape if size is None else size, value.stride() if strides is None else strides, value.storage_offset(),
            dtype=value.dtype, device=value.device,
        )  # fmt: skip
        made._level, made._value = self, value
        return made

    def has(self, x: Any) -> bool:
        """Whether something is a tensor of the level."""
        return isinstance(x, LevelTensor) and x._level is self

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an operator of tensors of the level gives."""
        raise NotImplementedError

    def value_outside(self, x: Any) -> Any:
        """What a tensor counts as when the level is over."""
        raise NotImplementedError

    def recorded(self) -> bool:
        """Whether the levels around this one record what it has them do."""
        raise NotImplementedError

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        below, grad = _native.set_below(False), _native.grad_enabled()
        _native.set_grad_enabled(self.recorded())
        try:
            if facts_of(func).moves and args and self.has(args[0]):
                return self.move(func, args, kwargs or {})
            return self.run(func, args, kwargs or {})
        finally:
            _native.set_grad_enabled(grad)
            _native.set_below(below)

    def move(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an operator that makes a tensor another view of its elements gives: its value becomes such a view, and its shape is changed."""
        facts = facts_of(func)
        view = getattr(getattr(importlib.import_module("torchjit.ops").aten, facts.base.removeprefix("aten::").removesuffix("_")), func._overloadname, None)
        if view is None:
            raise NotImplementedError(f"{facts.name} is not supported inside of functorch transforms")
        made = self.run(view, args, kwargs)
        outside = _native.set_undispatched(True)
        below = _native.set_below(True)
        try:
            func(*args, **kwargs)
        finally:
            _native.set_below(below)
            _native.set_undispatched(outside)
        args[0]._value = made._value
        return args[0]

    def refuse(self, why: str) -> None:
        """Raises RuntimeError."""
        raise RuntimeError(why)


def as_given(made: Any, given: dict[int, Any], wrap: Callable[[Any], Any]) -> Any:
    """The results of an operator as tensors of a level: those that are arguments, which it has written, stay what they are."""
    return map_values(lambda x: given.get(id(x)) if id(x) in given else wrap(x) if isinstance(x, Tensor) else x, made)


def check_written(written: Any, before: Any) -> None:
    """Raises NotImplementedError where an operator has changed the shape of a tensor that it writes."""
    if written.shape != before:
        raise NotImplementedError("operators that change the shape of a tensor in place are not supported inside of functorch transforms")


class GradLevel(Level):
    """The level of grad, vjp and jvp."""

    kind = "GradTrackingTensor"

    def recorded(self) -> bool:
        return self._recorded

    def value_outside(self, x: Any) -> Any:
        return x._value

    def unwrap(self, x: Any) -> Any:
        return x._value if self.has(x) else x

    def values(self, tree: Any) -> tuple[Any, dict[int, Any]]:
        """Arguments with values in the place of tensors of the level, and which of these each value is of, by its id."""
        given: dict[int, Any] = {}

        def value(x: Any) -> Any:
            if not self.has(x):
                return x
            given[id(x._value)] = x
            return x._value

        return map_values(value, tree), given

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        facts = facts_of(func)
        for x in facts.written(args, kwargs):
            if not self.has(x):
                self.refuse(
                    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
                    f"({facts.name}) that would mutate a captured Tensor. This is not "
                    "supported; please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
                )
        (values, named), given = self.values((args, kwargs))
        made = func(*values, **named)
        if not facts.writes:
            given.clear()
        for x in given.values():
            check_written(x._value, x.shape)
        return as_given(made, given, self.wrap)
