"""torch.jit in Python: scripting functions, classes and modules; calling them; errors."""

import enum
import os
import signal
import threading
from typing import Dict, Final, List, NamedTuple, Optional, Tuple, Union

import pytest

import torchjit as torch
from torchjit import nn

# ruff: noqa: UP006, UP007, UP035, UP045


class Point(NamedTuple):
    x: int
    y: torch.Tensor


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Counter:
    def __init__(self, start: int):
        self.n = start

    def add(self, k: int) -> int:
        self.n += k
        return self.n


def double(x: int) -> int:
    return x * 2


def uses_function(n: int) -> List[int]:
    return [double(i) for i in range(n)]


def uses_class(n: int) -> int:
    c = Counter(n)
    c.add(2)
    return c.add(3)


def swaps(p: Point) -> Point:
    return Point(p.x + 1, p.y * 2)


def names(c: Color) -> Tuple[str, int, Color]:
    return c.name, c.value, Color.BLUE


def containers(d: Dict[str, List[int]], o: Optional[int] = None) -> Tuple[Dict[str, int], int]:
    out = torch.jit.annotate(Dict[str, int], {})
    for k, v in d.items():
        out[k] = len(v)
    return out, -1 if o is None else o


def of_union(x: Union[int, str]) -> str:
    if isinstance(x, int):
        return "int"
    return x


def object_in(c: Counter) -> int:
    return c.n


@pytest.mark.parametrize(
    "fn, args, expected",
    [
        (uses_function, (3,), [0, 2, 4]),
        (uses_class, (1,), 6),
        (containers, ({"a": [1, 2], "b": []},), ({"a": 2, "b": 0}, -1)),
        (containers, ({}, 7), ({}, 7)),
        (names, (Color.RED,), ("RED", 1, Color.BLUE)),
        (of_union, (1,), "int"),
        (of_union, ("text",), "text"),
        (object_in, (Counter(4),), 4),
    ],
)
def test_a_compiled_function_does_what_python_does(fn, args, expected):
    compiled = torch.jit.script(fn)
    assert compiled(*args) == expected == fn(*args)


def test_named_tuples_keep_their_class():
    p = torch.jit.script(swaps)(Point(1, torch.ones(2)))
    assert type(p) is Point and p.x == 2 and p.y.tolist() == [2.0, 2.0]


def test_a_function_is_compiled_once():
    compiled = torch.jit.script(double)
    assert torch.jit.script(double) is compiled and torch.jit.script(compiled) is compiled


def test_attributes_of_compiled_functions():
    f = torch.jit.script(double)
    assert f.name == "double" and f.qualified_name.endswith(".double")
    assert str(f.schema) == "double(int x) -> int"
    assert "aten::mul(%x.1, " in str(f.graph) and "prim::CallFunction" in str(torch.jit.script(uses_function).graph)
    assert "CallFunction" not in str(torch.jit.script(uses_function).inlined_graph)
    assert f.code == "def double(x: int) -> int:\n  return torch.mul(x, 2)\n"


def add(x, y: int = 3):
    return x + y


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        ((), {}, r"add\(\) is missing value for argument 'x'. Declaration: add\(Tensor x, int y=3\) -> Tensor"),
        (
            (1,),
            {},
            r"add\(\) Expected a value of type 'Tensor \(inferred\)' for argument 'x' but instead found type 'int'.\nInferred 'x' to be of type 'Tensor' because it was not annotated with an explicit type.\nPosition: 0\nValue: 1",
        ),
        ((torch.ones(1), "a"), {}, r"'int' for argument 'y' but instead found type 'str'.\nPosition: 1\nValue: 'a'"),
        ((torch.ones(1), 1, 2), {}, r"expected at most 2 argument\(s\) but received 3"),
        ((torch.ones(1),), {"z": 1}, "Unknown keyword argument 'z'"),
        ((torch.ones(1),), {"x": 1}, "Argument 'x' specified both as positional and keyword argument"),
    ],
)
def test_wrong_arguments(args, kwargs, text):
    with pytest.raises(RuntimeError, match=text):
        torch.jit.script(add)(*args, **kwargs)


