"""What a backend computes with quantized tensors: a list of patterns, each with the element types and modules for it.

A pattern is a class of modules, a function or the name of a method. A tuple says that the first of it gets what the second gives: (nn.ReLU,
nn.Conv2d) is a convolution with a rectifier after it, and (nn.ReLU, (nn.BatchNorm2d, nn.Conv2d)) has a normalization between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import torchjit as torch

__all__ = ["BackendConfig", "BackendPatternConfig", "DTypeConfig", "DTypeWithConstraints", "ObservationType"]


class ObservationType(Enum):
    """Whether the result of a pattern is quantized with a scale of its own, or with that of its input."""

    OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT = 0
    OUTPUT_SHARE_OBSERVER_WITH_INPUT = 1


@dataclass
class DTypeWithConstraints:
    """An element type, with limits for the integers and scales of tensors that have it."""

    dtype: Any = None
    quant_min_lower_bound: int | float | None = None
    quant_max_upper_bound: int | float | None = None
    scale_min_lower_bound: int | float | None = None
    scale_max_upper_bound: int | float | None = None


_TENSORS = ("input", "output", "weight")


@dataclass
class DTypeConfig:
    """The element types of inputs, results, weights and biases; with is_dynamic the range of inputs is that of each call."""

    input_dtype_with_constraints: DTypeWithConstraints
    output_dtype_with_constraints: DTypeWithConstraints
    weight_dtype_with_constraints: DTypeWithConstraints
    bias_dtype: Any
    is_dynamic: bool | None

    def __init__(
        self,
        input_dtype: Any = None,
        output_dtype: Any = None,
        weight_dtype: Any = None,
        bias_dtype: Any = None,
        is_dynamic: bool | None = None,
    ) -> None:
        for name, given in zip(_TENSORS, (input_dtype, output_dtype, weight_dtype)):
            constrained = given if isinstance(given, DTypeWithConstraints) else DTypeWithConstraints(dtype=given)
            setattr(self, name + "_dtype_with_constraints", constrained)
        self.bias_dtype, self.is_dynamic = bias_dtype, is_dynamic

    @property
    def input_dtype(self) -> Any:
        """The type of inputs."""
        return self.input_dtype_with_constraints.dtype

    @property
    def output_dtype(self) -> Any:
        """The type of results."""
        return self.output_dtype_with_constraints.dtype

    @property
    def weight_dtype(self) -> Any:
        """The type of weights."""
        return self.weight_dtype_with_constraints.dtype

    @classmethod
    def from_dict(cls, dtype_config_dict: dict[str, Any]) -> DTypeConfig:
        """The configuration of a dictionary with the names of the arguments. Raises ValueError for what is no type."""
        given = dict(dtype_config_dict)
        for name in _TENSORS:
            found = given.get(name + "_dtype")
            if found is not None and not isinstance(found, (torch.dtype, DTypeWithConstraints)):
                raise ValueError(f"Expected {name}_dtype to be a torch.dtype or DTypeWithConstraints")
        names = [name + "_dtype" for name in _TENSORS] + ["bias_dtype", "is_dynamic"]
        return cls(**{name: given.get(name) for name in names})

    def to_dict(self) -> dict[str, Any]:
        """What is set, by the names of the arguments."""
        found: dict[str, Any] = {}
        for name in _TENSORS:
            constrained = getattr(self, name + "_dtype_with_constraints")
            if constrained.dtype is not None:
                found[name + "_dtype"] = constrained
        if self.bias_dtype is not None:
            found["bias_dtype"] = self.bias_dtype
        if self.is_dynamic is not None:
            found["is_dynamic"] = self.is_dynamic
        return found


# The key in a dictionary, the attribute, and whether it is left out of dictionaries where it is empty, rather than None alone.
_PATTERN_FIELDS = (
    ("root_module", "root_module"),
    ("qat_module", "qat_module"),
    ("reference_quantized_module_for_root", "reference_quantized_module"),
    ("fused_module", "fused_module"),
    ("fuser_method", "fuser_method"),
    ("root_node_getter", "_root_node_getter"),
    ("extra_inputs_getter", "_extra_inputs_getter"),
    ("num_tensor_args_to_observation_type", "_num_tensor_args_to_observation_type"),
    ("input_type_to_index", "_input_type_to_index"),
    ("input_output_observed", "_input_output_observed"),
    ("overwrite_output_fake_quantize", "_overwrite_output_fake_quantize"),
    ("overwrite_output_observer", "_overwrite_output_observer"),
)


class BackendPatternConfig:
    """What a backend does with a pattern. The setters return the object."""

    def __init__(self, pattern: Any) -> None:
        self.pattern = pattern
        self.observation_type = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
        self.dtype_configs: list[DTypeConfig] = []
        self.root_module: Any = None
        self.qat_module: Any = None
        self.reference_quantized_module: Any = None
        self.fused_module: Any = None
        self.fuser_method: Any = None
        self._root_node_getter: Any = None
        self._extra_inputs_getter: Any = None
        self._num_tensor_args_to_observation_type: dict[int, ObservationType] = {}
        self._input_type_to_index: dict[str, int] = {}
        self._input_output_observed: bool | None = None
        self._overwrite_output_fake_quantize: Any = None
        self._overwrite_output_observer: Any = None

    def _set(self, name: str, value: Any) -> BackendPatternConfig:
        setattr(self, name, value)
        return self

    def set_observation_type(self, observation_type: ObservationType) -> BackendPatternConfig:
        """Sets how results are observed."""
        return self._set("observation_type", observation_type)

    def add_dtype_config(self, dtype_config: DTypeConfig) -> BackendPatternConfig:
        """Adds a combination of types that is computed."""
        self.dtype_configs.append(dtype_config)
        return self

    def set_dtype_configs(self, dtype_configs: list[DTypeConfig]) -> BackendPatternConfig:
        """Sets the combinations of types that are computed."""
        return self._set("dtype_configs", dtype_configs)

    def set_root_module(self, root_module: Any) -> BackendPatternConfig:
        """Sets the class of the module with the weight."""
        return self._set("root_module", root_module)

    def set_qat_module(self, qat_module: Any) -> BackendPatternConfig:
        """Sets the class that is trained with rounding."""
        return self._set("qat_module", qat_module)

    def set_reference_quantized_module(self, reference_quantized_module: Any) -> BackendPatternConfig:
        """Sets the class that rounds the weight of the root module."""
        return self._set("reference_quantized_module", reference_quantized_module)

    def set_fused_module(self, fused_module: Any) -> BackendPatternConfig:
        """Sets the class that the modules of the pattern become."""
        return self._set("fused_module", fused_module)

    def set_fuser_method(self, fuser_method: Any) -> BackendPatternConfig:
        """Sets the function that makes one module of those of the pattern: (is_qat, last, the ones before) gives it."""
        return self._set("fuser_method", fuser_method)

    def _set_root_node_getter(self, root_node_getter: Any) -> BackendPatternConfig:
        return self._set("_root_node_getter", root_node_getter)

    def _set_extra_inputs_getter(self, extra_inputs_getter: Any) -> BackendPatternConfig:
        return self._set("_extra_inputs_getter", extra_inputs_getter)

    def _set_num_tensor_args_to_observation_type(
        self, num_tensor_args_to_observation_type: dict[int, ObservationType]
    ) -> BackendPatternConfig:
        return self._set("_num_tensor_args_to_observation_type", num_tensor_args_to_observation_type)

    def _set_input_type_to_index(self, input_type_to_index: dict[str, int]) -> BackendPatternConfig:
        return self._set("_input_type_to_index", input_type_to_index)

    def _set_input_output_observed(self, input_output_observed: bool) -> BackendPatternConfig:
        return self._set("_input_output_observed", input_output_observed)

    def _set_overwrite_output_fake_quantize(self, overwrite_output_fake_quantize: Any) -> BackendPatternConfig:
        return self._set("_overwrite_output_fake_quantize", overwrite_output_fake_quantize)

    def _set_overwrite_output_observer(self, overwrite_output_observer: Any) -> BackendPatternConfig:
        return self._set("_overwrite_output_observer", overwrite_output_observer)

    @classmethod
    def from_dict(cls, backend_pattern_config_dict: dict[str, Any]) -> BackendPatternConfig:
        """The configuration of a dictionary as to_dict gives it. Raises ValueError where it has no pattern or other dtype_configs."""
        given = backend_pattern_config_dict
        if "pattern" not in given:
            raise ValueError("backend_pattern_config_dict must contain 'pattern'")
        made = cls(given["pattern"])
        if "observation_type" in given:
            made.set_observation_type(given["observation_type"])
        for found in given.get("dtype_configs", []):
            made.add_dtype_config(_config_of(DTypeConfig, found, 'backend_pattern_config_dict["dtype_configs"]'))
        for key, attribute in _PATTERN_FIELDS:
            made._set(attribute, given.get(key, getattr(made, attribute)))
        return made

    def to_dict(self) -> dict[str, Any]:
        """What is set, by name."""
        found: dict[str, Any] = {
            "pattern": self.pattern,
            "observation_type": self.observation_type,
            "dtype_configs": [c.to_dict() for c in self.dtype_configs],
        }
        for key, attribute in _PATTERN_FIELDS:
            value = getattr(self, attribute)
            if value is not None and value != {}:
                found[key] = value
        return found


def _config_of(cls: Any, given: Any, where: str) -> Any:
    if isinstance(given, cls):
        return given
    if isinstance(given, dict):
        return cls.from_dict(given)
    raise ValueError(f"Expected a list of {cls.__name__}s in {where}, got '{type(given)}'")


class BackendConfig:
    """The patterns that a backend computes with quantized tensors, by pattern. The setters return the object."""

    def __init__(self, name: str = "") -> None:
        self.name: str = name
        self.configs: dict[Any, BackendPatternConfig] = {}

    def set_name(self, name: str) -> BackendConfig:
        """Sets the name."""
        self.name = name
        return self

    def set_backend_pattern_config(self, config: BackendPatternConfig) -> BackendConfig:
        """Sets what is done with one pattern."""
        self.configs[config.pattern] = config
        return self

    def set_backend_pattern_configs(self, configs: list[BackendPatternConfig]) -> BackendConfig:
        """Sets what is done with several patterns."""
        for config in configs:
            self.set_backend_pattern_config(config)
        return self

    @classmethod
    def from_dict(cls, backend_config_dict: dict[str, Any]) -> BackendConfig:
        """The configuration of a dictionary with "name" and "configs". Raises ValueError for other configs."""
        made = cls(backend_config_dict.get("name", ""))
        for given in backend_config_dict.get("configs", []):
            if not isinstance(given, (BackendPatternConfig, dict)):
                raise ValueError("Expected backend_config_dict['configs'] to be a dictionary")
            made.set_backend_pattern_config(_config_of(BackendPatternConfig, given, "backend_config_dict['configs']"))
        return made

    def to_dict(self) -> dict[str, Any]:
        """Name and configurations, as a dictionary of dictionaries."""
        return {"name": self.name, "configs": [c.to_dict() for c in self.configs.values()]}
