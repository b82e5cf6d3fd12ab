"""Regions of operators on images run by plans: the same results as eager modules, whatever changes between the calls."""

import io

import numpy as np
import pytest

import torchjit as torch
from torchjit import nn
from torchjit.nn import functional as F


def seeded(module):
    torch.manual_seed(3)
    for m in module.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.5)
            m.running_var.uniform_(0.5, 2)
    return module.eval()


class Residual(nn.Module):
    def __init__(self, stride=1):
        super().__init__()
        self.first = nn.Conv2d(8, 12, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(12)
        self.second = nn.Conv2d(12, 12, 3, padding=1)
        self.beside = nn.Conv2d(8, 12, 1, stride)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.second(self.relu(self.norm(self.first(x))))
        y += self.beside(x)
        return self.relu(y)


class Inverted(nn.Module):
    def __init__(self, activation):
        super().__init__()
        layers = [nn.Conv2d(8, 24, 1), nn.BatchNorm2d(24), activation, nn.Conv2d(24, 24, 3, 1, 1, groups=24), nn.BatchNorm2d(24, affine=False)]
        self.layers = nn.Sequential(*layers, activation, nn.Conv2d(24, 8, 1), nn.BatchNorm2d(8))

    def forward(self, x):
        return x + self.layers(x)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.squeeze, self.excite = nn.Conv2d(8, 16, 3, padding=2, dilation=2), nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1)

    def forward(self, x):
        y = F.hardswish(self.conv(x))
        gate = torch.sigmoid(self.excite(F.silu(self.squeeze(y.mean([2, 3], keepdim=True)))))
        return y * gate


