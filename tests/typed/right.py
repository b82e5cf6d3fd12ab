"""A program as users write it, which type checkers must find no fault with, and which runs. assert_type says what they must know."""

import io
from collections.abc import Sequence

from typing_extensions import assert_type

import torchjit as torch
import torchjit.nn.functional as F
from torchjit import Tensor, nn


class Net(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.linear = nn.Linear(n, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm(self.linear(x)))
        return F.softmax(y, dim=-1)


@torch.jit.script
def scaled(x: Tensor, n: int) -> Tensor:
    return torch.softmax(x, n) * 2 + 1


assert_type(scaled(torch.randn(2, 3), 1), Tensor)
assert_type(scaled(torch.randn(2, 3), n=1), Tensor)
net = torch.jit.script(Net(3))
assert_type(net, torch.jit.RecursiveScriptModule)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3, requires_grad=True)
loss = (net(x) - 1).pow(2).mean()
loss.backward()
optimizer.step()
assert_type(x.grad, Tensor | None)
if x.grad is not None:
    assert_type(x.grad.sum(), Tensor)

values, indices = torch.max(x, dim=1)
assert_type(values, Tensor)
assert_type(torch.max(x, dim=1).indices, Tensor)
assert_type(torch.max(x, x), Tensor)
assert_type(x.view(3, -1), Tensor)
assert_type(x.view([3, -1]), Tensor)
assert_type(x.view(torch.int32), Tensor)
assert_type(x.shape, torch.Size)
assert_type(x.shape[0], int)
assert_type(x.size(-1), int)
assert_type(x.stride(), tuple[int, ...])
assert_type(x[0, :2], Tensor)
assert_type(x > 0, Tensor)
assert_type(1 - x, Tensor)
assert_type(-x @ x.t(), Tensor)
assert_type(x.to(torch.float64), Tensor)
assert_type(x.to("cpu", torch.float64), Tensor)
assert_type(x.dtype, torch.dtype)
assert_type(x.sum(dim=(0, 1), keepdim=True), Tensor)
assert_type(x.unsqueeze(0).expand(2, -1, -1).contiguous(), Tensor)
assert_type(x.detach().sum().item(), int | float | bool)
for row in x:
    assert_type(row, Tensor)
u, s, v = torch.linalg.svd(x)
assert_type(s, Tensor)
assert_type(torch.linalg.qr(x).R, Tensor)
assert_type(torch.fft.fft(x), Tensor)
assert_type(torch.special.expit(x), Tensor)
assert_type(torch.tensor([1.0]), Tensor)
assert_type(torch.cat([x, x], 0), Tensor)
assert_type(torch.where(x > 0, x, 0.0), Tensor)
assert_type(torch.zeros(2, 3, dtype=torch.int32), Tensor)
assert_type(torch.zeros((2, 3)), Tensor)
assert_type(torch.arange(3), Tensor)
assert_type(torch.split(x, 2), tuple[Tensor, ...])
assert_type(torch.lobpcg(x.t() @ x, k=1)[0], Tensor)
with torch.no_grad():
    assert_type(x.relu_(), Tensor)

image = torch.rand(1, 1, 4, 4)
assert_type(F.max_pool2d(image, 2), Tensor)
assert_type(F.max_pool2d(image, 2, return_indices=True), tuple[Tensor, Tensor])
assert_type(F.conv2d(image, torch.ones(1, 1, 3, 3), padding="same"), Tensor)
assert_type(F.cross_entropy(x, torch.zeros(8, dtype=torch.int64)), Tensor)
assert_type(nn.Linear(2, 3).weight, Tensor)
assert_type(torch.manual_seed(0), torch.Generator)

assert_type(F.max_pool2d(image, 2, 2, 0, 1, False, False), Tensor)
assert_type(nn.Conv2d(1, 2, (3, 3), padding="same", bias=False).kernel_size, tuple[int, ...])
assert_type(nn.LSTM(4, 3).forward(torch.ones(2, 1, 4))[1][0], Tensor)
assert_type(nn.PReLU().weight, nn.Parameter)
assert_type(nn.ReflectionPad2d(1).padding, Sequence[int])
assert_type(nn.TransformerEncoderLayer(4, 2).linear1, nn.Linear)
assert_type(torch.distributions.Normal(0.0, 1.0).loc, Tensor)
assert_type(torch.ao.nn.quantized.Linear(2, 3).scale, float)
assert_type(torch.norm(x, 2, 0), Tensor)
assert_type(torch.norm(x, dim=[0, 1]), Tensor)
assert_type(torch.tensordot(x, x, ([0], [0])), Tensor)
assert_type(torch.unique(x), Tensor)
assert_type(torch.unique(x, return_counts=True), tuple[Tensor, Tensor])
assert_type(torch.unique(x, return_inverse=True, return_counts=True), tuple[Tensor, Tensor, Tensor])
found = torch.unique(x, True, True)
assert isinstance(found, tuple) and len(found) == 2
assert_type(torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), 0.1), 2).gamma, float)

buffer = io.BytesIO()
torch.jit.save(net, buffer)
buffer.seek(0)
assert_type(torch.jit.load(buffer), torch.jit.RecursiveScriptModule)
assert_type(torch.jit.freeze(net.eval()), torch.jit.RecursiveScriptModule)
program = torch.export.export(Net(3).eval(), (x,))
assert_type(program, torch.export.ExportedProgram)
