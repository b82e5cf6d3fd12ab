"""Modules: registration, state, hooks, printing, defaults of the layers."""

import copy
import math

import pytest

import torchjit as torch
from torchjit import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.extra = None

    def forward(self, x):
        return self.fc(x) * self.scale


def test_what_is_assigned_is_registered():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "fc.weight", "fc.bias"]
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "fc"]
    assert list(net.state_dict()) == ["scale", "seen", "fc.weight", "fc.bias"]
    assert isinstance(net.fc.weight, nn.Parameter) and net.fc.weight.requires_grad
    assert net.get_parameter("fc.bias") is net.fc.bias and net.get_submodule("fc") is net.fc


@pytest.mark.parametrize(
    "change, error",
    [
        (lambda n: setattr(n, "scale", torch.ones(1)), TypeError),
        (lambda n: setattr(n, "fc", 3), TypeError),
        (lambda n: n.register_buffer("fc", torch.ones(1)), KeyError),
        (lambda n: n.register_buffer("a.b", torch.ones(1)), KeyError),
        (lambda n: n.register_parameter("p", torch.ones(1)), TypeError),
        (lambda n: n.add_module("m", 3), TypeError),
        (lambda n: n.nothing, AttributeError),
        (lambda n: nn.Module()(1), NotImplementedError),
    ],
)
def test_misuse(change, error):
    with pytest.raises(error):
        change(Net())


def test_states_are_copied_in_and_checked():
    a, b = Net(), Net()
    result = a.load_state_dict(b.state_dict())
    assert repr(result) == "<All keys matched successfully>" and torch.equal(a.fc.weight, b.fc.weight)
    assert a.fc.weight is not b.fc.weight
    state = dict(b.state_dict(), more=torch.ones(1))
    del state["scale"]
    state["fc.bias"] = torch.ones(3)
    with pytest.raises(RuntimeError) as caught:
        a.load_state_dict(state)
    for part in (
        'Missing key(s) in state_dict: "scale"',
        'Unexpected key(s) in state_dict: "more"',
        "size mismatch for fc.bias",
    ):
        assert part in str(caught.value)


def test_modes_types_and_copies():
    net = Net().eval()
    assert not net.training and not net.fc.training and net.train().fc.training
    assert net.double().fc.weight.dtype is torch.float64 and isinstance(net.fc.weight, nn.Parameter)
    other = copy.deepcopy(net)
    assert other.fc.weight is not net.fc.weight and torch.equal(other.fc.weight, net.fc.weight)


def test_hooks():
    net = nn.Linear(2, 2)
    seen = []
    handle = net.register_forward_hook(lambda m, args, out: seen.append(out) or out * 0)
    assert net(torch.ones(2)).tolist() == [0.0, 0.0] and len(seen) == 1
    handle.remove()
    net(torch.ones(2))
    assert len(seen) == 1


REPRS = {
    "nn.Linear(2, 3, bias=False)": "Linear(in_features=2, out_features=3, bias=False)",
    "nn.Conv2d(3, 4, 3, padding=1, groups=1)": "Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))",
    "nn.BatchNorm2d(3)": "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
    "nn.LayerNorm(4)": "LayerNorm((4,), eps=1e-05, elementwise_affine=True)",
    "nn.Embedding(4, 3, padding_idx=0)": "Embedding(4, 3, padding_idx=0)",
    "nn.LSTM(3, 4, 2, batch_first=True)": "LSTM(3, 4, num_layers=2, batch_first=True)",
    "nn.Dropout(0.2)": "Dropout(p=0.2, inplace=False)",
    "nn.MaxPool2d(2)": "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
    "nn.ReLU(inplace=True)": "ReLU(inplace=True)",
    "nn.Sequential(nn.Flatten(), nn.Tanh())": "Sequential(\n  (0): Flatten(start_dim=1, end_dim=-1)\n  (1): Tanh()\n)",
}


@pytest.mark.parametrize("text", REPRS)
def test_repr(text):
    assert repr(eval(text)) == REPRS[text]


STATES = {
    "nn.GRU(2, 3, 1, bidirectional=True)": [
        f"{k}_l0{s}" for s in ("", "_reverse") for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ],
    "nn.LSTMCell(2, 3)": ["weight_ih", "weight_hh", "bias_ih", "bias_hh"],
    "nn.MultiheadAttention(4, 2)": ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"],
    "nn.BatchNorm1d(2)": ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"],
    "nn.ParameterList([torch.ones(1)])": ["0"],
    "nn.PReLU()": ["weight"],
}


@pytest.mark.parametrize("text", STATES)
def test_state_names(text):
    assert list(eval(text).state_dict()) == STATES[text]


