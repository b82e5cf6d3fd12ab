"""Grad mode, inference mode and traces belong to a thread."""

import threading

import pytest

import torchjit as torch


def in_thread(work):
    found = []
    t = threading.Thread(target=lambda: found.append(work()))
    t.start()
    t.join()
    return found[0]


def test_a_new_thread_records_whatever_others_do():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert in_thread(lambda: (torch.is_grad_enabled(), (x * 2).requires_grad)) == (True, True)
        assert not (x * 2).requires_grad
    for _ in range(3):  # threads that end give their places to others
        in_thread(lambda: torch.set_grad_enabled(False))
        assert in_thread(torch.is_grad_enabled) and torch.is_grad_enabled()


def test_two_threads_in_different_modes_at_once():
    x, turns = torch.ones(2, requires_grad=True), threading.Barrier(2)
    seen = {}

    def work(on):
        with torch.set_grad_enabled(on):
            for _ in range(5):
                turns.wait()
                seen.setdefault(on, []).append((x * 2).requires_grad)

    threads = [threading.Thread(target=work, args=(on,)) for on in (True, False)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == {True: [True] * 5, False: [False] * 5}


@torch.jit.script
def double(x):
    return x * 2


@torch.jit.script
def forks(x):
    with torch.no_grad():
        first = torch.jit.wait(torch.jit.fork(double, x))
    return first, torch.jit.wait(torch.jit.fork(double, x)), torch.is_grad_enabled()


def test_forked_calls_inherit_the_mode():
    first, second, on = forks(torch.ones(2, requires_grad=True))
    assert (first.requires_grad, second.requires_grad, on) == (False, True, True)
    with torch.no_grad():
        assert [t.requires_grad for t in forks(torch.ones(2, requires_grad=True))[:2]] == [False, False]


@torch.jit.ignore
def ask(x):
    return torch.zeros(1) + float(torch.is_grad_enabled())


@torch.jit.script
def asks(x):
    with torch.no_grad():
        inner = torch.jit.wait(torch.jit.fork(ask, x))
    return inner, ask(x)


def test_python_called_by_a_fork_sees_its_mode():
    inner, outer = asks(torch.ones(2))
    assert (inner.item(), outer.item()) == (0, 1)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_hooks_and_functions_run_in_the_mode_of_backward():
    seen = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(torch.is_grad_enabled())
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y = Twice.apply(x)
    y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    y.sum().backward(retain_graph=True)
    y.sum().backward(create_graph=True)
    assert seen == [False, False, True, True] and torch.is_grad_enabled()


def test_tracing_is_of_one_thread():
    def work(x):
        assert torch.jit.is_tracing() and not in_thread(torch.jit.is_tracing)
        in_thread(lambda: x + 5)
        return x * 2

    assert "aten::add" not in str(torch.jit.trace(work, torch.ones(2), check_trace=False).graph)


def test_inference_tensors():
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        t, y = torch.tensor([1.0, 2.0]), x * 2
        assert t.is_inference() and y.is_inference() and not x.view(2).is_inference()
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled() and not (x * 2).requires_grad
        t.add_(1)
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert t.view(2).is_inference() and t.detach().is_inference() and not t.clone().is_inference() and (t + x).requires_grad
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        t.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        t * x
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        torch.atan2(t, x).sum().backward()
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"):
        t.requires_grad_()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        t._version  # noqa: B018
    with torch.no_grad(), torch.inference_mode(False):
        assert torch.is_grad_enabled()


def test_the_steps_of_a_generator_run_in_its_mode():
    @torch.no_grad()
    def steps():
        got = yield torch.is_grad_enabled()
        yield got, torch.is_grad_enabled()
        return 5

    g = steps()
    assert next(g) is False and torch.is_grad_enabled()
    assert g.send(3) == (3, False) and torch.is_grad_enabled()
    with pytest.raises(StopIteration, match="5"):
        next(g)
