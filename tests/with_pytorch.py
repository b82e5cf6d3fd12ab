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
    except (RuntimeError, TypeError) as error:
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
given = torch.nn.Linear(3, 2)
linear = torchjit.nn.Linear(3, 2)
linear.load_state_dict(given.state_dict())
assert torch.allclose(torch.from_dlpack(linear(ROWS).detach()), given(ROWS).detach())
assert torchjit.nn.Parameter(given.weight).data_ptr() == given.weight.data_ptr()
linear.register_buffer("rows", ROWS)
assert linear.rows.data_ptr() == ROWS.data_ptr()

# Gradients do not flow from one library to the other, which is said.
assert "pass tensor.detach(), or call this under torchjit.no_grad()" in refused(lambda: torchjit.mul(given.weight, 2))
with torchjit.no_grad():
    assert torchjit.mul(given.weight, 2).shape == (2, 3)
for call in (lambda: torch.add(ROWS, ones), lambda: torch.add(ones, ones), lambda: torch.nn.functional.softmax(ones, -1)):
    assert "torchjit.Tensor" in refused(call)
print("tensors of PyTorch", torch.__version__)
