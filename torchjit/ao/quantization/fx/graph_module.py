"""GraphModules that are fused, observed or quantized, with attributes of the model that their graphs do not use."""

from __future__ import annotations

import copy
from typing import Any

import torchjit as torch
from torchjit.fx import Graph, GraphModule

__all__ = [
    "FusedGraphModule", "ObservedGraphModule", "ObservedStandaloneGraphModule", "QuantizedGraphModule", "is_observed_module",
    "is_observed_standalone_module",
]  # fmt: skip


def new_attribute(module: Any, prefix: str) -> str:
    """A name that a module has not, with a number after a prefix."""
    prefix, index = prefix.replace(".", "_"), 0
    while hasattr(module, f"{prefix}{index}"):
        index += 1
    return f"{prefix}{index}"


class FusedGraphModule(GraphModule):
    """A GraphModule that keeps the named attributes of its root."""

    def __init__(self, root: Any, graph: Graph, preserved_attr_names: set[str]) -> None:
        self.preserved_attr_names = preserved_attr_names
        found = {name: getattr(root, name) for name in preserved_attr_names if hasattr(root, name)}
        super().__init__(root, graph)
        for name, value in found.items():
            setattr(self, name, value)

    def __deepcopy__(self, memo: Any) -> Any:
        copied = torch.nn.Module()
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        cls: Any = next(base for base in type(self).__mro__ if base.__module__ == __name__ and "<locals>" not in base.__qualname__)
        return cls(copied, copied.__dict__["_graph"], copied.__dict__["preserved_attr_names"])


# What prepare_fx puts down for convert_fx.
STATE = (
    "_node_name_to_scope",
    "_qconfig_map",
    "_qconfig_mapping",
    "_prepare_custom_config",
    "_equalization_qconfig_map",
    "_is_qat",
    "_observed_node_names",
)


class ObservedGraphModule(FusedGraphModule):
    """A model with observers, and what `convert_fx` has to know about how it was prepared."""

    def __init__(self, root: Any, graph: Graph, preserved_attr_names: set[str]) -> None:
        super().__init__(root, graph, preserved_attr_names | set(STATE))


class ObservedStandaloneGraphModule(ObservedGraphModule):
    """A submodule with observers that is quantized by itself."""


def is_observed_module(module: Any) -> bool:
    """Whether a module has been prepared."""
    return isinstance(module, ObservedGraphModule)


def is_observed_standalone_module(module: Any) -> bool:
    """Whether a module has been prepared to be quantized by itself."""
    return isinstance(module, ObservedStandaloneGraphModule)


def _save_packed_weight(self: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
    for name, value in vars(self).items():
        if "_packed_weight" in name:
            state_dict[prefix + name] = value


class QuantizedGraphModule(FusedGraphModule):
    """A model with quantized modules and operators. Its state has the packed weights of functions."""

    def __init__(self, root: Any, graph: Graph, preserved_attr_names: set[str]) -> None:
        super().__init__(root, graph, preserved_attr_names)
        packed = {name: value for name, value in vars(root).items() if "_packed_weight" in name}
        for name, value in packed.items():
            setattr(self, name, value)
        self._register_state_dict_hook(_save_packed_weight)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        for name in list(vars(self)):
            if "_packed_weight" in name and prefix + name in state_dict:
                setattr(self, name, state_dict.pop(prefix + name))
        super()._load_from_state_dict(state_dict, prefix, *args)
