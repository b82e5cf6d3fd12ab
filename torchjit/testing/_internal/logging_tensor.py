"""Tensors and a mode that log every operator below autograd, for tests of what is called.

    with capture_logs() as logs:
        x = LoggingTensor(torch.ones(2))
        log_input("x", x)
        x * x
    print("\\n".join(logs))  # $0 = input('x'), $1 = torch._ops.aten.mul.Tensor($0, $0)
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import torchjit as torch
from torchjit.utils._python_dispatch import TorchDispatchMode
from torchjit.utils._pytree import tree_map

_LOGGER = "LoggingTensor"


def _log(name: str, args: Any, kwargs: Any, results: Any) -> None:
    logging.getLogger(_LOGGER).info(name, args, kwargs, results)


class LoggingTensor(torch.Tensor):
    """A tensor around another one, elem, whose operators are logged."""

    elem: Any
    __slots__ = ["elem"]
    context: Any = contextlib.nullcontext

    @staticmethod
    def __new__(cls: Any, elem: Any, *args: Any, **kwargs: Any) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype, layout=elem.layout, device=elem.device,
            requires_grad=kwargs.get("requires_grad", False),
        )  # fmt: skip
        made.elem = elem.detach() if made.requires_grad else elem
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return f"LoggingTensor({self.elem}{', requires_grad=True' if self.requires_grad else ''})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with cls.context():
            found = func(*tree_map(_inner, args), **tree_map(_inner, kwargs))
        found = tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) and not isinstance(x, LoggingTensor) else x, found)
        _log(_name(func), args, kwargs, found)
        return found


def _inner(value: Any) -> Any:
    return value.elem if isinstance(value, LoggingTensor) else value


def _name(func: Any) -> str:
    return f"torch._ops.{func}"


class LoggingTensorMode(TorchDispatchMode):
    """A mode in which the operators of all tensors are logged."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        found = func(*args, **kwargs)
        _log(_name(func), args, kwargs, found)
        return found


class LoggingTensorReentrant(LoggingTensor):
    """A LoggingTensor inside which tensors of this library's can be made by operators again."""

    context = torch.overrides.enable_reentrant_dispatch if hasattr(torch.overrides, "enable_reentrant_dispatch") else contextlib.nullcontext


class LoggingTensorHandler(logging.Handler):
    """Writes what is logged to a list, with numbers for tensors in the order in which they come."""

    def __init__(self, log_list: list[str], use_shortid_for_all_tensors: bool = False) -> None:
        super().__init__()
        self.log_list = log_list
        self.use_shortid_for_all_tensors = use_shortid_for_all_tensors
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []

    def _shortid(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)  # so that no other object has the same identity
        return number

    def _fmt(self, value: Any) -> str:
        numbered = torch.Tensor if self.use_shortid_for_all_tensors else LoggingTensor
        return f"${self._shortid(value)}" if isinstance(value, numbered) else repr(value)

    def emit(self, record: logging.LogRecord) -> None:
        """Adds a line for a call or for an input."""
        given: Any = record.args
        args, kwargs, results = given
        shown = ", ".join([*map(self._fmt, args), *(f"{key}={self._fmt(value)}" for key, value in kwargs.items())])
        names = ", ".join(map(self._fmt, results)) if isinstance(results, (tuple, list)) else self._fmt(results)
        self.log_list.append(f"{names} = {record.msg}({shown})")


def log_input(name: str, var: object) -> None:
    """Logs a tensor as an input with a name."""
    _log("input", (name,), {}, var)


@contextlib.contextmanager
def capture_logs(is_mode: bool = False) -> Iterator[list[str]]:
    """A context in which a list gets the lines that are logged; with is_mode all tensors are numbered."""
    logger = logging.getLogger(_LOGGER)
    lines: list[str] = []
    handler = LoggingTensorHandler(lines, use_shortid_for_all_tensors=is_mode)
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


@contextlib.contextmanager
def capture_logs_with_logging_tensor_mode() -> Iterator[list[str]]:
    """capture_logs, with the operators of all tensors."""
    with LoggingTensorMode(), capture_logs(True) as lines:
        yield lines
