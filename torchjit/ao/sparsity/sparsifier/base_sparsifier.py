"""What all sparsifiers are: groups of tensors with options, and masks for them."""

from __future__ import annotations

import abc
import copy
from collections import defaultdict
from typing import Any

import torchjit as torch
from torchjit import nn
from torchjit.ao.sparsity.sparsifier.utils import FakeSparsity, get_arg_info_from_tensor_fqn, module_to_fqn
from torchjit.nn.utils import parametrize

__all__ = ["BaseSparsifier"]

# What state dictionaries leave out of groups: the tensor's name says it.
_OF_MODEL = ("module", "module_fqn", "tensor_name")


class BaseSparsifier(abc.ABC):
    """Masks for tensors of a model. A class of its own defines update_mask(module, tensor_name, **options), which changes the mask of a tensor."""

    def __init__(self, defaults: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.defaults: dict[str, Any] = defaults or {}
        self.state: Any = defaultdict(dict)
        self.groups: list[dict[str, Any]] = []
        self.enable_mask_update = True

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "groups": self.groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.groups):
            text += f"\n\tGroup {i}\n" + "".join(f"\t    {key}: {group[key]}\n" for key in sorted(group))
        return text + ")"

    def state_dict(self) -> dict[str, Any]:
        """The masks and the options, by the names of the tensors."""
        groups = [{key: value for key, value in group.items() if key not in _OF_MODEL} for group in self.groups]
        return {"state": self.state, "groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any], strict: bool = True) -> None:
        """Takes masks and options. Raises RuntimeError for a tensor that the model does not have, unless strict is False."""
        groups, states = copy.deepcopy(state_dict["groups"]), copy.deepcopy(state_dict["state"])
        for tensor_fqn, state in states.items():
            info = get_arg_info_from_tensor_fqn(self.model, tensor_fqn)
            module, tensor_name = info["module"], info["tensor_name"]
            if module is None:
                if strict:
                    raise RuntimeError(f"Error loading {tensor_fqn} into the model")
                continue
            mask = state.pop("mask")
            for parametrization in module.parametrizations[tensor_name] if parametrize.is_parametrized(module, tensor_name) else ():
                if isinstance(parametrization, FakeSparsity):
                    parametrization.mask = mask
                    break
            else:
                parametrize.register_parametrization(module, tensor_name, FakeSparsity(mask))
        for group in groups:
            group.update(get_arg_info_from_tensor_fqn(self.model, group["tensor_fqn"]))
        self.__setstate__({"state": states, "groups": groups})

    def make_config_from_model(self, model: nn.Module, SUPPORTED_MODULES: Any = frozenset((nn.Linear,))) -> None:
        """Sets config to the weights of all linear layers of a model."""
        self.config: Any = []
        for module in model.modules():
            if type(module) in SUPPORTED_MODULES:
                self.config.append({"tensor_fqn": f"{module_to_fqn(model, module)}.weight".lstrip(".")})

    def prepare(self, model: nn.Module, config: Any) -> None:
        """Puts masks of ones on tensors: those of the dictionaries in config, which have tensor_fqn and may have options; None for all linear layers."""
        self.model: Any = model
        self.config = config
        if self.config is None:
            self.make_config_from_model(model)
        for given in self.config:
            assert isinstance(given, dict), "config elements should be dicts not modules i.e.:[{`tensor_fqn`: `foo.bar.weight`}, {`tensor_fqn`: ... }, ...]"
            tensor_fqn = given.get("tensor_fqn")
            assert tensor_fqn is not None, "tensor_fqn is a required argument in the sparsity config which replaces previous `module` and [module]`fqn` arguments"
            group = {**copy.deepcopy(self.defaults), **given}
            info = get_arg_info_from_tensor_fqn(model, tensor_fqn)
            assert info["module"] is not None, f"Error: could not find {tensor_fqn} in the model"
            for key, value in info.items():
                if key in group:
                    assert group[key] == value, f"Given both `{key}` and `tensor_fqn` in the config, it is expected them to agree!"
            group.update(info)
            self.groups.append(group)
        self._prepare()

    def _prepare(self, *args: Any, **kwargs: Any) -> None:
        for group in self.groups:
            module, tensor_name = group["module"], group["tensor_name"]
            mask = group.get("mask", torch.ones_like(getattr(module, tensor_name)))
            self.state[group["tensor_fqn"]]["mask"] = mask
            parametrize.register_parametrization(module, tensor_name, group.get("parametrization", FakeSparsity)(mask))

    def squash_mask(
        self, params_to_keep: tuple[str, ...] | None = None, params_to_keep_per_layer: dict[str, tuple[str, ...]] | None = None, *args: Any, **kwargs: Any
    ) -> None:
        """Takes the masks away and leaves the zeros in the tensors. Options that are to be kept stand in sparse_params of the modules."""
        for group in self.groups:
            module, tensor_name = group["module"], group["tensor_name"]
            parametrize.remove_parametrizations(module, tensor_name, leave_parametrized=True)
            keep = list(params_to_keep or ())
            keep.extend((params_to_keep_per_layer or {}).get(group["module_fqn"]) or ())
            if keep:
                module.sparse_params = {key: group[key] for key in keep}

    def convert(self) -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError("`convert` method is not implemented. Please, use `torch.quantization.convert` instead.")

    def step(self, use_path: bool = True) -> None:
        """Chooses the masks anew."""
        if not self.enable_mask_update:
            return
        with torch.no_grad():
            for group in self.groups:
                self.update_mask(**group)

    @abc.abstractmethod
    def update_mask(self, module: nn.Module, tensor_name: str, **kwargs: Any) -> None:
        """Chooses the mask of a tensor anew."""
