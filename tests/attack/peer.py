"""`python -m tests.attack.peer --other PYTHON [--seed N] [--cases N] [--hostile] [--only PATTERN]`: the calls of the attack in this library and in PyTorch.

PYTHON is an interpreter that has PyTorch. Both libraries run the same texts, each in a process of its own, and results are compared: values, element types, shapes, what is
refused. What differs is printed, one line a call, under what kind of difference it is. Nothing decides which of both is right: documented differences are found as well.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
HANG = 30  # seconds that a call may take
# Results that follow from more than the arguments: random numbers, memory that nobody has written, signs that are open.
OPEN = re.compile(
    r"(^|_)empty|rand|normal|uniform|bernoulli|dropout|multinomial|poisson$|exponential|geometric|cauchy|binomial|gamma_?$|dirichlet|rrelu|^resize|_out_of|svd|eig|qr|data_ptr|"
    r"lobpcg|householder|sobol|is_pinned|_version|storage|lu_solve|orgqr|ormqr|ldl|_nested|_cudnn|mkldnn|log_normal|test|TimePoint|IgnoredPython|_batch_dim"
)


def cases(seed: int, first: int, count: int, hostile: bool):
    """The calls: an index, the operator's name and overload, and the arguments as text."""
    from tests.attack import operators

    if not hostile:
        operators.FILLINGS = ["normal", "normal", "normal", "positive", "zeros", "ones", "negative"]
        operators.Writer.hostile = lambda self: self.r.random() < 0.01
    part = operators.Part(seed, tempfile.mkdtemp())
    part.targets = [t for t in part.targets if not OPEN.search(t[0].name.split("::")[1])]
    for i in range(first, first + count):
        schema, _, text, _, writes = part.case(i)
        if writes and re.search("'overlapping'|'expanded'", text) or "packed(" in text:  # what is written twice holds either value; packed weights are random
            continue
        yield i, schema.name, schema.overload_name or "default", text


def described(t, torch):
    """A tensor as what both libraries can compare: type, layout, shape, whether it requires gradients, elements."""
    kind, layout = str(t.dtype).split(".")[-1], str(t.layout).split(".")[-1]
    if t.device.type != "cpu" or t.numel() > 100_000:
        return kind, layout, tuple(t.shape), t.requires_grad, None
    requires = t.requires_grad
    t = t.detach()
    if t.is_quantized:
        t = t.dequantize()
    if t.layout != torch.strided:
        t = t.to_dense()
    t = t.resolve_conj().resolve_neg()
    if t.dtype in (torch.float16, torch.bfloat16):
        t = t.float()
    elif str(t.dtype) == "torch.complex32":
        t = t.to(torch.complex64)
    return kind, layout, tuple(t.shape), requires, t.numpy().copy()


def result_of(operators, torch, name: str, overload: str, text: str):
    """What a call gives: descriptions of the results and of gradients of their sum, or an exception."""
    space, base = name.split("::")
    operator = getattr(getattr(getattr(torch.ops, space), base), overload)
    scope = {n: getattr(operators, n) for n in ("torch", "tensor", "sparse", "meta", "packed")}
    try:
        result, failure, args, keywords, _ = operators.outcome(operator, text, scope)
    except Exception as e:
        return "unmade", type(e).__name__, str(e)
    if failure is not None:
        return "refused", type(failure).__name__, str(failure)

    def plain(x):
        if isinstance(x, torch.Tensor):
            return ("tensor", described(x, torch))
        if isinstance(x, (list, tuple)):
            return [plain(y) for y in x]
        return ("value", x) if isinstance(x, (int, float, complex, str, bool, type(None))) else ("other", type(x).__name__)

    try:
        found = plain(result)
        outs = [t for t in operators.tensors(result) if t.requires_grad and operators.dense(t)]
        leaves = [t for t in operators.tensors([args, list(keywords.values())]) if t.requires_grad and t.is_leaf]
        gradients = None
        if outs and leaves:
            try:
                seeds = [torch.ones((), dtype=t.dtype).expand(t.shape) for t in outs]
                gradients = plain(torch.autograd.grad(outs, leaves, seeds, allow_unused=True))
            except Exception as e:
                gradients = ("refused", type(e).__name__, str(e))
        return "given", found, gradients
    except Exception as e:
        return "unreadable", type(e).__name__, str(e)


