"""From observers to operators that quantize and dequantize, and from modules with weights to those that round them."""

from __future__ import annotations

import copy
from typing import Any

import torchjit as torch
from torchjit import _progress, nn
from torchjit.ao.nn.intrinsic.modules.fused import _FusedModule
from torchjit.ao.quantization.backend_config import BackendConfig
from torchjit.ao.quantization.fx.custom_config import ConvertCustomConfig
from torchjit.ao.quantization.fx.fuse import as_backend_config, as_config
from torchjit.ao.quantization.fx.graph_module import (
    QuantizedGraphModule,
    is_observed_module,
    is_observed_standalone_module,
    new_attribute,
)
from torchjit.ao.quantization.fx.lower import lower
from torchjit.ao.quantization.fx.patterns import configs_by_class, reference_classes
from torchjit.ao.quantization.fx.qconfigs import dtypes_of, node_qconfigs
from torchjit.ao.quantization.observer import _is_activation_post_process
from torchjit.ao.quantization.qconfig import qconfig_equals
from torchjit.ao.quantization.qconfig_mapping import QConfigMapping
from torchjit.ao.quantization.quantize import _remove_qconfig
from torchjit.ao.quantization.stubs import DeQuantStub
from torchjit.ao.quantization.utils import (
    get_qparam_dict,
    get_swapped_custom_module_class,
    is_per_channel,
    weight_is_quantized,
)
from torchjit.fx import Graph, GraphModule, Node, map_arg
from torchjit.nn.utils.parametrize import type_before_parametrizations

__all__ = ["convert"]

_INTEGERS = (torch.quint8, torch.qint8, torch.qint32)


