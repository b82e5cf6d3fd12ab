"""Programs give what plain Python and eager calls give: samples of what once differed in silence."""

import cmath
import enum
import io
import math
import zipfile
from typing import Any, NamedTuple, Optional

import pytest

import torchjit as torch
from torchjit.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


def loaded(program):
    """A program as it comes back from an archive."""
    buffer = io.BytesIO()
    torch.jit.save(program, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


def tensors(x):
    """The tensors of nested tuples."""
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for item in x if item is not None for t in tensors(item)]


class Packing(torch.nn.Module):
    """Packs a padded batch, runs a recurrent network, and pads its outputs."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, lengths):
        output, state = self.network(pack_padded_sequence(x, lengths, enforce_sorted=False))
        return pad_packed_sequence(output), state


class Packed(torch.nn.Module):
    """Runs a recurrent network on a packed batch."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, packed: PackedSequence):
        return self.network(packed)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_packed_sequences_come_back_in_the_callers_order(kind):
    x, lengths = torch.randn(5, 3, 2), torch.tensor([2, 5, 3])
    network = getattr(torch.nn, kind)(2, 4, num_layers=2, bidirectional=True)
    for module, arguments in (
        (Packing(network), (x, lengths)),
        (Packed(network), (pack_padded_sequence(x, lengths, enforce_sorted=False),)),
    ):
        expected = tensors(module(*arguments))
        script = torch.jit.script(module)
        for way in (script, loaded(script), torch.jit.freeze(torch.jit.script(module.eval()))):
            for a, b in zip(tensors(way(*arguments)), expected, strict=True):
                assert torch.allclose(a, b, atol=1e-6)


def test_enumerate_takes_its_start_by_keyword():
    def counted(x: list[str], first: int) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        for i, item in enumerate(x, start=first):
            found.append((i, item))
        return found + [(i, item) for i, item in enumerate(x, start=3)]

    script = torch.jit.script(counted)
    for first in (1, -5, 2**62):
        assert script(["a", "b"], first) == counted(["a", "b"], first)


@pytest.mark.parametrize("call", ["enumerate([1], begin=1)", "enumerate([1], 1, start=1)", "zip([1], [2], strict=True)", "list(iterable=[1])"])
def test_keywords_that_are_unknown_are_errors(call):
    source = f"def f():\n    for x in {call}:\n        print(x)\n"
    with pytest.raises(RuntimeError, match="enumerate|zip|list"):
        torch.jit.CompilationUnit(source)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Number(enum.IntEnum):
    ONE = 1


@torch.jit.script
class Box:
    def __init__(self, x: int):
        self.x = x


def test_values_of_any_type_keep_what_they_are():
    def kind(x: Any) -> str:
        if isinstance(x, Color):
            return x.name
        if isinstance(x, Box):
            return "box"
        if isinstance(x, int):
            return "int"
        if torch.jit.isinstance(x, list[Color]):
            return "colors"
        return "?"

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> str:
            if isinstance(x, Color):
                return x.name
            return "?"

    script = torch.jit.script(kind)
    assert [script(x) for x in (Color.RED, Box(3), Number.ONE, [Color.RED, Color.BLUE], object())] == ["RED", "box", "int", "colors", "?"]
    assert loaded(torch.jit.script(Module()))(Color.BLUE) == "BLUE"


def test_strings_are_searched_and_centred_as_in_python():
    def texts(s: str, part: str, start: int, end: int) -> tuple[str, list[str], list[int], list[bool]]:
        return (
            s.center(end, "*"),
            s.split(None),
            [s.find(part, start, end), s.rfind(part, start, end), s.count(part, start, end)],
            [s.startswith(part, start, end), s.endswith(part, start, end)],
        )

    script = torch.jit.script(texts)
    for s in ("", "a", "ab", "  hi  "):
        for part in ("", "a", "zz"):
            for start in (0, 1, 2, 9):
                for end in (0, 1, 2, 5, 8):
                    assert script(s, part, start, end) == texts(s, part, start, end), (s, part, start, end)


def test_complex_functions_have_pythons_branch_cuts():
    z = [complex(a, b) for a in (0.0, -0.0, 0.1, -2.0, 2.0, 700.0) for b in (0.0, -0.0, 0.5, -1.5, 2.0, 1e-300)]

    def functions(z: complex) -> list[complex]:
        return [
            cmath.acos(z), cmath.acosh(z), cmath.asin(z), cmath.asinh(z), cmath.atan(z), cmath.atanh(z),
            cmath.cos(z), cmath.sin(z), cmath.tan(z), cmath.tanh(z), cmath.sqrt(z),
        ]  # fmt: skip

    script = torch.jit.script(functions)
    for x in z:
        for a, b in zip(script(x), functions(x), strict=True):
            for p, q in ((a.real, b.real), (a.imag, b.imag)):
                assert p == q == 0 or math.isclose(p, q, rel_tol=1e-12), (x, a, b)
                assert math.copysign(1, p) == math.copysign(1, q), (x, a, b)


