"""Modules that learn the sizes of their parameters from the first input."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

from torchjit.nn.parameter import is_lazy


class LazyModuleMixin:
    """Makes a module lazy: it comes before the class of the module in the list of bases.

    The class has initialize_parameters, which gives the uninitialized parameters their shapes from the arguments of the
    first call. After that call the module is an instance of cls_to_become.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        state: Any = self
        state._load_hook = state._register_load_state_dict_pre_hook(self._lazy_load_hook)
        state._initialize_hook = state.register_forward_pre_hook(self._infer_parameters)
        warnings.warn(
            "Lazy modules are a new feature under heavy development so changes to the API or functionality can happen at any moment.",
            stacklevel=2,
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        state: Any = self
        for name, item in itertools.chain(state._parameters.items(), state._buffers.items()):
            if item is not None and name not in state._non_persistent_buffers_set:
                destination[prefix + name] = item if is_lazy(item) or keep_vars else item.detach()

    def _lazy_load_hook(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any, error_msgs: Any
    ) -> None:  # fmt: skip
        """Gives parameters without a shape that of what is loaded into them."""
        import torchjit

        module: Any = self
        for name, item in itertools.chain(module._parameters.items(), module._buffers.items()):
            found = state_dict.get(prefix + name)
            if found is not None and item is not None and is_lazy(item) and not is_lazy(found):
                with torchjit.no_grad():
                    item.materialize(found.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters their shapes from the arguments of forward. Raises NotImplementedError where the class has none."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of the module itself has no shape yet."""
        module: Any = self
        return any(is_lazy(x) for x in itertools.chain(module._parameters.values(), module._buffers.values()))

    def _infer_parameters(self, module: Any, input: Any) -> None:
        module.initialize_parameters(*input)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")  # type: ignore[attr-defined]
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