class _Conversion:
    """Converts the observers and modules of one graph, which is changed."""

    def __init__(
        self, model: GraphModule, custom: ConvertCustomConfig, backend: BackendConfig, is_reference: bool, qconfigs: dict[str, Any]
    ) -> None:
        self.model, self.custom, self.backend, self.is_reference, self.qconfigs = model, custom, backend, is_reference, qconfigs
        self.graph: Graph = model.graph
        self.scopes: dict[str, tuple[str, Any]] = model._node_name_to_scope
        self.observed: set[str] = model._observed_node_names
        self.modules: dict[str, Any] = dict(model.named_modules(remove_duplicate=False))
        self.references = reference_classes(backend)
        self.trained = set(configs_by_class(backend, "qat_module").values())
        self.custom_nodes: set[Node] = set()

    def run(self) -> None:
        """Converts the graph."""
        self._observe_weights()
        prepared = self.model._prepare_custom_config
        placeholders = 0
        for node in _progress.over(list(self.graph.nodes), "quantizing"):
            if node.op == "placeholder":
                if placeholders in prepared.input_quantized_indexes:
                    self._dequantize_after(node)
                placeholders += 1
            elif node.op == "output":
                if prepared.output_quantized_indexes:
                    node.args = map_arg(node.args, _quantized)
            elif node.op == "call_module":
                self._convert_call(node)
        self.graph.eliminate_dead_code()

    def _convert_call(self, node: Node) -> None:
        module = self.modules[str(node.target)]
        cls = type_before_parametrizations(module)
        if _is_activation_post_process(module):
            if node.args[0] in self.custom_nodes:
                self._replace_by_dequantize(node)
            else:
                self._replace_observer(node, module)
        elif isinstance(module, DeQuantStub):
            self._replace_by_dequantize(node)
        elif is_observed_standalone_module(module):
            self._convert_standalone(node, module)
        elif any(cls in mapping for mapping in self.custom.observed_to_quantized_mapping.values()):
            self._convert_custom(node, module)
        else:
            self._convert_weighted(node, module)

    def _observe_weights(self) -> None:
        """Runs the observers of weights that functions get: nothing else has to have run for dynamic quantization."""
        for node in self.graph.nodes:
            if node.op == "call_module" and _is_activation_post_process(self.modules[str(node.target)]):
                given = node.args[0]
                if isinstance(given, Node) and given.op == "get_attr":
                    self.modules[str(node.target)](_attribute(self.model, str(given.target)))

    def _dequantize_after(self, node: Node) -> None:
        with self.graph.inserting_after(node):
            made = self.graph.call_method("dequantize", (node,))
        for user in list(node.users):
            if user is not made:
                user.replace_input_with(node, made)

    def _replace_by_dequantize(self, node: Node) -> None:
        with self.graph.inserting_before(node):
            made = self.graph.call_method("dequantize", (node.args[0],))
        node.replace_all_uses_with(made)
        self.graph.erase_node(node)

    def _replace_observer(self, node: Node, observer: Any) -> None:
        """An observer becomes what quantizes with its scale, and what dequantizes; where nothing around it is quantized it goes."""
        around = [other for other in (*node.args, *node.users) if isinstance(other, Node)]
        call = None if all(self._is_unquantized(other) for other in around) else self._quantize_call(node, observer)
        if call is None:
            node.replace_all_uses_with(node.args[0])
            self.graph.erase_node(node)
            return
        op, target, qparams = call
        prefix = self._prefix(node)
        with self.graph.inserting_before(node):
            args = [self._qparam(value, f"{prefix}{name}") if name.endswith("_") else value for name, value in qparams]
            quantized = self.graph.create_node(op, target, (node.args[0], *args), {})
            made = self.graph.call_method("dequantize", (quantized,))
        node.replace_all_uses_with(made)
        self.graph.erase_node(node)

    def _is_unquantized(self, node: Node) -> bool:
        return node.name in self.qconfigs and self.qconfigs[node.name] is None

    def _quantize_call(self, node: Node, observer: Any) -> tuple[str, Any, list[tuple[str, Any]]] | None:
        """The operator that quantizes as an observer says, with its arguments: names that end with "_" are those of buffers."""
        computed = getattr(observer, "compute_dtype", None)
        if computed in (torch.quint8, torch.qint8, torch.float16):
            reduce_range = torch.backends.quantized.engine == "fbgemm"
            return "call_function", torch.quantize_per_tensor_dynamic, [("dtype", computed), ("reduce_range", reduce_range)]
        if observer.dtype == torch.float16:
            return "call_method", "to", [("dtype", observer.dtype)]
        if observer.dtype not in _INTEGERS:
            return None
        scale, zero_point = observer.calculate_qparams()
        if hasattr(observer, "qscheme") and is_per_channel(observer.qscheme):
            buffers = [("_scale_", scale), ("_zero_point_", zero_point)]
            return "call_function", torch.quantize_per_channel, [*buffers, ("axis", int(observer.ch_axis)), ("dtype", observer.dtype)]
        buffers = [("_scale_", float(scale)), ("_zero_point_", int(zero_point))]
        return "call_function", torch.quantize_per_tensor, [*buffers, ("dtype", observer.dtype)]

    def _prefix(self, node: Node) -> str:
        """The begin of the names of an observer's buffers: the path of what is observed, or of what gets it and "_input"."""
        observed = node.args[0]
        assert isinstance(observed, Node)
        if observed.name not in self.qconfigs or self.qconfigs[observed.name] is not None:
            return self.scopes[observed.name][0] if observed.name in self.scopes else ""
        users = list(node.users)
        user = next(
            (u for u in users if u.op == "call_module" and isinstance(self.modules[str(u.target)], nn.Linear)), users[0] if users else None
        )
        path = self.scopes[user.name][0] if user is not None and user.name in self.scopes else ""
        return path + "_input"

    def _qparam(self, value: Any, prefix: str) -> Node:
        """A node that reads a new buffer."""
        name = new_attribute(self.model, prefix)
        devices = {p.device for p in self.model.parameters()} | {b.device for b in self.model.buffers()}
        device = next(iter(devices)) if len(devices) == 1 else None
        made = value.clone().detach() if isinstance(value, torch.Tensor) else torch.tensor(value, device=device)
        self.model.register_buffer(name, made)
        return self.graph.create_node("get_attr", name)

    def _convert_weighted(self, node: Node, module: Any) -> None:
        """Puts what rounds its weight in the place of a module that has been observed, or trained with rounding."""
        trained = type(module) in self.trained
        float_class = type(module[0]) if isinstance(module, _FusedModule) and len(module) else type(module)
        if not trained and float_class not in self.references:
            return
        qconfig = getattr(module, "qconfig", None)
        weight_observer = None
        if trained:
            weight_observer = module.weight_fake_quant
            module = module.to_float()
            self._put(str(node.target), module)
        if qconfig is None or self._is_unquantized(node) or node.name not in self.observed:
            return
        if not self._is_supported(qconfig, type(module)) or not weight_is_quantized(qconfig):
            return
        fused = module if isinstance(module, _FusedModule) else None
        weighted = module[0] if fused is not None else module
        made = self.references[type(weighted)].from_float(weighted, _weight_qparams(weighted, qconfig, weight_observer))
        if fused is None:
            self._put(str(node.target), made)
        else:
            fused[0] = made

    def _is_supported(self, qconfig: Any, cls: Any) -> bool:
        """Whether the backend computes a class with the types of a configuration."""
        config = self.backend.configs.get(cls)
        asked = dtypes_of(qconfig)
        return config is not None and any(
            asked.dynamic == bool(types.is_dynamic)
            and types.input_dtype == asked.input
            and types.output_dtype == asked.output
            and types.weight_dtype == asked.weight
            for types in config.dtype_configs
        )

    def _put(self, path: str, module: Any) -> None:
        parent, _, name = path.rpartition(".")
        setattr(self.model.get_submodule(parent), name, module)
        self.modules[path] = module

    def _convert_custom(self, node: Node, module: Any) -> None:
        """Puts the quantized module in the place of one that observes; it gets and gives quantized tensors."""
        node.args = map_arg(node.args, _quantized)
        self.custom_nodes.add(node)
        cls = get_swapped_custom_module_class(module, self.custom.observed_to_quantized_mapping, module.qconfig)
        self._put(str(node.target), cls.from_observed(module))

    def _convert_standalone(self, node: Node, module: Any) -> None:
        """Converts a module that was prepared by itself."""
        from torchjit.ao.quantization.quantize_fx import _convert_standalone_module_fx

        prepared = module._prepare_custom_config
        quantized = set(prepared.input_quantized_indexes)
        node.args = tuple(map_arg(arg, _quantized) if index in quantized else arg for index, arg in enumerate(node.args))
        if prepared.output_quantized_indexes:
            self._dequantize_after(node)
        self._put(str(node.target), _convert_standalone_module_fx(module, is_reference=self.is_reference))


