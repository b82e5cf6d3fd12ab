"""Passes over FX graphs."""

from torchjit import _lazy

__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, _lazy.modules(
    __name__,
    "graph_drawer graph_manipulation net_min_base operator_support param_fetch reinplace shape_prop split_module split_utils splitter_base tools_common",
))
