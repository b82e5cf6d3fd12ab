"""torch.export.unflatten: exported programs as modules that call each other, as the captured ones did."""

from __future__ import annotations

import abc
from typing import Any

import torchjit as torch
from torchjit.export._inputs import Inputs
from torchjit.export._module import _unlifted, holder
from torchjit.export._program import ExportedGraph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.interpreter import Interpreter
from torchjit.fx.node import Node, map_arg
from torchjit.utils import _pytree as pytree

__all__ = ["FlatArgsAdapter", "InterpreterModule", "UnflattenedModule", "unflatten"]


class FlatArgsAdapter(abc.ABC):
    """Makes inputs of other containers those that a module takes."""

    @abc.abstractmethod
    def adapt(self, target_spec: Any, input_spec: Any, input_args: list[Any]) -> list[Any]:
        """The leaves for target_spec, of the leaves input_args that input_spec holds."""


class InterpreterModule(torch.nn.Module):
    """A module that interprets a graph, whose attributes and submodules are its own."""

    graph_module: Any
    signature: Any

    def __init__(self, graph: ExportedGraph) -> None:
        super().__init__()
        self.graph = graph
        graph._owning_module = self  # type: ignore[assignment]

    def finalize(self) -> None:
        """Makes the names of the parameters known."""
        self.arg_names: list[str] = [str(n.target) for n in self.graph.nodes if n.op == "placeholder"]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the graph gives. Raises TypeError for other arguments than it takes."""
        signature = getattr(self, "signature", None)
        if signature is not None:
            args = tuple(pytree.tree_leaves((args, _ordered(signature.in_spec, kwargs))))
        elif kwargs:
            args = (*args, *(kwargs[name] for name in self.arg_names[len(args) :]))
        if len(args) != len(self.arg_names):
            raise TypeError(f"the module takes {len(self.arg_names)} arguments, but got {len(args)}")
        out = Interpreter(self, graph=self.graph).run(*args, enable_io_processing=False)
        if signature is not None:
            return pytree.tree_unflatten(list(out) if isinstance(out, (tuple, list)) else [out], signature.out_spec)
        return out

    def print_readable(self, print_output: bool = True) -> str:
        """The module as Python, which is printed too."""
        from torchjit.export._readable import readable

        text = readable(self, "InterpreterModule")
        if print_output:
            print(text)
        return text


def _ordered(spec: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    order = list(spec.children_specs[1].context)
    return {k: kwargs[k] for k in order} if set(order) == set(kwargs) else kwargs


class UnflattenedModule(InterpreterModule):
    """An exported program as the modules that it was captured of.

    Each module of the program is one here, under its path, which may be replaced by another that takes and gives the same tensors; one whose
    signature was preserved takes and gives the containers that it did.
    """

    def __init__(self, export_module: Any, flat_args_adapter: FlatArgsAdapter | None = None) -> None:
        super().__init__(ExportedGraph())
        self.module_call_graph: Any = export_module.module_call_graph
        self._program, self._adapter = export_module, flat_args_adapter
        object.__setattr__(self, "_checks", Inputs(export_module))
        root = holder(export_module)
        for name in ("_modules", "_parameters", "_buffers", "_non_persistent_buffers_set"):
            setattr(self, name, getattr(root, name))
        for name, x in root.__dict__.items():
            if isinstance(x, torch.Tensor):
                object.__setattr__(self, name, x)
        signatures = {e.fqn: e.signature for e in export_module.module_call_graph if e.fqn and e.signature is not None}
        whole = _unlifted(export_module)
        _Nest(self, export_module.graph_module, whole, signatures).run()
        self.finalize()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs of the program. Raises ValueError and RuntimeError for other arguments than those that it was captured for."""
        leaves = self._leaves(args, kwargs)
        out = Interpreter(self, graph=self.graph).run(*leaves, enable_io_processing=False)
        return pytree.tree_unflatten(list(out) if isinstance(out, (tuple, list)) else [out], self._program.out_spec)

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if self._adapter is not None:
            leaves, spec = pytree.tree_flatten((args, _ordered(self._program.in_spec, kwargs)))
            if spec != self._program.in_spec:
                return list(self._adapter.adapt(target_spec=self._program.in_spec, input_spec=spec, input_args=leaves))
        kwargs = self._checks.checked(args, kwargs)
        return pytree.tree_leaves((args, kwargs))