def test_defaults_and_keywords():
    f = torch.jit.script(add)
    assert f(torch.ones(1)).item() == 4 and f(y=1, x=torch.ones(1)).item() == 2


def unknown(x):
    return x + nothing  # noqa: F821


def too_dynamic(x):
    try:
        return x
    except ValueError:
        return x + 1


def raises(x: int) -> int:
    if x > 0:
        raise ValueError("too large")
    return x


def indexes(xs: List[int]) -> int:
    return xs[10]


def test_compile_errors_show_the_place():
    with pytest.raises(RuntimeError, match=r"undefined value nothing(.|\n)*return x \+ nothing.*\n +~~~~~~~ <--- HERE"):
        torch.jit.script(unknown)
    with pytest.raises(torch.jit.frontend.NotSupportedError, match="HERE"):
        torch.jit.script(too_dynamic)


def test_run_time_errors_show_the_place():
    with pytest.raises(
        torch.jit.Error, match=r"raise ValueError\(\"too large\"\)(.|\n)*HERE(.|\n)*ValueError: too large"
    ):
        torch.jit.script(raises)(1)
    with pytest.raises(RuntimeError, match=r"return xs\[10\]\n +~~~~~~ <--- HERE"):
        torch.jit.script(indexes)([1])


def spin(n: int) -> int:
    s = 0
    while s < n:
        s += 1
    return s


def test_ctrl_c_ends_a_compiled_loop():
    f = torch.jit.script(spin)
    f(10)
    # A shell has jobs in the background ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            f(1 << 60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert f(10) == 10


def test_compiled_functions_run_in_many_threads():
    f = torch.jit.script(spin)
    results = []
    threads = [threading.Thread(target=lambda: results.append(f(300000))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [300000] * 8


class Inner(nn.Module):
    scale: Final[int]
    memory: List[int]

    def __init__(self, scale: int):
        super().__init__()
        self.scale = scale
        self.memory = []
        self.weight = nn.Parameter(torch.full((2,), float(scale)))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        self.memory.append(self.scale)
        return self.helper(x) * self.scale

    def helper(self, x):
        return x + self.weight

    @torch.jit.export
    def total(self) -> int:
        return len(self.memory)

    @torch.jit.ignore
    def python_only(self, x: torch.Tensor) -> torch.Tensor:
        return x - 1


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Inner(i + 1) for i in range(2)])
        self.named = nn.ModuleDict({"relu": nn.ReLU(), "last": nn.Sequential(nn.Linear(2, 2), nn.Tanh())})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        x = self.layers[0].python_only(x)
        return self.named["last"](self.named["relu"](x)), len(self.layers)


def test_a_compiled_module_shares_parameters():
    module = Outer()
    compiled = torch.jit.script(module)
    assert list(compiled.state_dict()) == list(module.state_dict())
    assert compiled.layers[0].weight is module.layers[0].weight
    x = torch.ones(2)
    with torch.no_grad():
        module.layers[0].weight.fill_(5.0)
    assert torch.allclose(compiled(x)[0], module(x)[0]) and compiled(x)[1] == 2


def test_attributes_of_compiled_modules():
    compiled = torch.jit.script(Inner(3))
    compiled(torch.ones(2))
    assert compiled.total() == 1 and compiled.memory == [3] and compiled.calls.item() == 1
    assert compiled.scale == 3 and compiled.training
    compiled.memory = [1, 2]
    assert compiled.total() == 2
    with pytest.raises(RuntimeError, match="Can't set constant 'scale' which has value:3"):
        compiled.scale = 4
    with pytest.raises(RuntimeError, match="memory"):
        compiled.memory = "text"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        compiled.nothing  # noqa: B018
    assert not compiled.eval().training and [n for n, _ in compiled.named_buffers()] == ["calls"]
    assert "original_name=Inner" in repr(compiled)


