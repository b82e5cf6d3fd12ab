"""A mode that holds operators to their schemas: what they write, and what their results share memory with."""

from __future__ import annotations

from typing import Any, NamedTuple

import torchjit as torch
from torchjit import _lazy
from torchjit.utils._python_dispatch import TorchDispatchMode
from torchjit.utils._pytree import tree_flatten


class Mutation(NamedTuple):
    """An argument that an operator has written."""

    op_name: str
    arg_name: str


class Aliasing(NamedTuple):
    """A result that shares memory with an argument."""

    op_name: str
    arg_name: str
    output_number: str


def _tensors(value: Any) -> list[Any]:
    return [x for x in tree_flatten(value)[0] if isinstance(x, torch.Tensor)]


def _differs(before: Any, after: Any) -> bool:
    if before.shape != after.shape or before.stride() != after.stride() or before.dtype != after.dtype:
        return True
    return not torch.allclose(before, after, equal_nan=True) if before.dtype != torch.bool else not torch.equal(before, after)


def _overlap(a: Any, b: Any) -> bool:
    return a.storage().data_ptr() == b.storage().data_ptr() and a.numel() > 0 and b.numel() > 0 and a.device == b.device


class SchemaCheckMode(TorchDispatchMode):
    """A mode that raises RuntimeError where an operator writes an argument, or gives what shares memory with one, and the schema does not say so.

    ops has the names of the operators that ran, mutated and aliasing what they did.
    """

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.mutated: list[Mutation] = []
        self.aliasing: list[Aliasing] = []

    def reset_cache(self) -> None:
        """Forgets what has run."""
        self.ops.clear()
        self.mutated.clear()
        self.aliasing.clear()

    def display_ops(self) -> None:
        """Prints the names of the operators that have run."""
        print(*self.ops, sep=",")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        schema = func._schema
        self.ops.append(schema.name)
        parameters = list(schema.arguments)
        given = {p.name: value for p, value in zip(parameters, args)} | kwargs
        tensors = {name: _tensors(value) for name, value in given.items()}
        before = {name: [(t, t.detach().clone(memory_format=torch.preserve_format)) for t in held] for name, held in tensors.items()}
        found = func(*args, **kwargs)
        results = found if isinstance(found, tuple) else (found,)
        info = torch._C._SchemaInfo(schema)
        info.add_argument_values({("self" if name == "input" else name): value for name, value in given.items()})
        for i, parameter in enumerate(parameters):
            name = parameter.name
            shown = "input" if name == "self" else name
            if any(_differs(old, now) for now, old in before.get(name, ())):
                if not info.is_mutable(torch._C._SchemaArgument(torch._C._SchemaArgType.input, i)):
                    raise RuntimeError(f"Argument {shown} is not defined as mutable but was mutated")
                self.mutated.append(Mutation(schema.name, shown))
            for j, result in enumerate(results):
                if not any(_overlap(a, b) for a in tensors.get(name, ()) for b in _tensors(result)):
                    continue
                places = (torch._C._SchemaArgument(torch._C._SchemaArgType.output, j), torch._C._SchemaArgument(torch._C._SchemaArgType.input, i))
                if not info.may_contain_alias(*places):
                    raise RuntimeError(f"Argument {shown} is not defined to alias output but was aliasing")
                self.aliasing.append(Aliasing(schema.name, shown, f"output_{j}"))
        for i, first in enumerate(results):
            for j in range(i + 1, len(results)):
                if any(_overlap(a, b) for a in _tensors(first) for b in _tensors(results[j])):
                    places = (torch._C._SchemaArgument(torch._C._SchemaArgType.output, i), torch._C._SchemaArgument(torch._C._SchemaArgType.output, j))
                    if not info.may_contain_alias(*places):
                        raise RuntimeError(f"Outputs {i} and {j} alias unexpectedly")
        return found


__all__ = ["Aliasing", "Mutation", "SchemaCheckMode"]


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit._schema_info": "SchemaArgType=_SchemaArgType SchemaArgument=_SchemaArgument SchemaInfo=_SchemaInfo",
    "torchjit.fx.operator_schemas": "normalize_function",
    "torchjit.testing._internal.jit_utils": "clone_inputs",
    "torchjit.utils._pytree": "tree_map",
})  # fmt: skip