class Branches(nn.Module):
    """Windows, images that two read, an activation in several operators, two results."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(8, 8, 3, 2, 1, groups=2), nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(8, 6, 5, 1, 2)

    def forward(self, x):
        y = F.max_pool2d(F.leaky_relu(self.a(x), 0.1), 2)
        z = self.b(y)
        z = z * torch.sigmoid(1.7 * z)
        w = F.interpolate(z + y, scale_factor=2.0)
        return self.c(F.avg_pool2d(w, 3, 1, 1)), torch.tanh(z)


MODULES = {
    "residual": lambda: Residual(),
    "residual of stride 2": lambda: Residual(2),
    "relu6": lambda: Inverted(nn.ReLU6(inplace=True)),
    "silu": lambda: Inverted(nn.SiLU()),
    "relu": lambda: Inverted(nn.ReLU()),
    "gelu": lambda: Inverted(nn.GELU()),
    "gated": Gated,
    "branches": Branches,
    "wide": lambda: nn.Sequential(nn.Conv2d(8, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.Conv2d(32, 32, 3, 1, 1), nn.Tanh()),
}
WAYS = {
    "traced": lambda m, x: torch.jit.trace(m, x),
    "frozen trace": lambda m, x: torch.jit.freeze(torch.jit.trace(m, x)),
    "frozen script": lambda m, x: torch.jit.freeze(torch.jit.script(m)),
    "optimized": lambda m, x: torch.jit.optimize_for_inference(torch.jit.script(m)),
}


def assert_same(got, want):
    if isinstance(want, tuple):
        for a, b in zip(got, want, strict=True):
            assert_same(a, b)
        return
    assert got.stride() == want.stride() and got.requires_grad == want.requires_grad
    torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-5 * max([1.0, *want.abs().flatten().tolist()]))


def is_planned(compiled, x):
    text = str(torch.jit.explain(compiled.forward))
    return "by one plan" in text and "one by one" not in text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODULES)
def test_as_eager(name, way):
    m = seeded(MODULES[name]())
    x = torch.randn(2, 8, 16, 20)
    with torch.no_grad():
        compiled = WAYS[way](m, x)
        for shape in [(2, 8, 16, 20), (1, 8, 16, 20), (3, 8, 24, 16), (2, 8, 16, 20)]:
            x = torch.randn(*shape)
            assert_same(compiled(x), m(x))
        assert is_planned(compiled, x)
        x = x.to(memory_format=torch.channels_last)
        assert_same(compiled(x), m(x))
    with torch.inference_mode():
        assert_same(compiled(x), m(x))


def test_weights_that_change():
    m = seeded(Residual())
    x = torch.randn(1, 8, 12, 12)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x)
        assert_same(compiled(x), m(x))
        m.first.weight.mul_(1.5)
        assert_same(compiled(x), m(x))
        m.second.weight.data.add_(0.1)  # what goes through data is not counted as a version
        assert_same(compiled(x), m(x))
        m.second.bias.detach()[3] = 2.0
        assert_same(compiled(x), m(x))
        m.norm.running_var.fill_(0.25)
        assert_same(compiled(x), m(x))
        m.norm.weight.set_(torch.rand(12))
        assert_same(compiled(x), m(x))
        m.load_state_dict({k: v * 2 for k, v in m.state_dict().items()})
        assert_same(compiled(x), m(x))
        assert is_planned(compiled, x)


def test_weights_that_others_may_write():
    m = seeded(Residual())
    x = torch.randn(1, 8, 12, 12)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x)
        assert_same(compiled(x), m(x))
        array = m.first.weight.numpy()
        assert_same(compiled(x), m(x))
        array *= -3
        assert_same(compiled(x), m(x))
    assert "others may write the weights" in str(torch.jit.explain(compiled.forward))


def test_what_is_not_planned():
    m = seeded(Residual())
    x = torch.randn(1, 8, 12, 12)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x)
    y, z = compiled(x), m(x)  # gradients are wanted
    assert_same(y, z)
    grads = torch.autograd.grad(y.sum(), list(m.parameters()))
    for a, b in zip(grads, torch.autograd.grad(z.sum(), list(m.parameters())), strict=True):
        torch.testing.assert_close(a, b)
    with torch.no_grad():
        wide = MODULES["wide"]()
        assert_same(torch.jit.trace(wide, x)(x[0]), wide(x[0]))  # without a batch
        assert_same(compiled(x[:0]), m(x[:0]))
        with pytest.raises(RuntimeError, match="expected input.* to have 8 channels, but got 7"):
            compiled(torch.randn(1, 7, 12, 12))
        with torch.autocast("cpu"):
            assert compiled(x).dtype == torch.bfloat16
        double = torch.jit.trace(seeded(Residual().double()), x.double())
        assert double(x.double()).dtype == torch.float64


def test_results_do_not_share_memory():
    m = seeded(Residual())
    x = torch.randn(1, 8, 12, 12)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x)
        first = compiled(x)
        kept = first.clone()
        for _ in range(5):
            compiled(torch.randn(1, 8, 12, 12))
        assert torch.equal(first, kept)
        again = compiled(x)
        assert torch.equal(first, again)  # bit-equal from run to run
        first.zero_()
        assert torch.equal(again, kept)


def test_in_two_threads():
    from concurrent.futures import ThreadPoolExecutor

    m = seeded(Inverted(nn.ReLU6()))
    inputs = [torch.randn(1 + i % 3, 8, 10, 10) for i in range(12)]
    with torch.no_grad():
        compiled = torch.jit.freeze(torch.jit.trace(m, inputs[0]))
        want = [m(x) for x in inputs]

    def run(x):
        with torch.no_grad():
            return [compiled(x) for _ in range(20)][-1]

    with ThreadPoolExecutor(4) as pool:
        for got, expected in zip(pool.map(run, inputs), want, strict=True):
            assert_same(got, expected)


def test_infinities():
    m = nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU(), nn.Conv2d(1, 1, 1, bias=False), nn.Hardtanh(-1, 1)).eval()
    x = torch.from_numpy(np.array([np.nan, np.inf, -np.inf, 1.0], dtype=np.float32)).reshape(1, 1, 2, 2)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x, check_trace=False)
        torch.testing.assert_close(compiled(x), m(x), equal_nan=True)


def test_scripts_in_training_and_evaluation():
    m = seeded(Residual())
    x = torch.randn(2, 8, 12, 12)
    scripted = torch.jit.script(m)
    with torch.no_grad():
        assert_same(scripted(x), m(x))
        assert "by one plan" in str(torch.jit.explain(scripted.forward))
        for training in [True, False, True]:
            m.train(training)
            scripted.train(training)
            want = m(x)
            m.norm.running_mean.mul_(0.5)  # the same object: both calls have moved it
            assert scripted.norm.running_mean is m.norm.running_mean or torch.equal(scripted.norm.running_mean, m.norm.running_mean)
            got = scripted(x)
            if not training:
                want = m(x)
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
        m.eval()
        scripted.norm.train(True)  # one module alone
        scripted(x)
        assert scripted.norm.num_batches_tracked.item() > 0


class Optional(nn.Module):
    def __init__(self, is_residual):
        super().__init__()
        self.is_residual = is_residual
        self.layers = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.AdaptiveAvgPool2d(6), nn.Conv2d(8, 8, 3, padding=1))

    def forward(self, x):
        y = self.layers(x)
        if self.is_residual:
            y = y + F.adaptive_avg_pool2d(x, 6)
        if not self.is_residual:
            y = y - 1
        return y


def test_scripts_know_their_own_attributes():
    """One plan runs while attributes that decide branches are what they were at the first call; others run right, too."""
    m = seeded(nn.Sequential(Optional(True), Optional(False)))
    scripted, other = torch.jit.script(m), torch.jit.script(seeded(nn.Sequential(Optional(False), Optional(True))))
    x = torch.randn(2, 8, 12, 12)

    def want(first, second):
        m[0].is_residual, m[1].is_residual = first, second
        return m(x)

    with torch.no_grad():
        torch.jit.explain(scripted)  # makes the plan of the first call
        assert_same(scripted(x), want(True, False))
        group = next(line for line in str(torch.jit.explain(scripted, x)).splitlines() if line.startswith("group") and " 10 operators" in line)
        assert group.endswith("by one plan")
        for first, second in [(False, False), (True, True), (True, False)]:
            scripted.get_submodule("0").is_residual, scripted.get_submodule("1").is_residual = first, second
            assert_same(scripted(x), want(first, second))
        for layer, one in zip(other.children(), m.children()):
            layer.load_state_dict(one.state_dict())
        assert_same(other(x), want(False, True))


@torch.jit.script
class Mode:
    def __init__(self, is_on: bool):
        self.is_on = is_on


class Switched(nn.Module):
    """Chooses the object whose attribute decides."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3))
        self.mode, self.off, self.on = Mode(False), Mode(False), Mode(True)

    def forward(self, x):
        self.mode = self.off
        if bool(x.sum() > 0):
            self.mode = self.on
        y = self.layers(x)
        if self.mode.is_on:
            y = y + 1000
        return y


def test_objects_that_are_exchanged_on_the_way_to_an_attribute():
    m, x = seeded(Switched()), torch.ones(1, 8, 8, 8)
    scripted = torch.jit.script(m)
    with torch.no_grad():
        for given in (x, -x, x):
            assert_same(scripted(given), m(given))


