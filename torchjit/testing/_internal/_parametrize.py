"""Tests for several values of their parameters: one test is made of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torchjit as torch

# A test that is made: the function, what is behind its name, and its arguments.
_Made = tuple[Callable[..., Any], str, dict[str, Any]]


def dtype_name(dtype: Any) -> str:
    """The name of an element type, int64 for torch.int64."""
    return str(dtype).split(".")[1]


class subtest:  # noqa: N801
    """Values of the parameters of one test, with its name and decorators."""

    __slots__ = ["arg_values", "decorators", "name"]

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Iterable[Any] | None = None) -> None:
        self.arg_values = arg_values
        self.name = name
        self.decorators = decorators or []


class _TestParametrizer:
    """A decorator that says by _parametrize_test which tests are made of the one below it. Several of them make the product."""

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[_Made]:
        raise NotImplementedError

    def __call__(self, fn: Any) -> Any:
        below = getattr(fn, "parametrize_fn", None)
        made = self._parametrize_test
        fn.parametrize_fn = compose_parametrize_fns(below, made) if below else made
        return fn


def compose_parametrize_fns(old_parametrize_fn: Any, new_parametrize_fn: Any) -> Callable[..., Iterator[_Made]]:
    """What makes the product of the tests that two make; names are those of the new one, then of the old one."""

    def both(test: Any, generic_cls: Any, device_cls: Any) -> Iterator[_Made]:
        for old, old_name, old_values in list(old_parametrize_fn(test, generic_cls, device_cls)):
            for new, new_name, new_values in new_parametrize_fn(old, generic_cls, device_cls):
                twice = old_values.keys() & new_values.keys()
                if twice:
                    raise RuntimeError(
                        "Parametrization over the same parameter by multiple parametrization decorators is not supported. "
                        f'For test "{test.__name__}", the following parameters are handled multiple times: {twice}'
                    )
                yield new, "_".join(part for part in (new_name, old_name) if part), {**old_values, **new_values}

    return both


class parametrize(_TestParametrizer):  # noqa: N801
    """A decorator for tests: one is made for each value, or tuple of values, of the parameters that are named.

    Values may be subtests. name_fn makes the end of a test's name of the values.
    """

    def __init__(self, arg_str: str, arg_values: Iterable[Any], name_fn: Callable[..., str] | None = None) -> None:
        self.arg_names = [name.strip() for name in arg_str.split(",")]
        self.arg_values = arg_values
        self.name_fn = name_fn

    def _value_name(self, name: str, value: Any) -> str:
        if isinstance(value, torch.dtype):
            return dtype_name(value)
        if isinstance(value, torch.device):
            return str(value)
        return f"{name}_{str(value).replace('.', '_')}"

    def _name(self, values: Any, name: str | None) -> str:
        if name is not None:
            return name
        if self.name_fn is not None:
            return self.name_fn(*values)
        return "_".join(self._value_name(*item) for item in zip(self.arg_names, values, strict=True))

    def _parametrize_test(self, test: Any, generic_cls: Any, device_cls: Any) -> Iterator[_Made]:
        all_values = list(self.arg_values)
        if not all_values:
            raise ValueError(
                "An empty arg_values was passed to @parametrize. Note that this may result from reuse of a generator."
            )
        for item in all_values:
            case = item if isinstance(item, subtest) else subtest(item)
            values = case.arg_values if len(self.arg_names) > 1 else (case.arg_values,)
            if len(values) != len(self.arg_names):
                raise RuntimeError(
                    f"Expected # values == # arg names, but got: {len(values)} values and {len(self.arg_names)} names "
                    f'for test "{test.__name__}"'
                )
            made = _copy(test)
            for decorator in case.decorators:
                made = decorator(made)
            yield made, self._name(values, case.name), dict(zip(self.arg_names, values, strict=True))


def _copy(test: Any) -> Callable[..., Any]:
    """A function of its own that calls a test, for decorators of one of the tests that are made."""

    @functools.wraps(test)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return test(*args, **kwargs)

    return wrapper


def with_arguments(test: Callable[..., Any], values: dict[str, Any]) -> Callable[..., Any]:
    """A test that calls one with arguments by name."""

    @functools.wraps(test)
    def wrapper(self: Any, *args: Any) -> Any:
        return test(self, *args, **values)

    return wrapper


def instantiate_parametrized_tests(generic_cls: Any) -> Any:
    """The class, in which tests with parametrizing decorators are replaced by those that these make."""
    for name, test in list(vars(generic_cls).items()):
        if not hasattr(test, "parametrize_fn"):
            continue
        delattr(generic_cls, name)
        for made, end, values in test.parametrize_fn(test, generic_cls=generic_cls, device_cls=None):
            full = f"{test.__name__}_{end}"
            assert not hasattr(generic_cls, full), f"Redefinition of test {full}"
            function = with_arguments(made, values)
            function.__name__ = full
            setattr(generic_cls, full, function)
    return generic_cls
