"""Types for values that a trace has no annotation of."""

from __future__ import annotations

from typing import Any

from torchjit.fx._compatibility import compatibility
from torchjit.fx.proxy import Proxy


@compatibility(is_backward_compatible=False)
def annotate(val: Any, type: Any) -> Any:
    """val, whose node gets the type where it is a Proxy. Raises RuntimeError where the node has one."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                f"Tried to annotate a value that already had a type on it! Existing type is {val.node.type} "
                f"and new type is {type}. This could happen if you tried to annotate a function parameter "
                "value (in which case you should use the type slot on the function signature) or you called "
                "annotate on the same value twice"
            )
        val.node.type = type
    return val