def test_other_calls_than_the_first():
    """The second body is for calls like the first; arguments that are missing, bools and numbers of dimensions may be others later."""
    m = seeded(nn.MultiheadAttention(16, 2))
    x, mask, padding = torch.randn(5, 3, 16), torch.randn(5, 5), torch.zeros(3, 5, dtype=torch.bool)
    padding[1, 3:] = True
    calls = {
        "plain": (x, x, x), "masked": (x, x, x, None, True, mask), "padded": (x, x, x, padding, False), "no weights": (x, x[:4], x[:4], None, False),
        "one": (x[:, 0], x[:, 0], x[:, 0]),
    }
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(m), file)
    with torch.no_grad():
        want = {name: m(*args) for name, args in calls.items()}
        for first in calls:
            compiled = torch.jit.load(io.BytesIO(file.getvalue()))
            for name in [first, *calls, first]:
                torch.testing.assert_close(compiled(*calls[name]), want[name], rtol=1e-5, atol=1e-5)
            with pytest.raises(torch.jit.Error, match="was expecting embedding dimension of 16, but got 8"):
                compiled(x[..., :8], x[..., :8], x[..., :8])


def test_ranks_that_change_in_place():
    @torch.jit.script
    def f(x, w):
        y = torch.conv2d(x, w)
        y.squeeze_(0)
        if y.dim() >= 3:
            y = y + 1000
        return y

    x = torch.randn(1, 4, 5)
    torch.testing.assert_close(f(x, torch.ones(1, 1, 1, 1)), x[0])


def test_sizes_of_lists_are_known():
    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.pool = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 4, 1), nn.AdaptiveAvgPool2d((2, 3))

        def forward(self, x):
            return self.b(self.pool(self.a(x)))

    m, x = Pooled(), torch.randn(2, 8, 9, 10)
    scripted = torch.jit.script(m)
    with torch.no_grad():
        assert_same(scripted(x), m(x))
        assert_same(scripted(x[0]), m(x[0]))
    assert "prim::Loop" not in str(torch.jit.explain(scripted.forward))


def test_views_of_results_stay_views():
    @torch.jit.script
    def f(x, w):
        y = torch.conv2d(torch.conv2d(x, w), w)
        return y, torch.dropout(y, 0.5, False), y[0]

    y, same, part = f(torch.ones(1, 2, 4, 4), torch.ones(2, 2, 1, 1))
    y.zero_()
    assert not same.any() and not part.any()


def test_explain_says_what_has_no_plan():
    @torch.jit.script
    def f(x, w):
        return torch.conv2d(torch.conv2d(x, w), w)

    f(torch.ones(2, 4, 4), torch.ones(2, 2, 1, 1))
    assert "an image is not one of float32 in four dimensions" in str(torch.jit.explain(f))


class Attention(nn.Module):
    def __init__(self, width=32, heads=4, masked=False):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.heads, self.masked = heads, masked

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, x.size(2) // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / 2.8
        if self.masked:
            scores = scores + torch.triu(torch.full((x.size(1), x.size(1)), -1e4), diagonal=1)
        y = torch.matmul(torch.softmax(scores, dim=-1), v).transpose(1, 2).contiguous()
        return self.out(y.view(x.size(0), x.size(1), x.size(2)))


class Encoder(nn.Module):
    def __init__(self, masked=False):
        super().__init__()
        self.attention, self.norm, self.last = Attention(masked=masked), nn.LayerNorm(32), nn.LayerNorm(32)
        self.wide, self.narrow, self.dropout = nn.Linear(32, 128), nn.Linear(128, 32), nn.Dropout(0.1)

    def forward(self, x):
        x = self.norm(x + self.dropout(self.attention(x)))
        return self.last(x + self.dropout(self.narrow(F.gelu(self.wide(x)))))


