"""Programs give what plain Python and eager calls give: samples of what once differed in silence."""

import cmath
import enum
import io
import math
from typing import Any

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
            s.split(None, start),
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


def test_a_tensor_stands_for_an_int_only_where_nothing_is_lost():
    def whole(i: int):
        return i

    def passing(x):
        return whole(x)

    script = torch.jit.script(passing)
    assert script(torch.tensor(3)) == 3
    with pytest.raises(RuntimeError, match="Cannot input a tensor of type Float as an integral argument"):
        script(torch.tensor(1.5))
    assert torch.jit.script(whole)(torch.tensor(2.0)) == 2
    with pytest.raises(RuntimeError, match="Expected a value of type 'int' for argument 'i' but instead found type 'Tensor'"):
        torch.jit.script(whole)(torch.tensor(1.5))


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
