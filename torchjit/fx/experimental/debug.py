"""A debugger in generated code."""

from __future__ import annotations

import torchjit.fx as fx


def set_trace(gm: fx.GraphModule) -> fx.GraphModule:
    """Has a module's code begin with a breakpoint of pdb. Returns the module."""

    def insert_pdb(body: list[str]) -> list[str]:
        return ["import pdb; pdb.set_trace()\n", *body]

    with gm.graph.on_generate_code(make_transformer=lambda current: lambda body: insert_pdb(current(body) if current else body)):
        gm.recompile()
    return gm