class Vision(nn.Module):
    """Patches of images, one product for queries, keys and values, the mean of the tokens."""

    def __init__(self):
        super().__init__()
        self.patches, self.more, self.norm = nn.Conv2d(3, 32, 4, 4), nn.Conv2d(32, 32, 1), nn.LayerNorm(32)
        self.qkv, self.out, self.last = nn.Linear(32, 96), nn.Linear(32, 32, bias=False), nn.Linear(32, 5)

    def forward(self, x):
        x = self.more(self.patches(x)).flatten(2).transpose(1, 2)
        b, n, c = x.shape
        qkv = self.qkv(self.norm(x)).reshape(b, n, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        x = x + self.out(((q @ k.transpose(-2, -1)) * 0.3).softmax(dim=-1).matmul(v).transpose(1, 2).reshape(b, n, c))
        return self.last(x.mean(1))


class Layers(nn.Module):
    """Products of other kinds: without a bias, of two activations, of a vector, two that are chained, a part that is written in place."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(32, 32, bias=False), nn.Linear(32, 32), nn.Linear(32, 8)
        self.table = nn.Parameter(torch.randn(32, 16))

    def forward(self, x):
        y = torch.relu(self.a(x))
        z = torch.sigmoid(self.b(y)) * torch.tanh(y)
        z.add_(x)
        w = torch.bmm(z, y.transpose(1, 2))
        return self.c(z[:, -1]), w.softmax(-1), torch.matmul(z, self.table), F.layer_norm(z, [32])


TOKENS = {
    "layers": Layers,
    "mlp": lambda: nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 40), nn.Tanh(), nn.Linear(40, 3)),
    "encoder": Encoder,
    "masked": lambda: Encoder(masked=True),
    "two encoders": lambda: nn.Sequential(Encoder(), Encoder()),
}


@pytest.mark.parametrize("way", ["scripted", *WAYS])
@pytest.mark.parametrize("name", TOKENS)
def test_products_as_eager(name, way):
    torch.manual_seed(3)
    m = TOKENS[name]().eval()
    make = WAYS.get(way, lambda m, x: torch.jit.script(m))
    with torch.no_grad():
        compiled = make(m, torch.randn(2, 7, 32))
        for batch, length in [(2, 7), (1, 7), (3, 7), (1, 50), (2, 1), (2, 7)]:
            if name == "masked" and "trace" in way and length != 7:
                continue  # the trace has the mask of its call
            x = torch.randn(batch, length, 32)
            got, want = compiled(x), m(x)
            assert_same(got, want)
            again = compiled(x)
            for a, b in zip(*[t if isinstance(t, tuple) else (t,) for t in (got, again)], strict=True):
                assert torch.equal(a, b)
        x = torch.randn(2, 32, 7).transpose(1, 2)
        assert_same(compiled(x), m(x))
    assert is_planned(compiled, x)


@pytest.mark.parametrize("way", ["scripted", *WAYS])
def test_images_become_tokens(way):
    torch.manual_seed(3)
    m = Vision().eval()
    make = WAYS.get(way, lambda m, x: torch.jit.script(m))
    with torch.no_grad():
        compiled = make(m, torch.randn(1, 3, 32, 24))
        for shape in [(1, 3, 32, 24), (3, 3, 16, 16)]:
            x = torch.randn(*shape)
            assert_same(compiled(x), m(x))
    text = str(torch.jit.explain(compiled.forward))
    assert text.count("by one plan") == 1 and "attention" in text and "one by one" not in text


def test_a_decoder_step_with_a_cache():
    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.norm = nn.Embedding(10, 32), nn.LayerNorm(32)
            self.query, self.key, self.value, self.last = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 10)

        def forward(self, token, keys, values):
            x = self.norm(self.embedding(token))
            keys, values = torch.cat([keys, self.key(x)], 1), torch.cat([values, self.value(x)], 1)
            weights = torch.softmax(torch.matmul(self.query(x), keys.transpose(1, 2)) / 5.0, -1)
            return self.last(x + torch.matmul(weights, values)), keys, values

    torch.manual_seed(1)
    m = Step().eval()
    scripted = torch.jit.script(m)
    with torch.no_grad():
        caches = [[torch.randn(1, 1, 32), torch.randn(1, 1, 32)]] * 2
        for i in range(100):  # more lengths than a region keeps plans for
            token = torch.tensor([[i % 10]])
            got, want = scripted(token, *caches[0]), m(token, *caches[1])
            assert_same(got, want)
            caches = [got[1:], want[1:]]
        with pytest.raises(RuntimeError, match="index out of range in self"):
            scripted(torch.tensor([[10]]), *caches[0])


def test_explain_shows_steps_and_times():
    m = seeded(Residual())
    x = torch.randn(1, 8, 12, 12)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x)
        assert "no call has run by a plan" in str(torch.jit.explain(torch.jit.freeze(compiled)))
        compiled(x)
        text = str(torch.jit.explain(compiled))
        assert "= conv2d+batch_norm+relu %" in text and "arena of " in text and " us  %" not in text
        assert str(torch.jit.explain(compiled, x)).count(" us  %") == len([line for line in text.split("\n") if line.startswith("    %") and " = " in line])
        assert " us  %" not in str(torch.jit.explain(compiled))


class Recurrent(nn.Module):
    def __init__(self, kind, **settings):
        super().__init__()
        self.layers = kind(8, 12, 2, **settings)
        self.last = nn.Linear(12 * (2 if settings.get("bidirectional") else 1), 3)

    def forward(self, x):
        y, state = self.layers(x)
        return self.last(y), state


RECURRENT = {
    "lstm": lambda: Recurrent(nn.LSTM),
    "gru": lambda: Recurrent(nn.GRU, batch_first=True),
    "both directions": lambda: Recurrent(nn.LSTM, bidirectional=True, dropout=0.3, bias=False),
}


@pytest.mark.filterwarnings("ignore::torchjit.jit.TracerWarning")
@pytest.mark.parametrize("way", ["scripted", *WAYS])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers_as_eager(name, way):
    torch.manual_seed(3)
    m = RECURRENT[name]().eval()
    make = WAYS.get(way, lambda m, x: torch.jit.script(m))

    def check(x):
        got, want = compiled(x), m(x)
        assert_same(got[0], want[0])
        for a, b in zip(*[s if isinstance(s, tuple) else (s,) for s in (got[1], want[1])], strict=True):
            torch.testing.assert_close(a, b)

    with torch.no_grad():
        compiled = make(m, torch.randn(9, 4, 8))
        for steps, batch in [(9, 4), (20, 4)] if "trace" in way else [(9, 4), (20, 1), (9, 30), (9, 4)]:
            check(torch.randn(steps, batch, 8))
        text = str(torch.jit.explain(compiled.forward))
        if "frozen" not in way and way != "optimized":  # their weights are their own
            m.layers.weight_hh_l1.mul_(0.5)
            check(torch.randn(9, 4, 8))
            m.layers.bias_hh_l0.data.add_(1) if m.layers.bias else None
            check(torch.randn(9, 4, 8))
        assert ("= gru %" if "gru" in name else "= lstm %") in text and "one by one" not in text, text


@pytest.mark.parametrize("name", TOKENS)
def test_gradients_of_what_runs_by_plans(name):
    torch.manual_seed(3)
    m = TOKENS[name]().eval()
    x = torch.randn(2, 7, 32)
    scripted = torch.jit.script(m)
    with torch.no_grad():
        scripted(x)
    results = [f(x) for f in (scripted, m)]
    assert_same(*results)
    grads = []
    for y in results:
        total = sum(t.square().sum() for t in (y if isinstance(y, tuple) else (y,)))
        grads.append(torch.autograd.grad(total, list(m.parameters()), allow_unused=True))
    for a, b in zip(*grads, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_lists_of_sizes_that_are_written():
    @torch.jit.script
    def f(x, w):
        y = torch.conv2d(torch.conv2d(x, w), w)
        sizes = [x.size(0)]
        if x.size(0) > 1:
            sizes.append(2)
        sizes.append(-1)
        z = torch.conv2d(torch.conv2d(y, w), w).view(sizes)
        sizes[0] = 0
        return z, torch.conv2d(y, w).view([y.size(0), -1])

    w = torch.randn(4, 4, 1, 1)
    for batch, shape in [(1, (1, 24)), (3, (3, 2, 12)), (1, (1, 24))]:
        y, z = f(torch.randn(batch, 4, 2, 3), w)
        assert y.shape == shape and z.shape == (batch, 24)


def test_weights_that_are_parts_of_parameters():
    """Parts of parameters are packed once, and again behind a write or where the parameter is another."""

    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.turned = nn.Parameter(torch.randn(96, 32)), nn.Parameter(torch.randn(32, 16))

        def forward(self, x):
            a, b, c = self.weight.chunk(3)
            return F.linear(x, a).relu() + F.linear(x, b[:, :], c[0]), torch.matmul(F.linear(x, c), self.turned), F.linear(x, self.turned.t())

    m, x = seeded(Parts()), torch.randn(5, 32)
    compiled = torch.jit.script(m)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), m(x))
        text = str(torch.jit.explain(compiled, x))
        assert "weights that change" not in text and text.count("us  ") >= 3
        m.weight[40].mul_(2)
        m.turned.t()[3].zero_()
        torch.testing.assert_close(compiled(x), m(x))
        m.weight = compiled.weight = nn.Parameter(torch.randn(96, 32))
        torch.testing.assert_close(compiled(x), m(x))


class Smooth(nn.Module):
    """Convolutions of 3 by 3 over enough channels for the small algorithm, with all that is done to their sums."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(32, 32, 3, padding=padding, bias=padding == 1) for padding in (1, 2, 0))
        self.norm, self.other = nn.BatchNorm2d(32), nn.BatchNorm2d(32)

    def forward(self, x):
        y = torch.relu(self.norm(self.a(x)) + x)
        return F.silu(self.other(self.c(F.relu(self.b(y))))) * 0.5 + y


@pytest.mark.parametrize("way", ["scripted", "traced", "frozen"])
def test_convolutions_with_fewer_products(way):
    """Plans make convolutions of 3 by 3 of weights that may change by the algorithm that operators take: for several sizes and layouts, after writes to
    weights, and alike for any number of threads."""
    m, x = seeded(Smooth()), torch.randn(2, 32, 19, 22)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x) if way == "traced" else torch.jit.script(m)
        if way == "frozen":
            compiled = torch.jit.freeze(compiled)
        for shape in [(2, 32, 19, 22), (1, 32, 12, 40), (2, 32, 19, 22), (1, 32, 4, 3)]:
            x = torch.randn(*shape)
            assert_same(compiled(x), m(x))
            assert_same(compiled(x.to(memory_format=torch.channels_last)), m(x.to(memory_format=torch.channels_last)))
        assert is_planned(compiled, x)
        x = torch.randn(3, 32, 30, 31)
        first = compiled(x)
        threads = torch.get_num_threads()
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            assert torch.equal(compiled(x), first)
        torch.set_num_threads(threads)
        if way != "frozen":
            m.a.weight.mul_(2)
            m.other.running_mean.add_(0.25)
            m.c.weight = nn.Parameter(m.c.weight.flip(0))
            if way == "scripted":
                compiled.c.weight = m.c.weight
            else:
                compiled = torch.jit.trace(m, x)
            assert_same(compiled(x), m(x))


