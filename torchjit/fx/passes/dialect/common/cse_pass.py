"""Nodes that compute the same as one."""

from __future__ import annotations

from typing import Any

import torchjit as torch
from torchjit.fx.graph import Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.node import Node
from torchjit.fx.passes.infra.pass_base import PassBase, PassResult
from torchjit.utils._pytree import tree_flatten

_WRITING = ("add_", "sub_", "mul_", "div_", "pow_", "lerp_", "relu_", "sigmoid_", "tanh_")
_RANDOM = (
    "dropout", "_fused_dropout", "_standard_gamma", "bernoulli", "multinomial", "native_dropout", "normal", "poisson", "binomial", "rrelu",
    "rand_like", "rand", "randint", "randn", "randperm",
)  # fmt: skip


def get_CSE_banned_ops() -> set[Any]:  # noqa: N802
    """Operators that write or are random."""
    return {getattr(torch.ops.aten, name) for name in _WRITING + _RANDOM}


class CSEPass(PassBase):
    """Computes once what calls of the same operator with the same arguments compute, but for operators in banned_ops."""

    def __init__(self, banned_ops: Any = None) -> None:
        self.banned_ops: Any = set() if banned_ops is None else banned_ops
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """A module without the repetitions, and whether there were some."""
        env: dict[Any, Any] = {}
        known: dict[Any, Any] = {}
        graph, modified = Graph(), False
        for node in graph_module.graph.nodes:
            if node.op in ("placeholder", "output", "get_attr") or self._is_banned(node):
                env[node] = graph.node_copy(node, lambda x: env[x])
                continue
            key = _key(node, env)
            if key in known:
                env[node] = known[key]
                modified = True
                continue
            env[node] = graph.node_copy(node, lambda x: env[x])
            if key is not None:
                known[key] = env[node]
        return PassResult(GraphModule(graph_module, graph), modified)

    def _is_banned(self, node: Node) -> bool:
        packet = getattr(node.target, "overloadpacket", None)
        return node.target in self.banned_ops or packet is not None and packet in self.banned_ops


def _key(node: Node, env: dict[Node, Node]) -> Any:
    """What nodes that compute the same have in common, None where that cannot be told."""
    leaves, spec = tree_flatten((tuple(node.args), dict(node.kwargs)))
    parts = tuple((type(x), env[x] if isinstance(x, Node) else x) for x in leaves)
    try:
        hash(parts)
    except TypeError:
        return None
    return node.op, node.target, parts, repr(spec)
