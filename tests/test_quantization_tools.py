"""What torch.testing._internal has for tests of quantized models: the models quantize, and the checks fail where they should."""

import copy

import numpy as np
import pytest

import torchjit as torch
from torchjit.ao import quantization as q
from torchjit.testing._internal import common_quantization as tools
from torchjit.testing._internal import common_quantized as numbers


@pytest.fixture(autouse=True)
def engine():
    with numbers.override_quantized_engine("qnnpack"):
        yield


def case():
    made = tools.QuantizationTestCase()
    made.setUp()
    return made


VECTORS = [
    tools.SingleLayerLinearModel, tools.TwoLayerLinearModel, tools.LinearAddModel, tools.LinearReluModel, tools.LinearReluLinearModel, tools.LinearReluAddModel,
    tools.LinearModelWithSubmodule, tools.FunctionalLinear, tools.SingleLayerFunctionalLinearModel, tools.TwoLayerFunctionalLinearModel,
    tools.FunctionalLinearAddModel, tools.FunctionalLinearReluModel, tools.FunctionalLinearReluLinearModel,
]  # fmt: skip
IMAGES = [
    tools.ConvModel, tools.ConvTransposeModel, tools.ConvBnModel, tools.ConvBnReLUModel, tools.TwoLayerConvModel, tools.ConvReluModel, tools.ConvReluConvModel,
    tools.ConvReluAddModel, tools.FunctionalConv2d, tools.SingleLayerFunctionalConvModel, tools.FunctionalConvReluModel, tools.FunctionalConvReluConvModel,
]  # fmt: skip


@pytest.mark.parametrize("model", [*VECTORS, *IMAGES], ids=lambda m: m.__name__)
def test_models_compile(model):
    made = model().eval()
    case().checkScriptable(made, [made.get_example_inputs()], check_save_load=True)


def test_checks_of_quantized_layers():
    test, model = case(), tools.AnnotatedTwoLayerLinearModel()
    model.fc2.qconfig = q.get_default_qconfig("qnnpack")
    model = q.prepare(model)
    test.checkNoPrepModules(model)
    test.checkHasPrepModules(model.fc2)
    test.checkObservers(model)
    tools.test_only_eval_fn(model, test.calib_data)
    model = q.convert(model)
    test.checkNoQconfig(model)
    test.checkLinear(model.fc1)
    test.checkWrappedQuantizedLinear(model.fc2)
    test.check_eager_serialization(model, copy.deepcopy(model), test.calib_data[0])
    for check in (lambda: test.checkQuantizedLinear(model.fc1), lambda: test.checkNoPrepModules(model.fc2), lambda: test.checkLinear(model.fc2)):
        with pytest.raises(AssertionError):
            check()
    dynamic = q.quantize_dynamic(tools.SingleLayerLinearDynamicModel("qnnpack"), dtype=torch.qint8)
    test.checkDynamicQuantizedLinear(dynamic.fc1, torch.qint8)
    recurrent = q.quantize_dynamic(tools.LSTMwithHiddenDynamicModel("qnnpack"), dtype=torch.qint8)
    test.checkDynamicQuantizedModule(recurrent.lstm, torch.nn.quantized.dynamic.LSTM, torch.qint8)


def test_graph_mode():
    class Conv(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 2, 1)

        def forward(self, x):
            return self.conv(x)

    test = case()
    for tracing in (False, True):
        test.checkGraphModeOp(Conv(), test.img_data_2d, "quantized::conv2d", tracing=tracing, qconfig=q.get_default_qconfig("qnnpack"))
        with pytest.raises(RuntimeError):
            test.checkGraphModeOp(Conv(), test.img_data_2d, "quantized::linear", tracing=tracing, qconfig=q.get_default_qconfig("qnnpack"))
    linear = tools.SingleLayerLinearModel()
    test.checkGraphModeOp(linear, (torch.rand(2, 5),), "quantized::linear_dynamic", dynamic=True, qconfig=q.default_dynamic_qconfig)


def test_nodes_of_fx_graphs():
    graph = torch.fx.symbolic_trace(tools.LinearReluAddModel())
    test, spec = case(), tools.NodeSpec
    add, linear, relu = spec.call_function(torch.add), spec.call_module(torch.nn.Linear), spec.call_module(torch.nn.ReLU)
    test.checkGraphModuleNodes(graph, expected_node=add, expected_node_occurrence={linear: 2, relu: 1}, expected_node_list=[linear, relu, add, linear])
    for wrong in ({"expected_node": spec.call_method("view")}, {"expected_node_occurrence": {linear: 1}}, {"expected_node_list": [add, relu]}):
        with pytest.raises(AssertionError):
            test.checkGraphModuleNodes(graph, **wrong)


