"""Every module of torch.nn and every function of torch.nn.functional gives the same in every way of running it."""

import copy
import io
import linecache
import os
import pathlib
import re
import subprocess
import sys
import threading
import warnings

import pytest
import ways

import torchjit as torch
from torchjit import nn
from torchjit.nn import functional as F


def r(*sizes):
    return torch.randn(*sizes)


def u(*sizes):
    return torch.rand(*sizes) * 0.8 + 0.1


def i(limit, *sizes):
    return torch.randint(0, limit, sizes)


SCOPE = {"torch": torch, "nn": nn, "F": F, "r": r, "u": u, "i": i}


def leaves(x):
    """The tensors and other values of nested containers, in order."""
    if isinstance(x, (tuple, list)):
        return [leaf for item in x for leaf in leaves(item)]
    return [x]


def copied(arguments):
    """The arguments with tensors of their own, of which the floating point ones want gradients."""

    def one(x):
        if isinstance(x, tuple):
            return tuple(one(item) for item in x)
        return x.detach().clone().requires_grad_(x.is_floating_point()) if isinstance(x, torch.Tensor) else x

    return tuple(one(x) for x in arguments)


class Outcome:
    """What a call gave: results, gradients of the inputs and the parameters, and the inputs behind it; or the class of its error."""

    def __init__(self, run, arguments, gradients=True):
        arguments = copied(arguments)
        torch.manual_seed(3)
        self.error = self.grads = None
        self.trained: dict = {}
        self.results = []
        try:
            result = run(*arguments)
        except Exception as error:
            self.error = error
            return
        self.results = leaves(result)
        wanted = [t for t in self.results if isinstance(t, torch.Tensor) and t.requires_grad]
        self.facts = [(t.dtype, tuple(t.shape), t.stride(), t.requires_grad) if isinstance(t, torch.Tensor) else type(t) for t in self.results]
        inputs = [t for t in leaves(arguments) if isinstance(t, torch.Tensor)]
        wanting = [t for t in inputs if t.requires_grad]
        parameters = dict(run.named_parameters()) if isinstance(run, nn.Module) else {}
        parameters = {name: p for name, p in parameters.items() if p.requires_grad}
        if gradients and wanted and (wanting or parameters):
            grads = torch.autograd.grad(sum((t * t).sum() for t in wanted), [*wanting, *parameters.values()], allow_unused=True)
            self.grads = list(grads[: len(wanting)])
            self.trained = dict(zip(parameters, grads[len(wanting) :], strict=True))
        self.inputs = inputs

    def difference(self, other, exact=True, requires_grad=True):
        """How another outcome differs from this one, None where it does not."""
        if self.error is not None or other.error is not None:
            same = type(self.error).__mro__[:1] == type(other.error).__mro__[:1]
            return None if same else f"error {other.error!r}, not {self.error!r}"[:400]
        drop = (lambda f: f[:3] if isinstance(f, tuple) else f) if not requires_grad else (lambda f: f)
        if list(map(drop, self.facts)) != list(map(drop, other.facts)):
            return f"types, sizes, strides or requires_grad {other.facts}, not {self.facts}"
        pairs = [("results", self.results, other.results), ("inputs", self.inputs, other.inputs)]
        if self.grads is not None and other.grads is not None:
            pairs.append(("gradients", self.grads, other.grads))
        if self.trained and other.trained:
            pairs.append((f"gradients of {list(self.trained)}", list(self.trained.values()), [other.trained.get(name) for name in self.trained]))
        for what, mine, theirs in pairs:
            for a, b in zip(mine, theirs, strict=True):
                # What is differentiated as one graph, as it is behind some profiled calls, adds up gradients in another order.
                if not equal(a, b, exact and not what.startswith("gradients")):
                    return f"{what} {b}, not {a}"[:400]
        return None


