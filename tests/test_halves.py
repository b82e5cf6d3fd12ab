"""Operators over elements of 16 bits compute with more and round once."""

import pytest
from test_ownership import collections, reuses

import torchjit as torch

F = torch.nn.functional
FUNCTIONS = {
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": F.softplus,
    "layer_norm": lambda x: F.layer_norm(x, (60,)),
    "group_norm": lambda x: F.group_norm(x.view(5, 10, 60), 5),
    "softmax": lambda x: torch.softmax(x, -1),
    "softmax of columns": lambda x: torch.softmax(x, 0),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
}


def units(got, exact, digits):
    """The largest difference in units of the last of so many binary digits of the exact result, or of its largest element's 512th part."""
    size = exact.abs().clamp_min(exact.abs().max() / 512)
    return float(((got.double() - exact).abs() / 2.0 ** (torch.floor(torch.log2(size)) - digits)).max())


@pytest.mark.parametrize("dtype, digits", [(torch.bfloat16, 7), (torch.float16, 10)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_rounded_once(name, dtype, digits):
    torch.manual_seed(0)
    x = (torch.randn(50, 60) * 2).to(dtype)
    assert units(FUNCTIONS[name](x), FUNCTIONS[name](x.double()), digits) < 0.52


@pytest.mark.parametrize("dtype, digits", [(torch.bfloat16, 7), (torch.float16, 10)], ids=str)
@pytest.mark.parametrize("name", ["gelu", "gelu by tanh", "silu", "mish", "softplus"])
def test_gradients_are_rounded_once(name, dtype, digits):
    torch.manual_seed(0)
    x = (torch.randn(50, 60) * 2).to(dtype).requires_grad_()
    y = x.detach().double().requires_grad_()
    g = torch.linspace(0.1, 1, x.numel()).view_as(x).to(dtype)
    FUNCTIONS[name](x).backward(g)
    FUNCTIONS[name](y).backward(g.double())
    assert units(x.grad, y.grad, digits) < 0.52


@pytest.mark.parametrize("name", ["gelu", "gelu by tanh", "silu", "mish", "softplus"])
def test_gradients_of_gradients(name):
    x = torch.linspace(-4, 4, 30, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(FUNCTIONS[name], (x,))
    assert torch.autograd.gradgradcheck(FUNCTIONS[name], (x,))


@reuses
@pytest.mark.parametrize("groups", [1, 8])
def test_convolutions_give_back_what_they_convert(groups):
    x, w = torch.randn(1, 8, 64, 64).bfloat16(), torch.randn(8, 8 // groups, 3, 3).bfloat16()
    with torch.no_grad():
        times, size = collections(lambda: F.conv2d(x, w, padding=1, groups=groups))
    assert times <= 2 and size < 64 << 10, "each call made 260 KB of float32"