def test_infinities_stay_where_they_are():
    """The small algorithm would spread what is not finite over a patch: such calls take the definition, and later ones do not."""
    m = seeded(nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 48, 3, padding=1), nn.Sigmoid()))
    with torch.no_grad():
        compiled = torch.jit.script(m)
        x = torch.randn(1, 32, 20, 20)
        before = compiled(x)
        for bad in (float("nan"), float("inf"), -float("inf")):
            y = x.clone()
            y[0, 3, 10, 10] = bad
            want, got = m(y), compiled(y)
            assert torch.equal(torch.isnan(got), torch.isnan(want)) and torch.isnan(want).sum() <= 25 * 48
            torch.testing.assert_close(got, want, equal_nan=True, rtol=1e-4, atol=1e-5)
            assert torch.equal(compiled(x), before)
        m[0].weight[0, 0, 0, 0] = float("nan")
        torch.testing.assert_close(compiled(x), m(x), equal_nan=True, rtol=1e-4, atol=1e-5)
        assert is_planned(compiled, x)



def test_ranks_that_optional_operands_give():
    @torch.jit.script
    def f(x, w, low: torch.Tensor | None):
        y = F.linear(F.linear(x, w), w)
        z = torch.clamp(x, low)
        if z.dim() == 2:
            z = z + 1000
        return z, y

    x, w = torch.randn(3, 4), torch.eye(4)
    with torch.no_grad():
        for low, added in [(torch.zeros(3, 4), 1000), (torch.zeros(2, 3, 4), 0), (torch.zeros(4), 1000)]:
            torch.testing.assert_close(f(x, w, low)[0], torch.clamp(x, low) + added)


