"""What a program is called with, compared with what it was captured for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import torchjit as torch
from torchjit import _native
from torchjit._advice import advised
from torchjit.export._program import write_argument, write_value
from torchjit.export._symbolic import SymInt, int_oo
from torchjit.export.graph_signature import ConstantArgument, InputKind
from torchjit.nn.parameter import Parameter
from torchjit.utils import _pytree as pytree


class Inputs:
    """The inputs of a program: their containers, those that are constant, and the guard of those that are tensors."""

    def __init__(self, program: Any) -> None:
        self.in_spec = program.in_spec
        placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
        pairs = zip(placeholders, program.graph_signature.input_specs, strict=True)
        user = [(n.meta.get("val"), s.arg) for n, s in pairs if s.kind == InputKind.USER_INPUT]
        self.count = len(user)
        self.constants = {i: arg for i, (_, arg) in enumerate(user) if isinstance(arg, ConstantArgument)}
        self.tensors = [i for i, (val, _) in enumerate(user) if isinstance(val, torch.Tensor)]
        self.expected = [(i, user[i][0].shape) for i in self.tensors]
        self.ranges = program.range_constraints
        form = {"inputs": [write_value(user[i][0]) for i in self.tensors], "symbols": program._symbols}
        self.guard = _native.export_guard(json.dumps(form))
        places, keywords = self.in_spec.children_specs
        self.flat = keywords.num_children == 0 and all(s.is_leaf() for s in places.children_specs) and len(self.tensors) == self.count

    def forms(self) -> dict[str, dict[str, Any]]:
        """The inputs that have one value alone, by their names, as the library reads them."""
        return {arg.name: write_argument(arg.value) for arg in self.constants.values()}

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterable[Any]:
        """What arguments in the order of the capture hold."""
        if not kwargs and self.are_plain(args):
            return args
        return pytree.tree_leaves((args, kwargs))

    def are_plain(self, args: tuple[Any, ...]) -> bool:
        """Whether positional arguments are as many as the program takes, and its leaves themselves: tensors, as are all inputs."""
        return self.flat and len(args) == self.count and _TENSORS.issuperset(map(type, args))

    def check_plain(self, args: tuple[Any, ...]) -> None:
        """What checked does for such arguments."""
        wrong = self.guard(*args)
        if wrong is not None:
            self._refuse(wrong, args, {})

    def checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments in the order of the capture.

        Raises ValueError for other ones than those, and for other containers, and RuntimeError for a value, an element type or a size that the
        program was not captured for.
        """
        order = list(self.in_spec.children_specs[1].context)
        if set(order) != set(kwargs):
            raise ValueError(f"Ran into a kwarg keyword mismatch: Got the following keywords {list(kwargs)} but expected {order}")
        kwargs = {k: kwargs[k] for k in order}
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self.in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self.in_spec}\nbut actually got inputs with tree spec of: \n{spec}.\n"
                "Please check that the inputs have the same number of args and kwargs as the ones you used when tracing."
            )
        if len(leaves) != self.count:
            raise RuntimeError(f"Expected {self.count} inputs, but got {len(leaves)}")
        for i, arg in self.constants.items():
            if type(leaves[i]) is not type(arg.value) or leaves[i] != arg.value:
                raise advised(RuntimeError(f"Expected input at {_place(args, kwargs, i)} to be equal to {arg.value}, but got {leaves[i]}"))
        for i in self.tensors:
            if not isinstance(leaves[i], torch.Tensor):
                raise RuntimeError(f"Expected input at {_place(args, kwargs, i)} to be a tensor, but got {type(leaves[i])}")
        if _native.export_active():
            self._tell(leaves)
        wrong = self.guard(*(leaves[i] for i in self.tensors))
        if wrong is not None:
            self._refuse(wrong, args, kwargs)
        return kwargs

    def _tell(self, leaves: list[Any]) -> None:
        """Has a program that is being exported, which calls this one, know the sizes that this one was captured for: comparisons become its guards."""
        pairs = [pair for i, shape in self.expected for pair in zip(leaves[i].shape, shape, strict=False)]
        known: dict[str, Any] = {}
        for n, expected in sorted(pairs, key=lambda pair: isinstance(pair[1], SymInt) and not isinstance(pair[1]._form, str)):
            if not isinstance(expected, SymInt):
                bool(n == expected)
                continue
            if isinstance(expected._form, str):
                bool(known.setdefault(expected._form, n) is n or known[expected._form] == n)
            elif all(s.name in known for s in expected.free_symbols()):
                bool(expected.evaluate(known) == n)
            allowed = self.ranges.get(expected.expr)
            if allowed is not None and allowed.lower > 0:
                bool(n >= allowed.lower)
            if allowed is not None and allowed.upper is not int_oo:
                bool(n <= allowed.upper)

    def _refuse(self, wrong: tuple[int, str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        tensor, text = wrong
        raise advised(RuntimeError(text.replace("%s", _place(args, kwargs, self.tensors[tensor]))))


_TENSORS = frozenset((torch.Tensor, Parameter))


def _place(args: tuple[Any, ...], kwargs: dict[str, Any], leaf: int) -> str:
    """The place of a leaf among the arguments: *args[0]['a']."""
    try:
        path = pytree.tree_leaves_with_path((args, kwargs))[leaf][0]
    except ValueError:
        return f"*args, leaf {leaf}"
    if path[0].idx == 0:
        return "*args" + pytree.keystr(path[1:])
    return repr(path[1].key) + pytree.keystr(path[2:])