def test_first_values_keep_to_their_bounds():
    fc = nn.Linear(100, 50)
    bound = 1 / math.sqrt(100)
    assert fc.weight.abs().max().item() <= bound and fc.weight.std().item() == pytest.approx(
        bound / math.sqrt(3), rel=0.1
    )
    x = nn.init.kaiming_normal_(torch.empty(200, 300), nonlinearity="relu")
    assert x.std().item() == pytest.approx(math.sqrt(2 / 300), rel=0.05)
    assert nn.init.trunc_normal_(torch.empty(1000), std=2.0, a=-1.0, b=1.0).abs().max().item() <= 1.0


def test_containers():
    s = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())
    assert len(s) == 3 and isinstance(s[-1], nn.Tanh) and len(s[:2]) == 2
    layers = nn.ModuleList([nn.ReLU()])
    layers.append(nn.Tanh())
    layers.insert(0, nn.Identity())
    assert [type(m).__name__ for m in layers] == ["Identity", "ReLU", "Tanh"]
    d = nn.ModuleDict({"a": nn.ReLU()})
    d["b"] = nn.Tanh()
    assert list(d) == ["a", "b"] and "a" in d and isinstance(d.pop("b"), nn.Tanh)


MODULES = {
    "nn.Conv1d(2, 3, 3, padding=1)": (1, 2, 5), "nn.Conv2d(2, 4, 3, stride=2, groups=2)": (1, 2, 6, 6),
    "nn.ConvTranspose2d(2, 3, 2, stride=2)": (1, 2, 4, 4), "nn.BatchNorm2d(2)": (3, 2, 4, 4), "nn.GroupNorm(2, 4)": (2, 4, 3),
    "nn.LayerNorm([3, 4])": (2, 3, 4), "nn.InstanceNorm1d(2)": (2, 2, 5), "nn.MaxPool2d(2)": (1, 2, 4, 4), "nn.AvgPool2d(2)": (1, 2, 4, 4),
    "nn.AdaptiveAvgPool2d(1)": (1, 2, 4, 4), "nn.GELU()": (3, 2), "nn.Softmax(dim=1)": (3, 2), "nn.LSTM(3, 4)": (5, 2, 3),
    "nn.GRU(3, 4, 2, bidirectional=True)": (5, 2, 3), "nn.ZeroPad2d(1)": (1, 1, 2, 2), "nn.Upsample(scale_factor=2)": (1, 1, 2, 2),
    "nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)": (3, 2, 4),
}  # fmt: skip


@pytest.mark.parametrize("text", MODULES)
def test_compiled_modules_agree_with_python(text):
    module = eval(text).eval()
    x = torch.rand(*MODULES[text])
    expected, got = module(x), torch.jit.script(module)(x)
    for a, b in zip(expected if isinstance(expected, tuple) else [expected], got if isinstance(got, tuple) else [got]):
        for p, q in zip(a if isinstance(a, tuple) else [a], b if isinstance(b, tuple) else [b]):
            assert torch.allclose(p, q)


def test_bags_of_embeddings_refuse_what_is_no_mode_or_offset():
    weight, indices = torch.ones(3, 2), torch.tensor([0, 1, 2])
    with pytest.raises(RuntimeError, match=r"offsets\[1\] of -1"):
        torch.embedding_bag(weight, indices, torch.tensor([0, -1]))
    with pytest.raises(RuntimeError, match="expected mode"):
        torch.embedding_bag(weight, indices, torch.tensor([0]), False, 3)


@pytest.mark.parametrize("mask", ["attn_mask", "key_padding_mask"])
def test_masks_of_attention_are_bools_or_numbers(mask):
    """Masks of integers were added to the scores, and those of bytes too; PyTorch 1.13 takes the latter for bools where scores are masked."""
    m, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 3, 8)
    values = torch.tensor([[0, 1, 1], [0, 0, 1], [0, 0, 0]])[: 1 if mask == "key_padding_mask" else 3]
    with pytest.raises(AssertionError, match="are supported"):
        m(x, x, x, **{mask: values})
    if mask == "attn_mask":
        with pytest.warns(UserWarning, match="Byte tensor for attn_mask in nn.MultiheadAttention is deprecated"):
            y = m(x, x, x, attn_mask=values.byte())[0]
        torch.testing.assert_close(y, m(x, x, x, attn_mask=values.bool())[0])
    else:
        with pytest.raises(AssertionError, match="only bool and floating types"):
            m(x, x, x, key_padding_mask=values.byte())


def test_masks_of_numbers_add_up():
    m, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(2, 3, 8)
    scores, keys = torch.randn(3, 3), torch.randn(2, 3)
    both = (scores + keys[:, None]).repeat_interleave(2, 0)
    torch.testing.assert_close(m(x, x, x, attn_mask=scores, key_padding_mask=keys)[0], m(x, x, x, attn_mask=both)[0])
    forbidden = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    both = (torch.zeros(3, 3).masked_fill(forbidden, float("-inf")) + keys[:, None]).repeat_interleave(2, 0)
    torch.testing.assert_close(m(x, x, x, attn_mask=forbidden, key_padding_mask=keys)[0], m(x, x, x, attn_mask=both)[0])
