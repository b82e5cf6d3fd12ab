"""The Python door, alone: what it reads, what it refuses and how it words it."""

import dataclasses
import importlib.util
import linecache
import pathlib
import sys
import types

import pytest

PATH = pathlib.Path(__file__).parent.parent / "torchjit" / "frontend.py"
spec = importlib.util.spec_from_file_location("torchjit_frontend", PATH)
frontend = importlib.util.module_from_spec(spec)
spec.loader.exec_module(frontend)


def kinds(tree):
    return [tree[0]] + [k for child in tree[4] for k in kinds(child)]


def refuse(text):
    source = frontend.source_of_lines(text.splitlines(keepends=True), "f.py", 3)
    with pytest.raises(frontend.FrontendError) as caught:
        frontend.def_of_source(source)
    return caught.value


def test_message_shows_the_line():
    error = refuse("  def f(x):\n      try:\n          y = 1\n      except E:\n          pass\n")
    assert type(error) is frontend.UnsupportedNodeError
    assert str(error) == (
        "try blocks aren't supported:\n"
        '  File "f.py", line 4\n'
        "  def f(x):\n"
        "      try:\n"
        "      ~~~ <--- HERE\n"
        "          y = 1\n"
        "      except E:\n"
        "note: a program cannot catch exceptions; a Python function that is marked @torch.jit.ignore can\n"
    )


@pytest.mark.parametrize(
    ("line", "message", "underlined"),
    [
        ("return lambda: 1", "Lambda aren't supported", "l"),
        ("return {1, x}", "Set aren't supported", "{"),
        ("x //= 2", "unsupported kind of augumented assignment: FloorDiv", "/="),
        ("f(**x)", "keyword-arg expansion is not supported", "x"),
        ("return [a for a in x if a]", "Comprehension ifs are not supported yet", ""),
        ("import math", "import statements aren't supported", "import"),
        ("async with x: pass", "async with statements aren't supported", "async with"),
        ("y: int", "annotated assignments without assigned value aren't supported", "y"),
    ],
)
def test_refused(line, message, underlined):
    error = refuse(f"def f(x):\n    {line}\n")
    where = error.source_range
    assert error.msg == message
    assert where.source.text[where.start : where.end].decode() == underlined


def test_unary_plus_fails_as_in_pytorch():
    source = frontend.source_of_lines(["def f(x):\n", "    return +x\n"], "f.py", 1)
    with pytest.raises(AttributeError, match="(?s)'UnaryOp' object has no attribute 'range'.*UAdd.*~ <--- HERE"):
        frontend.def_of_source(source)


def test_annotated_self_outside_init():
    source = frontend.source_of_lines(["def f(self):\n", "    self.a: int = 1\n"], "f.py", 1)
    with pytest.raises(ValueError, match="must be declared in __init__, not 'f'"):
        frontend.def_of_source(source)


class Base:
    def inherited(self):
        return 1


class Example(Base):
    K: int = 3
    skipped: float
    table = {1, 2}

    def zero(self) -> int:
        return 0

    def again(self, x=2, *, y):
        return self.zero()

    @staticmethod
    def free(x):
        return x

    @classmethod
    def of(cls, x):
        return x

    @property
    def double(self):
        return 2


def test_class():
    jit_class = frontend.get_jit_class_def(Example, "Example")
    assert [m.tree[4][0][3] for m in jit_class.methods] == ["again", "of", "zero"]
    assert [(p.tree[4][0][3], p.tree[4][2][4]) for p in jit_class.tree[4][3][4]] == [("double", ())]
    assert len(jit_class.assigns) == 1
    of = jit_class.methods[1].tree
    assert of[4][2][4][0][0] == "assign"  # cls = Example
    assert jit_class.data[:4] == b"TJT1"


@dataclasses.dataclass(order=True)
class Pair:
    first: int
    second: float = 2.0

    def total(self) -> float:
        return self.first + self.second


def test_dataclass_methods_are_written():
    jit_class = frontend.get_jit_class_def(Pair, "Pair")
    names = [m.tree[4][0][3] for m in jit_class.methods]
    assert names == ["__eq__", "__ge__", "__gt__", "__init__", "__le__", "__lt__", "__repr__", "total"]
    assert jit_class.methods[3].source.text == (
        b"def __init__(self, first: int, second: float = 2.0) -> None:\n  self.first = first\n  self.second = second"
    )


def test_unused_body_is_replaced():
    def f(self, x: "nonsense", *rest):
        yield x

    jit_def = frontend.get_jit_def(f, "f", self_name="M", unused=True)
    assert "raise" in kinds(jit_def.tree)
    assert jit_def.is_method


def test_method_source_keeps_its_place():
    jit_def = frontend.get_jit_def(Example.zero, "zero", self_name="Example")
    assert jit_def.source.text.startswith(b"def zero(self)")
    assert jit_def.source.indent == 4
    assert jit_def.source.filename == __file__


def test_default_args():
    assert frontend.get_default_args(Example.again) == {"x": 2}
    assert frontend.get_default_args(None) == {}


def test_lambda_is_not_a_function_definition():
    function = lambda x: x  # noqa: E731
    with pytest.raises(RuntimeError, match="Expected a single top-level function"):
        frontend.get_jit_def(function, "function")


def test_no_source():
    with pytest.raises(OSError, match="Can't get source for"):
        frontend.get_jit_def(eval("lambda x: x"), "f")


def test_classes_of_notebooks(monkeypatch):
    """A cell has its lines in linecache, and its module has no file."""
    cell = "x = 1\n\n@decorate\nclass Pair:\n    def first(self) -> int:\n        return 1\n\ny = 2\n"
    monkeypatch.setitem(linecache.cache, "cell", (len(cell), None, cell.splitlines(keepends=True), "cell"))
    names = {"__name__": "__main__", "decorate": lambda cls: cls}
    exec(compile(cell, "cell", "exec"), names)
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    found = frontend.read_source(names["Pair"])
    assert (found.filename, found.first_line, found.text.decode()) == ("cell", 3, "@decorate\nclass Pair:\n    def first(self) -> int:\n        return 1\n")


def test_text_of_a_tree():
    source = frontend.source_of_lines(["def f(x: int):\n", "    x += -1\n", "    return [x if x else 'a b'][1:]\n"], "f.py", 1)
    tree = frontend.def_of_source(source)
    name, decl, _ = tree.tree[4]
    assert name[3] == "f"
    assert str(frontend.TreeView(decl, source)) == "(decl\n  (list\n    (param\n      (ident x)\n      (option (variable (ident int)))\n      (option)\n      (False)))\n  (option))\n"
    assert "(aug_assign\n      (variable (ident x))\n      (+)\n      (unary minus (const 1)))" in str(tree)
    assert "(slice expr\n            (option (const 1))" in str(tree)
