"""Memory under hostile sizes, lent to others, and under limits of the system."""

import gc
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

import torchjit as torch


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2).resize_(2**62),
    lambda: torch.empty_strided((3,), (2**60,), dtype=torch.float64),
    lambda: torch.ones(1, dtype=torch.float64).expand(2**61 + 1) + 1,
    lambda: torch.ones(1, dtype=torch.float64).expand(2**58).clone(),
    lambda: torch.zeros(3).as_strided((2, 2), (2**62, 1)),
    lambda: torch.zeros(3).as_strided((2,), (1,), 2**63 - 1),
    lambda: torch.empty(2**31, 2**31, 2**31),
    lambda: torch.zeros(2**40, device="meta").expand(2**40, 2**40),
])  # fmt: skip
def test_sizes_beyond_memory(make):
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed|can't allocate memory|out of bounds|storage offset"):
        make()


@pytest.mark.parametrize("lend", [lambda t: t.numpy(), memoryview, numpy.from_dlpack], ids=["numpy", "memoryview", "dlpack"])
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_lent_memory_stays(lend):
    t = torch.full((10**5,), 3.0)
    lent = lend(t)
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(10**6)
    with pytest.raises(RuntimeError, match="not resizable"):
        torch.add(torch.zeros(10**6), 0, out=t)
    t.set_(torch.ones(3))
    del t
    gc.collect()
    others = [torch.full((10**5,), 7.0) for _ in range(20)]
    assert (numpy.asarray(lent) == 3).all() and len(others) == 20


@pytest.mark.skipif("guard" in os.environ.get("GOJIT_CHECK", ""), reason="guarded memory is not used again")
def test_returned_memory_is_used_again():
    t = torch.ones(10**5)
    address = t.data_ptr()
    view = memoryview(t)
    del t
    assert torch.ones(10**5).data_ptr() != address
    del view
    assert address in [x.data_ptr() for x in [torch.ones(10**5) for _ in range(4)]]


LIMITED = """
import resource
import torchjit as torch
with open("/proc/self/status") as f:
    used = int(f.read().split("VmSize:")[1].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
try:
    torch.ones(9 * 10**8)
except RuntimeError as e:
    print(e)
for _ in range(20):
    x = torch.ones(4 * 10**7) + 1
kept = [x, x * 2]
print(kept[1].sum().item())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sets a limit of Linux")
def test_limit_of_addresses():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=60)
    assert "can't allocate memory: you tried to allocate 3600000000 bytes" in done.stdout, done.stderr[-500:]
    assert done.stdout.splitlines()[-1] == "160000000.0"


SMALL = """
import resource
import sys
import time
import torchjit as torch

with open("/proc/self/status") as f:
    used = int(f.read().split("VmSize:")[1].split()[0]) << 10
room = 800 << 20  # of which the C library reserves 64 MB for each thread that asks it for memory
resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
source = """ + '"""' + """
def numbers():
    found = [0]
    while True:
        found.append(1)
    return found
def tensors():
    found = [torch.ones(2)]
    while True:
        found.append(torch.ones(2))
    return found
def text():
    found = "ab"
    while True:
        found = found + found
    return found
""" + '"""' + """
programs = torch.jit.CompilationUnit(source)

def python():
    kept = []
    while True:
        kept.append(torch.ones(2))

for f in [python, programs.tensors, programs.numbers, programs.text]:
    try:
        f()
    except RuntimeError as e:
        print("refused", "can't allocate memory" in str(e))
for _ in range(50):  # on a busy machine it takes a while until what was refused is given back
    try:
        print(torch.ones(3).sum().item())
        break
    except RuntimeError:
        time.sleep(0.1)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux") or "guard" in os.environ.get("GOJIT_CHECK", ""), reason="sets a limit of Linux")
def test_limit_of_addresses_for_small_things():
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:-1] == ["refused True"] * 4 + ["3.0"], done.stdout + done.stderr[:500]


def test_refused_sizes_leave_the_process_usable():
    for _ in range(100):
        with pytest.raises(RuntimeError):
            torch.empty(2**50)
    assert torch.ones(3).sum() == 3


SUBINTERPRETER = """
import _xxsubinterpreters as interpreters
try:
    interpreters.run_string(interpreters.create(), "import torchjit")
except interpreters.RunFailedError as e:
    print(e)
import torchjit
print(torchjit.ones(3).sum().item())
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module of subinterpreters has another name")
@pytest.mark.parametrize("before", ["", "import torchjit"])
def test_subinterpreters_are_refused(before):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", before + SUBINTERPRETER], capture_output=True, text=True, timeout=60, env=environment)
    assert "cannot be imported in a subinterpreter" in done.stdout and done.stdout.endswith("\n3.0\n"), done.stdout + done.stderr[-500:]
