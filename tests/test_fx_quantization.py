"""FX graph mode quantization from the model to a saved program; its numbers and code are compared in answers/fx_quantization.txt."""

import io

import pytest

import torchjit as torch
from torchjit import nn
from torchjit.ao.quantization import get_default_qconfig_mapping
from torchjit.ao.quantization.quantize_fx import convert_fx, prepare_fx


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)).eval()


@pytest.mark.filterwarnings("ignore:Please use quant_min")
def test_a_converted_model_scripts_and_loads():
    x = torch.randn(2, 3, 8, 8)
    floats = model()
    prepared = prepare_fx(model(), get_default_qconfig_mapping("fbgemm"), (x,))
    prepared(x)
    quantized = convert_fx(prepared)
    y = quantized(x)
    assert (y - floats(x)).abs().max() < 0.05
    saved = io.BytesIO()
    torch.jit.save(torch.jit.script(quantized), saved)
    saved.seek(0)
    assert torch.equal(torch.jit.load(saved)(x), y)


def test_equalization_is_refused():
    with pytest.raises(NotImplementedError, match="_equalization_config"):
        prepare_fx(model(), get_default_qconfig_mapping(), (torch.randn(1, 3, 8, 8),), _equalization_config={"": 1})
