"""torch.nn.utils.stateless: calling a module with other parameters than its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torchjit.nn.modules.module import Module


@contextlib.contextmanager
def _reparametrize_module(module: Module, parameters_and_buffers: dict[str, Any]) -> Iterator[None]:
    """A context in which the named parameters and buffers of the module are others."""
    saved: list[tuple[dict[str, Any], str, Any]] = []
    added: list[tuple[Module, str]] = []
    try:
        for path, tensor in parameters_and_buffers.items():
            prefix, _, name = path.rpartition(".")
            owner = module.get_submodule(prefix)
            for members in (owner._parameters, owner._buffers):
                if name in members:
                    saved.append((members, name, members[name]))
                    members[name] = tensor
                    break
            else:
                added.append((owner, name))
                setattr(owner, name, tensor)
        yield
    finally:
        for owner, name in added:
            delattr(owner, name)
        for members, name, former in reversed(saved):
            members[name] = former


def functional_call(module: Any, parameters_and_buffers: dict[str, Any], args: Any, kwargs: dict[str, Any] | None = None) -> Any:
    """module(*args, **kwargs) with the given tensors in place of the parameters and buffers of those names.

    args that are no tuple are the one argument. Names that the module does not have are its attributes during the call. Raises
    RuntimeError for compiled modules.
    """
    if hasattr(module, "_c"):
        raise RuntimeError("The stateless API can't be used with Jitted modules")
    with _reparametrize_module(module, parameters_and_buffers):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
