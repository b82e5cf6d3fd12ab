"""Random and hostile programs: text that is well formed, damaged or endless, and texts of graphs."""

from __future__ import annotations

import _thread
import itertools
import random
import re
import threading
import time

import torchjit as torch

SECONDS = 0.3  # until an endless program is interrupted
LATE = 2.0  # within which an interrupted program ends, on a machine that does other work too
ENDLESS = {
    "loop": "def f(n: int):\n    while True:\n        n += 1\n    return n\n",
    "range": "def f(n: int):\n    for i in range(9223372036854775807):\n        n += i % 7\n    return n\n",
    "tensor loop": "def f(n: int):\n    x = torch.ones(3)\n    while True:\n        x = x * 1.0\n    return n\n",
    "nested": "def f(n: int):\n    while True:\n        for i in range(3):\n            if i == 1:\n                continue\n            n += i\n    return n\n",
    "with": "def f(n: int):\n    while True:\n        with torch.no_grad():\n            n += 1\n            if n == 0:\n                break\n    return n\n",
    "fork": "def g(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n\ndef f(n: int):\n    h = torch.jit.fork(g, n)\n    return torch.jit.wait(h)\n",
    "forks": "def g(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n\ndef f(n: int):\n    hs = [torch.jit.fork(g, n + i) for i in range(40)]\n    while len(hs) > 0:\n        n += 1\n    return torch.jit.wait(hs[3])\n",
    "fork of forks": "def h(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n\ndef g(n: int) -> int:\n    return torch.jit.wait(torch.jit.fork(h, n)) + torch.jit.wait(torch.jit.fork(h, n))\ndef f(n: int):\n    return torch.jit.wait(torch.jit.fork(g, n))\n",
    "caught": "def f(n: int):\n    s = 'a'\n    while True:\n        s = s + 'a'\n        s = s[0:1]\n    return n\n",
}  # fmt: skip
GRAPH = """graph(%x : Tensor, %n : int):
  %1 : int = prim::Constant[value=1]()
  %2 : Tensor = aten::add(%x, %x, %1)
  %3 : bool = aten::lt(%n, %1)
  %4 : Tensor = prim::If(%3)
    block0():
      %5 : Tensor = aten::relu(%2)
      -> (%5)
    block1():
      -> (%x)
  %6 : Tensor[] = prim::ListConstruct(%4, %2)
  %7 : Tensor = aten::cat(%6, %n)
  return (%7)
"""


