"""The training steps that steps.py compares, under PyTorch and under torchjit alike:

    python steps_work.py MODULE NET WAY

It answers each line of its input with a line of JSON: "step" with the nanoseconds of processor time of some steps, "losses" with the losses of the
first ones, "memory" with the bytes that the process had at most above those behind the import. Without NET and WAY it prints their names.
"""

import json
import sys

from asked import times
from nets_work import BertLayer, ResNet18, nn, torch

F = nn.functional


def resident(name):
    """The memory of this process by a name of the kernel's: VmRSS, VmHWM."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(name))


class Loop(nn.Module):
    """An LSTM cell in a loop of Python, and what is read from its last state."""

    def __init__(self):
        super().__init__()
        self.cell, self.last = nn.LSTMCell(128, 256), nn.Linear(256, 10)

    def forward(self, x):
        h, c = torch.zeros(x.size(1), 256), torch.zeros(x.size(1), 256)
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
        return self.last(h)


class Residual(nn.Module):
    """A residual block over images with many channels."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(64, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)]
        self.layers, self.last = nn.Sequential(*layers), nn.Linear(64, 10)

    def forward(self, x):
        return self.last(torch.relu(x + self.layers(x)).mean([2, 3]))


def bert():
    return nn.Sequential(BertLayer(256, 4), nn.Flatten(0, 1), nn.Linear(256, 10))


def sgd(module):
    return torch.optim.SGD(module.parameters(), 0.01, momentum=0.9)


def adamw(module):
    return torch.optim.AdamW(module.parameters())


NETS = {
    "ResNet-18, batch 8, 112x112, SGD": (ResNet18, (8, 3, 112, 112), (8, 1000), sgd),
    "residual block, batch 8, SGD": (Residual, (8, 64, 28, 28), (8, 10), sgd),
    "BERT layer, 4x128 tokens, AdamW": (bert, (4, 128, 256), (4 * 128, 10), adamw),
    "LSTM cell in a loop, 32 steps, AdamW": (Loop, (32, 16, 128), (16, 10), adamw),
}
WAYS = {
    "eager": lambda module, x: module,
    "scripted": lambda module, x: torch.jit.script(module),
    "traced": lambda module, x: torch.jit.trace(module, x, check_trace=False),
    "compiled": lambda module, x: torch.compile(module),
}


def training(name, way):
    """A step of a net, which returns the loss."""
    make, shape, (rows, classes), optimizer_of = NETS[name]
    torch.manual_seed(0)
    module, x = make(), torch.randn(*shape)
    f, optimizer = WAYS[way](module, x), optimizer_of(module)
    wanted = torch.randint(0, classes, (rows,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(f(x), wanted)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    if len(sys.argv) == 2:
        ways = [way for way in WAYS if way != "compiled" or hasattr(torch, "compile")]
        print(json.dumps([torch.__version__.split("+")[0], list(NETS), ways]))
        return
    _, _, name, way = sys.argv
    before = resident("VmRSS")
    torch.set_num_threads(1)
    step = training(name, way)
    losses = [step() for _ in range(5)]
    for line in sys.stdin:
        answer = times(step, 0.6, 3) if line == "step\n" else losses if line == "losses\n" else resident("VmHWM") - before
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
