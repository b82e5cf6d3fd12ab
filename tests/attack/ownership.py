"""Random modules that hand tensors around: views, writes, lists, tuples, branches, loops, calls, attributes. Compiled and traced they give what they give
eager, in the same memory run after run; with GOJIT_CHECK=guard nothing touches memory that was given back."""

from __future__ import annotations

import importlib.util
import os
import random
import warnings

import torchjit as torch

HEAD = """
from typing import Dict, List, Optional, Tuple
import torchjit as torch
from torchjit import nn, Tensor

def helper(a: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(a) * 0.5 + b

def same(a: Tensor) -> Tensor:
    return a

def both(a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]:
    return b, a + 1

def maybe(a: Tensor, on: bool) -> Optional[Tensor]:
    if on:
        return a * 2
    return None

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 6))
        self.last = torch.zeros(4, 6)
        self.kept: List[Tensor] = [torch.zeros(4, 6)]

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x * self.weight)

    def keep(self, x: Tensor) -> Tensor:
        self.last = x
        return x + 1

    def append(self, x: Tensor) -> Tensor:
        self.kept.append(x)
        if len(self.kept) > 3:
            self.kept = self.kept[1:]
        return self.kept[0]
"""


class Writer:
    """Writes the body of a method: `names` are tensors of shape (4, 6) that may be read."""

    def __init__(self, r: random.Random) -> None:
        self.r, self.lines, self.count = r, [], 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def expression(self, names: list[str]) -> str:
        r, a, b = self.r, self.r.choice(names), self.r.choice(names)
        return r.choice([
            f"{a} + {b}", f"{a} * 0.5 - {b}", f"torch.tanh({a})", f"torch.relu({a})", f"{a}.t().contiguous().t()", f"{a}.reshape(6, 4).reshape(4, 6)", f"{a}.view(4, 6)",
            f"{a}.view(-1).view(4, 6)", f"{a}[:, :].clone()", f"{a}.detach()", f"{a}.contiguous()", f"{a}.to(torch.float32)", f"{a}.flip(0)", f"{a}.transpose(0, 1).reshape(4, 6)",
            f"torch.dropout({a}, 0.5, False)", f"torch.cat([{a}[:2], {b}[2:]], 0)", f"torch.cat([{a}], 0)", f"torch.stack([{a}, {b}, {a}]).sum(0)", f"torch.where({a} > 0, {a}, {b})",
            f"helper({a}, {b})", f"same({a})", f"self.inner({a})", f"self.inner.keep({a})", f"self.inner.append({a})", "self.inner.last * 1.0", "self.inner.last", "self.inner.kept[0] + 0.5",
            f"torch.softmax({a}, 1)", f"{a}.max(0)[0].expand(4, 6)", f"{a}.masked_fill({b} > 1, 0.25)", f"torch.nn.functional.layer_norm({a}, [6])", f"{a}.clamp(-2, 2)",
            f"torch.nn.functional.linear({a}, {b}[:, :].new_ones(6, 6))", f"{a}.unsqueeze(0).squeeze(0)", f"{a} @ {b}.t() @ {a}.clamp(-1, 1)", f"{a}.cumsum(1) * 0.1",
        ])  # fmt: skip

    def statements(self, names: list[str], depth: int, indent: str) -> list[str]:
        """Writes statements, and returns the names that are tensors behind them."""
        r, names = self.r, list(names)
        for _ in range(r.randint(1, 5)):
            kind = r.random()
            a, b = r.choice(names), r.choice(names)
            new = self.fresh()
            if kind < 0.4:
                self.lines.append(f"{indent}{new} = {self.expression(names)}")
            elif kind < 0.48:
                self.lines.append(f"{indent}{new} = {a} + 0.25")
                self.lines.append(f"{indent}{new}.{r.choice(['mul_(0.5)', 'add_(1).mul_(0.25)', 'relu_()', f'copy_({b})', f'add_({b})'])}")
            elif kind < 0.54:
                self.lines.append(f"{indent}{new} = ({a} + 1).{r.choice(['mul_(0.5)', 'relu_()', 'tanh_()', 'clamp_(-1, 1).add_(0.125)'])}")
            elif kind < 0.6:
                other = self.fresh()
                self.lines.append(f"{indent}{new}, {other} = {r.choice([f'both({a}, {b})', f'both({a}, {a})', f'({a} * 1.5, {b})', f'{a}.repeat(2, 1).chunk(2)', f'torch.stack([{a}, {b}]).unbind(0)'])}")
                names.append(other)
            elif kind < 0.66:
                items = self.fresh()
                self.lines.append(f"{indent}{items} = [{a}, {b} + 1]")
                self.lines.append(f"{indent}{items}.append({self.expression(names)})")
                self.lines.append(f"{indent}{new} = {r.choice([f'{items}[0] + {items}[2]', f'{items}[-1]', f'torch.stack({items}).mean(0)', f'{items}.pop()'])}")
            elif kind < 0.7:
                found = self.fresh()
                self.lines.append(f"{indent}{found} = maybe({a}, {r.choice(['n > 1', 'n > 2', 'True'])})")
                self.lines.append(f"{indent}if {found} is not None:")
                self.lines.append(f"{indent}    {new} = {found} + {r.choice([b, found])}")
                self.lines.append(f"{indent}else:")
                self.lines.append(f"{indent}    {new} = {r.choice([a, b, a + ' - 1'])}")
            elif kind < 0.74:
                self.lines.append(f"{indent}{new} = {{'a': {a}, 'b': {b} * 2}}[{r.choice(['chr(97)', 'chr(98)'])}]".replace("chr(97)", "'a'").replace("chr(98)", "'b'"))
            elif kind < 0.87 and depth < 3:
                self.lines.append(f"{indent}{new} = {a}")
                self.lines.append(f"{indent}if {r.choice([f'bool({b}.sum() > 0)', 'n > 2', 'n % 2 == 0'])}:")
                inner = self.statements([*names, new], depth + 1, indent + "    ")
                self.lines.append(f"{indent}    {new} = {r.choice(inner)}")
                if r.random() < 0.6:
                    self.lines.append(f"{indent}else:")
                    inner = self.statements([*names, new], depth + 1, indent + "    ")
                    self.lines.append(f"{indent}    {new} = {r.choice(inner)}")
            elif depth < 3:
                self.lines.append(f"{indent}{new} = {a}")
                self.lines.append(f"{indent}for {self.fresh()} in range(n):")
                inner = self.statements([*names, new], depth + 1, indent + "    ")
                self.lines.append(f"{indent}    {new} = ({r.choice(inner)}).clamp(-3, 3)" if r.random() < 0.5 else f"{indent}    {new} = {r.choice(inner)}")
            else:
                self.lines.append(f"{indent}{new} = {self.expression(names)}")
            names.append(new)
        return names