class _Level:
    """A module whose graph is being made: the nodes in it by those of the whole graph."""

    def __init__(self, path: str, module: Any, scope: tuple[str, ...]) -> None:
        self.path, self.module, self.scope = path, module, scope
        self.graph: ExportedGraph = module.graph
        self.nodes: dict[Node, Node] = {}
        self.calls: list[Node] = []  # of the whole graph, that belong to this level and those below it
        self.inputs: list[Node] = []  # of the whole graph


class _Nest:
    """Puts the nodes of a graph into modules by the modules that they were captured in."""

    def __init__(self, root: Any, source: GraphModule, whole: ExportedGraph, signatures: dict[str, Any]) -> None:
        self.root, self.source, self.whole, self.signatures = root, source, whole, signatures
        self.modules: dict[str, int] = {}

    def run(self) -> None:
        nodes = list(self.whole.nodes)
        level = _Level("", self.root, ())
        for n in nodes:
            if n.op == "placeholder":
                level.nodes[n] = level.graph.node_copy(n)
        calls = [n for n in nodes if n.op not in ("placeholder", "output")]
        self.fill(level, calls)
        (given,) = self.whole.output_node().args
        level.graph.output(map_arg(given, lambda n: self.value(level, n)))

    def scope_of(self, n: Node) -> tuple[str, ...]:
        """The paths of the modules that a node was captured in, outermost first, without those that are the module itself."""
        paths = [path.removeprefix("self").removeprefix(".") for path, _ in (n.meta.get("nn_module_stack") or {}).values()]
        return tuple(p for p in paths if p)

    def fill(self, level: _Level, calls: list[Node]) -> None:
        """Adds nodes to a level: those that were captured in a module below it become calls of that."""
        depth = len(level.scope)
        at = 0
        while at < len(calls):
            n = calls[at]
            scope = () if n.op == "get_attr" or self.writes(n) else self.scope_of(n)
            if len(scope) <= depth:
                if n.op != "get_attr":
                    self.add(level, n)
                at += 1
                continue
            end = at + 1
            while end < len(calls) and (
                calls[end].op == "get_attr" or not self.writes(calls[end]) and self.scope_of(calls[end])[: depth + 1] == scope[: depth + 1]
            ):
                end += 1
            self.call(level, scope[depth], calls[at:end], scope[: depth + 1])
            at = end

    def writes(self, n: Node) -> bool:
        return n.target is torch.ops.aten.copy_.default

    def add(self, level: _Level, n: Node) -> None:
        level.nodes[n] = level.graph.node_copy(n, lambda x: self.value(level, x))

    def value(self, level: _Level, n: Node) -> Node:
        """What a node of the whole graph is in a level: attributes are read where they are used, and what comes from outside is a parameter."""
        if n not in level.nodes:
            if n.op == "get_attr":
                level.nodes[n] = self.attribute(level, n)
            else:
                level.nodes[n] = level.graph.placeholder(n.name)
                level.nodes[n].meta = dict(n.meta)
                level.inputs.append(n)
        return level.nodes[n]

    def attribute(self, level: _Level, n: Node) -> Node:
        """Reads an attribute of the program in a level, which gets it where it has none."""
        target = str(n.target)
        inner = getattr(self.source, target, None)
        if isinstance(inner, GraphModule):
            level.module.add_module(target, inner)
            return level.graph.get_attr(target)
        prefix, _, name = target.rpartition(".")
        if level.path and prefix != level.path and not target.startswith(level.path + "."):
            owner: Any = self.root.get_submodule(prefix)
            name = target.replace(".", "_")
            if not hasattr(level.module, name):
                object.__setattr__(level.module, name, getattr(owner, target.rpartition(".")[2]))
        else:
            name = target[len(level.path) + 1 :] if level.path else target
        made = level.graph.create_node("get_attr", name, name=name.replace(".", "_"))
        made.meta = dict(n.meta)
        return made

    def call(self, level: _Level, path: str, calls: list[Node], scope: tuple[str, ...]) -> None:
        """Adds the call of the module at a path, which the nodes make up."""
        inside = set(calls)
        results = [n for n in calls if n.op != "get_attr" and any(u not in inside for u in n.users)]
        self.modules[path] = self.modules.get(path, 0) + 1
        name = path if self.modules[path] == 1 else f"{path}@{self.modules[path] - 1}"
        inner = _Level(path, self.module_at(path, name), scope)
        signature = self.signatures.get(path) if self.modules[path] == 1 else None
        if signature is not None:
            by_name = {n.name: n for n in self.whole.nodes}
            given: list[Any] = [by_name.get(a.name) if getattr(a, "name", "") else None for a in signature.inputs]
            for i, n in enumerate(given):
                made = inner.graph.placeholder(n.name if n is not None else f"constant_{i}")
                if n is not None and n not in inner.nodes:
                    inner.nodes[n] = made
        self.fill(inner, calls)
        if signature is None:
            self.finish(level, inner, name, results)
        else:
            self.finish_preserved(level, inner, name, results, signature, given)
        inner.module.finalize()

    def finish(self, level: _Level, inner: _Level, name: str, results: list[Node]) -> None:
        outs = [inner.nodes[n] for n in results]
        inner.graph.output(outs[0] if len(outs) == 1 else tuple(outs))
        target = name[len(level.path) + 1 :] if level.path else name
        call = level.graph.create_node(
            "call_module", target, tuple(self.value(level, n) for n in inner.inputs), {}, name=target.replace(".", "_")
        )
        if len(results) == 1:
            level.nodes[results[0]] = call
            call.meta = dict(results[0].meta)
            return
        import operator

        for i, n in enumerate(results):
            level.nodes[n] = level.graph.call_function(operator.getitem, (call, i))

    def finish_preserved(self, level: _Level, inner: _Level, name: str, results: list[Node], signature: Any, given: list[Any]) -> None:
        """Calls a module with the containers that it was called with, and takes apart what it gives."""
        import operator

        by_name = {n.name: n for n in self.whole.nodes}
        outs = [by_name.get(a.name) if getattr(a, "name", "") else a.value for a in signature.outputs]
        inner.graph.output(tuple(self.value(inner, x) if isinstance(x, Node) else x for x in outs))
        inner.module.signature = signature
        leaves = [self.value(level, n) if n is not None else a.value for n, a in zip(given, signature.inputs, strict=True)]
        args, kwargs = pytree.tree_unflatten(leaves, signature.in_spec)
        target = name[len(level.path) + 1 :] if level.path else name
        call = level.graph.create_node("call_module", target, tuple(args), dict(kwargs), name=target.replace(".", "_"))
        flat = level.graph.call_function(pytree.tree_leaves, (call,))
        for i, x in enumerate(outs):
            if isinstance(x, Node) and (x in results or x not in level.nodes):
                level.nodes[x] = level.graph.call_function(operator.getitem, (flat, i))

    def module_at(self, path: str, name: str) -> InterpreterModule:
        """A new module at a path, with the tensors that stand there; a further call of the same one has them too."""
        owner: Any = self.root
        *prefix, last = name.split(".")
        for part in prefix:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]
        made = InterpreterModule(ExportedGraph())
        try:
            former = self.root.get_submodule(path)
        except AttributeError:
            former = None
        if former is not None:
            for kind in ("_parameters", "_buffers", "_modules"):
                getattr(made, kind).update(getattr(former, kind))
            made._non_persistent_buffers_set = former._non_persistent_buffers_set
            for key, x in former.__dict__.items():
                if isinstance(x, torch.Tensor):
                    object.__setattr__(made, key, x)
        owner._modules[last] = made
        return made


def unflatten(module: Any, flat_args_adapter: FlatArgsAdapter | None = None) -> UnflattenedModule:
    """An exported program as a module with the modules that it was captured of.

    The modules may be replaced by others that take and give the same tensors, or the same containers where
    `export(..., preserve_module_call_signature=...)` named them. flat_args_adapter makes inputs of other containers fit.

    >>> program = torch.export.export(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (torch.rand(4, 3),))
    >>> torch.export.unflatten(program)(torch.rand(4, 3)).shape
    torch.Size([4, 2])
    """
    return UnflattenedModule(module, flat_args_adapter)
