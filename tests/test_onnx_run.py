"""Exported models compute what the models do: onnxruntime runs them, for the sizes of the export and for other ones. Skipped without it."""

import io

import pytest
from onnx_model import Of

import torchjit as torch
from torchjit import nn

F = nn.functional
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install torchjit[onnx]")
pytestmark = pytest.mark.filterwarnings("ignore::torchjit.jit.TracerWarning")


def flat(values):
    if isinstance(values, torch.Tensor):
        return [values.detach().numpy()]
    if isinstance(values, (int, float)):
        return [torch.tensor(values).numpy()]
    return [array for v in values for array in flat(v)]


def check(model, *cases, **options):
    """Exports a model with the first case and compares its results for all of them."""
    if not isinstance(model, (nn.Module, torch.jit.ScriptFunction)):
        model = Of(model)
    if isinstance(model, nn.Module):
        model.eval()
    file = io.BytesIO()
    torch.onnx.export(model, cases[0], file, **options)
    settings = ort.SessionOptions()
    settings.log_severity_level = 4
    session = ort.InferenceSession(file.getvalue(), settings)
    names = [i.name for i in session.get_inputs()]
    for case in cases:
        expected = flat(model(*case))
        found = [
            a for r in session.run(None, dict(zip(names, flat(case)))) for a in (r if isinstance(r, list) else [r])
        ]
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert a.shape == b.shape and a.dtype == b.dtype
            torch.testing.assert_close(torch.from_numpy(a), torch.from_numpy(b), rtol=1e-4, atol=1e-5, equal_nan=True)


def R(*sizes):
    return torch.randn(*sizes)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_convolutional_network():
    class Block(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(n, n, 3, 1, 1, bias=False), nn.BatchNorm2d(n), nn.ReLU(inplace=True))

        def forward(self, x):
            y = self.body(x)
            y += x
            return F.relu(y)

    m = nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3),
        nn.MaxPool2d(3, 2, 1),
        Block(8),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )
    check(m, (R(2, 3, 16, 16),), (R(5, 3, 16, 16),), input_names=["x"], dynamic_axes={"x": {0: "n"}})


def test_upsampling_network_of_any_size():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.up = nn.Conv2d(3, 4, 3, 2, 1), nn.ConvTranspose2d(4, 4, 2, 2)

        def forward(self, x):
            y = self.up(F.silu(self.down(x)))
            y = F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
            return torch.cat([y, F.avg_pool2d(x, 3, 1, 1)], 1)

    check(Net(), (R(1, 3, 8, 8),), (R(2, 3, 10, 7),), input_names=["x"], dynamic_axes={"x": [0, 2, 3]})


def test_transformers():
    axes = {"input_names": ["x"], "dynamic_axes": {"x": [0, 1]}}
    check(
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
        (R(2, 5, 8),),
        (R(3, 7, 8),),
        **axes,
    )
    check(nn.TransformerDecoderLayer(8, 2, 16), (R(5, 2, 8), R(4, 2, 8)), opset_version=12)
    check(torch.jit.script(nn.TransformerEncoderLayer(8, 2, 16)), (R(5, 2, 8),), (R(3, 1, 8),), **axes)


def test_attention_with_a_causal_mask():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.qkv = nn.Embedding(20, 8), nn.Linear(8, 24)
            self.register_buffer("mask", torch.tril(torch.ones(16, 16)))

        def forward(self, tokens):
            b, t = tokens.shape
            q, k, v = self.qkv(self.embed(tokens)).split(8, dim=2)
            q, k, v = (z.view(b, t, 2, 4).transpose(1, 2) for z in (q, k, v))
            scores = (q @ k.transpose(-2, -1)).masked_fill(self.mask[:t, :t] == 0, float("-inf"))
            return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, 8)

    tokens = torch.randint(0, 20, (2, 6))
    check(Net(), (tokens,), (torch.randint(0, 20, (3, 9)),), input_names=["t"], dynamic_axes={"t": [0, 1]})


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_networks(kind):
    check(kind(3, 4, num_layers=2, bidirectional=True, batch_first=True), (R(2, 5, 3),))
    check(kind(3, 4), (R(5, 2, 3),), (R(7, 3, 3),), input_names=["x"], dynamic_axes={"x": [0, 1]})


def test_packed_sequences():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(3, 4, batch_first=True, bidirectional=True)

        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
            out, (h, c) = self.rnn(packed)
            return nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0], h, c

    check(Net(), (R(3, 5, 3), torch.tensor([5, 3, 2])), (R(3, 5, 3), torch.tensor([4, 4, 1])))


