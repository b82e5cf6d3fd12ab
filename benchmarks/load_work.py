"""The work that `run.py --work load_work.py` measures: loading and saving an archive of 100 MB.

Prints nanoseconds by name, and for the rows of memory thousands of bytes.
"""

import json
import os
import sys
import tempfile
import time

if sys.argv[1] == "torchjit":
    import torchjit as torch
else:
    import torch

nn = torch.nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1024, 1024) for _ in range(25)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def took(work):
    start = time.perf_counter_ns()
    kept = work()
    return time.perf_counter_ns() - start, kept


def main():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stack.pt")
        model = torch.jit.script(Stack())
        found["save 100 MB"], _ = took(lambda: torch.jit.save(model, path))
        small = os.path.join(folder, "small.pt")
        torch.jit.save(torch.jit.script(nn.Linear(2, 2)), small)
        torch.jit.load(small)
        before = resident()
        found["load 100 MB, first"], kept = took(lambda: torch.jit.load(path))
        found["load 100 MB, more resident memory (KB)"] = max(resident() - before, 1)
        again = []
        for _ in range(9):
            ns, kept = took(lambda: torch.jit.load(path))
            again.append(ns)
        found["load 100 MB, again"] = sorted(again)[len(again) // 2]
        found["load and run forward"], kept = took(lambda: torch.jit.load(path)(torch.ones(1, 1024)))
        found["load a linear layer"] = min(took(lambda: torch.jit.load(small))[0] for _ in range(20))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
