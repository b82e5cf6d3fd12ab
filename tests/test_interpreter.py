"""Compiled programs as they run: values, calls, loops, errors."""

import threading
from typing import Any

import pytest

import torchjit as torch


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def words(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def swap(n: int, a: str, b: str) -> tuple[str, str]:
    for _ in range(n):
        a, b = b, a + b
    return a, b


def sieve(n: int) -> list[int]:
    composite = [False] * (n + 1)
    primes: list[int] = []
    for i in range(2, n + 1):
        if composite[i]:
            continue
        primes.append(i)
        for k in range(i * i, n + 1, i):
            composite[k] = True
    return primes


def first_negative(xs: list[float]) -> int | None:
    for i in range(len(xs)):
        if xs[i] < 0.0:
            return i
    return None


def last_two(n: int) -> tuple[list[str], int | None, float | None, int]:
    """A number goes to a value of another type while its own place is written again."""
    texts: list[str] = []
    last: int | None = None
    before: float | None = None
    x = 0.5
    for i in range(n):
        texts.append(str(i))
        before = x
        x = x * 2.0
        last = i
    k = 7
    while k > n:
        last = k
        k = k - 1
    return texts, last, before, k


def fib(n: int) -> int:
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (collatz, (27,)),
        (words, ("a b A c b a",)),
        (swap, (5, "x", "y")),
        (sieve, (50,)),
        (first_negative, ([1.0, -2.0],)),
        (first_negative, ([1.0],)),
        (last_two, (3,)),
        (last_two, (0,)),
        (last_two, (9,)),
    ],
)
def test_same_as_python(function: Any, args: Any) -> None:
    assert torch.jit.script(function)(*args) == function(*args)


def divide(a: int, b: int) -> int:
    return a // b


def half(n: int) -> int:
    return divide(n, n - n)


def test_traceback_shows_every_call() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(half)(3)
    text = str(caught.value)
    assert text.startswith("The following operation failed in the TorchScript interpreter.\n")
    assert ", in half\n" in text
    assert ", in divide\n" in text
    assert "           ~~~~~~ <--- HERE\n" in text
    assert text.endswith("RuntimeError: division by 0\n")


def refuse(n: int) -> int:
    if n > 0:
        raise ValueError("too big")
    return n


def test_raise() -> None:
    compiled = torch.jit.script(refuse)
    assert compiled(0) == 0
    with pytest.raises(torch.jit.Error, match="builtins.ValueError: too big"):
        compiled(1)


def lists(x: torch.Tensor) -> list[list[float]]:
    out: list[list[float]] = x.tolist()
    return out


def test_tolist() -> None:
    compiled = torch.jit.script(lists)
    assert compiled(torch.ones(2, 2)) == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match="list dimension and runtime tensor dimension must match"):
        compiled(torch.ones(2))


def test_printed_text(capfd: Any) -> None:
    def show(n: int, x: float) -> None:
        print(n, x, [x], {"a": n}, None)

    torch.jit.script(show)(1, 0.1)
    assert capfd.readouterr().out == "1 0.10000000000000001 [0.10000000000000001] {a: 1} None\n"


def test_many_threads() -> None:
    compiled = torch.jit.script(collatz)
    results: list[int] = []

    def work() -> None:
        for n in range(1, 200):
            if compiled(n) != collatz(n):
                results.append(n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == []


def remainders(a: float, b: float):
    s = 0.0
    for i in range(1000):
        s = s + (a + i) % b
    return s, -4.0 % b, a % b


def test_remainders_of_floats_are_pytorch_s_sums():
    f = torch.jit.script(remainders)
    assert f(-0.3, 0.7) == (305.1000000000495, 0.19999999999999973, 0.39999999999999997)  # what PyTorch 1.13.1 gives
    assert str(f(4.0, -2.0)[2]) == "-0.0" and str(f(4.0, 2.0)[1]) == "0.0"


def products_with_and_without_gradients(x):
    with torch.no_grad():
        a = torch.mm(x, x).sum()
    return torch.mm(x, x).sum(), a


def test_equal_operators_in_different_modes_both_run():
    f = torch.jit.script(products_with_and_without_gradients)
    for _ in range(3):
        assert [t.requires_grad for t in f(torch.ones(2, 2, requires_grad=True))] == [True, False]


def times_ones(x):
    return x * torch.ones(2)


def test_constants_have_the_default_type_of_the_call():
    f = torch.jit.script(times_ones)
    x = torch.ones(2)
    assert f(x).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert f(x).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def called(x):
    return x + 1


def caller(x):
    return called(x) * called(x)


def test_the_graph_that_is_shown_is_the_one_that_ran():
    f = torch.jit.script(caller)
    graph = str(f.graph_for(torch.ones(2)))
    assert "CallFunction" not in graph and graph.count("aten::") == 2
    assert "2 operators as one kernel" in str(torch.jit.explain(f))


def test_hooks_of_compiled_modules_run():
    f = torch.jit.script(torch.nn.Linear(2, 2))
    x, calls = torch.ones(1, 2), []
    own = f.register_forward_pre_hook(lambda module, args: calls.append("own"))
    every = torch.nn.modules.module.register_module_forward_hook(lambda module, args, result: calls.append("every"))
    f(x)
    own.remove()
    f(input=x)
    every.remove()
    f(x)
    assert calls == ["own", "every", "every"]
    f.forward = lambda x: "another"
    assert f(x) == "another"