def test_a_variable_that_a_branch_deletes_is_gone_behind_it():
    def branch(c: bool, a: int):
        if c:
            del a
        return a

    def loop(c: bool, a: int):
        while c:
            del a
            c = False
        return a

    for f in (branch, loop):
        with pytest.raises(RuntimeError, match="undefined value a"):
            torch.jit.script(f)

    def returning(c: bool, a: int):
        if c:
            del a
            return 0
        return a

    assert torch.jit.script(returning)(False, 3) == 3


def test_a_tensor_of_floats_stands_for_no_int_in_a_program():
    def whole(i: int):
        return i

    def passing(x):
        return whole(x)

    script = torch.jit.script(passing)
    assert script(torch.tensor(3)) == 3
    with pytest.raises(RuntimeError, match="Cannot input a tensor of type Float as an integral argument"):
        script(torch.tensor(1.5))


def test_numbers_of_tensors_that_do_not_fit_are_errors():
    def by_item(x):
        return int(x.item())

    def direct(x):
        return int(x)

    for f in (by_item, direct):
        script = torch.jit.script(f)
        assert script(torch.tensor(2 + 0j)) == 2
        for x in (torch.tensor(1j), torch.tensor(float("inf")), torch.tensor(1e30)):
            with pytest.raises(RuntimeError, match="without overflow"):
                script(x)
    with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
        torch.add(torch.ones(2), torch.ones(2), alpha=1j)


def test_floats_have_pytorchs_text():
    def text(x: float, y: complex) -> list[str]:
        return [f"{x}", str([x]), str(y)]

    script = torch.jit.script(text)
    for x, expected in ((-0.0, "0."), (1e17, "100000000000000000."), (9.3e18, "9.3e+18"), (float("-inf"), "-inf"), (1e-5, "1.0000000000000001e-05")):
        assert script(x, complex(x, 1)) == [expected, f"[{expected}]", f"{expected}+1.j"]

    def constants() -> list[float]:
        return [-0.0, float("inf"), float("-inf"), 1e-320]

    for program in (torch.jit.script(constants), loaded(torch.jit.script(constants))):
        assert [math.copysign(1, v) for v in program()] == [-1, 1, -1, 1] and program() == constants()


def test_a_trace_under_autocast_has_the_casts():
    linear, x = torch.nn.Linear(3, 3), torch.ones(2, 3)
    for cached in (True, False):
        with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=cached):
            traced, product = torch.jit.trace(linear, x), torch.jit.trace(lambda a, b: a @ b.t() + 1, (x, x))
            expected = linear(x), x @ x.t() + 1
        for program in (traced, loaded(traced)):
            assert program(x).dtype == torch.bfloat16 and torch.equal(program(x), expected[0])
        assert torch.equal(product(x, x), expected[1]) and product(x, x).dtype == torch.bfloat16


def test_a_named_tuple_class_can_be_defined_again():
    def cell(fields):
        scope = {"__name__": __name__, "NamedTuple": NamedTuple, "torch": torch}
        exec("class Pair(NamedTuple):\n    x: torch.Tensor\n" + fields, scope)
        return scope["Pair"]

    def scripted(Pair):
        class Module(torch.nn.Module):
            def forward(self, x):
                return Pair(x, 1)

        return torch.jit.script(Module())

    classes = [cell("    n: int\n"), cell("    count: int\n    name: str = 'a'\n")]
    programs = [scripted(c) for c in classes]
    for program, made in zip(programs, classes, strict=True):
        for way in (program, loaded(program)):
            result = way(torch.ones(1))
            assert isinstance(result, made) and result._fields == made._fields


def test_a_buffer_that_is_assigned_is_registered():
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = torch.nn.Buffer(torch.ones(2))
            self.passing = torch.nn.Buffer(torch.zeros(2), persistent=False)
            self.weight = torch.nn.Parameter(torch.ones(1))
            self.weight = torch.nn.Buffer(torch.ones(3))

        def forward(self, x):
            return x + self.kept + self.passing

    module = Module()
    assert list(module.state_dict()) == ["kept", "weight"] and not list(module.parameters())
    assert [n for n, _ in module.named_buffers()] == ["kept", "passing", "weight"]
    assert module.double().kept.dtype == torch.float64
    script = torch.jit.script(module)
    assert [n for n, _ in script.named_buffers()] == ["kept", "passing", "weight"]
    script.kept.add_(1)
    assert script(torch.zeros(2)).tolist() == loaded(script)(torch.zeros(2)).tolist() == [2, 2]


