"""The module that runs an exported program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchjit as torch
from torchjit.export._symbolic import Symbol, SymInt
from torchjit.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torchjit.utils import _pytree as pytree


class ExportedModule(torch.nn.Module):
    """Runs an exported program on the arguments that the captured module took.

    Its parameters and buffers are those of the program, under the same names; buffers that the program writes are written.
    """

    def __init__(self, program: Any) -> None:
        super().__init__()
        self._program, self._signature = program, program.graph_signature
        self._graph_module = program.graph_module
        for spec in self._signature.input_specs:
            if spec.target is None:
                continue
            prefix, _, name = spec.target.rpartition(".")
            owner = self._owner(prefix)
            tensor = program._tensor(spec.target)
            if spec.kind == InputKind.PARAMETER:
                owner.register_parameter(name, tensor if isinstance(tensor, torch.nn.Parameter) else torch.nn.Parameter(tensor))
            elif spec.kind == InputKind.BUFFER:
                owner.register_buffer(name, tensor, persistent=bool(spec.persistent))
            else:
                object.__setattr__(owner, name, tensor)

    def _owner(self, path: str) -> torch.nn.Module:
        owner: torch.nn.Module = self
        for part in path.split(".") if path else []:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]  # type: ignore[assignment]
        return owner

    @property
    def graph(self) -> Any:
        return self._graph_module.graph

    @property
    def code(self) -> str:
        return str(self._graph_module.code)

    def print_readable(self, print_output: bool = True) -> str:
        """The program as Python, which is printed too."""
        from torchjit.export._readable import readable

        text = readable(self._graph_module, "GraphModule")
        if print_output:
            print(text)
        return text

    def train(self, mode: bool = True) -> Any:
        raise NotImplementedError("Calling train() is not supported yet.")

    def eval(self) -> Any:
        raise NotImplementedError("Calling eval() is not supported yet.")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs of the program. Raises ValueError and RuntimeError for other arguments than those that it was captured for."""
        leaves = self._leaves(args, kwargs)
        given = iter(leaves)
        flat = []
        for spec in self._signature.input_specs:
            flat.append(next(given) if spec.target is None else self._at(spec.target))
        self._check(leaves)
        out = self._graph_module(*flat)
        return self._finish(list(out) if isinstance(out, (tuple, list)) else [out], leaves, lambda name, x: self._at(name).copy_(x))

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        order = list(self._program.in_spec.children_specs[1].context)
        if set(order) == set(kwargs):
            kwargs = {k: kwargs[k] for k in order}
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._program.in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self._program.in_spec}\nbut actually got inputs "
                f"with tree spec of: \n{spec}"
            )
        return leaves

    def _at(self, target: str) -> Any:
        prefix, _, name = target.rpartition(".")
        return getattr(self.get_submodule(prefix), name)

    def _check(self, leaves: list[Any]) -> None:
        """Compares the user's inputs with what the program was captured for."""
        known: dict[str, int] = {}
        nodes = [n for n in self._graph_module.graph.nodes if n.op == "placeholder"]
        specs = self._signature.input_specs
        user = [(n, s) for n, s in zip(nodes, specs, strict=True) if s.target is None]
        for i, ((node, spec), x) in enumerate(zip(user, leaves, strict=True)):
            place = f"*args[{i}]"
            if isinstance(spec.arg, ConstantArgument):
                if type(x) is not type(spec.arg.value) or x != spec.arg.value:
                    raise RuntimeError(f"Expected input at {place} to be equal to {spec.arg.value}, but got {x}")
                continue
            fake = node.meta.get("val")
            if not isinstance(fake, torch.Tensor):
                continue
            if not isinstance(x, torch.Tensor):
                raise RuntimeError(f"Expected input at {place} to be a tensor, but got {type(x)}")
            if x.dtype != fake.dtype:
                raise RuntimeError(f"Expected input at {place} to have dtype {fake.dtype}, but got {x.dtype}")
            if len(x.shape) != len(fake.shape):
                raise RuntimeError(f"Expected input at {place} to have {len(fake.shape)} dimensions, but got {len(x.shape)}")
            for d, (n, expected) in enumerate(zip(x.shape, fake.shape, strict=True)):
                self._check_size(n, expected, f"{place}.shape[{d}]", known)

    def _check_size(self, n: int, expected: Any, place: str, known: dict[str, int]) -> None:
        if not isinstance(expected, SymInt):
            if n != expected:
                raise RuntimeError(f"Expected input at {place} to be equal to {expected}, but got {n}")
            return
        if not isinstance(expected._form, str):
            return
        if known.setdefault(expected._form, n) != n:
            raise RuntimeError(f"Expected input at {place} to be equal to {known[expected._form]}, but got {n}")
        allowed = self._program.range_constraints.get(Symbol(expected._form))
        if allowed is not None and n < allowed.lower:
            raise RuntimeError(f"Expected input at {place} to be >= {allowed.lower}, but got {n}")
        if allowed is not None and n > allowed.upper:
            raise RuntimeError(f"Expected input at {place} to be <= {allowed.upper}, but got {n}")

    def _finish(self, out: list[Any], leaves: list[Any], write: Callable[[str, Any], Any]) -> Any:
        """Writes what the program has written, buffers by write, and returns what it gives the user."""
        results = []
        names = [s.arg.name for s in self._signature.input_specs if s.kind == InputKind.USER_INPUT]
        with torch.no_grad():
            for spec, x in zip(self._signature.output_specs, out, strict=True):
                if spec.kind == OutputKind.BUFFER_MUTATION:
                    write(spec.target, x)
                elif spec.kind == OutputKind.USER_INPUT_MUTATION:
                    leaves[names.index(spec.target)].copy_(x)
                else:
                    results.append(x)
        return pytree.tree_unflatten(results, self._program.out_spec)
