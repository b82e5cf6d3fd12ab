"""Random edits of graphs, right and wrong ones: mistakes are errors with a reason, and never end in the library itself."""

import random

import pytest

import torchjit as torch
from torchjit import _C

TEXT = """graph(%x : Tensor, %n : int, %t : (Tensor, int)):
  %3 : int = prim::Constant[value=1]()
  %4 : bool = prim::Constant[value=1]()
  %5 : Tensor = aten::add(%x, %n, %3)
  %6 : Tensor, %7 : int = prim::TupleUnpack(%t)
  %8 : Tensor = prim::Loop(%n, %4, %5)
    block0(%9 : int, %10 : Tensor):
      %11 : Tensor = aten::mul_(%10, %6)
      %12 : bool = aten::gt(%9, %3)
      %13 : Tensor = prim::If(%12)
        block0():
          -> (%11)
        block1():
          %14 : Tensor = aten::neg(%11)
          -> (%14)
      -> (%4, %13)
  %15 : Tensor[] = prim::ListConstruct(%8, %6)
  return (%15, %7)
"""
METHODS = [(cls, name) for cls in (_C.Graph, _C.Node, _C.Value, _C.Block, _C.Use, _C.AliasDb, _C.Type, _C.TensorType, _C.ListType)
           for name in sorted(vars(cls)) if not name.startswith("__")
           and name not in ("dump_alias_db", "dump", "get")]  # fmt: skip
PASSES = [name for name in sorted(vars(_C)) if name.startswith("_jit_pass_") and "dropout" not in name]
KINDS = ["aten::relu", "aten::add", "prim::Constant", "prim::If", "prim::Loop", "prim::TupleConstruct", "prim::GetAttr", "aten::append",
         "prim::ListConstruct", "aten::neg_", "bad"]  # fmt: skip


class Walk:
    """A random walk: objects that have been seen, and calls of their methods with others as arguments."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seen = {}
        self.keep(_C.parse_ir(TEXT))
        self.keep(_C.IntType.get())
        self.keep(_C.TensorType.create_from_tensor(torch.ones(2)))

    def keep(self, x):
        if isinstance(x, (list, tuple)) or hasattr(x, "__next__"):
            for item in list(x)[:8]:
                self.keep(item)
        elif isinstance(x, (_C.Graph, _C.Node, _C.Value, _C.Block, _C.Use, _C.AliasDb, _C.Type)):
            kind = _C.Type if isinstance(x, _C.Type) else type(x)
            known = self.seen.setdefault(kind, [])
            if x not in known:
                known.append(x)
                if len(known) > 40:
                    known.pop(self.random.randrange(1, len(known)))

    def pick(self, cls):
        return self.random.choice(self.seen.get(cls) or [None])

    def argument(self):
        choose = self.random.randrange(10)
        if choose < 3:
            return self.pick(_C.Node)
        if choose < 5:
            return self.pick(_C.Value)
        if choose == 5:
            return [self.pick(_C.Value) for _ in range(self.random.randrange(4))]
        if choose == 6:
            return self.random.choice(KINDS)
        if choose == 7:
            return self.random.randrange(-2, 4)
        return self.random.choice(
            [
                self.pick(_C.Block),
                self.pick(_C.Graph),
                self.pick(_C.Type),
                "x",
                "value",
                "name",
                "12",
                True,
                2.5,
                [1, 0],
                torch.ones(2),
                None,
            ]
        )

    def step(self):
        if self.random.random() < 0.06:
            getattr(_C, self.random.choice(PASSES))(self.pick(_C.Graph))
            return
        cls, name = self.random.choice(METHODS)
        target = self.pick(_C.Type if issubclass(cls, _C.Type) else cls)
        if target is None or isinstance(vars(cls)[name], property):
            return
        self.keep(getattr(cls, name)(target, *(self.argument() for _ in range(self.random.randrange(4)))))
        str(self.pick(_C.Graph)), repr(self.pick(_C.Node)), repr(self.pick(_C.Value))


def walk(seed, steps):
    w = Walk(seed)
    for _ in range(steps):
        try:
            w.step()
        except (RuntimeError, TypeError, AttributeError, ValueError, NotImplementedError, AssertionError) as e:
            assert "please report" not in str(e), e


@pytest.mark.parametrize("seed", range(6))
def test_random_edits(seed):
    walk(seed, 300)
