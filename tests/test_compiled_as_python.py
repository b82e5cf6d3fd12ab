"""Programs give what plain Python and eager calls give: samples of what once differed in silence."""

import enum
import io
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
