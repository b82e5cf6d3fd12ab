#!/usr/bin/env python3
"""Long runs that issue after issue must pass again; each prints what it measured and fails where that is too much.

    python -m tests.stress gradients [CALLS]   backward calls beside a thread that traces, one in a dispatch mode and one that exports (10^6)
    python -m tests.stress loads [LOADS]       loads of a module of 9 MB, compiled and lite: resident memory between the half and the end (600)
    python -m tests.stress saves [SAVES]       saves to one path from 4 threads beside 4 that load it, in every format (10,000)
    python -m tests.stress chains [OPERATORS]  elementwise operators in one function: time to compile and run it first (20,000)
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
import time
import warnings

import torchjit as torch


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def gradients(calls: int = 1_000_000) -> str | None:
    from tests.attack.threads import Disturber

    disturber, over, wrong = Disturber(), threading.Event(), []
    done = {"trace": 0, "dispatch": 0, "export": 0}

    def disturb(name: str) -> None:
        try:
            while not over.is_set():
                getattr(disturber, name)()
                done[name] += 1
        except Exception as e:
            wrong.append(f"{name}: {type(e).__name__}: {e}")

    others = [threading.Thread(target=disturb, args=(name,)) for name in done]
    for t in others:
        t.start()
    began, w, x = time.monotonic(), torch.ones(4, 4, requires_grad=True), torch.ones(500, requires_grad=True)
    try:
        for k in range(calls // 2):
            (g,) = torch.autograd.grad((torch.full((2, 4), float(k % 1000)) @ w).sum(), w)
            (h,) = torch.autograd.grad((torch.full((1000,), float(k % 1000))[500:] * x).sum(), x)
            if g[3, 3].item() != 2.0 * (k % 1000) or h[499].item() != k % 1000 or g.sum().item() != 32.0 * (k % 1000):
                wrong.append(f"call {k}: {g.tolist()}, {h[:3].tolist()}")
            if wrong:
                break
    except Exception as e:
        wrong.append(f"call {k}: {type(e).__name__}: {e}")
    over.set()
    for t in others:
        t.join()
    print(f"gradients: {2 * (k + 1)} backward calls in {time.monotonic() - began:.0f} s beside {done}")
    return wrong[0] if wrong else None


def loads(count: int = 600) -> str | None:
    module = torch.nn.Sequential(*[torch.nn.Linear(750, 750) for _ in range(4)])
    program = torch.jit.script(module.eval())
    load_lite = torch.jit.mobile._load_for_lite_interpreter
    forms = {"jit": (program.save_to_buffer(), torch.jit.load), "lite": (program._save_to_buffer_for_lite_interpreter(), load_lite)}
    for form, (data, load) in forms.items():
        half = 0
        for i in range(count):
            load(io.BytesIO(data))
            if i == count // 2:
                half = resident()
        grown = resident() - half
        print(f"loads: {count} of {len(data) / 1e6:.1f} MB, {form}: {half >> 20} MB resident at the half, {grown / (1 << 20):+.0f} MB to the end")
        if grown > 100 << 20:
            return f"{form}: resident memory grows by {grown >> 20} MB"
    return None


def saves(count: int = 10_000) -> str | None:
    from tests.attack.files import race

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong = race(folder, count // 4)
    print(f"saves: {count} in each format in {time.monotonic() - began:.0f} s")
    return wrong


def chains(count: int = 20_000) -> str | None:
    times = []
    for n in (count // 4, count // 2, count):
        function = torch.jit.CompilationUnit("def f(x):\n" + "    x = x + 1\n" * n + "    return x\n").f
        began = time.monotonic()
        if function(torch.zeros(3)).tolist() != [float(n)] * 3:
            return f"wrong result of {n} operators"
        function(torch.zeros(3))
        times.append(time.monotonic() - began)
        print(f"chains: {n} operators: {times[-1]:.2f} s, {times[-1] / n * 5000:.2f} s for each 5,000")
    if times[-1] / count * 5000 > 1:
        return f"{times[-1] / count * 5000:.2f} s for each 5,000 operators"
    return None if times[-1] < 8 * times[0] else f"times are not linear: {times}"


PARTS = {f.__name__: f for f in (gradients, loads, saves, chains)}


def main() -> int:
    warnings.simplefilter("ignore")
    name, *number = sys.argv[1:] or [""]
    if name not in PARTS:
        print(__doc__)
        return 2
    wrong = PARTS[name](*map(int, number))
    if wrong:
        print(f"{name}: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