def _quantized(node: Node) -> Any:
    """What a node dequantizes; the node itself where it is another."""
    return node.args[0] if node.op == "call_method" and node.target == "dequantize" else node


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _weight_qparams(module: Any, qconfig: Any, observer: Any) -> Any:
    """How the weights of a module are rounded: by name where there are several."""
    names: tuple[str, ...] | None = None
    if isinstance(module, nn.RNNCellBase):
        names = ("weight_ih", "weight_hh")
    elif isinstance(module, nn.LSTM):
        names = tuple(name for name in module._flat_weights_names if name.startswith("weight"))
    if names is not None:
        return {name: _qparams(getattr(module, name), qconfig.weight()) for name in names}
    return _qparams(module.weight, qconfig.weight() if observer is None else observer)


def _qparams(weight: Any, observer: Any) -> dict[str, Any]:
    if observer.dtype in _INTEGERS:
        observer(weight)
    if not getattr(observer, "qscheme", None):
        return {"qscheme": None, "dtype": observer.dtype}
    return get_qparam_dict(observer)


def _checked_qconfigs(model: GraphModule, mapping: Any) -> dict[str, Any]:
    """The configurations that a model was prepared with, or those of a mapping, which may say None where the others say more.

    Raises AssertionError where it says anything else.
    """
    prepared: dict[str, Any] = model._qconfig_map
    if mapping is None:
        return prepared
    mapping = as_config(QConfigMapping, mapping, "qconfig")
    for part, found in (("global_qconfig", {"": mapping.global_qconfig}),) + tuple(
        (name, getattr(mapping, name)) for name in ("object_type_qconfigs", "module_name_regex_qconfigs", "module_name_qconfigs")
    ):
        before = getattr(model._qconfig_mapping, part)
        before = {"": before} if part == "global_qconfig" else before
        for key, qconfig in found.items():
            if qconfig is not None and not qconfig_equals(before.get(key), qconfig):
                raise AssertionError(
                    f"Expected convert qconfig to be the same as prepare qconfig or None; {part} {key!r} was {before.get(key)}, "
                    f"now {qconfig}"
                )
    modules = dict(model.named_modules(remove_duplicate=False))
    kept = {path: module.qconfig for path, module in modules.items() if hasattr(module, "qconfig")}
    found = node_qconfigs(model.graph, modules, mapping, model._node_name_to_scope)
    for path, qconfig in kept.items():
        modules[path].qconfig = qconfig
    return found


def convert(
    model: GraphModule, is_reference: bool = False, convert_custom_config: ConvertCustomConfig | dict[str, Any] | None = None,
    is_standalone_module: bool = False, _remove_qconfig_flag: bool = True, qconfig_mapping: QConfigMapping | dict[str, Any] | None = None,
    backend_config: BackendConfig | dict[str, Any] | None = None,
) -> GraphModule:  # fmt: skip
    """A copy of a prepared model that quantizes: with quantized operators, or with floats that are rounded where is_reference is set."""
    if not is_observed_module(model):
        raise ValueError("convert takes what prepare_fx and prepare_qat_fx give, Got type:" + str(type(model)))
    custom = as_config(ConvertCustomConfig, convert_custom_config, "convert_custom_config")
    backend = as_backend_config(backend_config)
    model = copy.deepcopy(model)
    conversion = _Conversion(model, custom, backend, is_reference, _checked_qconfigs(model, qconfig_mapping))
    conversion.run()
    made = QuantizedGraphModule(model, copy.deepcopy(model.graph), set(custom.preserved_attributes))
    if not is_reference:
        made = lower(made, conversion.qconfigs, conversion.scopes)
    if _remove_qconfig_flag:
        _remove_qconfig(made)
    return made
