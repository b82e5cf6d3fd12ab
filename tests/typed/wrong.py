"""A program with a mistake in each line that has a comment `# wrong`: what type checkers must find, and nothing else."""

import torchjit as torch
import torchjit.nn.functional as F
from torchjit import Tensor, nn

x = torch.ones(2)
torch.softmx(x, 0)  # wrong
torch.softmax(x)  # wrong
torch.softmax(x, "a")  # wrong
torch.zeros(2.5)  # wrong
torch.cat(x)  # wrong
torch.linalg.svdd(x)  # wrong
print(torch.max(x, dim=0).valuess)  # wrong
torch.optim.Sgd([x])  # wrong
x.rellu()  # wrong
x.view(2.5)  # wrong
x + "a"  # wrong
nn.Linaer(2, 3)  # wrong
nn.Linear("2", 3)  # wrong
F.reluu(x)  # wrong
torch.jit.scirpt(x)  # wrong
torch.autograd.bakward(x)  # wrong


@torch.jit.script
def f(x: Tensor, n: int) -> Tensor:
    return x


f(x)  # wrong
f(x, "a")  # wrong
s: str = f(x, 1)  # wrong
print(torch.jit.load("model.pt").evil)  # attributes of modules are known when they run
torch.jit.freeze(x)  # wrong
torch.norm(x, dim="a")  # wrong
torch.unique(x, dims=0)  # wrong
torch.nn.Conv2d("a", 2, 3)  # wrong
torch.nn.Linear(2, 3, device=1.5)  # wrong
print(torch.distributions.Normal(0.0, 1.0).mu)  # wrong
print(torch.ao.nn.quantized.Liner)  # wrong
print(torch.optim.lr_scheduler.StepLR(1, 2).gama)  # wrong