def equal(a, b, exact):
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return a is b or a == b
    a, b = a.detach(), b.detach()
    return torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) if exact else torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def saved(program, lite=False):
    """A program as it comes back from an archive."""
    if lite:
        from torchjit.jit import mobile

        return mobile._load_for_lite_interpreter(io.BytesIO(program._save_to_buffer_for_lite_interpreter()))
    buffer = io.BytesIO()
    torch.jit.save(program, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


def in_threads(program):
    """Runs a program in two threads at once and gives the second's result."""

    def run(*arguments):
        found = []
        others = copied(arguments)
        one = threading.Thread(target=lambda: [program(*others) for _ in range(3)])
        one.start()
        found.append(program(*arguments))
        one.join()
        return found[0]

    return run


def without_grad(program):
    def run(*arguments):
        with torch.no_grad():
            return program(*arguments)

    return run


def in_inference_mode(program):
    def run(*arguments):
        with torch.inference_mode():
            return [t.clone() if isinstance(t, torch.Tensor) else t for t in leaves(program(*arguments))]

    return run


def profiled(program):
    """Runs a program under the profiling executor, often enough that it is specialized, and gives the last result."""

    def run(*arguments):
        old = torch._C._jit_set_profiling_executor(True)
        try:
            for _ in range(3):
                program(*copied(arguments))
            torch.manual_seed(3)
            return program(*arguments)
        finally:
            torch._C._jit_set_profiling_executor(old)

    return run


def unfused(program):
    def run(*arguments):
        with torch.jit.fuser("fuser0"):
            return program(*arguments)

    return run


# In these ways an operator may round otherwise: weights are packed, products and sums are joined.
ROUNDED = {"frozen", "optimized", "exported", "exported file", "profiled", "unfused"}


def programs(module, arguments, random):
    """The ways of running a module: pairs of a name and what makes the program."""
    made = {}

    def script():
        if "script" not in made:
            made["script"] = torch.jit.script(copy.deepcopy(module))
        return made["script"]

    def trace():
        if "trace" not in made:
            made["trace"] = torch.jit.trace(copy.deepcopy(module), copied(arguments), check_trace=False)
        return made["trace"]

    def exported():
        if "exported" not in made:
            made["exported"] = torch.export.export(copy.deepcopy(module), arguments)
        return made["exported"]

    def exported_file():
        buffer = io.BytesIO()
        torch.export.save(exported(), buffer)
        buffer.seek(0)
        return torch.export.load(buffer).module()

    yield "deepcopy", lambda: copy.deepcopy(module)
    alone = module.training or random
    if not alone:  # else random numbers and statistics are shared by the threads
        yield "threads", lambda: in_threads(copy.deepcopy(module))
        yield "script threads", lambda: in_threads(script())
    yield "script", script
    yield "script copy", lambda: copy.deepcopy(script())
    yield "script loaded", lambda: saved(script())
    yield "script lite", lambda: saved(script(), lite=True)
    if not module.training:
        yield "profiled", lambda: profiled(torch.jit.script(copy.deepcopy(module)))
        yield "unfused", lambda: unfused(torch.jit.script(copy.deepcopy(module)))
        yield "frozen", lambda: torch.jit.freeze(script())
        yield "optimized", lambda: torch.jit.optimize_for_inference(script())
        yield "trace", trace
        yield "trace loaded", lambda: saved(trace())
        yield "exported", lambda: exported().module()
        yield "exported file", exported_file


def differences(text, module, arguments):
    """How the ways of running a module differ from calling it."""
    found = []
    expected = Outcome(copy.deepcopy(module), arguments)
    if expected.error is not None:
        return [f"{text}: eager: {expected.error!r}"]
    quiet = {True: Outcome(without_grad(copy.deepcopy(module)), arguments), False: Outcome(in_inference_mode(copy.deepcopy(module)), arguments)}
    kind = text.partition("(")[0]
    for way, make in programs(module, arguments, kind == "gumbel_softmax"):
        family = "script" if way in ("frozen", "optimized", "profiled", "unfused") else way.split()[0]
        if any(text.startswith(k) and w in (family, way) for k, w in ways.CANNOT):
            continue
        try:
            program = make()
        except Exception as error:
            reason = " ".join(str(error).split())
            found.append(f"{text}: {way}: cannot be made: {reason[:200]}")
            continue
        exact = way not in ROUNDED
        # The parameters of a frozen module want no gradients.
        wants = "lite" not in way and (way not in ("frozen", "optimized") or any(isinstance(t, torch.Tensor) and t.is_floating_point() for t in leaves(arguments)))
        calls = 30 if way == "script" and not module.training else 1
        for n in range(calls):
            why = expected.difference(Outcome(program, arguments), exact, requires_grad=wants)
            if why:
                found.append(f"{text}: {way}: call {n + 1}: {why}")
                break
        if way in ("script", "trace") and not module.training:
            for grad, wrap in ((True, without_grad), (False, in_inference_mode)):
                why = quiet[grad].difference(Outcome(wrap(program), arguments), exact=False)
                if why:
                    found.append(f"{text}: {way} under {wrap.__name__}: {why}")
    return found


def call_of(name, text):
    """A module whose forward is a call of a function of nn.functional with inputs x, y, z."""
    parameters = ", ".join(v for v in ("x", "y", "z") if re.search(rf"\b{v}\b", text))
    source = f"class Call(nn.Module):\n    def forward(self, {parameters}):\n        return F.{text}\n"
    file = f"<ways {text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {**SCOPE, "__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return scope["Call"]()


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        yield


@pytest.mark.parametrize("name", sorted(n for n in ways.MODULES if ways.MODULES[n]))
def test_modules(name):
    found = []
    for arguments, inputs in ways.MODULES[name]:
        for training in (False, True):
            torch.manual_seed(1)
            module = eval(f"nn.{name}({arguments})", SCOPE).train(training)
            given = eval(f"({inputs},)", SCOPE)
            if "float64" in arguments:
                given = tuple(t.double() for t in given)
            found += differences(f"{name}({arguments}) of {inputs}{' training' if training else ''}", module, given)
    assert not found, "\n".join(found)


class Holding(nn.Module):
    """A module that holds its parameters and other values a second time."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.all = [self.layer.weight, self.layer.bias]
        self.by_name = {"w": self.layer.weight}
        self.pair = (self.layer.weight, 3)
        self.seen: list[int] = [0]

    def forward(self, x):
        self.seen.append(len(self.seen))
        return x @ self.all[0] + self.by_name["w"].sum() + self.pair[0].sum() * self.pair[1], len(self.seen)


def test_copies_of_compiled_modules_share_nothing():
    scripted, x = torch.jit.script(Holding()), torch.ones(1, 2)
    other = copy.deepcopy(scripted)
    assert scripted(x)[1] == 2 and scripted(x)[1] == 3 and other(x)[1] == 2
    with torch.no_grad():
        other.layer.weight.zero_()
    assert other(x)[0].tolist() == [[0.0, 0.0]] and scripted(x)[0].abs().sum() > 0
    other(x)[0].sum().backward()
    assert other.layer.weight.grad is not None and scripted.layer.weight.grad is None


def first_sample(arguments):
    """The arguments with one sample, where they have a batch in front."""
    if isinstance(arguments, tuple):
        return tuple(first_sample(a) for a in arguments)
    return arguments[:1].clone() if isinstance(arguments, torch.Tensor) and arguments.dim() > 1 else arguments


def batch_of_one(name):
    """How the ways differ for one sample, of the configurations that take it."""
    found = []
    for arguments, inputs in ways.MODULES[name]:
        for training in (False, True):
            torch.manual_seed(1)
            module = eval(f"nn.{name}({arguments})", SCOPE).train(training)
            given = first_sample(eval(f"({inputs},)", SCOPE))
            if "float64" in arguments:
                given = tuple(t.double() for t in given)
            if Outcome(copy.deepcopy(module), given).error is None:
                found += differences(f"{name}({arguments}) of {inputs}, the first sample{' training' if training else ''}", module, given)
    return found


ALL = os.environ.get("WAYS") == "all"  # WAYS=all python -m pytest tests/test_ways.py
SOME = ["BatchNorm1d", "Conv2d", "GRU", "InstanceNorm2d", "LSTM", "Linear", "MultiheadAttention", "Softmax"]
BATCHES_OF_ONE = sorted(n for n in ways.MODULES if ways.MODULES[n]) if ALL else SOME


@pytest.mark.parametrize("name", BATCHES_OF_ONE)
def test_batches_of_one(name):
    found = batch_of_one(name)
    assert not found, "\n".join(found)


PROGRAMS = [] if ALL else ["algo_select", "autograd_layers", "cls_counter", "ctrl_nested_ret", "forks", "freeze_mod", "mod_buffers", "nn_gru"]  # none: all


def test_programs():
    """A sample of tests/programs in all ways."""
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("program_ways.py"), *PROGRAMS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "0 differences; ran" in done.stdout


@pytest.mark.parametrize("name", sorted(ways.FUNCTIONS))
def test_functions(name):
    found = []
    for text, inputs in ways.FUNCTIONS[name]:
        torch.manual_seed(1)
        found += differences(text, call_of(name, text).eval(), eval(f"({inputs},)", SCOPE))
    assert not found, "\n".join(found)


def test_no_class_and_no_function_is_left_out():
    classes = {n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)}
    assert classes == {n for n in ways.MODULES if ways.MODULES[n]} | set(ways.NO_MODULES)
    functions = {n for n, f in vars(F).items() if callable(f) and n[0].islower() and not isinstance(f, type) and f.__module__ != "torchjit.overrides"}
    assert functions == set(ways.FUNCTIONS) | set(ways.NO_FUNCTIONS)

