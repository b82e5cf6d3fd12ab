"""Calls of modules whose signatures are preserved."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.export import _program
from torchjit.export._containers import read_spec, write_spec
from torchjit.export.exported_program import ModuleCallSignature
from torchjit.export.graph_signature import ConstantArgument, TensorArgument
from torchjit.utils import _pytree as pytree


class Calls:
    """Notes, while a module is captured, what some of its modules are called with first, and what they give."""

    def __init__(self, module: Any, paths: tuple[str, ...]) -> None:
        self.modules = {path: module.get_submodule(path) for path in paths}
        self.noted: dict[str, tuple[Any, Any]] = {}

    def __enter__(self) -> None:
        for path, m in self.modules.items():
            m.__dict__["forward"] = self._noting(path, m.forward)

    def __exit__(self, *_: Any) -> None:
        for m in self.modules.values():
            del m.__dict__["forward"]

    def _noting(self, path: str, forward: Any) -> Any:
        def noted(*args: Any, **kwargs: Any) -> Any:
            result = forward(*args, **kwargs)
            self.noted.setdefault(path, (pytree.tree_flatten((args, kwargs)), pytree.tree_flatten(result)))
            return result

        return noted

    def _leaves(self) -> list[Any]:
        return [x for given, result in self.noted.values() for x in (*given[0], *result[0])]

    def tensors(self) -> list[Any]:
        """The tensors among arguments and results, one call after the other."""
        return [x for x in self._leaves() if isinstance(x, torch.Tensor)]

    def signatures(self, program: dict[str, Any]) -> dict[str, ModuleCallSignature]:
        """What the calls are in the graph of a program. A tensor that the program does without is None."""
        names = {n["name"] for n in program["graph"]["nodes"]}
        points = iter(program.get("points") or [])

        def argument(x: Any) -> Any:
            if not isinstance(x, torch.Tensor):
                return ConstantArgument("", x)
            name = next(points).get("node")
            return TensorArgument(name) if name in names else ConstantArgument("", None)

        found = {}
        for path, ((inputs, in_spec), (outputs, out_spec)) in self.noted.items():
            given = [argument(x) for x in inputs]
            found[path] = ModuleCallSignature(given, [argument(x) for x in outputs], in_spec, out_spec)
        return found


def write_call(signature: ModuleCallSignature) -> dict[str, Any]:
    """A signature as lists, texts and numbers."""
    return {
        "inputs": [_write_argument(a) for a in signature.inputs],
        "outputs": [_write_argument(a) for a in signature.outputs],
        "in_spec": write_spec(signature.in_spec),
        "out_spec": write_spec(signature.out_spec),
    }


def _write_argument(arg: Any) -> Any:
    return _program.write_argument(arg.value) if isinstance(arg, ConstantArgument) else {"node": arg.name}


def read_call(form: dict[str, Any]) -> ModuleCallSignature:
    """The signature that write_call wrote."""
    lists = [[_read_argument(a) for a in form[key]] for key in ("inputs", "outputs")]
    return ModuleCallSignature(lists[0], lists[1], read_spec(form["in_spec"]), read_spec(form["out_spec"]))


def _read_argument(form: dict[str, Any]) -> Any:
    return TensorArgument(form["node"]) if "node" in form else ConstantArgument("", _program.read_argument(form))