def test_elements_of_mixed_types():
    a, b = R(3, 4), torch.randint(1, 9, (3, 4))
    check(
        lambda a, b: (a + b, b / 2, b * 2.5, b // 3, -b // 3, b % 3, 2**a, a**2, b**2, a > b, 1 / a, b.float() * a),
        (a, b),
    )
    check(lambda a, b: (a & b, a | b, ~a, a * b, a + b, a.sum(), a.any(), b.all(1)), (a > 0, b > 3))
    check(
        lambda a, b: (
            a.clamp(-1, 1),
            b.clamp(2, 5),
            b.clamp(max=3),
            torch.where(a > 0, a, b),
            a.masked_fill(b > 3, -5),
        ),
        (a, b),
        opset_version=11,
    )


def test_elementwise_operators_without_a_symbolic_function():
    """Their records say what becomes of an element."""
    inf, nan = float("inf"), float("nan")
    a = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, -1e30, 1e-30, inf, -inf, nan, 2.0])
    b = torch.tensor([1.0, 0.0, -1.0, 2.0, -0.5, 2.0, nan, 1e30, 3.0, 1e-30, -inf, 2.0, 1.0, -0.0])
    f = torch.special
    check(lambda a, b: (torch.hypot(a, b), torch.logaddexp(a, b), torch.logaddexp2(a, b), torch.xlogy(a, b), torch.fmax(a, b)), (a, b))
    check(lambda a, b: (torch.copysign(a, b), torch.heaviside(a, b), torch.atan2(a[:7], b[:7]), a.signbit(), f.xlog1py(a, b)), (a, b))
    check(lambda a: (a.sinc(), a.logit(0.1), a.nan_to_num(1.0), f.entr(a), f.erfcx(a[:7]), f.i0e(a), a.frac(), a.exp2()), (a,), opset_version=11)
    check(lambda a, n: (torch.xlogy(n, a), torch.addcdiv(a, a, a + 5, value=2), torch.hypot(a.half(), a.half()), n.heaviside(n)), (a[:5], torch.tensor([0, 1, 2, -1, 3])))


class Quantized(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.quant, self.layers, self.dequant = torch.ao.quantization.QuantStub(), nn.Sequential(*layers), torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(self.layers(self.quant(x)))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.add, self.mul, self.cat = nn.Conv2d(3, 3, 3, padding=1), *(nn.quantized.FloatFunctional() for _ in range(3))

    def forward(self, x):
        y = self.add.add_relu(self.conv(x), x)
        return self.cat.cat([y, self.mul.mul(y, x)], 1)


class Flat(nn.Module):
    def forward(self, x):
        return x.permute(0, 2, 3, 1).reshape(len(x), -1)[:, 2:14:2].tanh()


@pytest.mark.filterwarnings("ignore:Please use quant_min")
@pytest.mark.parametrize("channels", [False, True])
def test_quantized_networks(channels):
    """The integers of the results are those of the model, but for ties that are rounded to the other side."""
    networks = [
        (Quantized(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3, bias=False)), R(3, 5)),
        (Quantized(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU6(), nn.Hardswish(), nn.LeakyReLU(0.2), nn.Conv2d(4, 4, 3, groups=4), nn.Sigmoid()), R(2, 3, 8, 8)),
        (Quantized(nn.Conv1d(3, 4, 3), nn.Flatten(), nn.LayerNorm(28)), R(2, 3, 9)),
        (Quantized(Residual(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)), R(2, 3, 8, 8)),
        (Quantized(nn.Conv2d(3, 3, 1), nn.ReLU(), nn.BatchNorm2d(3), nn.GroupNorm(3, 3), nn.InstanceNorm2d(3, affine=True), Flat()), R(2, 3, 4, 4)),
    ]
    for model, x in networks:
        model.eval().qconfig = torch.ao.quantization.get_default_qconfig("fbgemm") if channels else torch.ao.quantization.default_qconfig
        torch.ao.quantization.prepare(model, inplace=True)(x)
        torch.ao.quantization.convert(model, inplace=True)
        expected, file = model(x), io.BytesIO()
        torch.onnx.export(model, (x,), file, opset_version=13)
        session = ort.InferenceSession(file.getvalue())
        found = torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
        step = (expected.max() - expected.min()) / 100
        assert found.shape == expected.shape and ((found - expected).abs() > step / 10).float().mean() < 0.05, model


