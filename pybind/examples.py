"""Writes an example of each operator, with the result that it really has, and the types and errors that calls of it were found to have.

python pybind/examples.py          print gojit/internal/ops/examples.txt
python pybind/examples.py --write  replace it

The arguments are those of the operator's shortest sample (tests/attack/samples.txt), or what its first form asks for. help() shows the examples.
"""

import itertools
import os
import re
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(ROOT, "gojit", "internal", "ops", "examples.txt")
sys.path.insert(0, ROOT)

HEAD = """# Made by pybind/examples.py: of each operator a call with its result, the types that its tensors may have, and the errors of calls that do not fit.
# A line that begins with a name is followed by what help() shows of it.
"""

GROUPS = {
    "bools": ["bool"], "integers": ["uint8", "int8", "int16", "int32", "int64"], "floats": ["float32", "float64"],
    "halves": ["float16", "bfloat16"], "complex numbers": ["complex64", "complex128"],
}  # fmt: skip

# Numbers of example tensors: what has logarithms, what has inverse sines, whole numbers.
FILLINGS = ((1.0, 2.0, 0.5, 3.0, 0.25, 1.5), (0.5, -0.25, 0.75, 0.0, -0.5, 0.25), (2.0, 1.0, 1.0, 3.0, 2.0, 5.0))


