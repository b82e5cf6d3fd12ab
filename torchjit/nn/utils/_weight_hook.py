"""What hooks that compute a parameter before each forward share: one of a kind for a parameter, and its removal."""

from __future__ import annotations

from typing import Any


def refuse_second(module: Any, kind: type, name: str, label: str) -> None:
    """Raises RuntimeError where the module has a hook of the kind for the parameter."""
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, kind) and hook.name == name:  # type: ignore[attr-defined]
            raise RuntimeError(f"Cannot register two {label} hooks on the same parameter {name}")


def take_out(module: Any, kind: type, name: str, label: str) -> Any:
    """Removes the hook of the kind for the parameter, whose remove(module) makes it one parameter again.

    Raises ValueError where there is none.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:  # type: ignore[attr-defined]
            hook.remove(module)  # type: ignore[attr-defined]
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{label} of '{name}' not found in {module}")
