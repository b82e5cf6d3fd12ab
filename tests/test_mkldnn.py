"""Tensors in the layout torch._mkldnn, and modules that have their weights in it. The answers are those of PyTorch 1.13.1 with oneDNN."""

import copy
import io

import pytest

import torchjit as torch
import torchjit.nn.functional as F
from torchjit import nn
from torchjit.utils import mkldnn


@pytest.fixture
def image():
    return torch.rand(2, 3, 6, 6)


def test_the_layout(image):
    x = image.to_mkldnn()
    assert x.is_mkldnn and not image.is_mkldnn and not x.is_sparse and x.layout is torch._mkldnn and str(x.layout) == "torch._mkldnn"
    assert x.shape == image.shape and x.dtype is torch.float32 and x.numel() == image.numel()
    assert torch.equal(x.to_dense(), image) and image.bfloat16().to_mkldnn().dtype is torch.bfloat16
    image.zero_()
    assert x.to_dense().sum() > 0  # the elements are its own
    assert str(torch.ones(2).to_mkldnn()) == "tensor([1., 1.], layout=torch._mkldnn)"
    assert torch.equal(copy.deepcopy(x).to_dense(), x.to_dense()) and x.clone().is_mkldnn and x.detach().is_mkldnn


def test_operators_give_what_they_give_for_elements(image):
    x, weight = image.to_mkldnn(), torch.rand(4, 3, 3, 3)
    for f in (
        lambda t: t + t, lambda t: t * 2, lambda t: t * t, torch.relu, torch.sigmoid, torch.tanh, F.gelu, lambda t: F.softmax(t, 1),
        lambda t: F.max_pool2d(t, 2), lambda t: F.avg_pool2d(t, 2), lambda t: F.adaptive_avg_pool2d(t, 2), lambda t: t.reshape(2, -1),
        lambda t: t.transpose(0, 1), lambda t: F.conv2d(t, weight), lambda t: t.clone().relu_(), lambda t: t.clone().add_(t), lambda t: t.flatten(1),
    ):  # fmt: skip
        y = f(x)
        assert y.is_mkldnn and torch.allclose(y.to_dense(), f(image))
    assert torch.equal(x.to_dense(), image)
    assert F.linear(torch.ones(2, 3).to_mkldnn(), torch.ones(4, 3)).is_mkldnn


@pytest.mark.parametrize(
    "f, error, text",
    [
        (lambda x: x.sum(), NotImplementedError, "with arguments from the 'MkldnnCPU' backend"),
        (lambda x: x.to_mkldnn(), NotImplementedError, "Could not run 'aten::to_mkldnn' with arguments from the 'MkldnnCPU' backend"),
        (lambda x: x.exp(), RuntimeError, "unsupported tensor layout: Mkldnn"),
        (lambda x: x + torch.ones(2, 2), RuntimeError, "itensor_from_mkldnn expects MKL-DNN tensor input"),
        (lambda x: x.view(-1), RuntimeError, "Currently Mkldnn tensor does not support view. Change to use reshape instead"),
        (lambda x: x.numpy(), TypeError, "can't convert Mkldnn layout tensor to numpy. Use Tensor.dense"),
        (lambda x: torch.save(x, io.BytesIO()), RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"),
        (lambda x: x.to_dense().double().to_mkldnn(), RuntimeError, "dense_to_mkldnn expects float or bfloat16 tensor input"),
        (lambda x: torch._C._nn.mkldnn_linear(x.to_dense(), x), RuntimeError, "mkldnn_linear: input needs to be mkldnn layout"),
        (lambda x: F.batch_norm(torch.ones(2, 3).to_mkldnn(), torch.zeros(3), torch.ones(3)), RuntimeError, "currently mkldnn only support affine model"),
    ],
)
def test_what_is_refused(f, error, text):
    with pytest.raises(error, match=text.replace("(", "\\(")):
        f(torch.ones(2, 2).to_mkldnn())


def test_gradients_go_through_the_layout():
    x = torch.tensor([[1.0, -2, 3]], requires_grad=True)
    torch.relu(x.to_mkldnn() * 2).to_dense().sum().backward()
    assert x.grad.tolist() == [[2, 0, 2]]


def test_programs():
    @torch.jit.script
    def f(x):
        return x.to_mkldnn().relu().to_dense(), x.is_mkldnn, x.layout

    assert f(torch.tensor([1.0, -1]))[0].tolist() == [1, 0] and f(torch.ones(1))[1:] == (False, 0)
    g = torch.jit.trace(lambda x: torch.relu(x.to_mkldnn()).to_dense(), torch.ones(2))
    assert "aten::to_mkldnn" in str(g.graph) and g(torch.tensor([-1.0, 2])).tolist() == [0, 2]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.act, self.line = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.PReLU(), nn.Linear(4, 2)
        self.norm.running_mean += 0.1

    def forward(self, x):
        y = self.act(self.norm(self.conv(x)))
        return self.line(F.adaptive_avg_pool2d(y, 1).flatten(1))


def test_modules_are_converted(image):
    net = Net().eval()
    expected = net(image)
    made = mkldnn.to_mkldnn(copy.deepcopy(net))
    assert [type(m).__name__ for m in made.children()] == ["MkldnnConv2d", "MkldnnBatchNorm", "MkldnnPrelu", "MkldnnLinear"]
    y = made(image.to_mkldnn())
    assert y.is_mkldnn and torch.allclose(y.to_dense(), expected, atol=1e-6)
    assert made.line.weight.is_mkldnn and list(made.line.state_dict()) == ["weight", "bias"] and list(made.line.parameters()) == []
    assert mkldnn.to_mkldnn(nn.Linear(2, 2), torch.bfloat16).weight.dtype is torch.bfloat16
    with pytest.raises(AssertionError):
        mkldnn.to_mkldnn(nn.BatchNorm2d(2))  # in training


@pytest.mark.parametrize("layer, shape", [(nn.Linear(3, 2), (4, 3)), (nn.Conv1d(3, 2, 2), (1, 3, 5)), (nn.Conv2d(3, 2, 2), (1, 3, 5, 5)), (nn.PReLU(), (2, 3))])
def test_converted_modules_are_saved(layer, shape):
    x, made = torch.randn(shape), mkldnn.to_mkldnn(copy.deepcopy(layer).eval())
    file = io.BytesIO()
    torch.jit.save(made, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    assert loaded.weight.is_mkldnn and torch.allclose(loaded(x), layer(x), atol=1e-6)
