"""Run by test_pytorch_tensors.py with a Python that has PyTorch: tensors of PyTorch's are arguments at every door."""

import sys

import torch

import torchjit

ROWS = torch.arange(6.0).reshape(2, 3)
WANT = (ROWS * 2).tolist()


def double(x):
    return x * 2


class Net(torchjit.nn.Module):
    def forward(self, x):
        return x * 2


def refused(call):
    try:
        call()
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        return str(error)
    raise AssertionError("expected an error")


# Operators, methods, functions of nn, compiled, traced and exported programs.
ones = torchjit.ones(2, 3)
assert (torchjit.mul(ROWS, 2)).tolist() == torchjit.ops.aten.mul(ROWS, 2).tolist() == WANT
assert (ones + ROWS).tolist() == (ROWS + ones).tolist() == ones.add(ROWS).tolist() == (ROWS + 1).tolist()
assert torchjit.cat([ROWS, ones]).shape == (4, 3) and torchjit.nn.functional.relu(-ROWS).sum() == 0
assert torchjit.ones(3)[torch.tensor([0, 1])].tolist() == [1, 1]
assert torchjit.jit.script(double)(ROWS).tolist() == torchjit.jit.script(Net())(x=ROWS).tolist() == WANT
assert torchjit.jit.trace(double, ROWS)(ROWS).tolist() == torchjit.jit.trace(Net(), (ROWS,))(ROWS).tolist() == WANT
assert torchjit.export.export(Net(), (ROWS,)).module()(ROWS).tolist() == WANT
assert torchjit.jit.load(sys.argv[1])(torch.zeros(1, 1, 12, 12)).shape == (1, 10)
assert type(torchjit.mul(ROWS, 2)) is torchjit.Tensor



class Sub(torchjit.Tensor):
    """Subclasses of this library's tensors are what they are without PyTorch."""


sub = torchjit.ones(2).as_subclass(Sub)
for call in (torchjit.add, torchjit.Tensor.mul, torchjit.ops.aten.sub, lambda x, y: x + y, lambda x, _: torchjit.nn.functional.softmax(x, 0)):
    assert type(call(sub, 1)) is Sub

# Element types and layouts.
for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64):
    x = torch.ones(2, 3, dtype=dtype).t()
    y = torchjit.clone(x)
    assert str(y.dtype) == str(dtype) and y.shape == (3, 2) and y.stride() == x.stride() and y.tolist() == x.tolist()
assert torchjit.clone(torch.ones(2, dtype=torch.complex64).mul(1j).conj()).tolist() == [-1j, -1j]

# Nothing is copied, either way.
assert torchjit.jit.CompilationUnit("def add_(x):\n    return x.add_(1)\n").add_(ROWS).tolist() == ROWS.tolist() == [[1, 2, 3], [4, 5, 6]]
assert torchjit.reshape(ROWS, (-1,)).data_ptr() == ROWS.data_ptr()
back = torch.from_dlpack(torchjit.reshape(ROWS, (-1,)))
assert back.data_ptr() == ROWS.data_ptr()

# Modules take weights.
torch.manual_seed(0)
given = torch.nn.Linear(3, 2)
linear = torchjit.nn.Linear(3, 2)
linear.load_state_dict(given.state_dict())
assert torch.allclose(torch.from_dlpack(linear(ROWS).detach()), given(ROWS).detach(), atol=1e-6)
assert torchjit.nn.Parameter(given.weight).data_ptr() == given.weight.data_ptr()
linear.register_buffer("rows", ROWS)
assert linear.rows.data_ptr() == ROWS.data_ptr()

# Optimizers change parameters of PyTorch's where they lie, by PyTorch's gradients, as PyTorch's do.
def trained(optimizers, name, **options):
    net = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(torch.arange(float(p.numel())).reshape(p.shape).sub(i).div(5).sin())
    optimizer = getattr(optimizers, name)([{"params": [net.weight]}, {"params": net.bias}] if name != "LBFGS" else net.parameters(), **options)

    def closure():
        optimizer.zero_grad()
        loss = net(ROWS).square().mean()
        loss.backward()
        return loss

    for _ in range(3):
        last = optimizer.step(closure)
    optimizer.zero_grad(set_to_none=True)
    assert net.weight.grad is None
    return [float(last.detach()), *net.weight.detach().reshape(-1).tolist(), *net.bias.tolist()]


for name, options in {"SGD": {"lr": 0.01, "momentum": 0.9}, "Adam": {"lr": 0.1}, "RMSprop": {}, "LBFGS": {"line_search_fn": "strong_wolfe"}}.items():
    ours, theirs = trained(torchjit.optim, name, **options), trained(torch.optim, name, **options)
    assert all(abs(x - y) < 1e-4 for x, y in zip(ours, theirs)), (name, ours, theirs)
assert "non-leaf" in refused(lambda: torchjit.optim.SGD([given.weight * 2], lr=1))
assert "more than one" in refused(lambda: torchjit.optim.SGD([{"params": given.weight}, {"params": given.weight}], lr=1))
assert "iterable of Tensors" in refused(lambda: torchjit.optim.SGD(given.weight, lr=1))

# Comparisons take both.
torchjit.testing.assert_close(linear.weight, given.weight)
torchjit.testing.assert_close({"rows": [ones * 2]}, {"rows": [torch.full((2, 3), 2.0)]})
torchjit.testing.assert_allclose(given.weight, linear.weight)
assert "not close" in refused(lambda: torchjit.testing.assert_close(ones, torch.zeros(2, 3)))
assert "'dtype' do not match" in refused(lambda: torchjit.testing.assert_close(ones, torch.ones(2, 3).double()))

# Gradients do not flow from one library to the other, which is said.
assert "pass tensor.detach(), or call this under torchjit.no_grad()" in refused(lambda: torchjit.mul(given.weight, 2))
with torchjit.no_grad():
    assert torchjit.mul(given.weight, 2).shape == (2, 3)
for call in (lambda: torch.add(ROWS, ones), lambda: torch.add(ones, ones), lambda: torch.nn.functional.softmax(ones, -1)):
    assert "torchjit.Tensor" in refused(call)
print("tensors of PyTorch", torch.__version__)