def program(seed: str) -> str:
    r = random.Random(seed)
    w = Writer(r)
    names = w.statements(["x", "y"], 0, "        ")
    results = [r.choice(names[-6:]) for _ in range(r.randint(1, 3))]
    result = results[0] if len(results) == 1 else "(" + ", ".join(results) + ")"
    kind = "Tensor" if len(results) == 1 else "Tuple[" + ", ".join(["Tensor"] * len(results)) + "]"
    body = "\n".join(w.lines)
    return (
        HEAD + "\nclass Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = Inner()\n\n"
        f"    def forward(self, x: Tensor, y: Tensor, n: int) -> {kind}:\n{body}\n        return {result}\n"
    )


def flat(result) -> list:
    return [result] if isinstance(result, torch.Tensor) else list(result)


class Part:
    def __init__(self, seed: int, folder: str) -> None:
        self.seed, self.folder = seed, folder
        warnings.simplefilter("ignore")

    def describe(self, i: int) -> str:
        return program(f"{self.seed}:{i}")

    def build(self, i: int):
        path = os.path.join(self.folder, f"program_{i}.py")
        with open(path, "w") as f:
            f.write(program(f"{self.seed}:{i}"))
        spec = importlib.util.spec_from_file_location(f"attacked_{self.seed}_{i}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Outer

    def run(self, i: int) -> str | None:
        make = self.build(i)
        grad = random.Random(f"{self.seed}:{i}:mode").random() < 0.4
        scripted = torch.jit.script(make())
        for compiled in (scripted, torch.jit.freeze(torch.jit.script(make()).eval(), preserved_attrs=["inner"]) if i % 4 == 0 and not grad else None):
            if compiled is None:
                continue
            wrong = self.compare(make(), compiled, grad)
            if wrong:
                return wrong
        return None

    def compare(self, eager, compiled, grad: bool) -> str | None:
        held = []  # results of former rounds, which later ones must not touch
        for round in range(4):
            torch.manual_seed(round)
            x, y = torch.randn(4, 6), torch.randn(4, 6)
            if grad:
                x.requires_grad_()
            n = round % 4
            answers = []
            for f in (eager, compiled):
                try:
                    with torch.enable_grad() if grad else torch.no_grad():
                        out = flat(f(x, y, n))
                        gradient = None
                        if grad and sum(t.requires_grad for t in out):
                            x.grad = None
                            sum(t.sum() for t in out if t.requires_grad).backward(retain_graph=True)
                            gradient = None if x.grad is None else x.grad.clone()
                    answers.append((out, gradient, None))
                except RuntimeError as e:
                    if "internal error" in str(e):
                        return f"internal error: {str(e)[:200]}"
                    answers.append((None, None, str(e)))
            (a, ga, ea), (b, gb, eb) = answers
            if ea is not None:  # compiled, what fails may be dead code
                return None
            if eb is not None:
                return f"wrong result: round {round}: eager gives a result, compiled fails: {eb}"
            pad = [torch.full((4, 6), 1e9) for _ in range(8)]
            for k, (s, t) in enumerate(zip(a, b)):
                if not torch.allclose(s, t, rtol=1e-4, atol=1e-5, equal_nan=True):
                    return f"wrong result: round {round}, result {k}: {t.flatten()[:4].tolist()} for {s.flatten()[:4].tolist()}"
            if (ga is None) != (gb is None) or ga is not None and not torch.allclose(ga, gb, rtol=1e-3, atol=1e-4, equal_nan=True):
                return f"wrong result: round {round}: the gradient"
            del pad
            for results, values in held:
                for t, v in zip(results, values):
                    if not torch.equal(t.detach().nan_to_num(), v):
                        return f"wrong result: a result of a former round has changed in round {round}"
            if all(s.data_ptr() not in (x.data_ptr(), y.data_ptr()) for s in b):
                fixed = [t for t in b if not any(t.data_ptr() == u.data_ptr() for u in stored(compiled))]
                held.append(([lent(t) for t in fixed] if round % 2 else fixed, [t.detach().nan_to_num().clone() for t in fixed]))
        return None


def lent(t):
    """The memory of a tensor, which an array of NumPy keeps."""
    return torch.from_numpy(t.detach().numpy())


def stored(module) -> list:
    return [module.inner.last, *module.inner.kept]