def test_training_and_lite_archives():
    test, model = case(), tools.ManualLinearQATModel("qnnpack")
    q.prepare_qat(model, inplace=True)
    loss, correct, total = tools.test_only_train_fn(model, test.train_data)
    assert loss > 0 and 0 <= correct <= total == 40
    lite = tools.QuantizationLiteTestCase()
    lite.setUp()
    lite._compare_script_and_mobile(lite._create_quantized_model(tools.AnnotatedSingleLayerLinearModel, qengine="qnnpack"), torch.rand(2, 5))


def test_numbers_are_those_of_observers():
    x = torch.linspace(-1, 3, 11)
    scale, zero_point = numbers._calculate_dynamic_qparams(x, torch.quint8)
    observer = q.MinMaxObserver(dtype=torch.quint8)
    observer(x)
    expected_scale, expected_zero_point = observer.calculate_qparams()
    assert scale == pytest.approx(float(expected_scale), rel=1e-6) and zero_point == int(expected_zero_point)
    quantized = torch.quantize_per_tensor(x, scale, zero_point, torch.quint8)
    steps = numbers._quantize(x.numpy(), scale, zero_point)
    assert np.array_equal(steps, quantized.int_repr().numpy())
    assert np.allclose(numbers._dequantize(steps, scale, zero_point), quantized.dequantize().numpy())
    weight = torch.linspace(-2, 2, 12).reshape(3, 4)
    scales, zeros = torch.tensor([0.1, 0.2, 0.01]), torch.tensor([0, 1, 2])
    fake = torch.fake_quantize_per_channel_affine(weight, scales, zeros.int(), 0, 0, 15)
    assert torch.allclose(numbers._fake_quantize_per_channel_affine_reference(weight, scales, zeros, 0, 0, 15), fake)
    leaf = weight.clone().requires_grad_()
    torch.fake_quantize_per_channel_affine(leaf, scales, zeros.int(), 0, 0, 15).sum().backward()
    assert torch.equal(numbers._fake_quantize_per_channel_affine_grad_reference(torch.ones(3, 4), weight, scales, zeros, 0, 0, 15), leaf.grad)
    noise, ratio, decibels = numbers._snr(x, x + 0.1)
    assert float(decibels) == pytest.approx(20 * float(ratio.log10())) and float(noise) == pytest.approx(0.1 * 11**0.5)


def test_engines_in_turn():
    seen = []
    numbers.override_qengines(lambda: seen.append(torch.backends.quantized.engine))()
    assert seen == numbers.supported_qengines and torch.backends.quantized.engine == "qnnpack"
    assert numbers.qengine_is_qnnpack() and not numbers.qengine_is_fbgemm()


def test_scales_that_are_learned_begin_with_those_of_an_observer():
    from torchjit.ao.quantization import MovingAverageMinMaxObserver
    from torchjit.ao.quantization._learnable_fake_quantize import _LearnableFakeQuantize

    rounding = _LearnableFakeQuantize(MovingAverageMinMaxObserver, quant_min=0, quant_max=255, scale=0.1, zero_point=2.0)
    x = torch.linspace(-1, 3, 6, requires_grad=True)
    rounding.enable_static_observation()
    assert rounding(x) is x and rounding.scale.item() == pytest.approx(4 / 255) and rounding.zero_point.item() == 64
    assert rounding.enable_param_learning() is rounding and rounding.scale.requires_grad
    y = rounding(x)
    y.sum().backward()
    torch.testing.assert_close(y.detach(), torch.tensor([-1.0039, -0.2039, 0.5961, 1.3961, 2.1961, 2.9961]), atol=1e-4, rtol=0)
    assert x.grad.tolist() == [1] * 6 and rounding.scale.grad.item() == pytest.approx(-1.5, abs=1e-4) and rounding.zero_point.grad.item() == 0
    assert rounding.calculate_qparams()[1].tolist() == [64]
    with pytest.raises(AssertionError, match="quant_min must be strictly less than quant_max"):
        _LearnableFakeQuantize(MovingAverageMinMaxObserver, quant_min=5, quant_max=3)
