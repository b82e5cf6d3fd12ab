"""What users can say about preparing, converting and fusing a model besides configurations and backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchjit.ao.quantization.backend_config import BackendConfig
from torchjit.ao.quantization.qconfig_mapping import QConfigMapping
from torchjit.ao.quantization.quant_type import QuantType, quant_type_to_str

__all__ = ["ConvertCustomConfig", "FuseCustomConfig", "PrepareCustomConfig", "StandaloneModuleConfigEntry"]

STANDALONE_MODULE_NAME_DICT_KEY = "standalone_module_name"
STANDALONE_MODULE_CLASS_DICT_KEY = "standalone_module_class"
FLOAT_TO_OBSERVED_DICT_KEY = "float_to_observed_custom_module_class"
OBSERVED_TO_QUANTIZED_DICT_KEY = "observed_to_quantized_custom_module_class"
NON_TRACEABLE_MODULE_NAME_DICT_KEY = "non_traceable_module_name"
NON_TRACEABLE_MODULE_CLASS_DICT_KEY = "non_traceable_module_class"
INPUT_QUANTIZED_INDEXES_DICT_KEY = "input_quantized_idxs"
OUTPUT_QUANTIZED_INDEXES_DICT_KEY = "output_quantized_idxs"
PRESERVED_ATTRIBUTES_DICT_KEY = "preserved_attributes"


@dataclass
class StandaloneModuleConfigEntry:
    """How a submodule that is quantized by itself is prepared; None for what is that of the model."""

    qconfig_mapping: QConfigMapping | None
    example_inputs: tuple[Any, ...]
    prepare_custom_config: PrepareCustomConfig | None
    backend_config: BackendConfig | None


# By dictionary key, the attribute that has the same value.
_PREPARE_LISTS = {
    NON_TRACEABLE_MODULE_NAME_DICT_KEY: "non_traceable_module_names",
    NON_TRACEABLE_MODULE_CLASS_DICT_KEY: "non_traceable_module_classes",
    INPUT_QUANTIZED_INDEXES_DICT_KEY: "input_quantized_indexes",
    OUTPUT_QUANTIZED_INDEXES_DICT_KEY: "output_quantized_indexes",
    PRESERVED_ATTRIBUTES_DICT_KEY: "preserved_attributes",
}


class PrepareCustomConfig:
    """What `prepare_fx` and `prepare_qat_fx` are told. The setters return the object."""

    def __init__(self) -> None:
        self.standalone_module_names: dict[str, StandaloneModuleConfigEntry] = {}
        self.standalone_module_classes: dict[Any, StandaloneModuleConfigEntry] = {}
        self.float_to_observed_mapping: dict[QuantType, dict[Any, Any]] = {}
        self.non_traceable_module_names: list[str] = []
        self.non_traceable_module_classes: list[Any] = []
        self.input_quantized_indexes: list[int] = []
        self.output_quantized_indexes: list[int] = []
        self.preserved_attributes: list[str] = []

    def set_standalone_module_name(
        self, module_name: str, qconfig_mapping: QConfigMapping | None, example_inputs: tuple[Any, ...],
        prepare_custom_config: PrepareCustomConfig | None, backend_config: BackendConfig | None,
    ) -> PrepareCustomConfig:  # fmt: skip
        """Has the submodule of a path quantized by itself."""
        entry = StandaloneModuleConfigEntry(qconfig_mapping, example_inputs, prepare_custom_config, backend_config)
        self.standalone_module_names[module_name] = entry
        return self

    def set_standalone_module_class(
        self, module_class: Any, qconfig_mapping: QConfigMapping | None, example_inputs: tuple[Any, ...],
        prepare_custom_config: PrepareCustomConfig | None, backend_config: BackendConfig | None,
    ) -> PrepareCustomConfig:  # fmt: skip
        """Has the submodules of a class quantized by themselves."""
        entry = StandaloneModuleConfigEntry(qconfig_mapping, example_inputs, prepare_custom_config, backend_config)
        self.standalone_module_classes[module_class] = entry
        return self

    def set_float_to_observed_mapping(
        self, float_class: Any, observed_class: Any, quant_type: QuantType = QuantType.STATIC
    ) -> PrepareCustomConfig:
        """Has submodules of a class replaced by what `observed_class.from_float` gives."""
        self.float_to_observed_mapping.setdefault(quant_type, {})[float_class] = observed_class
        return self

    def set_non_traceable_module_names(self, module_names: list[str]) -> PrepareCustomConfig:
        """Has the submodules of these paths called as a whole."""
        self.non_traceable_module_names = module_names
        return self

    def set_non_traceable_module_classes(self, module_classes: list[Any]) -> PrepareCustomConfig:
        """Has the submodules of these classes called as a whole."""
        self.non_traceable_module_classes = module_classes
        return self

    def set_input_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """Says which arguments of the model are quantized tensors."""
        self.input_quantized_indexes = indexes
        return self

    def set_output_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """Says which results of the model are quantized tensors; for now [0] is all that can be said."""
        self.output_quantized_indexes = indexes
        return self

    def set_preserved_attributes(self, attributes: list[str]) -> PrepareCustomConfig:
        """Has attributes of the model kept that its forward does not use."""
        self.preserved_attributes = attributes
        return self

    @classmethod
    def from_dict(cls, prepare_custom_config_dict: dict[str, Any]) -> PrepareCustomConfig:
        """The configuration of a dictionary as to_dict gives it.

        Raises ValueError for entries of other classes and unknown quantization types.
        """
        made = cls()
        for key, setter in (
            (STANDALONE_MODULE_NAME_DICT_KEY, made.set_standalone_module_name),
            (STANDALONE_MODULE_CLASS_DICT_KEY, made.set_standalone_module_class),
        ):
            for module, mapping, inputs, custom, backend in prepare_custom_config_dict.get(key, []):
                setter(
                    module,
                    _as(QConfigMapping, mapping, key),
                    inputs,
                    _as(PrepareCustomConfig, custom, key),
                    _as(BackendConfig, backend, key),
                )
        made.float_to_observed_mapping = _by_type(prepare_custom_config_dict.get(FLOAT_TO_OBSERVED_DICT_KEY, {}))
        for key, attribute in _PREPARE_LISTS.items():
            setattr(made, attribute, prepare_custom_config_dict.get(key, []))
        return made

    def to_dict(self) -> dict[str, Any]:
        """What is set, by the names of the former form."""
        found: dict[str, Any] = {}
        for key, entries in (
            (STANDALONE_MODULE_NAME_DICT_KEY, self.standalone_module_names),
            (STANDALONE_MODULE_CLASS_DICT_KEY, self.standalone_module_classes),
        ):
            for module, entry in entries.items():
                parts = (
                    _dict(entry.qconfig_mapping),
                    entry.example_inputs,
                    _dict(entry.prepare_custom_config),
                    _dict(entry.backend_config),
                )
                found.setdefault(key, []).append((module, *parts))
        found.update(_by_name(FLOAT_TO_OBSERVED_DICT_KEY, self.float_to_observed_mapping))
        found.update({key: getattr(self, attribute) for key, attribute in _PREPARE_LISTS.items() if getattr(self, attribute)})
        return found


class ConvertCustomConfig:
    """What `convert_fx` is told. The setters return the object."""

    def __init__(self) -> None:
        self.observed_to_quantized_mapping: dict[QuantType, dict[Any, Any]] = {}
        self.preserved_attributes: list[str] = []

    def set_observed_to_quantized_mapping(
        self, observed_class: Any, quantized_class: Any, quant_type: QuantType = QuantType.STATIC
    ) -> ConvertCustomConfig:
        """Has submodules of a class replaced by what `quantized_class.from_observed` gives."""
        self.observed_to_quantized_mapping.setdefault(quant_type, {})[observed_class] = quantized_class
        return self

    def set_preserved_attributes(self, attributes: list[str]) -> ConvertCustomConfig:
        """Has attributes of the model kept that its forward does not use."""
        self.preserved_attributes = attributes
        return self

    @classmethod
    def from_dict(cls, convert_custom_config_dict: dict[str, Any]) -> ConvertCustomConfig:
        """The configuration of a dictionary as to_dict gives it. Raises ValueError for unknown quantization types."""
        made = cls()
        made.observed_to_quantized_mapping = _by_type(convert_custom_config_dict.get(OBSERVED_TO_QUANTIZED_DICT_KEY, {}))
        return made.set_preserved_attributes(convert_custom_config_dict.get(PRESERVED_ATTRIBUTES_DICT_KEY, []))

    def to_dict(self) -> dict[str, Any]:
        """What is set, by the names of the former form."""
        found = _by_name(OBSERVED_TO_QUANTIZED_DICT_KEY, self.observed_to_quantized_mapping)
        return {**found, **({PRESERVED_ATTRIBUTES_DICT_KEY: self.preserved_attributes} if self.preserved_attributes else {})}


class FuseCustomConfig:
    """What `fuse_fx` is told. The setters return the object."""

    def __init__(self) -> None:
        self.preserved_attributes: list[str] = []

    def set_preserved_attributes(self, attributes: list[str]) -> FuseCustomConfig:
        """Has attributes of the model kept that its forward does not use."""
        self.preserved_attributes = attributes
        return self

    @classmethod
    def from_dict(cls, fuse_custom_config_dict: dict[str, Any]) -> FuseCustomConfig:
        """The configuration of a dictionary as to_dict gives it."""
        return cls().set_preserved_attributes(fuse_custom_config_dict.get(PRESERVED_ATTRIBUTES_DICT_KEY, []))

    def to_dict(self) -> dict[str, Any]:
        """What is set, by the names of the former form."""
        return {PRESERVED_ATTRIBUTES_DICT_KEY: self.preserved_attributes} if self.preserved_attributes else {}


def _as(cls: Any, given: Any, key: str) -> Any:
    """What was given for an entry, or the object of a dictionary."""
    if given is None or isinstance(given, cls):
        return given
    if isinstance(given, dict):
        return cls.from_dict(given)
    raise ValueError(f"Expected {cls.__name__} in prepare_custom_config_dict[\"{key}\"], got '{type(given)}'")


def _dict(given: Any) -> Any:
    return None if given is None else given.to_dict()


def _by_type(given: dict[Any, Any]) -> dict[QuantType, dict[Any, Any]]:
    """The mapping by quantization type of one by their names."""
    types = {quant_type_to_str(kind): kind for kind in QuantType}
    for name in given:
        if name not in types:
            raise ValueError(f"Unknown QuantType name '{name}'")
    return {types[name]: dict(mapping) for name, mapping in given.items()}


def _by_name(key: str, given: dict[QuantType, dict[Any, Any]]) -> dict[str, Any]:
    return {key: {quant_type_to_str(kind): mapping for kind, mapping in given.items()}} if given else {}
