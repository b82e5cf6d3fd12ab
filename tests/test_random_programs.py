"""Random programs give the same compiled as they do in plain Python.

The programs are functions of ints and a list of ints with nested ifs and loops, break, continue
and early returns. A seed makes a program; one that fails is printed.
"""

import random
from typing import Any

import pytest

import torchjit as torch


class Generator:
    """Writes one program. Products are kept small, so that ints do not overflow in 64 bits."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["a", "b", "c"]
        self.counters = 0

    def choice(self, *options: str) -> str:
        return self.random.choice(options)

    def expression(self, depth: int) -> str:
        kind = self.random.randrange(8) if depth > 0 else 0
        if kind < 2:
            return self.choice(*self.names, "1", "2", "3", "len(xs)")
        left = self.expression(depth - 1)
        if kind == 2:
            return f"({left} {self.choice('//', '%')} {self.choice('2', '3', '-3')})"
        if kind == 3:
            return f"({left} * {self.expression(depth - 1)} % 997)"
        if kind < 6:
            return f"({left} {self.choice('+', '-')} {self.expression(depth - 1)})"
        if kind == 6:
            return f"({left} if {self.condition(depth - 1)} else {self.expression(depth - 1)})"
        return self.choice(f"xs[{left} % 3]", f"min({left}, {self.expression(depth - 1)})")

    def condition(self, depth: int) -> str:
        kind = self.random.randrange(6) if depth > 0 else 0
        if kind == 4:
            return f"({self.condition(depth - 1)} {self.choice('and', 'or')} {self.condition(depth - 1)})"
        if kind == 5:
            return f"not ({self.condition(depth - 1)})"
        return f"{self.expression(depth)} {self.choice('<', '>', '==', '!=', '<=')} {self.expression(depth)}"

    def block(self, depth: int, indent: str, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 4)):
            lines += [indent + line for line in self.statement(depth, in_loop)]
        return lines

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kind = self.random.randrange(12)
        if kind < 4 or depth == 0:
            return [f"{self.choice(*self.names)} = {self.expression(2)}"]
        if kind == 4:
            return [f"{self.choice('a', 'b', 'c')} {self.choice('+', '-')}= {self.expression(1)}"]
        if kind < 8:
            return self.branch(depth, in_loop)
        if kind < 10:
            return self.loop(depth)
        if kind == 10 and in_loop:
            return [f"if {self.condition(1)}:", "    " + self.choice("break", "continue")]
        if kind == 10:
            return [f"xs.append({self.expression(1)})"]
        return [f"if {self.condition(1)}:", f"    return {self.expression(1)}"]

    def branch(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.condition(1)}:", *self.block(depth - 1, "    ", in_loop)]
        if self.random.random() < 0.3:
            lines += [f"elif {self.condition(1)}:", *self.block(depth - 1, "    ", in_loop)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.block(depth - 1, "    ", in_loop)]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.counters += 1
        name = f"i{self.counters}"
        if self.random.random() < 0.4:
            guard = self.choice(f"{name} < 4 and {self.condition(1)}", f"{name} < 2 or {name} < 4 and {self.condition(1)}")
            head = [f"{name} = 0", f"while {guard}:", f"    {name} += 1"]
            return head + self.block(depth - 1, "    ", True)
        self.names.append(name)
        body = self.block(depth - 1, "    ", True)
        self.names.remove(name)
        return [f"for {name} in range({self.choice('3', 'len(xs) % 7', 'b % 4')}):", *body]

    def program(self) -> str:
        lines = ["def f(a: int, b: int, xs: List[int]) -> int:", "    c = 1"]
        return "\n".join([*lines, *self.block(3, "    ", False), "    return a + b - c"]) + "\n"


ARGUMENTS = [(3, 4, [1, 2, 3]), (-5, 7, [4, -2, 0]), (0, 0, [0, 0, 0])]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_same_as_python(first: int) -> None:
    for seed in range(first, first + 50):
        text = Generator(seed).program()
        names: dict[str, Any] = {"List": list}
        exec(text, names)
        compiled = torch.jit.CompilationUnit(text).f
        for a, b, xs in ARGUMENTS:
            expected = names["f"](a, b, list(xs))
            assert compiled(a, b, list(xs)) == expected, f"seed {seed}, f({a}, {b}, {xs}):\n{text}"
