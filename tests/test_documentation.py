"""What help() and inspect.signature() say of the library's operators."""

import inspect
import os
import pydoc
import runpy

import pytest

import torchjit as torch
from torchjit import _documentation, _native, _operator_names

# Functions and methods of numbers in programs, which torch's module shows because operators are called so; what they do is Python's math.
OF_PROGRAMS = {
    "ceil", "degrees", "device", "fabs", "factorial", "floordiv", "gamma", "grad", "has_torch_function", "mathremainder", "modf", "percentFormat", "radians",
    "save", "warn", "values", "is_vulkan_available",
}  # fmt: skip


def public():
    """The functions of torch that are operators with a form, but those for gradients of others."""
    for name in _operator_names.listed(set()):
        f = None if name.startswith("_") else getattr(torch, name)
        if isinstance(f, _native.Function) and not name.endswith(("_backward", "_backward_")) and _documentation.forms_of(f):
            yield name, f


def test_every_public_operator_says_what_it_computes():
    assert len(dict(public())) > 800
    silent = [name for name, f in public() if name not in OF_PROGRAMS and not said_of(f)]
    assert silent == []


def said_of(f):
    """The sentence behind the forms, "" where there is none."""
    sentence = f.__doc__.partition("\n\n")[2].partition("\n\n")[0]
    return "" if "radients flow through" in sentence or sentence.startswith("Works on elements") else sentence


def test_documentation_of_a_function():
    assert torch.softmax.__doc__ == (
        "softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor\n\n"
        "exp of the elements over its sum along dim, computed without overflow.\n\nGradients flow through it by a derivative of its own.\n\n"
        "Takes floats and halves.\nRaises IndexError where there is no dimension dim.\n\n"
        ">>> torch.softmax(torch.tensor([[1.0, 2.0, 0.5], [3.0, 0.25, 1.5]]), -1)\n"
        "tensor([[0.2312, 0.6285, 0.1402],\n        [0.7770, 0.0497, 0.1734]])"
    )
    assert "No gradients flow through it.\n\nTakes " in torch.argmax.__doc__
    assert "softmax(input: Tensor, dim: int" in pydoc.render_doc(torch.softmax)
    assert torch.linalg.qr.__doc__.startswith("linalg_qr(A: Tensor, mode: str = ")


def test_documentation_of_a_method_has_self():
    assert torch.Tensor.relu_.__doc__.startswith("relu_(self) -> Tensor\n\nWrites into the tensor itself. The elements above 0, else 0.")
    assert torch.ones(1).relu_.__doc__ == torch.Tensor.relu_.__doc__


def test_the_classes_of_functions_have_their_own():
    assert _native.Function.__doc__.startswith("A function of the library")
    assert _native.tensor_size.__doc__ is None
    assert "A function of the library" in pydoc.render_doc(_native.Function)


def test_signature_of_an_operator_with_one_form():
    signature = inspect.signature(torch.softmax)
    assert list(signature.parameters) == ["input", "dim", "dtype", "out"]
    assert signature.parameters["dtype"].default is None
    assert signature.parameters["dim"].annotation == "int"
    assert signature.parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    signature.bind(1, 2, out=3)
    with pytest.raises(TypeError):
        signature.bind(1)


def test_signature_of_an_operator_with_several_forms_is_what_they_share():
    assert list(inspect.signature(torch.max).parameters) == ["input", "args", "kwargs"]
    assert list(inspect.signature(torch.zeros).parameters) == ["args", "kwargs"]
    assert inspect.signature(torch.zeros).return_annotation == "Tensor"


def test_what_is_no_operator_has_no_signature():
    with pytest.raises(ValueError):
        inspect.signature(_native.tensor_size)


def test_every_form_is_one_that_python_reads():
    for _, f in public():
        inspect.signature(f)
    for f in _native.operator_methods().values():
        if _documentation.forms_of(f):
            inspect.signature(f)


def test_calls_that_a_signature_allows_are_taken():
    x = torch.tensor([[1.0, 3.0], [2.0, 0.0]])
    for f, *args in ((torch.softmax, x, 1), (torch.cumsum, x, 0), (torch.sigmoid, x), (torch.matmul, x, x), (torch.where, x > 1, x, x), (torch.topk, x, 1)):
        inspect.signature(f).bind(*args)
        f(*args)


def test_examples_have_the_results_that_operators_give():
    """examples.txt is what pybind/examples.py makes now: it runs every example, with other types and with arguments that do not fit."""
    maker = runpy.run_path(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pybind", "examples.py"))
    with open(maker["FILE"]) as f:
        written = f.read()
    made, _ = maker["make"]()
    assert made.count(">>>") > 600
    assert written == made, "run: python pybind/examples.py --write"


def test_examples_are_shown():
    shown = [name for name, f in public() if not name.endswith("_") and "\n>>> torch." in f.__doc__]
    assert len(shown) > 550
    assert all("\n>>> " in getattr(torch.Tensor, name).__doc__ for name in ("add", "view", "random_", "index_fill"))


def scaled(x, k: float = 2.0, *, n: int):
    """x times k, and n."""
    return x * k + n


def test_compiled_functions_have_the_signature_of_what_they_were_made_of():
    compiled = torch.jit.script(scaled)
    assert inspect.signature(compiled) == inspect.signature(scaled)
    assert compiled.__doc__ == scaled.__doc__
    unit = torch.jit.CompilationUnit("def pair(x, k: float = 2.0) -> Tuple[Tensor, int]:\n    return x, 1\n")
    assert str(inspect.signature(unit.pair)) == "(x: 'Tensor', k: 'float' = 2.0) -> 'Tuple[Tensor, int]'"
    traced = torch.jit.trace(lambda a, b: a + b, (torch.ones(1), torch.ones(1)))
    assert str(inspect.signature(traced)) == "(a: 'Tensor', b: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(torch.jit.script(torch.nn.ReLU()).forward)) == "(input: 'Tensor') -> 'Tensor'"
