"""The names around torch.jit that programs use besides script and trace."""

# ruff: noqa: UP006, UP045

import re
import typing

import pytest

import torchjit as torch
from torchjit.jit import annotations


def test_types_of_annotations():
    for annotation, text in (
        (int, "int"), (None, "NoneType"), (torch.Tensor, "Tensor"), (typing.List[int], "List[int]"), (typing.Optional[str], "Optional[str]"),
        (typing.Dict[str, typing.Tuple[int, float]], "Dict[str, Tuple[int, float]]"),
    ):  # fmt: skip
        assert str(annotations.ann_to_type(annotation)) == text
    assert annotations.try_ann_to_type(typing.Set[int]) is None
    with pytest.raises(ValueError, match=r"Unknown type annotation: 'typing.Set\[int\]' at "):
        annotations.ann_to_type(typing.Set[int])


def test_signature_of_a_function():
    def f(x: int, y) -> float: ...

    types, result = annotations.get_signature(f)
    assert [str(t) for t in types] == ["int", "Tensor"] and str(result) == "float"
    assert annotations.get_signature(lambda x: x) is None


def test_compiling_can_be_switched_off():
    def f(x):
        return x + 1

    torch.jit._state.disable()
    try:
        assert torch.jit.script(f) is f
    finally:
        torch.jit._state.enable()
    assert torch.jit.script(f) is not f


def test_names_of_operators():
    class M(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) + torch.add(x, 1)

    assert torch.jit.export_opnames(torch.jit.script(M())) == ["aten::add.Scalar", "aten::add.Tensor", "aten::relu"]


def test_functions_of_one_name_in_a_unit():
    @torch.jit.script
    def f(x):
        return x

    unit = torch.jit.CompilationUnit()
    unit.create_function("f", f.graph)
    assert "mangle" in unit.create_function("f", f.graph, should_mangle=True).qualified_name
    with pytest.raises(RuntimeError, match="already defined"):
        unit.create_function("f", f.graph)


def test_strict_fusion_is_a_context_in_programs():
    @torch.jit.script
    def f(x):
        with torch.jit.strict_fusion():
            y = x + x
        return y

    assert f(torch.ones(1)).item() == 2


def test_returned_object_is_of_the_python_class():
    class Pair:
        def __init__(self, a: int, b: typing.List[int]):
            self.a = a
            self.b = b

    def make(n: int):
        return Pair(n, [n, n])

    pair = torch.jit.script(make)(3)
    assert type(pair) is Pair and pair.a == 3 and pair.b == [3, 3]


def test_flags_of_backends_can_be_frozen(monkeypatch):
    from torchjit.backends import _settings

    monkeypatch.setattr(_settings, "_frozen", [False])
    torch.backends.cudnn.benchmark = False
    torch.backends.disable_global_flags()
    assert torch.backends.flags_frozen()
    with pytest.raises(RuntimeError, match="not allowed to set torch.backends.cudnn flags after disable_global_flags"):
        torch.backends.cudnn.benchmark = True
    with torch.backends.cudnn.flags(benchmark=True):
        assert torch.backends.cudnn.benchmark
    assert not torch.backends.cudnn.benchmark


def test_a_type_of_modules_as_text(capsys):
    class M(torch.nn.Module):
        __constants__ = ["k"]

        def __init__(self):
            super().__init__()
            self.a = torch.nn.ReLU()
            self.k = 3

        def forward(self, x):
            return self.a(x)

    torch.jit.script(M())._concrete_type.dump()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["ConcreteModuleType for: M", "Constants: ", "\tk: 3"]
    assert any(re.fullmatch(r"\ta: __torch__\.torch\.nn\.modules\.activation\.(___torch_mangle_\d+\.)?ReLU", line) for line in lines)
    assert "isPoisoned: false" in lines


def test_operators_of_python_values_are_no_functions_of_torch():
    for name in ("sorted", "len", "capitalize", "append", "setdefault"):
        assert not hasattr(torch, name) and name not in dir(torch)
    assert torch.sum is not sum and "abs" in dir(torch)
