"""What programs and archives of PyTorch 2 name: numbers and messages are those of 2.15."""

import json
import pathlib

import pytest

import torchjit as torch
from torchjit import nn
from torchjit.nn import functional as F  # noqa: N812


def near(x, y):
    return torch.allclose(x, torch.tensor(y), rtol=1e-4, atol=1e-6)


def test_an_archive():
    """One that 2.15 wrote of a layer of a transformer, an RMSNorm, an autocast, an interpolation, attention and a loss."""
    extra = {"answer.json": ""}
    module = torch.jit.load(pathlib.Path(__file__).parent / "data" / "torch2.pt", _extra_files=extra)
    answer = json.loads(extra["answer.json"])
    for run in (module, torch.jit.freeze(module)):
        for _ in range(3):
            with torch.no_grad():
                y, loss = run(torch.tensor(answer["x"]), torch.tensor(answer["target"]))
            assert near(y, answer["y"]) and near(loss, answer["loss"])


Q = torch.arange(24.0).view(1, 2, 3, 4).div(10).sin()
K, V = Q.flip(2), Q + 0.5


def test_attention():
    causal = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    assert torch.equal(causal, F.scaled_dot_product_attention(Q, K, V, torch.ones(3, 3, dtype=torch.bool).tril()))
    assert torch.equal(causal[:, :, 0], V[:, :, 0])
    mask = torch.tensor([[True, True, False], [False, False, False], [True, False, True]])
    q = Q.clone().requires_grad_()
    masked = F.scaled_dot_product_attention(q, K, V, mask)
    masked.sum().backward()
    assert masked[:, :, 1].eq(0).all() and q.grad.isfinite().all() and q.grad[:, :, 1].eq(0).all()
    with_numbers = F.scaled_dot_product_attention(Q, K, V, torch.zeros(3, 3).masked_fill(~mask, -float("inf")))
    assert torch.allclose(masked, with_numbers)
    shared = F.scaled_dot_product_attention(Q, K[:, :1], V[:, :1], enable_gqa=True, scale=0.25)
    assert torch.allclose(shared, F.scaled_dot_product_attention(Q, K[:, :1].expand(1, 2, 3, 4), V[:, :1].expand(1, 2, 3, 4), scale=0.25))
    assert torch.autograd.gradcheck(F.scaled_dot_product_attention, [x.double().requires_grad_() for x in (Q, K, V)])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 12)

    def forward(self, x, scale: float):
        q, k, v = self.project(x).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v, scale=scale) + F.scaled_dot_product_attention(q, k, v)


def test_planned_attention():
    """A frozen module's plan gives what eager calls give."""
    module, x = Attention().eval(), torch.rand(2, 3, 5, 4)
    for way in (torch.jit.script(module), torch.jit.freeze(torch.jit.script(module))):
        with torch.no_grad():
            for _ in range(4):
                assert torch.allclose(way(x, 0.3), module(x, 0.3), atol=1e-6)


@pytest.mark.parametrize(
    "args, message",
    [
        ((Q, K.double(), V), "Expected query, key, and value to have the same dtype, but got query.dtype: float key.dtype: double"),
        ((Q, K, V, Q.double()[0, 0, :, :3]), "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: double"),
        ((Q, K, V, Q[0, 0, :, :3] > 0, 0.0, True), "Explicit attn_mask should not be set when is_causal=True"),
        ((Q[0, 0, 0], K, V), "at least 2 dimensional, but got query.dim: 1 key.dim: 4"),
        ((Q, K, V, None, 2.0), "dropout probability has to be between 0 and 1, but got 2"),
    ],
)
def test_refused_attention(args, message):
    with pytest.raises(RuntimeError) as raised:
        F.scaled_dot_product_attention(*args)
    assert message in str(raised.value)


def test_resampling_by_lanczos():
    x = torch.arange(20.0).view(1, 1, 4, 5).sin().requires_grad_()
    smaller = [[-0.6090, -0.2538, 0.3901, 0.7181, 0.7884, 0.3009, -0.0822], [-0.0361, -0.3974, -0.8160, -0.6658, -0.2767, 0.3536, 0.6770]]
    y = torch.ops.aten._upsample_lanczos2d_aa(x, [2, 7], False)
    assert torch.allclose(y, torch.tensor([[smaller]]), atol=1e-4)
    assert torch.ops.aten._upsample_lanczos2d_aa.vec(x, None, True, [0.5, 1.5]).shape == (1, 1, 2, 7)
    assert torch.autograd.gradcheck(lambda t: torch.ops.aten._upsample_lanczos2d_aa(t, [2, 7], False), [x.detach().double().requires_grad_()])


def test_names():
    assert torch.ops.aten.broadcast_shapes([3, 1], [2]) == [3, 2]
    assert torch.ops.aten.get_autocast_dtype("cpu") == 15  # bfloat16
    assert nn.LayerNorm(3, bias=False).bias is None
    assert near(nn.RMSNorm(2)(torch.tensor([[1.0, 7.0]])), [[0.2, 1.4]])


def test_generators_in_programs():
    """A program makes its own in each call, as Python does; PyTorch keeps the first as a constant."""

    @torch.jit.script
    def draw(seed: int):
        g = torch.Generator()
        first = g.initial_seed()
        g.manual_seed(seed)
        return torch.rand([2], generator=g), first, g.initial_seed(), torch.rand([2], generator=g)

    x, first, seed, y = draw(3)
    assert torch.equal(x, torch.rand(2, generator=torch.Generator().manual_seed(3))) and not torch.equal(x, y) and (first, seed) == (67280421310721, 3)
    assert torch.equal(draw(3)[0], x) and torch.equal(torch.jit.freeze(torch.jit.script(Draws()).eval())(), x)

    @torch.jit.script
    def reseed(g: torch.Generator):
        return g.seed(), torch.rand([2], generator=g)

    g = torch.Generator()
    seed, x = reseed(g)
    assert g.initial_seed() == seed and torch.equal(x, torch.rand(2, generator=torch.Generator().manual_seed(seed)))
    with pytest.raises(RuntimeError, match="random numbers of the device meta have no generator"):
        torch.jit.CompilationUnit("def f():\n  return torch.Generator(device='meta')\n").f()


class Draws(nn.Module):
    def forward(self):
        g = torch.Generator().manual_seed(3)
        return torch.rand([2], generator=g)


def test_bytes_of_tensors_in_programs():
    f = torch.jit.CompilationUnit("def f(x):\n  return x.itemsize, x.nbytes\n").f
    assert f(torch.ones(2, 3, dtype=torch.int16)) == (2, 12)


def test_types_and_schemas():
    c = torch._C
    assert str(c.ListType.ofStrings()) == "List[str]"
    assert torch.jit.script(nn.ReLU())._c._type().method_names() == ["forward"]
    written = c.parse_schema("f(Tensor(a!) x, Tensor(b) y, int z) -> ()")
    assert [a.is_write for a in written.arguments] == [True, False, False]
    views = {"f(Tensor(a) x) -> Tensor(a)": True, "f(Tensor(a!) x) -> Tensor(a!)": False, "f(Tensor x) -> Tensor": False}
    assert {text: c.parse_schema(text)._is_view_op() for text in views} == views
