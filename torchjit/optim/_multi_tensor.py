"""The optimizers with foreach=True, under the names of a former package."""

from __future__ import annotations

import functools
from typing import Any

import torchjit.optim as _optim


def partialclass(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A subclass whose first arguments, and named ones by default, are given."""

    class NewCls(cls):
        __init__ = functools.partialmethod(cls.__init__, *args, **kwargs)

    return NewCls


Adam = partialclass(_optim.Adam, foreach=True)
AdamW = partialclass(_optim.AdamW, foreach=True)
NAdam = partialclass(_optim.NAdam, foreach=True)
SGD = partialclass(_optim.SGD, foreach=True)
RAdam = partialclass(_optim.RAdam, foreach=True)
RMSprop = partialclass(_optim.RMSprop, foreach=True)
Rprop = partialclass(_optim.Rprop, foreach=True)
ASGD = partialclass(_optim.ASGD, foreach=True)
Adamax = partialclass(_optim.Adamax, foreach=True)
Adadelta = partialclass(_optim.Adadelta, foreach=True)
Adagrad = partialclass(_optim.Adagrad, foreach=True)
