"""Compile a Python function."""

import torchjit as torch


@torch.jit.script
def clip_sum(x, steps: int):
    total = torch.zeros_like(x)
    for i in range(steps):
        if i % 2 == 0:
            total = total + x * i
    return total.clamp(-1.0, 1.0)


print(clip_sum(torch.tensor([0.1, -2.0, 0.03]), 5))
print(clip_sum.graph)
print(clip_sum.code)