class Tensor:
    """A tensor of an example: its type, its shape and the largest of its integers."""

    def __init__(self, dtype, shape, top=9):
        self.dtype, self.shape, self.top = dtype, tuple(shape), top

    def numel(self):
        n = 1
        for size in self.shape:
            n *= size
        return n

    def text(self, filling, number):
        """The expression that makes it."""
        n, last = self.numel(), ""
        if self.dtype == "bool":
            values = [(i + number) % 2 == 0 for i in range(n)]
        elif "int" in self.dtype:
            values = [(i + number) % (self.top + 1) for i in range(n)]
        else:
            values = [FILLINGS[filling][(i + 2 * number) % 6] for i in range(n)]
            if self.shape[-2:] == (2, 2) and filling == 0:
                values = [2.0, 1.0, 1.0, 3.0] * (n // 4)
        if self.dtype not in ("bool", "int64", "float32") or n == 0 or self.dtype == "bool" and n > 9:
            last = f", dtype=torch.{self.dtype}"
        if n <= 9:
            return f"torch.tensor({nested(values, self.shape)}{last})"
        if self.dtype == "bool" or number and self.dtype not in ("int64", "int32"):
            return f"torch.ones({list(self.shape)}{last})"
        if "int" in self.dtype:
            return f"torch.arange({n}{last}).remainder({self.top + 1}).reshape({list(self.shape)})"
        return f"torch.arange({n}.0{last}).reshape({list(self.shape)})"


def nested(values, shape):
    if not shape:
        return repr(values[0])
    step = len(values) // shape[0] if shape[0] else 0
    return "[" + ", ".join(nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def written(value, filling, number):
    """An argument as an expression, None where it has none that is short."""
    if isinstance(value, Tensor):
        return value.text(filling, number)
    if isinstance(value, (list, tuple)):
        parts = [written(v, filling, number + i) for i, v in enumerate(value)]
        return None if None in parts else "[" + ", ".join(parts) + "]"
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return repr(value)
    return str(value) if str(value).startswith("torch.") and re.fullmatch(r"[\w.]+", str(value)) else None


def tensors(value):
    """The tensors among arguments."""
    if isinstance(value, Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def samples():
    """The arguments of the samples, by the operator's name."""
    class Other:
        def __init__(self, *_):
            pass

    import torchjit as torch

    found = {}
    with open(os.path.join(ROOT, "tests", "attack", "samples.txt")) as f:
        for line in f:
            name, _, arguments = line.partition("(")
            space, name, _ = name.split(".")
            names = {"take": lambda *a, **k: (list(a), k), "T": Tensor, "Q": Other, "S": Other, "P": Other, "torch": torch}
            if space == "aten":
                found.setdefault(name, []).append(eval(f"take({arguments}", names))
    return found


def of_form(form):
    """Arguments for a form: what it does not have a default for."""
    import ast

    arguments = ast.parse(f"def f{form}: ...").body[0].args
    plain = [*arguments.posonlyargs, *arguments.args]
    made = []
    for one in plain[: len(plain) - len(arguments.defaults)]:
        kind = ast.unparse(one.annotation) if one.annotation else "Tensor"
        if one.arg in ("indices", "index", "target"):
            made.append([Tensor("int64", (2,), 1), Tensor("int64", (1, 2), 1)])
        elif kind.startswith("Tensor"):
            made.append([Tensor("float32", (3,)), Tensor("float32", (2, 2)), Tensor("float32", (1, 2, 4)), Tensor("int64", (3,), 3), Tensor("bool", (3,))])
        elif kind == "Sequence[Tensor]":
            made.append([[Tensor("float32", (2,)), Tensor("float32", (2,))], [Tensor("float32", (2, 2)), Tensor("float32", (2, 2))]])
        elif kind.startswith("Sequence") or "Sequence[int]" in kind:
            made.append([[2], [0], [0, 1], [1, 2]])
        elif kind == "str":
            made.append(["ij,jk->ik"])
        elif kind == "bool":
            made.append([True])
        else:
            made.append([1, 2, 0] if kind.startswith("int") else [2, 0.5])
    if arguments.vararg and not made:
        made.append([2, Tensor("float32", (2,))])
    return [(list(c), {}) for c in itertools.islice(itertools.product(*made), 40)]


def spelled(name, is_method):
    """How the operator is called: torch.NAME, torch.linalg.NAME, or as a method of its first argument."""
    import torchjit as torch

    for space in ("linalg", "fft", "special"):
        if name.startswith(space + "_") and hasattr(getattr(torch, space), name.removeprefix(space + "_")):
            return f"torch.{space}.{name.removeprefix(space + '_')}"
    return "" if is_method else f"torch.{name}"


def call_text(name, is_method, args, keywords, filling):
    texts = [written(a, filling, i) for i, a in enumerate(args)]
    named = {k: written(v, filling, len(args) + i) for i, (k, v) in enumerate(keywords.items())}
    if None in texts or None in named.values():
        return None
    listed = texts + [f"{k}={v}" for k, v in named.items()]
    function = spelled(name, is_method)
    if function:
        return f"{function}({', '.join(listed)})"
    return f"{listed[0]}.{name}({', '.join(listed[1:])})" if listed else None


def evaluated(text):
    """The value of an expression, or the error that it ends with."""
    import torchjit as torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        try:
            return eval(text, {"torch": torch}), None
        except Exception as e:
            return None, e


def flat(value):
    import torchjit as torch

    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in flat(v)] if isinstance(value, (list, tuple)) else []


def shows_nothing(value):
    """Whether a result teaches nothing: NaNs or infinities, or no elements."""
    import torchjit as torch

    for t in flat(value):
        if t.layout != torch.strided or t.is_quantized or t.numel() == 0:
            return True
        if (t.is_floating_point() or t.is_complex()) and not torch.isfinite(t if not t.is_complex() else torch.view_as_real(t.resolve_conj())).all():
            return True
    return value is None


def is_random(name):
    import torchjit as torch

    tags = [torch.Tag.nondeterministic_seeded]
    packet = getattr(torch.ops.aten, name)
    return name.startswith(("empty", "new_empty", "resize")) or any(t in getattr(packet, o).tags for o in packet.overloads() for t in tags)


def example_of(name, is_method, forms, found):
    """(text, value, arguments) of the best call: the shortest whose result fits and says something."""
    candidates = sorted(found.get(name, []), key=lambda c: (sum(t.numel() for t in tensors(c[0])), len(str(c))))[:8]
    synthetic = [c for form in forms for c in of_form(form)][:120]
    elementwise = [c for c in synthetic if c[0] and all(isinstance(a, Tensor) and a.shape == (3,) for a in c[0])]
    best = None
    for args, keywords in [*elementwise, *candidates, *synthetic]:
        for filling in range(len(FILLINGS)):
            text = call_text(name, is_method, args, keywords, filling)
            if text is None or len(text) > 200:
                continue
            value, error = evaluated(text)
            if error is not None or (value is None or not flat(value) if is_random(name) else shows_nothing(value)):
                continue
            shown = str(value)
            if not is_random(name) and not is_exact(name, is_method, args, keywords, filling, value):
                continue
            if re.search(r"0x[0-9a-f]{6}|<.* object", shown):
                continue
            long = len(shown) > 400 or shown.count("\n") > 10
            if long and not isinstance(value, torch_tensor()):
                continue
            rank = (long, changes_nothing(args, filling, value), len(text) > 100, shown.count("\n") > 6, all(t.numel() < 2 for t in tensors(args)))
            if best is None or rank < best[0]:
                best = (rank, text, value, (args, keywords, filling))
            if not any(rank):
                return best
            if not rank[1]:
                break
    return best


def shortest(name, is_method, best):
    """The same call without the last arguments that change nothing."""
    rank, text, value, (args, keywords, filling) = best
    while len(args) > 1 and not keywords and not tensors(args[-1]) and not is_random(name):
        shorter = call_text(name, is_method, args[:-1], keywords, filling)
        result, error = evaluated(shorter)
        if error is not None or str(result) != str(value):
            break
        text, args = shorter, args[:-1]
    return rank, text, value, (args, keywords, filling)


def changes_nothing(args, filling, value):
    """Whether a result is the first argument."""
    import torchjit as torch

    if not isinstance(value, torch.Tensor) or not args or not isinstance(args[0], Tensor):
        return False
    first, _ = evaluated(args[0].text(filling, 0))
    return str(first) == str(value)


def is_exact(name, is_method, args, keywords, filling, value):
    """Whether what is shown of a result is what it is in float64 too: so it is the same on every processor."""
    if not any(t.dtype == "float32" for t in tensors(args)):
        return True
    text = call_text(name, is_method, with_type(args, "float64"), keywords, filling)
    exact, error = evaluated(text)
    if error is not None:
        return True
    rounded = [t.to(v.dtype) for t, v in zip(flat(exact), flat(value), strict=False)]
    return [str(t) for t in rounded] == [str(v) for v in flat(value)]


def torch_tensor():
    import torchjit as torch

    return torch.Tensor


def with_type(value, dtype):
    if isinstance(value, Tensor):
        return Tensor(dtype, value.shape, value.top) if value.dtype == "float32" else value
    return [with_type(v, dtype) for v in value] if isinstance(value, list) else value


def types_of(name, is_method, given, value):
    """What is said of types: which ones tensors of floats may have besides, and what they give."""
    args, keywords, filling = given
    if not any(t.dtype == "float32" for t in tensors(args)) or not flat(value):
        return ""
    taken, gives = [], {}
    for group, dtypes in GROUPS.items():
        results = {}
        for dtype in dtypes:
            text = call_text(name, is_method, with_type(args, dtype), keywords, filling)
            result, error = evaluated(text)
            if error is None and flat(result):
                results[dtype] = str(flat(result)[0].dtype).removeprefix("torch.")
        if not results:
            continue
        taken.append(group if len(results) == len(dtypes) else " and ".join(results))
        if any(k != v for k, v in results.items()):
            gives.setdefault(", ".join(sorted(set(results.values()))), []).append(taken[-1])
    sentence = f"Takes {'tensors of all types' if taken == list(GROUPS) else listed(taken)}"
    for result, of in gives.items():
        sentence += f"; of {listed(of)} it gives {result}"
    return sentence + "."


def listed(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def errors_of(name, is_method, given, forms):
    """What is said of errors: of a dimension that is not there, and of shapes that do not fit."""
    args, keywords, filling = given
    said = []
    parameters = re.findall(r"(\w+): ", forms[0].partition(" -> ")[0])
    for i, value in enumerate(args):
        if i < len(parameters) and parameters[i] in ("dim", "dim0", "axis") and type(value) is int:
            _, error = evaluated(call_text(name, is_method, [*args[:i], 9, *args[i + 1 :]], keywords, filling) or "0")
            if error is not None:
                said.append(f"{type(error).__name__} where there is no dimension {parameters[i]}")
            break
    at = [i for i, value in enumerate(args) if isinstance(value, Tensor) and value.shape]
    if len(at) > 1:
        wrong = Tensor(args[at[1]].dtype, (7,), args[at[1]].top)
        _, error = evaluated(call_text(name, is_method, [*args[: at[1]], wrong, *args[at[1] + 1 :]], keywords, filling) or "0")
        if error is not None and not isinstance(error, NotImplementedError):
            said.append(f"{type(error).__name__} where the shapes do not fit")
    return f"Raises {' and '.join(said)}." if said else ""


def targets():
    """The operators that are documented: (name, whether it is called as a method alone, its forms)."""
    import torchjit as torch
    from torchjit import _documentation, _native, _operator_names

    found = {}
    for name in [*_operator_names.listed(set()), *(n for n in _native.operator_names("aten") if n.startswith(("linalg_", "fft_", "special_")))]:
        f = None if name.startswith("_") else getattr(torch, name, None)
        if isinstance(f, _native.Function) and _documentation.forms_of(f) and not name.endswith(("_backward", "_backward_")):
            found[name] = (False, _documentation.forms_of(f))
        elif not name.startswith("_") and spelled(name, True):
            found[name] = (True, _native.operator_forms("aten::" + name, False))
    for name, f in _native.operator_methods().items():
        if not name.startswith("_") and name not in found and hasattr(torch.Tensor, name) and _documentation.forms_of(f):
            found[name] = (True, _documentation.forms_of(f))
    methods = _native.operator_methods()
    for name in [n for n in found if n.endswith("_") and n in methods]:
        found[name] = (True, _documentation.forms_of(methods[name]))
    return {n: t for n, t in sorted(found.items()) if t[1] and n not in LEFT_OUT}


# What is no function of tensors, ends up elsewhere, or says where memory is.
LEFT_OUT = {"data_ptr", "save", "warn", "device", "manual_seed", "from_file", "record_stream", "is_vulkan_available", "get_gradients", "grad", "set_data"}


def make():
    found, parts, without = samples(), [HEAD], []
    for name, (is_method, forms) in targets().items():
        best = example_of(name, is_method, forms, found)
        if best is None:
            without.append(name)
            continue
        (long, *_), text, value, given = shortest(name, is_method, best)
        lines = [line for line in (types_of(name, is_method, given, value), errors_of(name, is_method, given, forms)) if line]
        shown = str(value)
        if (long or is_random(name)) and flat(value):
            text, shown = f"{text}.shape", str(flat(value)[0].shape)
            if isinstance(value, (list, tuple)):
                continue
        elif not flat(value):
            shown = repr(value)
        parts.append("\n".join([name, *(f"    {line}" for line in lines), f"    >>> {text}", *(f"    {line}".rstrip() for line in shown.split("\n"))]) + "\n")
    return "".join(parts), without


if __name__ == "__main__":
    made, left = make()
    if sys.argv[1:] == ["--write"]:
        with open(FILE, "w") as f:
            f.write(made)
        print(f"{made.count('>>>')} examples; without one: {', '.join(left)}")
    else:
        print(made, end="")