class Writer:
    """Writes well-typed programs of numbers, texts, lists, dictionaries and tensors; each is plain Python, too."""

    NAMES = {"int": ["a", "b"], "float": ["p", "q"], "str": ["s", "t"], "List[int]": ["xs", "ys"], "Dict[str, int]": ["d"], "bool": ["c"]}

    def __init__(self, choices: random.Random) -> None:
        self.r, self.counters = choices, itertools.count()

    def expression(self, kind: str, depth: int) -> str:
        r, e = self.r, lambda k: self.expression(k, depth - 1)
        if depth <= 0 or r.random() < 0.2:
            literal = {"int": str(r.randint(-9, 9)), "float": repr(r.choice([0.5, -1.5, 2.0, 0.0])), "str": repr(r.choice(["", "a", "Ab ", "x,y"])),
                       "List[int]": str([r.randint(-3, 3) for _ in range(r.randint(1, 4))]), "Dict[str, int]": "{'k': 3}", "bool": r.choice(["True", "False"])}  # fmt: skip
            return r.choice([*self.NAMES[kind], literal[kind]])
        texts = {
            "int": lambda: r.choice([f"({e('int')} {r.choice('+-')} {e('int')})", f"(({e('int')} * {e('int')}) % 1009)", f"({e('int')} // {r.choice('23')})", f"len({e('List[int]')})",
                f"len({e('str')})", f"{e('str')}.find({e('str')})", f"min({e('int')}, {e('int')})", f"sum({e('List[int]')})", f"({e('int')} if {e('bool')} else {e('int')})",
                f"abs({e('int')})", f"{e('str')}.count({e('str')}, 0)", f"({e('int')} & {e('int')})", f"xs[{e('int')}]", f"d.get('k', {e('int')})", f"int({e('bool')})"]),
            "float": lambda: r.choice([f"({e('float')} {r.choice('+-*')} {e('float')})", f"float({e('int')})", f"({e('float')} / {e('float')})", f"max({e('float')}, {e('float')})", f"abs({e('float')})"]),
            "str": lambda: r.choice([f"({e('str')} + {e('str')})", f"{e('str')}.upper()", f"{e('str')}.strip()", f"str({e('int')})", f"{e('str')}.center({r.randint(0, 9)})",
                f"{e('str')}[{r.randint(-3, 3)}:]", f"{e('str')}.replace('a', {e('str')})", f"'-'.join({e('str')}.split(','))", f"{e('str')}.rjust({r.randint(0, 9)})"]),
            "List[int]": lambda: r.choice([f"({e('List[int]')} + {e('List[int]')})", f"sorted({e('List[int]')})", f"[{e('int')} + v for v in {e('List[int]')}]", f"{e('List[int]')}[{r.randint(-2, 2)}:]",
                f"[i * v for i, v in enumerate({e('List[int]')}, start={r.randint(-2, 2)})]", f"[{e('int')}, {e('int')}]"]),
            "Dict[str, int]": lambda: r.choice([f"{{{e('str')}: {e('int')}}}", "d.copy()"]),
            "bool": lambda: r.choice([f"({e('int')} {r.choice(['<', '==', '>='])} {e('int')})", f"({e('bool')} and {e('bool')})", f"(not {e('bool')})", f"({e('str')} in {e('str')})",
                f"({e('int')} in {e('List[int]')})", f"({e('str')} < {e('str')})", f"{e('str')}.startswith({e('str')})", f"({e('float')} < {e('float')})", f"('k' in {e('Dict[str, int]')})"]),
        }  # fmt: skip
        return texts[kind]()

    def block(self, depth: int, indent: str, loop: bool) -> str:
        r, text = self.r, ""
        for _ in range(r.randint(1, 3)):
            kind = r.randrange(10)
            if depth == 0 or kind < 5:
                of = r.choice(list(self.NAMES))
                text += f"{indent}{r.choice(self.NAMES[of])} = {self.expression(of, 2)}\n"
            elif kind == 5:
                text += f"{indent}if {self.expression('bool', 2)}:\n{self.block(depth - 1, indent + '    ', loop)}{indent}else:\n{self.block(depth - 1, indent + '    ', loop)}"
            elif kind == 6:
                text += f"{indent}for i{next(self.counters)} in range({r.randint(0, 4)}):\n{self.block(depth - 1, indent + '    ', True)}"
            elif kind == 7:
                text += f"{indent}with torch.no_grad():\n{self.block(depth - 1, indent + '    ', loop)}"
            elif kind == 8:
                text += f"{indent}if {self.expression('bool', 1)}:\n{indent}    {r.choice(['break', 'continue']) if loop and r.random() < 0.6 else 'return a, p, s, xs, c'}\n"
            else:
                text += f"{indent}xs.append({self.expression('int', 1)})\n{indent}d[{self.expression('str', 1)}] = {self.expression('int', 1)}\n"
        return text

    def program(self) -> str:
        head = "def f(a: int, b: int, p: float, q: float, s: str, t: str, xs: List[int], ys: List[int], d: Dict[str, int], c: bool):\n"
        return head + self.block(3, "    ", False) + "    return a, p, s, xs, c\n"


def arguments():
    return [3, -4, 0.5, -2.0, "ab", "x,y", [1, 2, 3], [-1], {"k": 5}, True]


def broken(text: str, r: random.Random) -> str:
    """A text with a few characters, words or lines changed."""
    for _ in range(r.randint(1, 3)):
        parts = re.split(r"(\W)", text) if r.random() < 0.5 else list(text)
        i, j = r.randrange(len(parts)), r.randrange(len(parts))
        match r.randrange(4):
            case 0:
                del parts[i]
            case 1:
                parts[i] = parts[j]
            case 2:
                parts.insert(i, r.choice(["(", ")", "[", "]", ":", ",", "\n", "    ", "\0", "é", "def", "return", "9" * 30, "1e999", "*", "%", "'", '"', "{", "lambda", "None", "@"]))
            case _:
                parts[i], parts[j] = parts[j], parts[i]
        text = "".join(parts)
    return text


