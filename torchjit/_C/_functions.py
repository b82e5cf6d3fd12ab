"""torch._C._functions: functions whose gradients are missing or fail, for those who try what becomes of that."""

from __future__ import annotations

from typing import Any

from torchjit.autograd.function import Function


def _undefined() -> Any:
    class UndefinedGrad(Function):
        """Gives the input, and no gradient to it."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return None

    return UndefinedGrad


class UndefinedGrad:
    """A function that gives its input and has no gradient for it."""

    def __call__(self, x: Any) -> Any:
        return _undefined().apply(x)


class DelayedError:
    """A function that gives its inputs, and whose gradient fails with the message."""

    def __init__(self, msg: str, num_inputs: int) -> None:
        self._message, self._inputs = msg, num_inputs

    def __call__(self, *inputs: Any) -> Any:
        if len(inputs) != self._inputs:
            raise RuntimeError(f"Expected {self._inputs} inputs, but got {len(inputs)}")
        message = self._message

        class Error(Function):
            """Fails where a gradient arrives."""

            @staticmethod
            def forward(ctx: Any, *xs: Any) -> Any:
                made = tuple(x.view_as(x) for x in xs)
                return made[0] if len(made) == 1 else made

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                raise RuntimeError(message)

        return Error.apply(*inputs)
