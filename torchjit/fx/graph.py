"""Graphs: nodes in order, and what adds, moves, copies and checks them."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torchjit as torch
from torchjit import _lazy
from torchjit.fx._codegen import (  # noqa: F401
    CodeGen,
    PythonCode,
    TransformCodeFunc,
    _format_target,
    _is_from_torch,
    _origin_type_map,
    _PyTreeCodeGen,
    _PyTreeInfo,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
)  # fmt: skip
from torchjit.fx._compatibility import compatibility
from torchjit.fx._names import (  # noqa: F401
    _custom_builtins,
    _CustomBuiltin,
    _is_magic,
    _Namespace,
    _register_custom_builtin,
    _snake_case,
)  # fmt: skip
from torchjit.fx.node import Argument, Node, Target, map_arg

if TYPE_CHECKING:
    from torchjit.fx.graph_module import GraphModule

__all__ = ["PythonCode", "CodeGen", "Graph"]


class _node_list:  # noqa: N801
    """The nodes of a graph in order, forwards or backwards, while the graph may change."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        assert direction in ("_next", "_prev")
        self.graph: Graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_next" if self.direction == "_prev" else "_prev")


class _InsertPoint:
    """Where new nodes go until it is left; then they go where they went before."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert: Callable[[Node], None] = graph._insert
        graph._insert = new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        self.graph._insert = self.orig_insert


def _attribute_exists(module: Any, qualified_name: str) -> bool:
    """Whether a module has the parameter, buffer or submodule of a dotted path."""
    path, _, name = qualified_name.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        warnings.warn(f"Failed to fetch module {path}!")
        return False
    found = getattr(owner, name, None)
    return found is not None and (isinstance(found, (torch.nn.Module, torch.nn.Parameter)) or name in owner._buffers)


@compatibility(is_backward_compatible=True)
class Graph:
    """What FX works on: a list of Nodes that together are one Python function.

    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.relu, (x,)))
    >>> torch.fx.GraphModule(nn.Module(), graph)(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    @compatibility(is_backward_compatible=True)
    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: Any | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root: Node = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._used_names: dict[str, int] = {}
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._owners = 0
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> GraphModule | None:
        """The GraphModule whose graph this is, None where several have it."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: GraphModule | None) -> None:
        if mod:
            self._owning_module = mod if not self._owners else None
            self._owners += 1

    @compatibility(is_backward_compatible=False)
    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind in their order; those of a target, where one is given (not for placeholders and the output)."""
        if op in ("placeholder", "output") or target is None:
            return [n for n in self.nodes if n.op == op]
        return [n for n in self.nodes if n.op == op and n.target == target]

    @compatibility(is_backward_compatible=False)
    def output_node(self) -> Node:
        """The node that returns. Raises AssertionError where there is none."""
        node = self._root._prev
        assert node.op == "output", "the graph has no output node at its end"
        return node

    @property
    def nodes(self) -> _node_list:
        """The nodes in order, as an iterable that stands changes of the graph."""
        return _node_list(self)

    @compatibility(is_backward_compatible=True)
    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Argument | None:
        """Copies all nodes of g but its output, filling val_map; gives what g returns, in terms of the copies."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        memo = memo or {}
        g = Graph(tracer_cls=self._tracer_cls)
        output = g.graph_copy(self, val_map=memo, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        assert isinstance(output, tuple)
        value, old = output
        g.output(value, type_expr=getattr(old, "type", None))
        return g

    @compatibility(is_backward_compatible=True)
    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a node at the insert point. Its name comes from name or from what it does."""
        assert op in ("call_function", "call_method", "get_attr", "call_module", "placeholder", "output")
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        assert isinstance(args, tuple), "args must be a tuple"
        assert isinstance(kwargs, dict), "kwargs must be a dict"
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    @compatibility(is_backward_compatible=False)
    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders for the arguments of a call."""
        return self._codegen.process_inputs(*args)

    @compatibility(is_backward_compatible=False)
    def process_outputs(self, out: Any) -> Any:
        """The result of a call for the value of the output node."""
        return self._codegen.process_outputs(out)

    @compatibility(is_backward_compatible=True)
    def erase_node(self, to_erase: Node) -> None:
        """Takes a node out. Raises RuntimeError where another uses it."""
        if len(to_erase.users) > 0:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        to_erase._remove_from_list()
        to_erase._erased = True  # iterators that stand on it go on
        self._len -= 1
        to_erase.args = map_arg(to_erase.args, lambda n: None)
        to_erase.kwargs = map_arg(to_erase.kwargs, lambda n: None)

    @compatibility(is_backward_compatible=True)
    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Lets new nodes go before n, without n to the beginning, from now until the result is left as a context."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph == self, "Node to insert before is not in graph."
        return _InsertPoint(self, n.prepend)

    @compatibility(is_backward_compatible=True)
    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Lets new nodes go behind n, without n to the end, from now until the result is left as a context."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph == self, "Node to insert after is not in graph."
        return _InsertPoint(self, n.append)

    @compatibility(is_backward_compatible=True)
    def placeholder(self, name: str, type_expr: Any | None = None, default_value: Any = inspect.Signature.empty) -> Node:
        """Adds a parameter of the function."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """Adds the reading of an attribute of the module."""
        if self.owning_module and not _attribute_exists(self.owning_module, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
                "Parameter, or nn.Module.register_buffer to add the necessary buffer"
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a call of a submodule. Raises AttributeError where the owning module lacks it."""
        if self.owning_module:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x) -> Node:
        """Adds a copy of a node of any graph; arg_transform gives the node here for each node there."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        assert isinstance(args, tuple)
        assert isinstance(kwargs, dict)
        result = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    @compatibility(is_backward_compatible=True)
    def output(self, result: Argument, type_expr: Any | None = None) -> Node:
        """Adds the return of the function."""
        return self.create_node(op="output", target="output", args=(result,), type_expr=type_expr)

    def _target_to_str(self, target: Target) -> str:
        name = target.__name__ if callable(target) else target
        assert isinstance(name, str)
        return _snake_case(name[2:-2] if _is_magic(name) else name)

    @compatibility(is_backward_compatible=True)
    def python_code(self, root_module: str, *, verbose: bool = False) -> PythonCode:
        """The graph as a function forward, whose attributes are read from root_module; verbose adds comments on the values."""
        namespace = _Namespace()

        def name_of(n: Node) -> str:
            return namespace.create_name(n.name, n)

        @contextmanager
        def renamed() -> Iterator[None]:
            saved = {node: node._repr_fn for node in self.nodes}
            for node in self.nodes:
                node._repr_fn = name_of
            try:
                yield
            finally:
                for node, repr_fn in saved.items():
                    node._repr_fn = repr_fn

        with renamed():
            return self._python_code(root_module, namespace, verbose=verbose)

    def _python_code(self, root_module: str, namespace: _Namespace, *, verbose: bool = False) -> PythonCode:
        return self._codegen._gen_python_code(self.nodes, root_module, namespace, verbose=verbose)

    def __str__(self) -> str:
        placeholder_names: list[str] = []
        maybe_return_typename = [""]
        lines = [node.format_node(placeholder_names) for node in self.nodes]
        head = f"graph({', '.join(placeholder_names)}){maybe_return_typename[0]}:"
        return "\n    ".join([head, *(line for line in lines if line)])

    @compatibility(is_backward_compatible=True)
    def print_tabular(self) -> None:
        """Prints the nodes as a table, by the library tabulate."""
        try:
            from tabulate import tabulate
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. "
                "Run `pip install tabulate` to install the library."
            )
            return
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    @compatibility(is_backward_compatible=True)
    def lint(self) -> None:
        """Raises RuntimeError where the graph is not well formed: order, names, owners, targets."""
        from torchjit.fx._lint import check_order, check_targets

        check_order(self)
        if self.owning_module:
            check_targets(self, self.owning_module)

    @compatibility(is_backward_compatible=True)
    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Takes out the nodes that nobody uses, other than parameters, results and impure ones; tells whether there were any.

        is_impure_node says which nodes are impure, Node.is_impure if it is None.
        """
        self.lint()
        changed = False
        is_impure = is_impure_node or Node.is_impure
        for node in reversed(self.nodes):
            if not is_impure(node) and len(node.users) == 0:
                self.erase_node(node)
                changed = True
        return changed

    @compatibility(is_backward_compatible=False)
    def set_codegen(self, codegen: CodeGen) -> None:
        """Chooses how the code is written."""
        self._codegen = codegen

    @compatibility(is_backward_compatible=False)
    def on_generate_code(self, make_transformer: Callable[[TransformCodeFunc | None], TransformCodeFunc]) -> Any:
        """Lets a function change the lines of code that are written, from now on; as a context, until that is left.

        make_transformer gets the function that does so at present, or None, and gives the new one.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextmanager
        def until_left() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return until_left()


__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "keyword": "keyword=", "torchjit.fx._pytree": "fx_pytree=", "torchjit.fx.node": "_get_qualified_name", "torchjit.utils._pytree": "pytree=",
})