def hostile(r: random.Random) -> str:
    """A program that is deep, long or large in one respect."""
    n = r.choice([50, 400, 3000])
    return "def f(n: int):\n" + r.choice([
        "    return " + "(" * n + "n" + ")" * n + "\n", "    return " + "-" * n + "n\n", "    return " + "not " * n + "True\n", "    return " + "[" * n + "n" + "]" * n + "\n",
        "    return " + " + ".join(["n"] * n) + "\n", "    return [" + ", ".join(["1"] * n) + "]\n", "    return '" + "a" * n * 100 + "'\n", "    return " + "9" * n + "\n", "    x = [n]" + "\n    x = x + x" * min(n, 24) + "\n    return x\n",
        "    s = 'ab'" + "\n    s = s + s" * min(n, 24) + "\n    return s\n", "    return torch.zeros([" + str(10**r.choice([11, 15, 18])) + "])\n", "    d = {0: n}\n    for i in range(" + str(n * 10) + "):\n        d[i] = i\n    return len(d)\n",
        "".join(f"    {'  ' * i}if n > {i}:\n" for i in range(min(n, 90))) + "  " * min(n, 90) + "    n = 1\n    return n\n", "    raise ValueError('x' * n)\n", "    return f(n)\n", "    assert n > 5, 'no'\n    return n\n",
        "    return 1 // (n - n)\n", "    return [1, 2][n]\n", "    return {'a': 1}[str(n)]\n", "    return int('q')\n", "    x = torch.ones(2)\n    return x[n]\n", "    return (1).foo\n", "    return torch.ones(2) @ torch.ones(n)\n",
        "    return torch.jit.wait(torch.jit.fork(f, n))\n", "    f1 = torch.jit.fork(g, n)\n    f2 = torch.jit.fork(g, n)\n    return torch.jit.wait(f2)\ndef g(n: int) -> int:\n    return [n][n]\n",
        "    x: List[Tensor] = []\n    for i in range(" + str(n) + "):\n        x.append(torch.jit.wait(torch.jit.fork(torch.mm, torch.ones(2, 2), torch.ones(i % 3, 2))))\n    return x\n",
        "    fs = [torch.jit.fork(torch.neg, torch.ones(2)) for i in range(" + str(n) + ")]\n    return [torch.jit.wait(f) for f in fs]\n",
        "    f1 = torch.fork(torch.neg, torch.ones(2))\n    return torch.wait(f1), torch.wait(f1)\n",
    ])  # fmt: skip


def equal(x, y) -> bool:
    if isinstance(x, (list, tuple)):
        return type(x) is type(y) and len(x) == len(y) and all(map(equal, x, y))
    return type(x) is type(y) and (x == y or x != x and y != y)


class Part:
    """Cases: random programs against Python, damaged text, hostile programs, endless programs, damaged graphs."""

    def __init__(self, seed: int, folder: str) -> None:
        self.seed, self.folder = seed, folder

    def case(self, i: int) -> tuple[str, str]:
        r = random.Random(f"{self.seed}:{i}")
        kind = r.choices(["python", "broken", "hostile", "endless", "graph"], [30, 30, 10, 1, 20])[0]
        if kind == "python":
            return kind, Writer(r).program()
        if kind == "broken":
            return kind, broken(Writer(r).program() if r.random() < 0.7 else r.choice(list(ENDLESS.values())), r)
        if kind == "hostile":
            return kind, hostile(r)
        if kind == "endless":
            return kind, ENDLESS[r.choice(list(ENDLESS))]
        return kind, broken(GRAPH, r)

    def describe(self, i: int) -> str:
        kind, text = self.case(i)
        return f"{kind}:\n{text}"

    def run(self, i: int) -> str | None:
        kind, text = self.case(i)
        try:
            return getattr(self, f"run_{kind}")(text)
        except KeyboardInterrupt:
            return None
        except Exception as error:
            return f"internal error: {str(error)[:300]}" if "internal error" in str(error) else None

    def run_python(self, text: str) -> str | None:
        from typing import Dict, List  # noqa: UP035 the programs have these names

        scope = {"torch": torch, "List": List, "Dict": Dict, "__name__": "programs"}  # noqa: UP006
        exec(text, scope)
        compiled = torch.jit.CompilationUnit(text).f
        expected = error = None
        try:
            expected = scope["f"](*arguments())
        except (ValueError, IndexError, KeyError, ZeroDivisionError, OverflowError) as e:
            error = e
        for _ in range(3):
            try:
                result = compiled(*arguments())
            except RuntimeError as e:
                if "internal error" in str(e):
                    raise
                if error is None:
                    return f"wrong result: {str(e).splitlines()[-1]!r} for {expected}"
                continue
            except (ValueError, IndexError, KeyError, ZeroDivisionError) as e:
                if error is None:
                    return f"wrong result: {e!r} for {expected}"
                continue
            if error is None and not equal(result, expected):
                return f"wrong result: {result} for {expected}"
        return None

    def run_broken(self, text: str) -> None:
        torch.jit.CompilationUnit(text)

    def run_hostile(self, text: str) -> None:
        torch.jit.CompilationUnit(text).f(3)

    def run_endless(self, text: str) -> str | None:
        compiled = torch.jit.CompilationUnit(text).f
        timer = threading.Timer(SECONDS, _thread.interrupt_main)
        timer.start()
        began = time.monotonic()
        try:
            compiled(1)
        except KeyboardInterrupt:
            late = time.monotonic() - began - SECONDS
            return f"late: {late:.1f} s from the interrupt to the end" if late > LATE else None
        finally:
            timer.cancel()
        return "wrong result: an endless program has ended"

    def run_graph(self, text: str) -> None:
        graph = torch._C.parse_ir(text)
        torch._C._jit_pass_lint(graph)
        torch._C._create_function_from_graph("f", graph)(torch.ones(2), 0)
