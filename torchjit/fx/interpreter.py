"""Running graphs node by node, and making graphs anew that way."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchjit.fx import traceback as fx_traceback
from torchjit.fx._codegen import _last_uses
from torchjit.fx._compatibility import compatibility
from torchjit.fx._symbolic_trace import Tracer
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Argument, Node, Target, map_aggregate, map_arg
from torchjit.fx.proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


@compatibility(is_backward_compatible=True)
class Interpreter:
    """Runs a GraphModule one node after the other. A method for each kind of node can be overridden.

    >>> traced = torch.fx.symbolic_trace(nn.ReLU())
    >>> torch.fx.Interpreter(traced).run(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    @compatibility(is_backward_compatible=True)
    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        """garbage_collect_values lets go of values after their last use. graph is run on any module; None is for that of a GraphModule."""
        assert graph is not None or isinstance(module, GraphModule)
        self.module = module
        self.graph: Graph = module.graph if graph is None else graph
        self.submodules: dict[str, Any] = dict(self.module.named_modules())
        self.env: dict[Node, Any] = {}
        self.garbage_collect_values = garbage_collect_values
        if garbage_collect_values:
            self.user_to_last_uses: dict[Node, list[Node]] = _last_uses(self.graph.nodes)

    @compatibility(is_backward_compatible=True)
    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The result for the arguments. Nodes of initial_env have the values that it says.

        An error's text gets the node that failed.
        """
        self.env = initial_env or {}
        graph = self.graph
        if enable_io_processing:
            args = graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as e:
                message = f"While executing {node.format_node()}"
                message = f"{e.args[0]}\n\n{message}" if e.args else message
                e.args = (f"{message}\nOriginal traceback:\n{node.stack_trace}", *e.args[1:])
                if isinstance(e, KeyError):
                    raise RuntimeError(*e.args) from e  # a KeyError shows the repr of its text
                raise
            if self.garbage_collect_values:
                for used in self.user_to_last_uses.get(node, []):
                    del self.env[used]
            if node.op == "output":
                value = self.env[node]
                return graph.process_outputs(value) if enable_io_processing else value
        return None

    @contextmanager
    def _set_current_node(self, node: Node) -> Iterator[None]:
        with fx_traceback.append_stack_trace(node.stack_trace):
            yield

    @compatibility(is_backward_compatible=True)
    def run_node(self, n: Node) -> Any:
        """The value of a node."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            assert isinstance(args, tuple)
            assert isinstance(kwargs, dict)
            return getattr(self, n.op)(n.target, args, kwargs)

    @compatibility(is_backward_compatible=True)
    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument. Raises RuntimeError where there is none and no default."""
        assert isinstance(target, str)
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    @compatibility(is_backward_compatible=True)
    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The attribute of a dotted path."""
        assert isinstance(target, str)
        return self.fetch_attr(target)

    @compatibility(is_backward_compatible=True)
    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """What a function gives."""
        assert not isinstance(target, str)
        return target(*args, **kwargs)

    @compatibility(is_backward_compatible=True)
    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """What a method of the first argument gives."""
        self_obj, *rest = args
        assert isinstance(target, str)
        return getattr(self_obj, target)(*rest, **kwargs)

    @compatibility(is_backward_compatible=True)
    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """What a submodule gives."""
        assert isinstance(target, str)
        return self.fetch_attr(target)(*args, **kwargs)

    @compatibility(is_backward_compatible=True)
    def output(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result."""
        return args[0]

    @compatibility(is_backward_compatible=True)
    def fetch_attr(self, target: str) -> Any:
        """The module's attribute of a dotted path. Raises RuntimeError where there is none."""
        path = target.split(".")
        found: Any = self.module
        for i, atom in enumerate(path):
            if not hasattr(found, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(path[:i])}")
            found = getattr(found, atom)
        return found

    @compatibility(is_backward_compatible=True)
    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The values of a node's arguments."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    @compatibility(is_backward_compatible=True)
    def map_nodes_to_values(self, args: Argument, n: Node) -> Argument:
        """Arguments of n with values for nodes. Raises RuntimeError for a node that has none yet."""

        def load(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, load)


@compatibility(is_backward_compatible=True)
class Transformer(Interpreter):
    """Runs a GraphModule with proxies, so that overridden methods say what another graph has.

    >>> traced = torch.fx.symbolic_trace(nn.ReLU())
    >>> torch.fx.Transformer(traced).transform()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    @compatibility(is_backward_compatible=True)
    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph: Graph = Graph()

        class TransformerTracer(Tracer):
            def __init__(self, graph: Graph) -> None:
                super().__init__()
                self.graph = graph
                self.tensor_attrs: dict[Any, str] = {}

            def is_leaf_module(self, _: Any, __: str) -> bool:
                return True

        self.tracer: TransformerTracer = TransformerTracer(self.new_graph)
        self.tracer.root = module

    @compatibility(is_backward_compatible=True)
    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """Adds a parameter."""
        assert isinstance(target, str)
        default = next(iter(args)) if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    @compatibility(is_backward_compatible=True)
    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """Adds the reading of an attribute."""
        assert isinstance(target, str)
        return Proxy(self.new_graph.get_attr(target), self.tracer)

    @compatibility(is_backward_compatible=True)
    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Adds a call of a submodule."""
        assert isinstance(target, str)
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    @compatibility(is_backward_compatible=True)
    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Adds a call of a function."""
        assert callable(target)
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    @compatibility(is_backward_compatible=True)
    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with fx_traceback.override_stack_trace():
            result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
        return GraphModule(self.module, self.new_graph)
