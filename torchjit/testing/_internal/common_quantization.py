"""What tests of quantized models share: models, data, and a test case that knows what becomes of modules."""

from __future__ import annotations

import functools
import io
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import torchjit as torch
import torchjit.ao.nn.quantized as nnq
import torchjit.ao.nn.quantized.dynamic as nnqd
from torchjit import _lazy, nn
from torchjit.ao.quantization import (
    QuantType,
    convert,
    default_dynamic_qconfig,
    propagate_qconfig_,
)
from torchjit.ao.quantization.quantization_mappings import (
    get_default_dynamic_quant_module_mappings,
    get_default_qconfig_propagation_list,
)
from torchjit.testing._internal._quantization_models import *  # noqa: F403
from torchjit.testing._internal.common_utils import TestCase


def test_only_eval_fn(model: Any, calib_data: Iterable[Any]) -> None:
    """Calls a model with each of the data."""
    for inp in calib_data:
        model(*inp)


def test_only_train_fn(model: Any, train_data: Iterable[Any], loss_fn: Any = nn.CrossEntropyLoss()) -> Any:  # noqa: B008
    """Trains a model by Adam for ten rounds; gives the loss, the number of right answers and that of all."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    train_loss, correct, total = 0.0, 0.0, 0
    for _ in range(10):
        model.train()
        for data, target in train_data:
            optimizer.zero_grad()
            output = model(data)
            loss = loss_fn(output, target)
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
            total += target.size(0)
            correct += float(torch.max(output, 1)[1].eq(target).sum())
    return train_loss, correct, total


test_only_eval_fn.__test__ = test_only_train_fn.__test__ = False  # type: ignore[attr-defined]


class AverageMeter:
    """The last of some values, and their mean."""

    def __init__(self, name: str, fmt: str = ":f") -> None:
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self) -> None:
        """Forgets the values."""
        self.val = self.avg = self.sum = 0.0
        self.count = 0

    def update(self, val: float, n: int = 1) -> None:
        """Adds a value, n times."""
        self.val, self.sum, self.count = val, self.sum + val * n, self.count + n
        self.avg = self.sum / self.count

    def __str__(self) -> str:
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


def accuracy(output: Any, target: Any, topk: tuple[int, ...] = (1,)) -> list[Any]:
    """The percentage of rows whose target is among the k largest, for each k."""
    with torch.no_grad():
        _, places = output.topk(max(topk), 1, True, True)
        right = places.t().eq(target.view(1, -1).expand_as(places.t()))
        return [right[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / target.size(0)) for k in topk]


def train_one_epoch(model: Any, criterion: Any, optimizer: Any, data_loader: Iterable[Any], device: Any, ntrain_batches: int) -> None:
    """Trains a model with so many batches."""
    model.train()
    for count, (image, target) in enumerate(data_loader, 1):
        loss = criterion(model(image.to(device)), target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if count >= ntrain_batches:
            return


def convert_dynamic(module: Any) -> None:
    """Makes the layers of a module dynamically quantized ones."""
    convert(module, get_default_dynamic_quant_module_mappings(), inplace=True)


def prepare_dynamic(model: Any, qconfig_dict: Any = None) -> None:
    """Says of each layer how it is to be quantized."""
    propagate_qconfig_(model, qconfig_dict)


def get_supported_device_types() -> list[str]:
    """The devices on which quantized models run."""
    return ["cpu"]


def _without(engine: str, said: str) -> Callable[[Any], Any]:
    missing = engine not in torch.backends.quantized.supported_engines

    def skip(fn: Any) -> Any:
        if isinstance(fn, type):
            if missing:
                fn.__unittest_skip__ = True  # type: ignore[attr-defined]
                fn.__unittest_skip_why__ = said  # type: ignore[attr-defined]
            return fn

        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> None:
            if missing:
                raise unittest.SkipTest(said)
            fn(*args, **kwargs)

        return wrapper

    return skip


skipIfNoFBGEMM = _without("fbgemm", "Quantized operations require FBGEMM. FBGEMM is only optimized for CPUs with instruction set support AVX2 or newer.")
skipIfNoQNNPACK = _without("qnnpack", "Quantized operations require QNNPACK.")
skipIfNoONEDNN = _without("onednn", "Quantized operations require ONEDNN.")


def get_script_module(model: Any, tracing: bool, data: Any) -> Any:
    """The compiled model: a trace with data, or from its source."""
    return torch.jit.trace(model, data) if tracing else torch.jit.script(model)


def lengths_to_offsets(t: Any, offset_type: Any = None, use_begin_offset: bool = True) -> Any:
    """The places at which pieces of some lengths begin, or, with use_begin_offset=False, the ends."""
    import numpy as np

    ends = np.zeros((t.size + 1,), dtype=offset_type or np.int64)
    ends[1:] = t
    ends = np.cumsum(ends)
    return ends[:-1] if use_begin_offset else ends[1:]


class NodeSpec:
    """A node of a graph by its operation and target: NodeSpec.call_function(torch.add)."""

    def __init__(self, op: str, target: Any) -> None:
        self.op, self.target = op, target

    @classmethod
    def call_function(cls, target: Any) -> NodeSpec:
        """A call of a function."""
        return cls("call_function", target)

    @classmethod
    def call_method(cls, target: str) -> NodeSpec:
        """A call of a method."""
        return cls("call_method", target)

    @classmethod
    def call_module(cls, target: Any) -> NodeSpec:
        """A call of a module of a class."""
        return cls("call_module", target)

    def __hash__(self) -> int:
        return hash((self.op, self.target))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSpec) and (self.op, self.target) == (other.op, other.target)

    def __repr__(self) -> str:
        return f"{self.op} {self.target}"


def _labels(high: int, count: int) -> Any:
    return torch.randint(0, high, (count,), dtype=torch.long)


class QuantizationTestCase(TestCase):
    """A test case with data for calibration and training, and checks of what quantization has made of modules."""

    def setUp(self) -> None:
        """Makes the data."""
        super().setUp()
        self.calib_data = [[torch.rand(2, 5, dtype=torch.float)] for _ in range(2)]
        self.train_data = [[torch.rand(2, 5, dtype=torch.float), _labels(1, 2)] for _ in range(2)]
        self.img_data_1d = [[torch.rand(2, 3, 10)] for _ in range(2)]
        self.img_data_2d = [[torch.rand(1, 3, 10, 10)] for _ in range(2)]
        self.img_data_3d = [[torch.rand(1, 3, 5, 5, 5)] for _ in range(2)]
        self.img_data_1d_train = [[torch.rand(2, 3, 10), _labels(1, 1)] for _ in range(2)]
        self.img_data_2d_train = [[torch.rand(1, 3, 10, 10), _labels(1, 1)] for _ in range(2)]
        self.img_data_3d_train = [[torch.rand(1, 3, 5, 5, 5), _labels(1, 1)] for _ in range(2)]
        self.img_data_dict = {1: self.img_data_1d, 2: self.img_data_2d, 3: self.img_data_3d}
        self.static_quant_types = [QuantType.STATIC, QuantType.QAT]
        self.all_quant_types = [QuantType.DYNAMIC, QuantType.STATIC, QuantType.QAT]

    # Before and after the conversion.

    def checkNoPrepModules(self, module: Any) -> None:
        """Fails where a module has stubs."""
        self.assertFalse(hasattr(module, "quant"))
        self.assertFalse(hasattr(module, "dequant"))

    def checkNoQconfig(self, module: Any) -> None:
        """Fails where a module or one in it says how it is to be quantized."""
        for child in module.modules():
            self.assertFalse(hasattr(child, "qconfig"))

    def checkHasPrepModules(self, module: Any) -> None:
        """Fails unless a module is wrapped by stubs."""
        for name in ("module", "quant", "dequant"):
            self.assertTrue(hasattr(module, name))

    def checkObservers(self, module: Any, propagate_qconfig_list: Any = None, prepare_custom_config_dict: Any = None) -> None:
        """Fails unless each layer that is to be quantized has an observer."""
        wanted = get_default_qconfig_propagation_list() if propagate_qconfig_list is None else propagate_qconfig_list
        custom = (prepare_custom_config_dict or {}).get("float_to_observed_custom_module_class", {})
        if getattr(module, "qconfig", None) is not None and (
            not list(module.children()) and not isinstance(module, nn.Sequential) and type(module) in wanted and not isinstance(module, torch.ao.quantization.DeQuantStub)
            or type(module) in custom.values()
        ):
            self.assertTrue(hasattr(module, "activation_post_process"), "module: " + str(type(module)) + " do not have observer")
        if type(module) not in get_default_qat_classes() and type(module) not in custom.values():
            for name, child in module.named_children():
                if name != "activation_post_process":
                    self.checkObservers(child, propagate_qconfig_list, prepare_custom_config_dict)

    def checkQuantDequant(self, mod: Any) -> None:
        """Fails unless the stubs of a wrapped module quantize."""
        self.assertEqual(type(mod.quant), nnq.Quantize)
        self.assertEqual(type(mod.dequant), nnq.DeQuantize)

    def checkQuantizedLinear(self, mod: Any) -> None:
        """Fails unless a layer is a quantized linear one."""
        self.assertEqual(type(mod), nnq.Linear)

    def checkWrappedQuantizedLinear(self, mod: Any) -> None:
        """Fails unless a wrapped layer is a quantized linear one."""
        self.assertEqual(type(mod.module), nnq.Linear)
        self.checkQuantDequant(mod)

    def checkDynamicQuantizedLinear(self, mod: Any, dtype: Any) -> None:
        """Fails unless a layer is a dynamically quantized linear one, with weights of a type."""
        self.assertEqual(type(mod), nnqd.Linear)
        self.assertEqual(mod._packed_params.dtype, dtype)

    def checkDynamicQuantizedLinearRelu(self, mod: Any, dtype: Any) -> None:
        """The same with a rectifier."""
        self.assertEqual(type(mod), torch.nn.intrinsic.quantized.dynamic.LinearReLU)
        self.assertEqual(mod._packed_params.dtype, dtype)

    def checkLinear(self, mod: Any) -> None:
        """Fails unless a layer is a linear one of floats."""
        self.assertEqual(type(mod), nn.Linear)

    def checkDynamicQuantizedModule(self, mod: Any, reference_module_type: Any, dtype: Any) -> None:
        """Fails unless a recurrent layer is a dynamically quantized one of a class."""
        self.assertEqual(type(mod), reference_module_type)
        for weights in getattr(mod, "_all_weight_values", ()):
            packed = weights.param.__getstate__()[0][4][0].__getstate__()[0][0]
            self.assertEqual(packed.dtype, dtype)

    # Saved and compiled.

    def check_eager_serialization(self, ref_model: Any, loaded_model: Any, x: Any) -> None:
        """Fails unless a model that gets the state of another one gives the same."""
        state = io.BytesIO()
        torch.save(ref_model.state_dict(), state)
        state.seek(0)
        loaded_model.load_state_dict(torch.load(state))
        expected, found = ref_model(*x), loaded_model(*x)
        self.assertEqual(self._first(expected), self._first(found))
        whole = io.BytesIO()
        torch.save(ref_model, whole)
        whole.seek(0)
        self.assertEqual(self._first(torch.load(whole, weights_only=False)(*x)), self._first(expected))

    def check_weight_bias_api(self, ref_model: Any, weight_keys: set[str], bias_keys: set[str]) -> None:
        """Fails unless get_weight and get_bias of a model have entries of such names."""
        self.assertEqual(weight_keys, set(ref_model.get_weight()))
        self.assertEqual(bias_keys, set(ref_model.get_bias()))

    @staticmethod
    def _first(value: Any) -> Any:
        while isinstance(value, tuple):
            value = value[0]
        return value

    def checkScriptable(self, orig_mod: Any, calib_data: Iterable[Any], check_save_load: bool = False) -> None:
        """Fails unless a model gives the same compiled, from source and as a trace, and, with check_save_load, saved and loaded."""
        data = list(calib_data)
        self._checkScriptable(orig_mod, torch.jit.script(orig_mod), data, check_save_load)
        self._checkScriptable(orig_mod, torch.jit.trace(orig_mod, tuple(data[0])), data, check_save_load)

    def _checkScriptable(self, orig_mod: Any, script_mod: Any, calib_data: Any, check_save_load: bool) -> None:
        self._checkModuleCorrectnessAgainstOrig(orig_mod, script_mod, calib_data)
        if check_save_load:
            buffer = io.BytesIO()
            torch.jit.save(script_mod, buffer)
            buffer.seek(0)
            self._checkModuleCorrectnessAgainstOrig(orig_mod, torch.jit.load(buffer), calib_data)

    def _checkModuleCorrectnessAgainstOrig(self, orig_mod: Any, test_mod: Any, calib_data: Any) -> None:
        for inp in calib_data:
            self.assertEqual(test_mod(*inp), orig_mod(*inp))

    # Graphs.

    def checkGraphModeOp(
        self, module: Any, inputs: Any, quantized_op: str, tracing: bool = False, debug: bool = False, check: bool = True, eval_mode: bool = True, dynamic: bool = False,
        qconfig: Any = None,
    ) -> Any:  # fmt: skip
        """The model that quantization of its graph gives; fails unless it runs, and has a quantized operator."""
        from torchjit.ao.quantization.quantize_jit import quantize_dynamic_jit, quantize_jit

        if eval_mode:
            module.eval()
        data = inputs if dynamic else list(inputs)
        model = get_script_module(module, tracing, inputs if dynamic else tuple(data[0])).eval()
        config = {"": torch.ao.quantization.default_qconfig if qconfig is None else qconfig}
        if dynamic:
            made = quantize_dynamic_jit(model, {"": default_dynamic_qconfig if qconfig is None else qconfig}, debug=debug)
            found = made(*inputs)
        else:
            made = quantize_jit(model, config, test_only_eval_fn, [data], inplace=False, debug=debug)
            found = made(*data[0])
        if check:
            self.assertEqual(self._first(made(*(inputs if dynamic else data[0]))), self._first(found))
        if not debug:
            torch.testing.FileCheck().check(quantized_op).run(made.graph)
        return made

    def checkGraphModuleNodes(self, graph_module: Any, expected_node: Any = None, expected_node_occurrence: Any = None, expected_node_list: Any = None) -> None:
        """Fails unless a graph has a node, nodes so many times, or nodes in an order, which are given as NodeSpecs."""
        modules = dict(graph_module.named_modules(remove_duplicate=False))
        seen: dict[NodeSpec, int] = {}
        order: list[NodeSpec] = []
        for node in graph_module.graph.nodes:
            if node.op not in ("call_function", "call_method", "call_module"):
                continue
            spec = NodeSpec(node.op, type(modules[node.target]) if node.op == "call_module" else node.target)
            order.append(spec)
            seen[spec] = seen.get(spec, 0) + 1
        if expected_node is not None:
            self.assertTrue(expected_node in seen, f"node: {expected_node} not found in the graph module")
        for spec, count in (expected_node_occurrence or {}).items():
            self.assertEqual(seen.get(spec, 0), count, f"Check failed for node: {spec}")
        position = 0
        for spec in expected_node_list or ():
            self.assertTrue(spec in order[position:], f"Check failed for node: {spec} not found in order")
            position = order.index(spec, position) + 1

    def printGraphModule(self, graph_module: Any, print_str: bool = True) -> None:
        """Prints the nodes of a graph with their modules."""
        modules = dict(graph_module.named_modules(remove_duplicate=False))
        for node in graph_module.graph.nodes:
            shown = " ".join(map(repr, (node.op, node.name, node.target, node.args, node.kwargs)))
            if print_str:
                print(shown + (" module type: " + repr(type(modules[node.target])) if node.op == "call_module" else ""))


def get_default_qat_classes() -> set[Any]:
    """The classes of layers that are trained for quantization."""
    from torchjit.ao.quantization.quantization_mappings import get_default_qat_module_mappings

    return set(get_default_qat_module_mappings().values())


class QuantizationLiteTestCase(QuantizationTestCase):
    """A test case that compares compiled models with the same as lite archives."""

    def _create_quantized_model(self, model_class: Any, **kwargs: Any) -> Any:
        """A model of a class, quantized with the engine qnnpack."""
        from torchjit.testing._internal.common_quantized import override_quantized_engine

        with override_quantized_engine("qnnpack"):
            model = model_class(**kwargs)
            return torch.ao.quantization.quantize(model, test_only_eval_fn, [self.calib_data])

    def _compare_script_and_mobile(self, model: Any, input: Any) -> None:
        """Fails unless a model gives the same compiled and as a lite archive."""
        from torchjit.jit.mobile import _load_for_lite_interpreter

        compiled = torch.jit.script(model)
        expected = compiled(input)
        buffer = io.BytesIO(compiled._save_to_buffer_for_lite_interpreter())
        self.assertEqual(_load_for_lite_interpreter(buffer)(input), expected, exact_dtype=True)


# Names that programs import from here, and that stand elsewhere.
__getattr__: _lazy.Getter
__dir__: _lazy.Lister
__getattr__, __dir__ = _lazy.names(__name__, {
    "torchjit": "FileCheck",
    "torchjit.ao.nn.intrinsic.modules.fused": "_FusedModule",
    "torchjit.ao.quantization.observer": "PerChannelMinMaxObserver default_dynamic_quant_observer default_observer default_weight_observer",
    "torchjit.ao.quantization.qconfig": """
        QConfig default_dynamic_qat_qconfig default_embedding_qat_qconfig default_per_channel_qconfig default_qconfig
        default_symmetric_qnnpack_qat_qconfig float_qparams_weight_only_qconfig get_default_qat_qconfig get_default_qconfig
    """,
    "torchjit.ao.quantization.quantization_mappings": "get_default_qat_module_mappings",
    "torchjit.ao.quantization.quantize": "quantize",
    "torchjit.ao.quantization.quantize_fx": "convert_fx convert_to_reference_fx prepare_fx prepare_qat_fx",
    "torchjit.ao.quantization.quantize_jit": "quantize_dynamic_jit quantize_jit",
    "torchjit.ao.quantization.stubs": "DeQuantStub QuantStub QuantWrapper",
    "torchjit.fx.graph_module": "GraphModule",
    "torchjit.fx.node": "Node",
    "torchjit.jit.mobile": "_load_for_lite_interpreter",
    "torchjit.testing._internal.common_quantized": "override_quantized_engine",
})  # fmt: skip
