"""A long run of calls leaves memory as it was."""

import gc
import pathlib

import pytest

import torchjit as torch
from torchjit import _native

STATM = pathlib.Path("/proc/self/statm")


def identity(x):
    return x


def some(x):
    return torch.relu(x + 1).mul(2)


def resident_pages() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1])


@pytest.mark.skipif(not STATM.exists(), reason="reads the resident memory from /proc")
@pytest.mark.parametrize("fn, times", [(identity, 1_000_000), (some, 100_000)])
def test_calls_hold_memory_flat(fn, times):
    compiled = torch.jit.script(fn)
    x = torch.ones(64, 64)
    for _ in range(times // 10):
        compiled(x)
    handles, before = _native.function("live_handles")(), resident_pages()
    for _ in range(times):
        compiled(x)
    assert resident_pages() - before < 16 * 256, "more than 16 MiB were added"
    assert _native.function("live_handles")() <= handles + 1


def test_profile(tmp_path):
    start, stop = _native.function("cpu_profile_start"), _native.function("cpu_profile_stop")
    target = tmp_path / "cpu.pprof"
    start(str(target))
    with pytest.raises(RuntimeError, match="is being recorded already"):
        start(str(target))
    stop()
    assert target.stat().st_size > 0
    with pytest.raises(RuntimeError, match="no profile is being recorded"):
        stop()
    with pytest.raises(RuntimeError, match="cannot be written"):
        start(str(tmp_path / "missing" / "cpu.pprof"))
