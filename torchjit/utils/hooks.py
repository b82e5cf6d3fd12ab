"""torch.utils.hooks: handles of registered hooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torchjit.nn.modules._hooks import FullBackward as _FullBackward
from torchjit.nn.modules._hooks import RemovableHandle as RemovableHandle


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Says of a hook that nothing warns when it is lost with a saved tensor."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warns of hooks of a tensor that saving it loses."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function with "
                "@torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


class BackwardHook:
    """Calls hooks(module, grad_input, grad_output) when the gradients of one call of a module are there."""

    def __init__(self, module: Any, user_hooks: Sequence[Callable[..., Any]]) -> None:
        self.user_hooks = user_hooks
        self.module = module
        self._call = _FullBackward(module, list(user_hooks))

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments to call the module with."""
        return self._call.wrap_inputs(args)

    def setup_output_hook(self, args: Any) -> Any:
        """The result to go on with."""
        return self._call.wrap_result(args)
