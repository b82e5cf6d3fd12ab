"""Observers around the nodes of a graph that the backend computes with quantized tensors."""

from __future__ import annotations

import copy
import operator
from typing import Any

import torchjit as torch
from torchjit.ao.quantization.backend_config import BackendConfig, BackendPatternConfig, DTypeConfig, ObservationType
from torchjit.ao.quantization.fx.custom_config import PrepareCustomConfig, StandaloneModuleConfigEntry
from torchjit.ao.quantization.fx.fuse import as_backend_config, as_config
from torchjit.ao.quantization.fx.graph_module import (
    ObservedGraphModule,
    ObservedStandaloneGraphModule,
    new_attribute,
)
from torchjit.ao.quantization.fx.patterns import Match, configs_by_class, find_matches
from torchjit.ao.quantization.fx.qconfigs import (
    NO_TENSOR,
    DTypes,
    check_fixed_qparams,
    dtypes_of,
    node_qconfigs,
    with_fused_classes,
    with_trained_classes,
)
from torchjit.ao.quantization.observer import _is_activation_post_process
from torchjit.ao.quantization.qconfig import is_reuse_input_qconfig
from torchjit.ao.quantization.qconfig_mapping import QConfigMapping
from torchjit.ao.quantization.quantize import swap_module
from torchjit.ao.quantization.stubs import DeQuantStub
from torchjit.ao.quantization.utils import get_swapped_custom_module_class, weight_is_quantized
from torchjit.fx import GraphModule, Node, map_arg
from torchjit.nn.utils.parametrize import type_before_parametrizations

__all__ = ["prepare"]

_OBSERVED_TYPES = (torch.quint8, torch.qint8, torch.qint32, torch.float16)
_SHARED = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT


def _nodes_in(value: Any) -> list[Node]:
    """The nodes in an argument."""
    found: list[Node] = []
    map_arg(value, found.append)
    return found


