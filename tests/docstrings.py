"""What docstrings of modules and functions say of their arguments, found by running their examples: the tensor x of an example is given other types and other
numbers of dimensions, and gradients are asked for."""

import ast
import doctest
import warnings

import torchjit as torch
from torchjit import nn
from torchjit.nn import functional as F

GROUPS = {
    "bools": [torch.bool], "integers": [torch.int32, torch.int64], "floats": [torch.float32, torch.float64], "halves": [torch.float16, torch.bfloat16],
    "complex numbers": [torch.complex64, torch.complex128],
}  # fmt: skip


def names():
    """The names that examples have."""
    return {"__name__": "__main__", "torch": torch, "nn": nn, "F": F}


def lines_of(text):
    """The statements of the examples in a docstring."""
    return [example.source.rstrip("\n") for example in doctest.DocTestParser().get_examples(text)]


def joined(words, last="and"):
    words = [str(w) for w in words]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


class Call:
    """The first call of an example that takes x, and the statements before it that it needs."""

    def __init__(self, lines):
        self.before, self.call = [], None
        for line in lines:
            calls = [n for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Call) and any(isinstance(a, ast.Name) and a.id == "x" for a in n.args)]
            if calls:
                self.call = calls[0]
                break
            self.before.append(line)
        self.alone = self.call is not None and not any(isinstance(n, ast.Call) for a in [*self.call.args, *self.call.keywords] for n in ast.walk(a))

    def run(self, change=None, gradients=False):
        """The names and the result of the call, where change makes another tensor of x."""
        found = names()
        torch.manual_seed(0)
        with warnings.catch_warnings(), torch.set_grad_enabled(gradients):
            warnings.simplefilter("ignore")
            for line in self.before:
                exec(line, found)
            if change:
                found["x"] = change(found["x"])
                for m in found.values():
                    if isinstance(m, nn.Module) and (found["x"].is_floating_point() or found["x"].is_complex()):
                        m.to(found["x"].dtype)
            if gradients and found["x"].is_floating_point():
                found["x"].requires_grad_()
            return found, eval(compile(ast.Expression(self.call), "<example>", "eval"), found)

    def outcome(self, change):
        """The class of the error that the call raises, None where it runs."""
        try:
            self.run(change)
        except Exception as e:
            return type(e).__name__
        return None


def reshaped(dim):
    """Makes a tensor with another number of dimensions: without the first ones, or with ones before them."""

    def change(x):
        shape = ([1] * dim + list(x.shape))[len(x.shape) :]
        return torch.rand(shape) if x.is_floating_point() else torch.zeros(shape, dtype=x.dtype)

    return change


def gradients_of(call):
    found, out = call.run(gradients=True)
    out = [t for t in (out if isinstance(out, tuple) else (out,)) if isinstance(t, torch.Tensor) and t.requires_grad]
    if not out:
        return "No gradients flow to it."
    sum(t.sum() for t in out).backward()
    to = ["the input"] if found["x"].grad is not None else []
    modules = [m for m in found.values() if isinstance(m, nn.Module)]
    if any(p.grad is not None for m in modules for p in m.parameters()):
        to.append("the parameters")
    return f"Gradients flow to {joined(to)}." if to else ""


def of_types(call):
    """The types of elements that x may have, and the errors of others."""
    takes, errors = [], set()
    whole = not call.run()[0]["x"].is_floating_point()
    for group, dtypes in GROUPS.items():
        if not call.alone and group not in ("integers" if whole else "floats", "halves"):
            continue
        if call.alone or whole:
            outcomes = [call.outcome(lambda x, d=dtype: x.to(d)) for dtype in dtypes]
        else:  # the other tensors of the call have the type that numbers have
            outcomes = []
            for dtype in dtypes:
                before = torch.get_default_dtype()
                torch.set_default_dtype(dtype)
                try:
                    outcomes.append(call.outcome(lambda x: x))
                finally:
                    torch.set_default_dtype(before)
        if any(outcomes):
            errors.update(e for e in outcomes if e)
        else:
            takes.append(group)
    return takes, errors


def facts(text):
    """What a docstring must say of x besides its examples, "" where no example has one."""
    lines = lines_of(text)
    if not any(line.startswith("x = ") for line in lines):
        return ""
    call = Call(lines)
    if call.call is None:
        return ""
    takes, refuses = of_types(call)
    said = f"Takes {joined(takes)}" if takes else "Takes nothing"
    errors = {}
    if call.alone:
        outcomes = {dim: call.outcome(reshaped(dim)) for dim in range(7)}
        dims = [dim for dim, error in outcomes.items() if not error]
        if any(outcomes.values()):
            numbers = f"{dims[0]} or more" if dims == list(range(dims[0], 7)) else joined(dims, "or")
            said += f", of {numbers} dimension{'s' if dims != [1] else ''}"
            errors["other numbers of dimensions"] = joined(sorted({e for e in outcomes.values() if e}), "or")
        else:
            said += ", of any shape"
        if refuses:
            errors["other types"] = joined(sorted(refuses), "or")
    raised = [f"{error} for {joined([what for what in errors if errors[what] == error])}" for error in dict.fromkeys(errors.values())]
    raises = f" Raises {joined(raised)}." if errors else ""
    return f"{said}. {gradients_of(call)}{raises}".replace("  ", " ")
