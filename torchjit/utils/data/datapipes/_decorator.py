"""Decorators of pipes: which are not deterministic, and checks of what functions of pipes get and give."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Any

from torchjit.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from torchjit.utils.data.datapipes.datapipe import functional_datapipe as functional_datapipe

_guaranteed = False
_validates = True


class guaranteed_datapipes_determinism:  # noqa: N801
    """A context in which pipes that are not deterministic cannot be made."""

    def __init__(self) -> None:
        global _guaranteed
        self._before, _guaranteed = _guaranteed, True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        global _guaranteed
        _guaranteed = self._before


class non_deterministic:  # noqa: N801
    """A decorator for classes of pipes that are not deterministic, or are so by their arguments: a function of these says whether they are not."""

    def __init__(self, arg: Any) -> None:
        self._class: Any = arg if inspect.isclass(arg) and issubclass(arg, IterDataPipe) else None
        self._tell = arg
        if self._class is None and (inspect.isclass(arg) or not callable(arg)):
            raise TypeError(f"{arg.__name__ if inspect.isclass(arg) else arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._class is None:  # what is called decorates
            if len(args) != 1 or not (inspect.isclass(args[0]) and issubclass(args[0], IterDataPipe)):
                raise TypeError(f"Only `IterDataPipe` can be decorated, but {getattr(args[0], '__name__', args[0])} is found")
            return functools.partial(self._made, args[0], self._tell)
        return self._made(self._class, lambda *_, **__: True, *args, **kwargs)

    @staticmethod
    def _made(cls: Any, tell: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        moves = tell(*args, **kwargs)
        if not isinstance(moves, bool):
            raise TypeError(f"deterministic_fn of `non_deterministic` decorator is required to return a boolean value, but {type(moves)} is found")
        if _guaranteed and moves:
            raise TypeError(
                f"{cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You can turn off determinism for this DataPipe if "
                "that is acceptable for your application"
            )
        return cls(*args, **kwargs)


def argument_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose arguments that are annotated as pipes must be some. Raises TypeError for others."""
    signature = inspect.signature(f)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        hints = typing.get_type_hints(f)
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            hint = typing.get_origin(hints.get(name)) or hints.get(name)
            if inspect.isclass(hint) and issubclass(hint, (IterDataPipe, MapDataPipe)) and not isinstance(value, hint):
                raise TypeError(f"Expected argument '{name}' as a {hint.__name__}, but found {type(value)}")
        return f(*args, **kwargs)

    return wrapper


class runtime_validation_disabled:  # noqa: N801
    """A context in which runtime_validation checks nothing."""

    def __init__(self) -> None:
        global _validates
        self._before, _validates = _validates, False

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        global _validates
        _validates = self._before


def runtime_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """The method __iter__ of a pipe whose examples must be of the type that its annotation names. Raises RuntimeError for others."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @functools.wraps(f)
    def wrapper(self: Any) -> Iterator[Any]:
        given = typing.get_args(typing.get_type_hints(f).get("return"))
        kind = given[0] if given and inspect.isclass(given[0]) else None
        for example in f(self):
            if _validates and kind is not None and not isinstance(example, kind):
                raise RuntimeError(f"Expected an instance as subtype of {kind}, but found {example}({type(example)})")
            yield example

    return wrapper
