"""What a program is called with, compared with what it was captured for."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit._advice import advised
from torchjit.export._program import write_argument
from torchjit.export._symbolic import Symbol, SymInt, affine
from torchjit.export.graph_signature import ConstantArgument, InputKind
from torchjit.utils import _pytree as pytree


class Inputs:
    """The inputs of a program: their containers, what is known of each, and the ranges of the symbols."""

    def __init__(self, program: Any) -> None:
        self.in_spec, self.ranges = program.in_spec, program.range_constraints
        placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
        pairs = zip(placeholders, program.graph_signature.input_specs, strict=True)
        self.user = [(n.meta.get("val"), s) for n, s in pairs if s.kind == InputKind.USER_INPUT]

    def constants(self) -> dict[str, dict[str, Any]]:
        """The inputs that have one value alone, by their names, as the library reads them."""
        return {s.arg.name: write_argument(s.arg.value) for _, s in self.user if isinstance(s.arg, ConstantArgument)}

    def ordered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments in the order of the capture. Raises ValueError for other ones than those, and for other containers."""
        order = list(self.in_spec.children_specs[1].context)
        if set(order) != set(kwargs):
            raise ValueError(f"Ran into a kwarg keyword mismatch: Got the following keywords {list(kwargs)} but expected {order}")
        kwargs = {k: kwargs[k] for k in order}
        spec = pytree.tree_structure((args, kwargs))
        if spec != self.in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self.in_spec}\nbut actually got inputs with tree spec of: \n{spec}.\n"
                "Please check that the inputs have the same number of args and kwargs as the ones you used when tracing."
            )
        return kwargs

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises RuntimeError for a value, an element type or a size that the program was not captured for."""
        leaves = pytree.tree_leaves((args, kwargs))
        if len(leaves) != len(self.user):
            raise RuntimeError(f"Expected {len(self.user)} inputs, but got {len(leaves)}")
        sizes: list[tuple[int, int, Any, int]] = []
        for i, ((fake, spec), x) in enumerate(zip(self.user, leaves, strict=True)):
            if isinstance(spec.arg, ConstantArgument):
                if type(x) is not type(spec.arg.value) or x != spec.arg.value:
                    raise advised(RuntimeError(f"Expected input at {self._place(args, kwargs, i)} to be equal to {spec.arg.value}, but got {x}"))
            elif isinstance(fake, torch.Tensor):
                self._check_tensor(x, fake, lambda i=i: self._place(args, kwargs, i))
                sizes += [
                    (i, d, expected, int(n))
                    for d, (n, expected) in enumerate(zip(x.shape, fake.shape, strict=True))
                    if isinstance(expected, SymInt)
                ]
        self._check_sizes(sizes, lambda i: self._place(args, kwargs, i))

    def _place(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaf: int) -> str:
        """The place of a leaf among the arguments: *args[0]['a']."""
        try:
            path = pytree.tree_leaves_with_path((args, kwargs))[leaf][0]
        except ValueError:
            return f"*args, leaf {leaf}"
        if path[0].idx == 0:
            return "*args" + pytree.keystr(path[1:])
        return repr(path[1].key) + pytree.keystr(path[2:])

    def _check_tensor(self, x: Any, fake: Any, place: Any) -> None:
        if not isinstance(x, torch.Tensor):
            raise RuntimeError(f"Expected input at {place()} to be a tensor, but got {type(x)}")
        if x.dtype != fake.dtype:
            raise RuntimeError(f"Expected input at {place()} to have dtype {fake.dtype}, but got {x.dtype}")
        if len(x.shape) != len(fake.shape):
            raise RuntimeError(f"Unexpected number of dimensions in input at {place()}.shape (expected {fake.shape}, got {x.shape})")
        for d, (n, expected) in enumerate(zip(x.shape, fake.shape, strict=True)):
            if not isinstance(expected, SymInt) and n != expected:
                raise advised(RuntimeError(f"Expected input at {place()}.shape[{d}] to be equal to {expected}, but got {n}"))

    def _check_sizes(self, sizes: list[tuple[int, int, Any, int]], place: Any) -> None:
        """Finds what the symbols are, and compares the sizes that are expressions over them."""
        known: dict[str, int] = {}
        for i, d, expected, n in sorted(sizes, key=lambda s: not isinstance(s[2]._form, str)):
            where = f"{place(i)}.shape[{d}]" if not self._fits(expected, n, known) else ""
            if where:
                self._refuse(expected, n, known, where)
        for i, d, expected, n in sizes:
            name = expected._form if isinstance(expected._form, str) else None
            allowed = self.ranges.get(Symbol(name)) if name else self.ranges.get(expected.expr)
            if allowed is not None and n < allowed.lower:
                raise RuntimeError(f"Expected input at {place(i)}.shape[{d}] to be >= {allowed.lower}, but got {n}")
            if allowed is not None and n > allowed.upper:
                raise RuntimeError(f"Expected input at {place(i)}.shape[{d}] to be <= {allowed.upper}, but got {n}")

    def _fits(self, expected: Any, n: int, known: dict[str, int]) -> bool:
        """Whether a size can be n, which makes a symbol known that was not."""
        if all(s.name in known for s in expected.free_symbols()):
            return bool(expected.evaluate(known) == n)
        found = affine(expected._form)
        if found is None:
            return True
        name, factor, rest = found
        if (n - rest) % factor != 0:
            return False
        known[name] = (n - rest) // factor
        return True

    def _refuse(self, expected: Any, n: int, known: dict[str, int], place: str) -> None:
        symbols = sorted(s.name for s in expected.free_symbols())
        if all(s in known for s in symbols):
            raise advised(RuntimeError(f"Expected input at {place} to be equal to {expected.evaluate(known)}, but got {n}"))
        raise RuntimeError(f"Expected input {place} = {n} to be of the form {expected}, where {symbols[0]} is an integer")