def test_keyword_only_arguments_of_operators_come_by_keyword():
    lib = torch.library.Library("keywords", "DEF")
    lib.define("scaled(Tensor x, int a, *, int b=3, float c) -> Tensor")

    def scaled(x, a, *, b, c):
        return (x + a) * b + c

    lib.impl("scaled", scaled, "CPU")

    def called(x):
        return torch.ops.keywords.scaled(x, 1, c=0.5)

    x = torch.ones(2)
    for way in (called, torch.jit.script(called), torch.jit.trace(called, x)):
        assert way(x).tolist() == [6.5, 6.5]
    seen = []

    def keep(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), keyword_only_inputs))
        ctx.b = keyword_only_inputs["b"]

    torch.library.register_autograd("keywords::scaled", lambda ctx, grad: (grad * ctx.b, None), setup_context=keep)
    x.requires_grad_()
    torch.ops.keywords.scaled(x, 1, b=5, c=0.5).sum().backward()
    assert x.grad.tolist() == [5, 5] and seen == [(2, {"b": 5, "c": 0.5})]


def test_blocks_with_a_context_are_left_early():
    def returns(x, n: int):
        with torch.no_grad():
            if n > 2:
                return x
            x = x * 2
        return x + 1

    def breaks(x, n: int):
        for i in range(10):
            with torch.no_grad():
                with torch.enable_grad():
                    if i == n:
                        break
                x = x + 1
        return x

    def continues(x, n: int):
        while n < 10:
            with torch.no_grad():
                n += 1
                if n == 3:
                    continue
                if n == 7:
                    return x * n
                x = x * 2
            x = x + 1
        return x

    def first(x, n: int):
        if n == 2:
            return x
        for i in range(4):
            with torch.no_grad():
                if i == n:
                    continue
            x = x + 1
        return x

    x = torch.ones(2, requires_grad=True)
    for f in (returns, breaks, continues, first):
        script = torch.jit.script(f)
        for n in (0, 2, 3, 5, 20):
            a, b = script(x, n), f(x, n)
            assert torch.equal(a, b) and a.requires_grad == b.requires_grad and torch.is_grad_enabled()


def test_old_archives_divide_integers_without_a_fraction():
    class Module(torch.nn.Module):
        def forward(self, x, y):
            return x

    buffer, older = io.BytesIO(), io.BytesIO()
    torch.jit.save(torch.jit.script(Module()), buffer)
    body = "return (torch.div(x, y), torch.div(x, y, out=torch.empty_like(x)), torch.div(x, y, out=torch.zeros([2])))\n"
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(older, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("/version"):
                data = b"3\n"
            elif "/code/" in name and name.endswith(".py"):
                head, found, _ = data.decode().partition("  def forward")
                data = (head + found + "(self, x: Tensor, y: Tensor):\n    " + body).encode() if found else data
            if not name.endswith(".debug_pkl"):
                new.writestr(name, data)
    older.seek(0)
    a, b, c = torch.jit.load(older)(torch.tensor([7, -7]), torch.tensor([2, 2]))
    assert a.tolist() == b.tolist() == [3, -3] and c.tolist() == [3.5, -3.5]


@torch.jit.script
def forking(x):
    return torch.jit.fork(torch.neg, x)


@torch.jit.script
def nesting(x) -> list[list[torch.Tensor]]:
    return [[x + 1], [x * 2, x]]


@torch.jit.script
def perhaps(x) -> Optional[torch.Tensor]:  # noqa: UP045
    return x + 1


@torch.jit.script
def counting(x) -> tuple[torch.Tensor, int]:
    return x, x.size(0)


def test_a_trace_follows_what_compiled_functions_give():
    a, b = torch.ones(2), torch.full((3,), 5.0)
    for f in (
        lambda x: torch.jit.wait(forking(x)) + 1,
        lambda x: [torch.jit.wait(y) for y in [forking(x), forking(x * 2)]][1],
        lambda x: nesting(x)[1][0] * 3,
        lambda x: perhaps(x) * 2,
    ):
        traced = torch.jit.trace(f, a)
        assert torch.equal(traced(b), f(b)) and torch.equal(loaded(traced)(b), f(b))
    with pytest.raises(RuntimeError, match="Tracer cannot set value trace for type Int"):
        torch.jit.trace(lambda x: counting(x)[0] * counting(x)[1], a)


EXITS = """
def f(early: bool, n: int):
    if early:
        return n
    for i in range(n):
        with torch.no_grad():
            if n > 5:
                return n + 1
            if n > 3:
                break
        n += 1
    return n
"""


def test_return_and_break_in_a_with_in_a_loop_behind_a_return():
    scope = {"torch": torch}
    exec(EXITS, scope)
    compiled = torch.jit.CompilationUnit(EXITS).f
    for early in (True, False):
        for n in range(8):
            assert compiled(early, n) == scope["f"](early, n)
