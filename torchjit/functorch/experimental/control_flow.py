"""Control flow as operators, under the name that the specification of Export IR imports."""

from torchjit._higher_order_ops import cond as cond
from torchjit._higher_order_ops import map as map

__all__ = ["cond", "map"]