def _is_item(node: Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem


class _Preparation:
    """Inserts observers into one graph."""

    def __init__(
        self, model: GraphModule, mapping: QConfigMapping, is_qat: bool, scopes: dict[str, tuple[str, Any]], custom: PrepareCustomConfig,
        backend: BackendConfig,
    ) -> None:  # fmt: skip
        self.model, self.is_qat, self.custom, self.backend = model, is_qat, custom, backend
        self.graph = model.graph
        self.modules: dict[str, Any] = dict(model.named_modules(remove_duplicate=False))
        self.qconfigs = node_qconfigs(self.graph, self.modules, mapping, scopes)
        self.matches = self._matches()
        self.by_node = {node: match for match in self.matches for node in match.flat()}
        self._no_tensors: dict[Node, bool] = {}
        self.dtypes = self._node_dtypes()
        self.observed: set[str] = set()

    def _matches(self) -> list[Match]:
        """The patterns of the backend, and by themselves the calls of modules that are replaced or quantized as a whole."""
        plain = find_matches(self.graph, self.modules, list(self.backend.configs.values()))
        whole = [node for node in self.graph.nodes if self._is_custom(node) or self._standalone(node) is not None]
        kept = [match for match in plain if not set(match.flat()) & set(whole)]
        return kept + [Match(BackendPatternConfig(self._called(node)), node, node, node) for node in whole]

    def _called(self, node: Node) -> Any:
        return type_before_parametrizations(self.modules[str(node.target)]) if node.op == "call_module" else node.target

    def _is_custom(self, node: Node) -> bool:
        """Whether a node calls a module that is replaced by one that observes."""
        if node.op != "call_module" or self.qconfigs.get(node.name) is None:
            return False
        return any(self._called(node) in mapping for mapping in self.custom.float_to_observed_mapping.values())

    def _standalone(self, node: Node) -> StandaloneModuleConfigEntry | None:
        """How a module that a node calls is prepared by itself, if it is."""
        if node.op != "call_module":
            return None
        found = self.custom.standalone_module_names.get(str(node.target))
        return found or self.custom.standalone_module_classes.get(self._called(node))

    def _has_no_tensors(self, node: Node) -> bool:
        """Whether what a node gives is made of sizes alone."""
        if node not in self._no_tensors:
            if node.op in ("placeholder", "get_attr", "call_module"):
                found = False
            elif node.op == "call_function" and node.target is getattr:
                found = node.args[1] in ("ndim", "shape")
            elif node.op == "call_method" and node.target == "size":
                found = True
            else:
                found = all(self._has_no_tensors(arg) for arg in _nodes_in(node.args))
            self._no_tensors[node] = found
        return self._no_tensors[node]

    def _node_dtypes(self) -> dict[Node, DTypes]:
        """The types that each node asks for, whether the backend has them or not."""
        quantized = DTypes(torch.quint8, torch.quint8)
        found: dict[Node, DTypes] = {}
        placeholders = 0
        for node in self.graph.nodes:
            found[node] = DTypes()
            if node.op == "placeholder":
                if placeholders in self.custom.input_quantized_indexes:
                    found[node] = quantized
                placeholders += 1
            elif node.op == "output":
                if self.custom.output_quantized_indexes:
                    found[node] = quantized
            elif node.op != "get_attr":
                found[node] = self._called_dtypes(node)
        return found

    def _called_dtypes(self, node: Node) -> DTypes:
        if self._has_no_tensors(node):
            return NO_TENSOR
        qconfig, match = self.qconfigs.get(node.name), self.by_node.get(node)
        if self._standalone(node) is not None:
            return self._standalone_dtypes(node)
        if qconfig is None or match is None:
            return DTypes()
        asked = dtypes_of(qconfig)
        if match.config._input_output_observed is False:
            return DTypes(weight=asked.weight)
        return asked

    def _standalone_dtypes(self, node: Node) -> DTypes:
        entry = self._standalone(node)
        assert entry is not None
        given = entry.prepare_custom_config or PrepareCustomConfig()
        return DTypes(
            torch.quint8 if given.input_quantized_indexes else torch.float, torch.quint8 if given.output_quantized_indexes else torch.float
        )

    def run(self) -> None:
        """Inserts the observers."""
        for node in self.graph.nodes:
            check_fixed_qparams(node, self.modules, self.qconfigs.get(node.name))
        for node in list(self.graph.nodes):
            if node.op == "output":
                self._observe_graph_output(node)
            elif node.op in ("call_function", "call_method", "call_module"):
                if self._standalone(node) is not None:
                    self._observe_standalone(node)
                elif self._is_custom(node):
                    self._replace_by_observed(node)
                elif self._is_supported(node):
                    self._observe(node)

    def _is_supported(self, node: Node) -> bool:
        """Whether a node is part of a pattern that the backend computes with the types that are asked for."""
        match = self.by_node.get(node)
        if match is None or self.qconfigs.get(node.name) is None or self.dtypes[node].output is None:
            return False
        return any(self._fits(match, config) for config in match.config.dtype_configs)

    def _fits(self, match: Match, config: DTypeConfig) -> bool:
        """Whether what is asked for a match is what a configuration of types has."""
        asked, last = self.dtypes[match.root], self.dtypes[match.last]
        if asked.dynamic != bool(config.is_dynamic) or asked.input != config.input_dtype or last.output != config.output_dtype:
            return False
        weighted = self._input_roles(match) or match.root.op == "call_module"
        return not weighted or config.weight_dtype in (None, asked.weight)

    def _observe(self, node: Node) -> None:
        match = self.by_node[node]
        self.observed.update(part.name for part in match.flat())
        if node is match.root:
            self._observe_inputs(node, match)
        if node is not match.last:
            return
        observer_node = self._observe_output(node, match)
        shared = self._shares_observer(match) or is_reuse_input_qconfig(self.qconfigs[node.name])
        if observer_node is not None and shared and not self._share_observer(node, observer_node):
            observer_node.replace_all_uses_with(node)
            self.graph.erase_node(observer_node)

    def _shares_observer(self, match: Match) -> bool:
        """Whether the result of a match has the scale of its input."""
        by_count = match.config._num_tensor_args_to_observation_type
        if not by_count:
            return match.config.observation_type is _SHARED
        tensors = [arg for arg in match.root.args if isinstance(arg, Node) and not self._has_no_tensors(arg)]
        return by_count[len(tensors)] is _SHARED

    def _input_roles(self, match: Match) -> dict[str, int]:
        """Where the first node of a match has its weight and bias, if it gets them."""
        own = self.backend.configs.get(self._called(match.root), match.config)
        return own._input_type_to_index

    def _observe_inputs(self, node: Node, match: Match) -> None:
        """Puts observers before the tensors that the first node of a match gets."""
        roles = {index: role for role, index in self._input_roles(match).items()}
        node.args = tuple(self._observed_input(arg, node, roles.get(index, "input")) for index, arg in enumerate(node.args))
        node.kwargs = {
            name: self._observed_input(arg, node, name if name in roles.values() else "input") for name, arg in node.kwargs.items()
        }

    def _observed_input(self, arg: Any, node: Node, role: str) -> Any:
        """What a node gets in the place of an argument: that of an observer where the type of its elements is to be another."""
        if isinstance(arg, (list, tuple)):
            return type(arg)(self._observed_input(part, node, role) for part in arg)
        if not isinstance(arg, Node) or self._has_no_tensors(self._unobserved(arg)):
            return arg
        qconfig, asked = self.qconfigs[node.name], self.dtypes[node]
        if role == "weight":
            make, wanted = qconfig.weight, asked.weight
            needed = weight_is_quantized(qconfig)
        elif role == "bias":
            make, wanted = qconfig.activation, asked.bias
            needed = wanted == torch.float16
        else:
            make, wanted = qconfig.activation, asked.input
            needed = not is_reuse_input_qconfig(qconfig) and (asked.dynamic or self._output_dtype(arg) != wanted)
        if not needed or wanted not in _OBSERVED_TYPES:
            return arg
        observer = make()
        for user in arg.users:
            if user.op == "call_module" and type(self.modules[str(user.target)]) is type(observer):
                if self.modules[str(user.target)].dtype == observer.dtype:
                    return user
        return self._insert(arg, observer)

    def _unobserved(self, node: Node) -> Node:
        """The node that an observer watches; the node itself where it is none."""
        while node.op == "call_module" and _is_activation_post_process(self.modules[str(node.target)]):
            node = node.args[0]
        return node

    def _output_dtype(self, node: Node) -> Any:
        """The type of the elements that a node will give."""
        if node.op == "call_module" and _is_activation_post_process(self.modules[str(node.target)]):
            return self.modules[str(node.target)].dtype
        given = node.op == "placeholder" or self._standalone(node) is not None
        return self.dtypes[node].output if given else torch.float

    def _insert(self, node: Node, observer: Any, prefix: str = "activation_post_process_") -> Node:
        """Puts a call of a module, such as an observer, after a node."""
        name = new_attribute(self.model, prefix)
        devices = {p.device for p in self.model.parameters()} | {b.device for b in self.model.buffers()}
        if len(devices) == 1:
            observer.to(next(iter(devices)))
        setattr(self.model, name, observer)
        self.modules[name] = observer
        with self.graph.inserting_after(node):
            return self.graph.create_node("call_module", name, (node,), {})

    def _observe_output(self, node: Node, match: Match) -> Node | None:
        """Puts an observer after the last node of a match, and before its uses."""
        qconfig, asked = self.qconfigs[node.name], self.dtypes[node]
        if match.config._input_output_observed is False or asked.dynamic or asked.output not in _OBSERVED_TYPES:
            return None
        uses = list(node.users)
        made = self._insert(node, self._output_observer(qconfig, match))
        for user in uses:
            user.replace_input_with(node, made)
        return made

    def _output_observer(self, qconfig: Any, match: Match) -> Any:
        config = match.config
        made = config._overwrite_output_fake_quantize if self.is_qat else config._overwrite_output_observer
        return qconfig.activation() if made is None else made()

    def _share_observer(self, node: Node, observer_node: Node) -> bool:
        """Has the inputs and the result of a node watched by one observer; False where no input is observed."""
        inputs = _nodes_in(next((arg for arg in node.args if isinstance(arg, (Node, list, tuple))), None))
        first = self._observer_before(inputs[0]) if inputs else None
        if first is None:
            return False
        shared = self.modules[str(first.target)]
        others = [self._observer_before(other) for other in inputs[1:]]
        for other in (*others, observer_node):
            if other is not None:
                self._put(str(other.target), shared)
        return True

    def _observer_before(self, node: Node) -> Node | None:
        """The observer that a node is, or that its first tensor comes from."""
        while not (node.op == "call_module" and _is_activation_post_process(self.modules[str(node.target)])):
            before = next((arg for arg in node.args if isinstance(arg, Node)), None)
            if node.op == "placeholder" or before is None:
                return None
            node = before
        return node

    def _put(self, path: str, module: Any) -> None:
        parent, _, name = path.rpartition(".")
        setattr(self.model.get_submodule(parent), name, module)
        self.modules[path] = module

    def _observe_graph_output(self, node: Node) -> None:
        """Puts observers before results that are to be quantized and are not yet."""
        if not self.custom.output_quantized_indexes:
            return
        if self.custom.output_quantized_indexes != [0]:
            raise NotImplementedError(f"unrecognized output_quantized_idxs: {self.custom.output_quantized_indexes}; only [0] is known")

        def observed(part: Node) -> Node:
            qconfig = self.qconfigs.get(self._unobserved(part).name)
            if qconfig is None or self._has_no_tensors(self._unobserved(part)) or self._output_dtype(part) == torch.quint8:
                return part
            return self._insert(part, qconfig.activation())

        node.args = map_arg(node.args, observed)

    def _replace_by_observed(self, node: Node) -> None:
        """Puts the observing module in the place of one that a node calls; it gets quantized tensors."""
        module, qconfig = self.modules[str(node.target)], self.qconfigs[node.name]
        self.observed.add(node.name)
        cls = get_swapped_custom_module_class(module, self.custom.float_to_observed_mapping, qconfig)
        made = cls.from_float(module)
        self._put(str(node.target), made)
        self.modules.update({f"{node.target}.{name}": child for name, child in made.named_modules() if name})
        self._observe_inputs(node, self.by_node[node])
        if any(_is_item(user) for user in node.users):
            self._dequantize_items(node)
        else:
            self._observe_output(node, self.by_node[node])

    def _dequantize_items(self, node: Node) -> None:
        """Puts what dequantizes after each tensor of a tuple that a module gives quantized."""
        for user in [user for user in node.users if _is_item(user)]:
            if any(_is_item(inner) for inner in user.users):
                self._dequantize_items(user)
                continue
            uses = list(user.users)
            made = self._insert(user, DeQuantStub(), "dequant_stub_")
            for use in uses:
                use.replace_input_with(user, made)

    def _observe_standalone(self, node: Node) -> None:
        """Prepares a module by itself; its arguments are observed where it takes quantized ones."""
        from torchjit.ao.quantization.quantize_fx import _prepare_standalone_module_fx

        entry = self._standalone(node)
        assert entry is not None
        path = str(node.target)
        mapping = entry.qconfig_mapping or QConfigMapping().set_global(self.qconfigs[node.name])
        made = _prepare_standalone_module_fx(
            self.modules[path],
            mapping,
            self.is_qat,
            entry.example_inputs,
            entry.prepare_custom_config,
            entry.backend_config or self.backend,
        )
        self._put(path, made)
        self.modules.update({f"{path}.{name}": child for name, child in made.named_modules() if name})
        if self.qconfigs[node.name] is not None:
            quantized = (entry.prepare_custom_config or PrepareCustomConfig()).input_quantized_indexes
            node.args = tuple(
                self._observed_input(arg, node, "input") if index in quantized else arg for index, arg in enumerate(node.args)
            )


def _swap_trained(model: GraphModule, qconfigs: dict[str, Any], qat_classes: dict[Any, Any]) -> None:
    """Puts the modules that round their weights in the place of those that they stand for."""
    for node in model.graph.nodes:
        if node.op != "call_module" or qconfigs.get(node.name) is None:
            continue
        parent, _, name = str(node.target).rpartition(".")
        owner = model.get_submodule(parent)
        setattr(owner, name, swap_module(getattr(owner, name), qat_classes, {}))


def prepare(
    model: GraphModule, qconfig_mapping: QConfigMapping | dict[str, Any], is_qat: bool, node_name_to_scope: dict[str, tuple[str, Any]],
    example_inputs: tuple[Any, ...], prepare_custom_config: PrepareCustomConfig | dict[str, Any] | None = None,
    _equalization_config: Any = None,
    backend_config: BackendConfig | dict[str, Any] | None = None, is_standalone_module: bool = False,
) -> ObservedGraphModule:  # fmt: skip
    """The model, which is fused, with observers. What the conversion has to know is put down in attributes.

    Raises NotImplementedError for an equalization.
    """
    if _equalization_config:
        raise NotImplementedError(f"weights and inputs cannot be equalized yet: expected no _equalization_config, got {_equalization_config!r}")
    custom = as_config(PrepareCustomConfig, prepare_custom_config, "prepare_custom_config")
    backend = as_backend_config(backend_config)
    mapping = as_config(QConfigMapping, qconfig_mapping, "qconfig")
    mapping = with_fused_classes(model, mapping)
    if is_qat:
        qat_classes = configs_by_class(backend, "qat_module")
        modules = dict(model.named_modules(remove_duplicate=False))
        _swap_trained(model, node_qconfigs(model.graph, modules, mapping, node_name_to_scope), qat_classes)
        mapping = with_trained_classes(mapping, qat_classes)
    preparation = _Preparation(model, mapping, is_qat, node_name_to_scope, custom, backend)
    preparation.run()
    cls = ObservedStandaloneGraphModule if is_standalone_module else ObservedGraphModule
    made = cls(model, copy.deepcopy(model.graph), set(custom.preserved_attributes))
    made._node_name_to_scope = node_name_to_scope
    made._qconfig_map, made._qconfig_mapping = preparation.qconfigs, mapping
    made._prepare_custom_config, made._equalization_qconfig_map = custom, {}
    made._is_qat, made._observed_node_names = is_qat, preparation.observed
    return made