def test_equal_modules_share_a_class_and_different_ones_do_not():
    a, b, c = (torch.jit.script(m) for m in (nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 3)))
    assert a._c._type() == b._c._type() != c._c._type()


class Hooked(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def double_input(self, inputs: Tuple[torch.Tensor]) -> Tuple[torch.Tensor]:
    return (inputs[0] * 2,)


class Caller(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Hooked()
        self.inner.register_forward_pre_hook(double_input)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


def test_hooks_are_compiled():
    assert torch.jit.script(Caller())(torch.ones(1)).item() == 3


class Missing(nn.Module):
    def __init__(self):
        super().__init__()
        self.thing = object()

    def forward(self, x):
        return self.thing


def test_an_attribute_without_a_type_is_an_error_where_it_is_used():
    with pytest.raises(
        RuntimeError, match="Module 'Missing' has no attribute 'thing' .*failed to convert Python type: 'object'"
    ):
        torch.jit.script(Missing())


class Legacy(torch.jit.ScriptModule):
    __constants__ = ["k"]

    def __init__(self):
        super().__init__()
        self.k = 2

    @torch.jit.script_method
    def forward(self, x):
        return x * self.k


def test_script_module_subclasses():
    m = Legacy()
    assert m(torch.ones(1)).item() == 2 and "aten::mul" in str(m.graph)


def test_compilation_units():
    cu = torch.jit.CompilationUnit("def f(x: int):\n  return g(x) + 1\ndef g(x: int):\n  return x * 3\n")
    assert cu.f(2) == 7
    with pytest.raises(AttributeError):
        cu.h  # noqa: B018


DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def test_loading_an_archive(tmp_path):
    m = torch.jit.load(os.path.join(DATA, "digits_cnn.pt"))
    assert m(torch.zeros(1, 1, 12, 12)).shape[0] == 1 and "fc.weight" in m.state_dict()
    with open(os.path.join(DATA, "digits_cnn.pt"), "rb") as f:
        assert torch.jit.load(f).state_dict().keys() == m.state_dict().keys()
    with pytest.raises(ValueError, match="does not exist"):
        torch.jit.load(str(tmp_path / "nothing.pt"))
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(RuntimeError):
        torch.jit.load(str(broken))


def traced(x):
    return x * 2 + 1


def test_traces():
    f = torch.jit.trace(traced, (torch.ones(2),))
    assert f(torch.zeros(3)).tolist() == [1.0, 1.0, 1.0] and "aten::mul" in str(f.graph)
    m = torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2))
    assert m(torch.ones(3, 2)).shape == (3, 2)
    with pytest.raises(RuntimeError, match=r"Type 'Tuple\[int\]' cannot be traced"):
        torch.jit.trace(double, (1,))


class CallsPython(nn.Module):
    @torch.jit.ignore
    def step(self, x: torch.Tensor) -> torch.Tensor:
        if x.item() > 4:
            raise KeyError("mine")
        return x + 1

    def forward(self, x, n: int):
        for _ in range(n):
            x = self.step(x)
        return x


def test_functions_left_to_python_run_in_threads_and_keep_their_exceptions():
    m = torch.jit.script(CallsPython())
    results = []
    threads = [
        threading.Thread(target=lambda: results.extend(m(torch.zeros(1), 3).item() for _ in range(20)))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [3.0] * 80
    with pytest.raises(KeyError, match="mine"):
        m(torch.zeros(1), 9)


def test_condition_is_evaluated_once():
    @torch.jit.script
    def f(xs: list[torch.Tensor]) -> int:
        if xs.pop().any():
            return len(xs)
        return -1

    assert f([torch.ones(1), torch.ones(1), torch.ones(1)]) == 2


def test_what_texts_cannot_say():
    """The reader of texts has one class of errors, as PyTorch's."""
    for text in ["return [y for y in x if y]", "return f(**x)", "return {**x}"]:
        with pytest.raises(RuntimeError):
            torch.jit.CompilationUnit(f"def f(x):\n    {text}\n")
