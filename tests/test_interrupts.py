"""Ctrl-C ends what takes long within about a second: one sample of each kind of work, in a process of its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PROGRAM = """
import os, signal, sys
sys.path.insert(0, {root!r})
signal.signal(signal.SIGINT, signal.default_int_handler)  # where this is run in the background, it is ignored
import torchjit as torch
F = torch.nn.functional
{setup}
print("ready", flush=True)
try:
    {work}
    print("to the end", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
os._exit(0)
"""

SCRIPTS = """
open("scripts.py", "w").write('''
import torchjit as torch
def spin(n: int) -> int:
    while n > 0:
        n = n % 5 + 1
    return n
def wait(n: int) -> int:
    return torch.jit.wait(torch.jit.fork(spin, n))
class M(torch.nn.Module):
    @torch.jit.export
    def __getstate__(self):
        return 3
    @torch.jit.export
    def __setstate__(self, n: int):
        while n > 0:
            n = n % 5 + 1
        self.training = n > 0
    def forward(self, x):
        return x
''')
sys.path.insert(0, ".")
import scripts
"""

# What is set up, and what takes several seconds.
WORK = {
    "a long transform": ("x = torch.rand(20000003)", "torch.fft.fft(x)"),
    "singular values": ("x = torch.rand(2500, 2500)", "torch.linalg.svd(x)"),
    "triangles": ("x = torch.rand(4000, 4000)", "torch.linalg.ldl_factor(x)"),
    "many short operations": ("x = torch.rand(2000, 2000)", "torch.linalg.lstsq(x, x)"),
    "comparisons": ("x = torch.randint(0, 5, (6_000_000, 4))", "torch.unique(x, dim=0)"),
    "boxes": ("b = torch.rand(80000, 4) + torch.tensor([0.0, 0, 1, 1]); s = torch.rand(80000)", "torch.ops.torchvision.nms(b, s, 0.9999)"),
    "one part of an operator": (
        "x = torch.rand(1, 256, 100, 100); r = torch.tensor([[0.0, 1, 1, 90, 90]]).repeat(2, 1)", "torch.ops.torchvision.roi_align(x, r, 1.0, 7, 7, 400, False)",
    ),
    "products of sparse matrices": (
        "i = torch.randint(0, 20000, (2, 2_000_000)); x = torch.sparse_coo_tensor(i, torch.rand(2_000_000), (20000, 20000)).coalesce()", "torch.sparse.mm(x, x)",
    ),
    "one element": ("x = torch.rand(1) + 3", "torch.special.multigammaln(x, 1000000000)"),
    "a softmax of one row": ("x = torch.rand(1, 100_000_000)", "[torch.softmax(x, 1) for _ in range(9)]"),
    "a pooled line": ("x = torch.rand(1, 1, 60_000_000)", "F.max_pool1d(x, 3, 1, return_indices=True)"),
    "a line with more points": ("x = torch.rand(1, 1, 50_000_000)", "[F.interpolate(x, scale_factor=2.0, mode='linear', align_corners=False).shape for _ in range(9)]"),
    "places that are not zero": ("x = torch.ones(50_000_000)", "[torch.nonzero(x) for _ in range(9)]"),
    "places of a sparse tensor": (
        "i = torch.randint(0, 9000, (2, 8_000_000)); x = torch.sparse_coo_tensor(i, torch.rand(8_000_000), (9000, 9000))", "x.coalesce()",
    ),
    "running sums": ("x = torch.rand(150_000_000)", "[torch.cumsum(x, 0) for _ in range(9)]"),
    "running sums of exponentials": ("x = torch.rand(80_000_000)", "torch.logcumsumexp(x, 0)"),
    "a place in the order": ("x = torch.rand(100_000_000)", "torch.kthvalue(x, 50_000_000)"),
    "a permutation": ("pass", "torch.randperm(100_000_000)"),
    "samples": ("x = torch.rand(10_000_000)", "torch.multinomial(x, 100_000_000, True)"),
    "a flipped row": ("x = torch.zeros(200_000_000)", "[torch.flip(x, [0]) for _ in range(9)]"),
    "a long condition": ("s = 'def f(x: bool):\\n    return ' + ' and '.join(['x'] * 300_000)", "torch.jit.CompilationUnit(s)"),
    "a list": ("x = torch.zeros(60_000_000)", "x.tolist()"),
    "a list of rows": ("x = torch.zeros(30_000_000, 1)", "x.tolist()"),
    "a list of tensors": ("x = torch.zeros(6_000_000)", "list(x)"),
    "text": ("torch.set_printoptions(threshold=10**9); x = torch.rand(20_000_000)", "repr(x)"),
    "an endless loop whose results nobody reads": (
        "f = torch.jit.CompilationUnit('def f(n: int):\\n    x = torch.ones(3)\\n    while True:\\n        x = x * 1.0\\n    return n').f", "f(1)",
    ),
    "waiting in a script": (SCRIPTS + "f = torch.jit.script(scripts.wait)", "f(1)"),
    "loading": (SCRIPTS + "torch.jit.script(scripts.M()).save('m.pt')", "torch.jit.load('m.pt')"),
}


def seconds_to_end(program: str, folder) -> float:
    """How long a program goes on after Ctrl-C."""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == "interrupted\n"
        return time.monotonic() - begun
    finally:
        process.kill()


@pytest.mark.parametrize("name", WORK)
def test_interrupt(name, tmp_path):
    setup, work = WORK[name]
    program = PROGRAM.format(root=ROOT, setup=setup, work=work)
    # Where the machine stands still for a moment another try shows it.
    assert any(seconds_to_end(program, tmp_path) < 1.5 for _ in range(3))


def test_a_list_of_memory_that_a_handler_takes_away():
    code = """
import signal, sys
import torchjit as torch
x = torch.zeros(3_000_000)
def handler(*_):
    x.set_(torch.ones(1))
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001)
try:
    x.tolist()
except RuntimeError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
    assert "other memory" in done.stdout
