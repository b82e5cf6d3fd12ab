"""Gradients, training and running beside threads that trace, export, dispatch, compile and load."""

from __future__ import annotations

import io
import random
import threading
import warnings

import torchjit as torch
from torchjit.utils._python_dispatch import TorchDispatchMode

CALLS = 400  # of the thread that computes, in one case


class Counting(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def scripted(x, n: int):
    for i in range(n):
        x = torch.tanh(x * 0.5 + float(i))
    return x.sum()


class Disturber:
    """What another thread does again and again."""

    def __init__(self) -> None:
        self.linear = torch.nn.Linear(4, 4)
        self.script = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)))
        buffer = io.BytesIO()
        torch.jit.save(self.script, buffer)
        self.archive = buffer.getvalue()

    def trace(self) -> None:
        torch.jit.trace(self.linear, torch.ones(1, 4), check_trace=False)

    def export(self) -> None:
        torch.export.export(self.linear, (torch.ones(2, 4),))

    def dispatch(self) -> None:
        with Counting():
            x = torch.ones(2, 4, requires_grad=True)
            (self.linear(x) * 2).sum().backward()

    def compile(self) -> None:
        torch.jit.script(scripted)(torch.ones(3), 3)

    def load(self) -> None:
        torch.jit.load(io.BytesIO(self.archive))(torch.ones(2, 4))

    def train(self) -> None:
        parameters = [torch.nn.Parameter(torch.ones(3, 3)) for _ in range(2)]
        optimizer = torch.optim.Adam(parameters, lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (parameters[0] @ parameters[1]).pow(2).sum().backward()
            optimizer.step()

    def forward_mode(self) -> None:
        torch.autograd.functional.jvp(lambda x: (x * x).sum(), torch.ones(3), torch.ones(3))


DISTURBANCES = ["trace", "export", "dispatch", "compile", "load", "train", "forward_mode"]


def matrices(k: int):
    w = torch.ones(4, 4, requires_grad=True)
    (g,) = torch.autograd.grad((torch.full((2, 4), float(k)) @ w).sum(), w)
    return g, torch.full((4, 4), 2.0 * k)


def slices(k: int):
    x = torch.ones(500, requires_grad=True)
    (g,) = torch.autograd.grad((torch.full((1000,), float(k))[500:] * x).sum(), x)
    return g, torch.full((500,), float(k))


def chains(k: int):
    x = torch.full((300,), float(k % 7), requires_grad=True)
    ((x * x).tanh() + x.detach() * x).sum().backward()
    squared = x.detach() * x.detach()
    return x.grad, 2 * x.detach() * (1 - squared.tanh() ** 2) + x.detach()


def graphs(k: int):
    x = torch.full((64,), 0.25, requires_grad=True)
    loss = GRAPH(x * float(k % 5 + 1), 3)
    (g,) = torch.autograd.grad(loss, x)
    with torch.no_grad():
        pass
    y = torch.full((64,), 0.25, requires_grad=True)
    (expected,) = torch.autograd.grad(scripted(y * float(k % 5 + 1), 3), y)
    return g, expected


COMPUTATIONS = [matrices, slices, chains, graphs]
GRAPH = torch.jit.script(scripted)


class Part:
    def __init__(self, seed: int, folder: str) -> None:
        self.seed = seed
        warnings.simplefilter("ignore")
        self.disturber = Disturber()

    def choose(self, i: int):
        r = random.Random(f"{self.seed}:{i}")
        return r.sample(DISTURBANCES, r.randint(1, 3)), r.sample(COMPUTATIONS, r.randint(1, 2)), r.choice([1, 1, 2])

    def describe(self, i: int) -> str:
        disturbances, computations, threads = self.choose(i)
        return f"{CALLS} rounds of {', '.join(f.__name__ for f in computations)} in {threads} threads each beside threads that do {', '.join(disturbances)}"

    def count(self, i: int) -> int:
        _, computations, threads = self.choose(i)
        return CALLS * len(computations) * threads

    def run(self, i: int) -> str | None:
        disturbances, computations, threads = self.choose(i)
        wrong: list[str] = []
        over = threading.Event()

        def guarded(f, *args):
            try:
                f(*args)
            except Exception as e:
                wrong.append(f"{getattr(f, '__name__', f)}: {type(e).__name__}: {str(e)[:300]}")

        def disturb(name: str) -> None:
            while not over.is_set() and not wrong:
                getattr(self.disturber, name)()

        def compute(f) -> None:
            for k in range(CALLS):
                got, expected = f(k)
                if not torch.allclose(got, expected, rtol=1e-5, atol=1e-6):
                    wrong.append(f"wrong result: {f.__name__} of {k}: {got.flatten()[:4].tolist()} for {expected.flatten()[:4].tolist()}")
                    return
                if wrong:
                    return

        disturbing = [threading.Thread(target=guarded, args=(disturb, name)) for name in disturbances]
        computing = [threading.Thread(target=guarded, args=(compute, f)) for f in computations for _ in range(threads)]
        for t in disturbing + computing:
            t.start()
        for t in computing:
            t.join()
        over.set()
        for t in disturbing:
            t.join()
        return wrong[0] if wrong else None