def work(library: str, path: str, start: int) -> None:
    """A worker: runs the calls of a file from one on, and appends what they give."""
    import signal
    import warnings

    import numpy  # noqa: F401 - both libraries convert by it

    if library == "torch":
        import torch

        sys.modules["torchjit"] = torch
    else:
        import torchjit as torch
    from tests.attack import operators

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.chdir(tempfile.mkdtemp())

    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process: a loop in C would never come to a function of Python
    with open(path + ".calls") as calls, open(f"{path}.{library}", "ab") as out:
        for number, line in enumerate(calls):
            if number < start:
                continue
            _, name, overload, text = json.loads(line)
            signal.alarm(HANG)
            try:
                got = result_of(operators, torch, name, overload, text)
            except Exception as e:
                got = "unreadable", type(e).__name__, str(e)
            signal.alarm(0)
            pickle.dump((number, got), out)
            out.flush()


def run(library: str, python: str, path: str, count: int) -> dict:
    """What all calls give in a library. A worker that ends in a call is followed by another one."""
    found, start = {}, 0
    while start < count:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        code = f"from tests.attack.peer import work; work({library!r}, {path!r}, {start})"
        done = subprocess.run([python, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, env=environment, cwd=ROOT)
        with open(f"{path}.{library}", "rb") as f:
            while True:
                try:
                    number, got = pickle.load(f)
                except (EOFError, pickle.UnpicklingError):
                    break
                found[number] = got
        last = max(found, default=-1)
        if done.returncode == 0:
            break
        if last + 1 == start and done.returncode == 1:
            raise RuntimeError(done.stderr.decode()[-2000:])
        found[last + 1] = ("died", str(done.returncode), done.stderr.decode()[-200:])
        with open(f"{path}.{library}", "ab") as f:
            pickle.dump((last + 1, found[last + 1]), f)
        start = last + 2
    return found


def close(a, b, kind: str) -> bool:
    import numpy as np

    if a.shape != b.shape:
        return False
    if a.dtype.kind in "biu" or a.size == 0:
        return bool(np.array_equal(a, b))
    tolerance = {"float64": 1e-7, "complex128": 1e-7, "float32": 1e-3, "complex64": 1e-3, "float16": 2e-2, "complex32": 2e-2}.get(kind, 0.06)
    with np.errstate(all="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        if not np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True) and not (np.isnan(a) == np.isnan(b)).all():
            return False
        if not (np.isfinite(a) == np.isfinite(b)).all():
            return False
        x, y = a[finite], b[finite]
        if x.size == 0:
            return True
        scale = max(float(np.abs(y).max()), 1e-6)
        return bool((np.abs(x - y) <= tolerance * scale + tolerance * np.abs(y)).all())


def difference(a, b) -> str | None:
    """How what two calls give differs: a kind of difference, and the difference."""
    if isinstance(a, list) != isinstance(b, list):
        return f"structure: {a} and {b}"
    if isinstance(a, list):
        if len(a) != len(b):
            return f"structure: {len(a)} and {len(b)} results"
        return next((d for x, y in zip(a, b) if (d := difference(x, y))), None)
    if a[0] != b[0]:
        return f"structure: {a[0]} and {b[0]}"
    if a[0] != "tensor":
        if a[0] == "value" and a[1] != b[1] and not (a[1] != a[1] and b[1] != b[1]):
            if isinstance(a[1], (float, complex)) and isinstance(b[1], (float, complex)) and abs(a[1] - b[1]) <= 1e-4 * abs(b[1]):
                return None
            return f"numbers: {a[1]!r} and {b[1]!r}"
        return None
    (kind, layout, shape, requires, x), (kind2, layout2, shape2, requires2, y) = a[1], b[1]
    if kind != kind2:
        return f"types: {kind} and {kind2}"
    if shape != shape2:
        return f"shapes: {shape} and {shape2}"
    if layout != layout2:
        return f"layouts: {layout} and {layout2}"
    if x is not None and y is not None and not close(x, y, kind):
        return f"numbers: {x.flatten()[:4].tolist()} and {y.flatten()[:4].tolist()}"
    if requires != requires2:
        return f"requires_grad: {requires} and {requires2}"
    return None


def compared(a, b) -> str | None:
    """How the outcomes of a call differ."""
    if a[0] == "unmade" or b[0] == "unmade":
        return None if a[0] == b[0] else f"argument: {a[0]} ({str(a[2])[:100]!r}) and {b[0]} ({str(b[2])[:100]!r})"
    if b[0] == "died":
        return None
    if a[0] == "died":
        return f"death: {a}"
    if a[0] != b[0]:
        texts = [x[0] + (f" {x[1]}: {x[2].splitlines()[0][:160] if x[2] else ''}" if x[0] in ("refused", "unreadable") else "") for x in (a, b)]
        kind = {("given", "refused"): "accepted", ("refused", "given"): "refused"}.get((a[0], b[0]), "unreadable")
        if kind == "accepted" and re.search("not implemented for|INTERNAL ASSERT|Could not run|only supports|NYI", b[2]):
            kind = "computed"  # PyTorch's kernels lack a type or a layout
        elif kind == "refused" and "is not implemented by this version" in a[2]:
            kind = "missing"
        elif b[0] in ("refused", "unreadable") and "has no attribute" in b[2]:
            return None  # of another version
        return f"{kind}: {texts[0]} | {texts[1]}"
    if a[0] == "refused":
        return None
    if a[0] == "unreadable":
        return None
    if wrong := difference(a[1], b[1]):
        return wrong
    if (a[2] is None) != (b[2] is None):
        return f"gradients: {'none' if a[2] is None else 'some'} and {'none' if b[2] is None else 'some'}"
    if a[2] is not None:
        refused = [isinstance(g, tuple) for g in (a[2], b[2])]
        if refused[0] != refused[1]:
            return f"gradients: {a[2] if refused[0] else 'given'} and {b[2] if refused[1] else 'given'}"[:300]
        if not refused[0] and (wrong := difference(a[2], b[2])):
            return f"gradient {wrong}"
    return None


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m tests.attack.peer", description=__doc__.partition("\n")[0])
    arguments.add_argument("--other", default="/usr/bin/python3", help="an interpreter that has PyTorch (/usr/bin/python3)")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--first", type=int, default=0)
    arguments.add_argument("--cases", type=int, default=2000)
    arguments.add_argument("--hostile", action="store_true", help="with the sizes and values of the attack")
    arguments.add_argument("--kind", default="", help="a pattern of the kinds of differences that are printed")
    arguments.add_argument("--each", type=int, default=2, help="how many calls of an operator are printed")
    options = arguments.parse_args()
    folder = tempfile.mkdtemp(prefix="peer-")
    path = os.path.join(folder, "run")
    directory = os.getcwd()
    written = list(cases(options.seed, options.first, options.cases, options.hostile))
    os.chdir(directory)
    pathlib.Path(path + ".calls").write_text("".join(json.dumps(c) + "\n" for c in written))
    ours = run("torchjit", sys.executable, path, len(written))
    theirs = run("torch", options.other, path, len(written))
    kinds: collections.Counter = collections.Counter()
    shown: collections.Counter = collections.Counter()
    both = sum(ours[n][0] == "given" and theirs[n][0] == "given" for n in ours)
    for n, (_, name, overload, text) in enumerate(written):
        wrong = compared(ours[n], theirs[n])
        if not wrong:
            continue
        kind = wrong.split(":")[0]
        kinds[kind] += 1
        shown[name, kind] += 1
        if re.search(options.kind, kind) and shown[name, kind] <= options.each:
            print(f"{wrong[:500]}\n    {name}.{overload} {text[:600]}", flush=True)
    print(f"{len(written)} calls, seed {options.seed}: {both} run in both; differences: {dict(kinds.most_common())}")


if __name__ == "__main__":
    main()
