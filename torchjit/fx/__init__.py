"""torch.fx: graphs of Python functions and modules, recorded, changed and turned into Python again."""

from torchjit.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from torchjit.fx.graph import CodeGen, Graph
from torchjit.fx.graph_module import GraphModule
from torchjit.fx.interpreter import Interpreter, Transformer
from torchjit.fx.node import Node, map_arg
from torchjit.fx.proxy import Proxy
from torchjit.fx.subgraph_rewriter import replace_pattern