def test_places():
    x, k = R(2, 4), torch.tensor([[0, 1, 2, 3], [3, 2, 0, 1]])
    check(
        lambda x, k: (x.gather(1, k), x.scatter(1, k, x), F.one_hot(k, 5), x.take(k), x.index_copy(0, k[0, :2], x)),
        (x, k),
    )
    check(lambda x, k: (x.scatter_add(1, k % 2, x), x.index_add(0, k[1, 2:], x)), (x, k), opset_version=16)
    y = R(2, 3, 4)
    i, j = torch.tensor([1, 0]), torch.tensor([2, 0])
    check(
        lambda y: (
            y[0],
            y[:, 1:],
            y[..., ::2],
            y[-1, -1],
            y[:, None],
            y[i, j],
            y[:, i, j],
            y[i, :, j],
            y[y > 0],
            y[y[:, 0, 0] < 9],
        ),
        (y,),
    )
    check(
        lambda y: (
            y.nonzero(),
            y.masked_select(y > 0),
            y.sort(1),
            y.topk(2, 1),
            y.unfold(1, 2, 1),
            y.roll(1, 2),
            y.tril(),
            y[0].diagonal(),
        ),
        (y,),
    )


def test_writes():
    def f(x):
        y = x.clone()
        y[0] = 1.0
        y[:, 1] = x[:, 0]
        y[y > 2] = 0.0
        row = y[1]
        y[..., 1:].add_(3)
        z = torch.zeros(2, 3)
        z[:, 1] = x[:, 0, 0]
        return y, row, z.mul_(2)

    def views(x):
        y = x.clone()
        a, b = y.chunk(2)
        a.add_(1)
        c = y.t()
        c.unsqueeze_(0).mul_(2)
        y.unbind(1)[0].zero_()
        z = torch.zeros(4, 3)
        torch.add(x, 1, out=z)
        return y, a, b, c, z

    check(f, (R(2, 3, 4),))
    check(views, (R(4, 3),))


def test_compiled_control_flow():
    @torch.jit.script
    def f(x: torch.Tensor, n: int):
        made: list[torch.Tensor] = []
        y = torch.zeros_like(x)
        for i in range(n):
            if bool(x.sum() > i):
                y = y + i
                made.append(x * i)
            else:
                y = y - 1
                made.append(y)
        while bool(y.sum() < 10):
            y = y + 5
        y[0] = 1.0
        return torch.stack(made), y, len(made), n // 2, -n % 4

    check(f, (R(2, 3), 3), (R(2, 3) + 2, 5), (R(2, 3) - 5, 1))


def test_compiled_modules_and_traces():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
            self.rnn = nn.LSTM(3, 4, batch_first=True)

        def forward(self, x, mask: torch.Tensor | None = None):
            for layer in self.layers:
                x = torch.relu(layer(x))
            if mask is not None:
                x = x * mask
            y, (h, c) = self.rnn(x)
            return y, h

    m = Net().eval()
    for compiled in (torch.jit.script(m), torch.jit.trace(m, R(2, 5, 3)), torch.jit.freeze(torch.jit.script(m))):
        check(compiled, (R(2, 5, 3),))


@pytest.mark.parametrize("opset", [9, 11, 13, 17])
def test_opset_versions(opset):
    m = nn.Sequential(
        nn.Conv1d(3, 4, 3), nn.GroupNorm(2, 4), nn.GELU(), nn.LayerNorm(6), nn.Softmax(1), nn.Linear(6, 2)
    )
    check(m, (R(2, 3, 8),), opset_version=opset)
    check(
        lambda x: (
            x.sum(1),
            x.squeeze(0),
            x.unsqueeze(-1),
            x[:, 1:],
            x.split([1, 2], 1),
            x.mean((0, 2)),
            x.var(1),
            x.std(),
        ),
        (R(1, 3, 4),),
        opset_version=opset,
    )


def test_losses():
    x, y = R(3, 4), R(3, 4)
    check(
        lambda x, t: (F.cross_entropy(x, t), F.nll_loss(x.log_softmax(1), t, reduction="none")),
        (x, torch.tensor([0, 3, 1])),
    )
    check(
        lambda x, y: (
            F.mse_loss(x, y),
            F.smooth_l1_loss(x, y),
            F.huber_loss(x, y),
            F.kl_div(x, y.softmax(1), reduction="sum"),
        ),
        (x, y),
    )
    check(
        lambda x, y: (
            F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            F.cosine_similarity(x, y),
            F.normalize(x),
            torch.cdist(x, y),
        ),
        (x, y),
    )


def test_verify():
    from torchjit.onnx import verification

    verification.verify(nn.Linear(3, 2), (R(2, 3),), additional_test_inputs=[(R(2, 3),)])

    class Drifting(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x + self.calls

    with pytest.raises(AssertionError):
        verification.verify(Drifting(), (R(2),))