@pytest.mark.parametrize("way", ["linear", "matmul"])
def test_rows_of_four_dimensions_that_are_turned_next(way):
    """The result of a product with a matrix of weights was read as if it lay turned already."""

    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(5, 6), nn.Linear(6, 6), nn.Parameter(torch.randn(5, 6))

        def forward(self, x):
            return self.b(self.a(x).transpose(1, 2))

    class Multiplied(Turned):
        def forward(self, x):
            return self.b(torch.matmul(x, self.c).transpose(-2, -3))

    m, x = seeded(Turned() if way == "linear" else Multiplied()), torch.randn(2, 3, 4, 5)
    with torch.no_grad():
        compiled = torch.jit.script(m)
        for _ in range(3):
            torch.testing.assert_close(compiled(x), m(x))
        assert is_planned(compiled, x)


class Attending(nn.Module):
    """The operator that attention of layers is made of, over heads of batches, or over both as one dimension."""

    def __init__(self, joined):
        super().__init__()
        self.q, self.k, self.v, self.out, self.joined = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 48), nn.Linear(48, 32), joined

    def split(self, x):
        if self.joined:
            return x.contiguous().view(x.size(0), x.size(1) * 4, x.size(2) // 4).transpose(0, 1)
        return x.view(x.size(0), x.size(1), 4, x.size(2) // 4).transpose(1, 2)

    def forward(self, x, y, mask: torch.Tensor | None = None):
        z = F._scaled_dot_product_attention(self.split(self.q(x)), self.split(self.k(y)), self.split(self.v(y)), mask, 0.0, False, False)[0]
        z = z.transpose(0, 1) if self.joined else z.transpose(1, 2)
        return self.out(z.contiguous().view(x.size(0), x.size(1), 48))


@pytest.mark.parametrize("joined", [True, False])
def test_attention_is_a_step(joined):
    m = seeded(Attending(joined))
    x, y = torch.randn(3, 7, 32), torch.randn(3, 5, 32)
    masks = [None]
    if not joined:
        masks += [torch.randn(7, 5), torch.randn(3, 1, 1, 5), torch.rand(7, 5) > 0.2, torch.rand(3, 4, 7, 5) > 0.2, torch.randn(5), torch.randn(7, 1)]
        masks[3][2] = False
    else:
        y = torch.randn(3, 7, 32)
        masks += [torch.randn(3, 3), torch.randn(28, 1, 3), torch.rand(28, 3, 3) > 0.3]
    with torch.no_grad():
        for mask in masks:
            compiled = torch.jit.script(m)
            for _ in range(3):
                torch.testing.assert_close(compiled(x, y, mask), m(x, y, mask), equal_nan=True, rtol=1e-5, atol=1e-5)
            text = str(torch.jit.explain(compiled))
            assert is_planned(compiled, x)
            assert "attention %" in text or mask is not None and mask.size(-1) == 1 and "_scaled_dot_product_attention %" in text


def attention_masks(kind, n):
    """A mask over scores and one over keys, of a batch of two."""
    added, forbidden = torch.triu(torch.full((n, n), float("-inf")), 1), torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
    padding = torch.zeros(2, n, dtype=torch.bool)
    padding[1, -1] = True
    return {"none": (None, None), "added": (added, None), "bools": (forbidden, None), "padding": (None, padding), "numbers for keys": (None, -5.0 * padding),
            "added and padding": (added, padding), "all bools": (forbidden, padding)}[kind]  # fmt: skip


@pytest.mark.parametrize("kind", ["none", "added", "bools", "padding", "numbers for keys", "added and padding", "all bools"])
def test_multihead_attention_is_one_plan(kind):
    """
    Branches of the layer hang on numbers of dimensions of what was transposed and taken from a list, on a constant condition of a dropout, on which masks
    there are, and on the types of their elements.
    """

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.norm = nn.MultiheadAttention(32, 4, dropout=0.1, batch_first=True), nn.LayerNorm(32)

        def forward(self, x, mask: torch.Tensor | None = None, padding: torch.Tensor | None = None):
            return self.norm(x + self.a(x, x, x, key_padding_mask=padding, attn_mask=mask, need_weights=False)[0])

    m = seeded(Layer())
    with torch.no_grad():
        compiled = torch.jit.script(m)
        for n in (6, 6, 9):
            x, masks = torch.randn(2, n, 32), attention_masks(kind, n)
            torch.testing.assert_close(compiled(x, *masks), m(x, *masks), rtol=1e-5, atol=1e-5)
        text = str(torch.jit.explain(compiled))
        last = text[text.rindex("by one plan") :]
        assert all(step in last for step in ("attention %", "add %", "layer_norm %")), text
        for other in ("none", "added", "bools", "padding"):  # other masks, or other numbers of dimensions: the other body
            masks = attention_masks(other, 6)
            x = torch.randn(2, 6, 32)
            torch.testing.assert_close(compiled(x, *masks), m(x, *masks), rtol=1e-5, atol=1e-5)
        x = x[0]
        torch.testing.assert_close(compiled(x), m(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("use_gelu", [False, True])
def test_whole_layers_are_decomposed(use_gelu, norm_first):
    """Archives of PyTorch call a layer of a transformer as one operator; which activation it has hangs on an integer."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.heads, self.activation, self.norm_first = nn.MultiheadAttention(32, 4, batch_first=True), 4, 2 if use_gelu else 1, norm_first
            self.norm1, self.norm2, self.wide, self.narrow = nn.LayerNorm(32), nn.LayerNorm(32), nn.Linear(32, 48), nn.Linear(48, 32)

        def forward(self, x, mask: torch.Tensor | None = None):
            return self.layer(x, mask) + self.wide(x).sum() * 0

        @torch.jit.export
        def layer(self, x, mask: torch.Tensor | None = None):
            a = self.a
            return torch._transformer_encoder_layer_fwd(
                x, 32, self.heads, a.in_proj_weight, a.in_proj_bias, a.out_proj.weight, a.out_proj.bias, self.activation == 2, self.norm_first, 1e-5,
                self.norm1.weight, self.norm1.bias, self.norm2.weight, self.norm2.bias, self.wide.weight, self.wide.bias,
                self.narrow.weight, self.narrow.bias, mask, 1 if mask is not None else None,
            )  # fmt: skip

    m = seeded(Layer())
    with torch.no_grad():
        compiled = torch.jit.script(m)
        for n in (6, 6, 9):
            x = torch.randn(2, n, 32)
            torch.testing.assert_close(compiled(x), m(x), rtol=1e-5, atol=1e-5)
        text = str(torch.jit.explain(compiled))
        last = text[text.rindex("by one plan") :]
        assert all(step in last for step in ("attention %", "linear+gelu %" if use_gelu else "linear+relu %", "layer_norm %")), text
        mask = torch.zeros(2, 9, dtype=torch.bool)
        mask[1, -2:] = True
        torch.testing.assert_close(compiled(x, mask), m(x, mask), rtol=1e-5, atol=1e-5)
        m.activation = compiled.activation = 3 - m.activation
        torch.testing.assert_close(compiled(x), m(x), rtol=1e-5, atol=1e-5)
        m.activation = compiled.activation = 3 - m.activation
        with torch.cpu.amp.autocast():  # casts what the layer consists of, but not the layer
            torch.testing.assert_close(compiled.layer(x), m.layer(x), rtol=1e-5, atol=1e-5)
    for layer in (m.layer, compiled.layer):  # nor has it a derivative
        with pytest.raises(RuntimeError, match="derivative for aten::_transformer_encoder_layer_fwd is not implemented"):
            layer(x).sum().backward()


@pytest.mark.parametrize("way", ["scripted", "traced", "frozen"])
def test_expanded_tokens(way):
    """A view that repeats a parameter for a batch does not end a plan: a frozen one refused all of it."""

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches, self.token, self.places = nn.Conv2d(3, 16, 4, 4), nn.Parameter(torch.randn(1, 1, 16)), nn.Parameter(torch.randn(1, 10, 16))
            self.norm, self.last, self.scale = nn.LayerNorm(16), nn.Linear(16, 5), nn.Parameter(torch.randn(1, 16))

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.size(0), -1, -1), x], 1) + self.places
            scale = self.scale.expand(x.size(1), 16)
            return self.last(torch.relu(self.norm(x) * scale)) + self.last(scale)

    m, x = seeded(Tokens()), torch.randn(2, 3, 12, 12)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x) if way == "traced" else torch.jit.script(m)
        if way == "frozen":
            compiled = torch.jit.freeze(compiled)
        for n in (2, 2, 2 if way == "traced" else 3):
            x = torch.randn(n, 3, 12, 12)
            torch.testing.assert_close(compiled(x), m(x), rtol=1e-5, atol=1e-5)
        assert is_planned(compiled, x)


class Parted(nn.Module):
    """Attention whose queries, keys and values are parts of one product."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = self.parts(self.qkv(x))
        return self.out((torch.softmax(q @ k.transpose(-2, -1) * 0.25, -1) @ v).transpose(1, 2).reshape(x.shape))

    def heads(self, t):
        return t.view(t.size(0), t.size(1), 4, 8).transpose(1, 2)


class Unbound(Parted):
    def parts(self, y):
        q, k, v = y.reshape(y.size(0), y.size(1), 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        return q, k, v


class Chunks(Parted):
    def parts(self, y):
        q, k, v = y.chunk(3, -1)
        return self.heads(q), self.heads(k), self.heads(v)


class Splits(Parted):
    def parts(self, y):
        q, k, v = y.split(32, 2)
        return self.heads(q), self.heads(k), self.heads(v)


class Sized(Parted):
    def parts(self, y):
        q, k, v = torch.split_with_sizes(y, [32, 32, 32], dim=2)
        return self.heads(q), self.heads(k), self.heads(v)


@pytest.mark.parametrize("way", ["scripted", "traced", "frozen"])
@pytest.mark.parametrize("kind", [Unbound, Chunks, Splits, Sized])
def test_parts_are_views(kind, way):
    """What unbind, chunk and split give of a product stays in its plan."""
    m, x = seeded(kind()), torch.randn(2, 7, 32)
    with torch.no_grad():
        compiled = torch.jit.trace(m, x) if way == "traced" else torch.jit.script(m)
        if way == "frozen":
            compiled = torch.jit.freeze(compiled)
        for shape in [(2, 7, 32)] * 3 if way == "traced" else [(2, 7, 32), (2, 7, 32), (1, 9, 32)]:
            x = torch.randn(*shape)
            torch.testing.assert_close(compiled(x), m(x), rtol=1e-5, atol=1e-5)
        text = str(torch.jit.explain(compiled))
        assert is_planned(compiled, x) and "attention %" in text, text


def test_parts_of_images_and_writes_to_them():
    class Shuffled(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Conv2d(4, 16, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(16, 4, 1)

        def forward(self, x):
            y, z = self.a(x).chunk(2, 1)
            y = torch.cat([y, torch.relu(self.b(z))], 1)
            y = y.view(y.size(0), 2, 8, y.size(2), y.size(3)).transpose(1, 2).flatten(1, 2)
            return self.c(y), z * 2

    class Written(Shuffled):
        def forward(self, x):
            w = self.a(x)
            y, z = w.chunk(2, 1)
            w.relu_()
            z.mul_(2)
            return self.c(torch.cat([y, self.b(z)], 1)), w + 1

    for kind in (Shuffled, Written):
        m = seeded(kind())
        with torch.no_grad():
            compiled = torch.jit.script(m)
            for size in (6, 6, 9):
                x = torch.randn(2, 4, size, 7)
                for one, other in zip(compiled(x), m(x), strict=True):
                    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
            assert kind is Written or is_planned(compiled, x)


@pytest.mark.parametrize("way", ["scripted", "frozen"])
@pytest.mark.parametrize("activation", [nn.ReLU6, nn.SiLU, nn.ReLU])
def test_large_images_are_expanded_by_rows(activation, way):
    """What a depthwise convolution reads, and nothing else, is never there as a whole where it is larger than the caches; threads share the rows."""
    expand = [nn.Conv2d(8, 96, 1, bias=False), nn.BatchNorm2d(96), activation()]
    m = seeded(nn.Sequential(*expand, nn.Conv2d(96, 96, 3, 2, 1, groups=96), activation(), nn.Conv2d(96, 16, 1)))
    with torch.no_grad():
        compiled = torch.jit.script(m)
        if way == "frozen":
            compiled = torch.jit.optimize_for_inference(torch.jit.freeze(compiled))
        threads = torch.get_num_threads()
        try:
            for batch, size, count in ((1, 64, 1), (1, 64, 1), (2, 80, 3), (1, 16, 1)):
                torch.set_num_threads(count)
                x = torch.randn(batch, 8, size, size)
                torch.testing.assert_close(compiled(x), m(x), rtol=1e-4, atol=1e-5)
                text = str(torch.jit.explain(compiled))
                assert ("by rows" in text) == (size > 16), text
            m[0].weight.mul_(2.0)
            if way == "scripted":  # weights may change
                x = torch.randn(1, 8, 64, 64)
                torch.testing.assert_close(compiled(x), m(x), rtol=1e-4, atol=1e-5)
        finally:
            torch.set_num_threads(threads)


@pytest.mark.parametrize("way", ["scripted", "frozen"])
@pytest.mark.parametrize("before", ["pixels", "patches", ""])
def test_large_images_are_narrowed_by_rows(before, way):
    """What a depthwise convolution gives to one of one pixel alone is never there as a whole, either; what is added lies as ever, and bits are the same for any number of threads."""
    expands = before == "pixels"

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            wide = 64 if expands else 32
            expand = [nn.Conv2d(32, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6()] if expands else []
            self.first = nn.Sequential(nn.Conv2d(32, 32, 3, 2, 1, bias=False), nn.ReLU6()) if before == "patches" else nn.Identity()
            self.is_alone = before == "patches"  # nobody else reads what is before
            self.layers = nn.Sequential(*expand, nn.Conv2d(wide, wide, 3, 1, 1, groups=wide), nn.ReLU6(), nn.Conv2d(wide, 32, 1), nn.BatchNorm2d(32))

        def forward(self, x):
            x = self.first(x)
            return torch.relu(self.layers(x) if self.is_alone else x + self.layers(x))

    m = seeded(Block())
    with torch.no_grad():
        compiled = torch.jit.script(m)
        if way == "frozen":
            compiled = torch.jit.optimize_for_inference(torch.jit.freeze(compiled))
        threads = torch.get_num_threads()
        try:
            for batch, size in ((1, 70), (1, 70), (2, 70), (1, 16)):
                x, found = torch.randn(batch, 32, *[2 * size if before == "patches" else size] * 2), []
                for count in (1, 3):
                    torch.set_num_threads(count)
                    found.append(compiled(x))
                torch.testing.assert_close(found[0], m(x), rtol=1e-4, atol=1e-5)
                assert torch.equal(*found)
                text = str(torch.jit.explain(compiled))
                rows = 0 if size == 16 else 2 if before else 1
                assert text.count(", by rows ") == rows, text
        finally:
            torch.set_num_threads(threads)


def test_integers_on_which_branches_hang():
    """What follows from an attribute is looked at once, however often it is read: a chain of sums of itself had as many ways as there are paths."""
    chain = "\n".join("    n = n + n" for _ in range(60))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.n, self.kind = nn.Linear(4, 4), nn.Linear(4, 4), 3, 1

    m = torch.jit.script(seeded(Layer()))
    m.define(f"def forward(self, x):\n    n = self.n\n{chain}\n    y = self.b(self.a(x))\n    if self.kind == 1:\n        y = y + 1\n    return y, n")
    with torch.no_grad():
        x = torch.randn(2, 4)
        for _ in range(2):
            y, n = m(x)
            assert n == 3 << 60
            torch.testing.assert_close(y, m.b(m.a(x)) + 1)
        m.kind = 2
        torch.testing.assert_close(m(x)[0], m.b(m.a(x)))
