"""The binding: marshalling, errors, threads, signals, fork, memory."""

import gc
import os
import subprocess
import sys
import threading
import time

import pytest

import torchjit as torch
from torchjit import _native

VALUES = [None, True, 3, -(2**62), 2.5, 1 + 2j, "héllo" * 20, "", b"ab" * 50, [1, [2, "x"]], (1,), (), {"a": [1.0], 2: None},
          slice(1, None), Ellipsis, list(range(1000)), "x" * 5000, torch.float32, torch.device("cuda", 1), print]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:20])
def test_values_come_back(value):
    result = _native.echo(value)
    assert result == value and type(result) is type(value)


def test_the_same_tensor_is_the_same_object():
    x = torch.tensor([1.0])
    assert _native.echo(x) is x
    assert _native.echo([x])[0] is x


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: _native.echo(), TypeError, "missing required argument: 'value'"),
        (lambda: _native.echo(1, 2), TypeError, "takes 1 positional arguments but 2 were given"),
        (lambda: _native.echo(x=1), TypeError, "unexpected keyword argument 'x'"),
        (lambda: _native.echo(1, value=2), TypeError, "multiple values for argument 'value'"),
        (lambda: _native.invoke(1, 2), TypeError, "argument 'callable' .* must be object, not int"),
        (lambda: _native.echo(1 << 70), RuntimeError, "Overflow"),
        (lambda: _native.fault("boom"), RuntimeError, "please report.*boom"),
        (lambda: _native.function("nothing"), AttributeError, "no function 'nothing'"),
        (lambda: _native.Handle(), TypeError, "made by the library"),
    ],
)
def test_errors_have_a_class_and_a_text(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_exceptions_of_callbacks_pass_through():
    problem = KeyError("mine")

    def fail(_):
        raise problem

    with pytest.raises(KeyError) as caught:
        _native.invoke(fail, 1)
    assert caught.value is problem


def test_callbacks_call_back():
    assert _native.invoke(lambda x: _native.invoke(lambda y: y + 1, x) * 2, 4) == 10


def test_a_deeply_nested_list_is_refused():
    x = []
    x.append(x)
    with pytest.raises(ValueError, match="nested too deeply"):
        _native.echo(x)


def test_threads_run_while_a_call_waits():
    done = []
    t = threading.Thread(target=lambda: done.append(_native.wait(2)))
    t.start()
    _native.echo(1)
    assert not done
    t.join()
    assert done == [None]


def test_ctrl_c_ends_a_long_call():
    code = (
        "import os, signal, threading, time, torchjit._native as n\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "start = time.time()\n"
        "try: n.wait(30)\n"
        "except KeyboardInterrupt: print(time.time() - start < 5)\n"
    )
    root = os.path.dirname(os.path.dirname(os.path.abspath(_native.__file__)))
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=root)
    assert out.stdout == "True\n", out.stderr


def test_ctrl_c_ends_a_long_operator():
    code = (
        "import os, signal, threading, torchjit as torch\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "x, y = torch.ones(5000, 5000), torch.zeros(5000, 5000)\n"
        "threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try: torch.mm(x, x, out=y)\n"
        "except KeyboardInterrupt: print(bool((y != 5000).any()), torch.mm(x[:2], x[:, :2]).tolist())\n"
    )
    root = os.path.dirname(os.path.dirname(os.path.abspath(_native.__file__)))
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=root)
    assert out.stdout == "True [[5000.0, 5000.0], [5000.0, 5000.0]]\n", out.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_gets_an_error():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _native.echo(1)
        except RuntimeError as e:
            os.write(write, str(e).encode())
        os._exit(0)
    os.close(write)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(read) as f:
        assert "fork" in f.read()
    assert status == 0


def settled_handles():
    """The live handles when threads and finalizers of earlier tests have let theirs go."""
    found = -1
    for _ in range(100):
        gc.collect()
        if found == (found := _native.live_handles()):
            break
        time.sleep(0.02)
    return found


def test_handles_are_released_at_once():
    before = settled_handles()
    x = [torch.tensor([i]) for i in range(100)]
    assert _native.live_handles() == before + 100
    del x
    assert _native.live_handles() == before


def test_many_calls_hold_memory_flat():
    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    x = torch.tensor([1.0, 2.0])

    def work(n):
        for _ in range(n):
            _native.echo([x, "text", 2.5])
            torch.tensor([1.0])

    work(20000)
    _native.collect()
    before = resident()
    work(100000)
    _native.collect()
    assert resident() - before < 20 << 20


def test_import_loads_little():
    """What takes long to load waits for its first use."""
    code = "import torchjit, sys; print({'numpy', 'inspect', 'ast', 'torchjit.jit', 'torchjit.nn', 'torchjit.frontend'} & set(sys.modules))"
    root = os.path.dirname(os.path.dirname(os.path.abspath(_native.__file__)))
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root).stdout.split() == ["set()"]


def test_functions_in_python_do_not_load_the_compiler():
    code = "import torchjit, sys; torchjit.norm(torchjit.ones(2)); torchjit.cdist(torchjit.ones(2, 2), torchjit.ones(2, 2)); print('torchjit.jit' in sys.modules)"
    root = os.path.dirname(os.path.dirname(os.path.abspath(_native.__file__)))
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root).stdout.split() == ["False"]


def test_results_do_not_depend_on_the_number_of_threads():
    x = torch.arange(300000).to(torch.float32) / 7
    before, results = torch.get_num_threads(), []
    try:
        for n in (1, 2, 5):
            torch.set_num_threads(n)
            assert torch.get_num_threads() == n
            results.append([(x * x + x).tolist(), x.sum().item(), torch.softmax(x.view(300, 1000), 1).tolist()])
    finally:
        torch.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_the_number_of_threads_is_positive():
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        torch.set_num_threads(0)
    with pytest.raises(RuntimeError, match="set_num_threads expects an int, but got str"):
        torch.set_num_threads("2")


def test_calls_that_reply_nothing_reply_none():
    for _ in range(3):
        assert _native.set_print_options(4, 1000, 3, 80, None) is None
        assert repr(torch.ones(3) * 2) == "tensor([2., 2., 2.])"  # leaves words where the next reply goes
