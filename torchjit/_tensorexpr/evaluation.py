"""Running statements of tensor expressions: the rounds of a loop that do not depend on each other run at once, on tensors."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torchjit as torch
from torchjit._tensorexpr import expressions as ex
from torchjit._tensorexpr import statements as st
from torchjit._tensorexpr.expressions import BufHandle, Dtype, ExprHandle, VarHandle


class BufferArg:
    """What a program of tensor expressions is called with: a tensor's buffer, or a variable."""

    def __init__(self, given: Any) -> None:
        self.of = given.buf() if isinstance(given, Tensor) else given
        if not isinstance(self.of, (BufHandle, VarHandle)):
            raise TypeError(f"BufferArg() takes a Tensor, a BufHandle or a VarHandle, not {given!r}")


class Tensor:
    """A buffer with the statement that computes it."""

    def __init__(self, buf: BufHandle, stmt: st.Stmt) -> None:
        self._buf, self._stmt = buf, stmt

    def buf(self) -> BufHandle:
        """The buffer."""
        return self._buf

    def stmt(self) -> st.Stmt:
        """The statement."""
        return self._stmt

    def load(self, indices: Sequence[Any]) -> ExprHandle:
        """The element at indices."""
        return self._buf.load(indices)


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Evaluator:
    """Values of variables and memory of buffers, and what runs with them."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}  # numbers, or tensors of all values that run at once
        self.memory: dict[int, Any] = {}  # tensors of one dimension
        self.mask: Any = None

    # Expressions.

    def value(self, x: ExprHandle) -> Any:
        """The value of an expression: a number for integers that are one number, otherwise a tensor."""
        made = _EVALUATORS[type(x)](self, x)
        if isinstance(made, torch.Tensor):
            return made if made.dtype == x.dtype.torch or not x.dtype.floats else made.to(x.dtype.torch)
        return self.tensor(made, x.dtype) if x.dtype.floats else made

    def tensor(self, value: Any, dtype: Dtype) -> Any:
        """A value as a tensor of a type."""
        return value.to(dtype.torch) if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype.torch)

    def number(self, x: ExprHandle) -> int:
        """The value of an expression that is one number."""
        return int(self.value(x))

    def immediate(self, x: Any) -> Any:
        """A number."""
        return x.value

    def variable(self, x: Any) -> Any:
        """The value of a variable."""
        if id(x) not in self.values:
            raise RuntimeError(f"MALFORMED INPUT: undefined variable '{x.name}'")
        return self.values[id(x)]

    def binary(self, x: Any) -> Any:
        """What an operator gives."""
        a, b = (self.value(p) for p in x.parts())
        if x.operator in _ARITHMETIC:
            made = _ARITHMETIC[x.operator](a, b)
            return self.wrapped(made, x.dtype)
        if x.dtype.floats:
            return a / b if x.operator == "/" else torch.fmod(a, b)
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            a, b = (self.tensor(v, Dtype.Long) for v in (a, b))
            return self.wrapped(torch.div(a, b, rounding_mode="trunc") if x.operator == "/" else torch.fmod(a, b), x.dtype)
        if b == 0:
            raise RuntimeError("Division by 0")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if x.operator == "/" else a - quotient * b

    def wrapped(self, value: Any, dtype: Dtype) -> Any:
        """Integers as those of a type."""
        if dtype.floats or dtype == Dtype.Bool:
            return value
        if isinstance(value, torch.Tensor):
            return value.to(dtype.torch) if dtype != Dtype.Int else value
        limits = torch.iinfo(dtype.torch)
        return (int(value) - limits.min) % (limits.max - limits.min + 1) + limits.min

    def compare(self, x: Any) -> Any:
        """What comparing two numbers chooses."""
        a, b, *_ = x.parts()
        return self.chosen(_ARITHMETIC[x.operator](self.value(a), self.value(b)), x.parts()[2], x.parts()[3])

    def chosen(self, condition: Any, yes: ExprHandle, no: ExprHandle) -> Any:
        """One of two values. What is read only where the condition holds is read nowhere else."""
        if not isinstance(condition, torch.Tensor) or condition.dim() == 0:
            return self.value(yes if bool(condition) else no)
        condition = condition != 0
        outer, sides = self.mask, []
        for holds, side in ((condition, yes), (~condition, no)):
            self.mask = holds if outer is None else holds & outer
            sides.append(self.value(side))
        self.mask = outer
        a, b = (self.tensor(s, yes.dtype if yes.dtype.floats else Dtype.Long) for s in sides)
        return torch.where(condition, a, b)

    def conversion(self, x: Any) -> Any:
        """A value as another type."""
        made = self.value(x.parts()[0])
        if isinstance(made, torch.Tensor) or x.dtype.floats:
            return self.tensor(made, x.dtype)
        return bool(made) if x.dtype == Dtype.Bool else self.wrapped(made, x.dtype)

    def load(self, x: Any) -> Any:
        """An element of a buffer, or several at once."""
        memory, at = self.place(x.buf, x.parts())
        if isinstance(at, torch.Tensor):
            if self.mask is not None:
                at = torch.where(self.mask, at, torch.zeros((), dtype=torch.int64))
            made = memory[at]
        else:
            made = memory[at]
        if x.dtype.floats:
            return made
        return made if isinstance(at, torch.Tensor) else made.item()

    def place(self, buf: BufHandle, indices: Sequence[ExprHandle]) -> tuple[Any, Any]:
        """The memory of a buffer, and where in it elements are."""
        if id(buf) not in self.memory:
            raise RuntimeError(f"MALFORMED INPUT: no memory for the buffer '{buf.name}'")
        memory, at = self.memory[id(buf)], self.value(flat(buf, indices))
        low, high = (at, at) if not isinstance(at, torch.Tensor) else self.range(at)
        if low < 0 or high >= memory.numel():
            raise RuntimeError(f"MALFORMED INPUT: index {low if low < 0 else high} is out of bounds of the buffer '{buf.name}' with {memory.numel()} elements")
        return memory, at.to(torch.int64) if isinstance(at, torch.Tensor) else at

    def range(self, at: Any) -> tuple[int, int]:
        """The smallest and the largest of the indices that count."""
        if self.mask is not None:
            at = torch.masked_select(at, self.mask)
        return (int(at.min()), int(at.max())) if at.numel() else (0, -1)

    def select(self, x: Any) -> Any:
        """One of two values."""
        condition, yes, no = x.parts()
        return self.chosen(self.value(condition), yes, no)

    def extreme(self, x: Any) -> Any:
        """The larger or the smaller of two numbers."""
        a, b = (self.value(p) for p in x.parts())
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            of = Dtype(x.dtype.torch) if x.dtype.floats else Dtype.Long
            return (torch.maximum if x.function == "Max" else torch.minimum)(self.tensor(a, of), self.tensor(b, of))
        return (max if x.function == "Max" else min)(a, b)

    def call(self, x: Any) -> Any:
        """What a function gives."""
        args = [self.tensor(self.value(p), p.dtype) for p in x.parts()]
        of = promoted_float(x.dtype)
        if x.function == "isnan":
            return torch.isnan(args[0]).to(torch.int64)
        if x.function == "rsqrt":
            return torch.rsqrt(args[0].to(of))
        made = getattr(torch, x.function)(*args)
        return made if x.dtype.floats or made.dim() else made.item()

    def reduction(self, x: Any) -> Any:
        """What a step of a reduction writes."""
        return self.value(x.parts()[0])

    # Statements.

    def run(self, s: st.Stmt) -> None:
        """Runs a statement."""
        if isinstance(s, st.Block):
            for inner in s.stmts():
                self.run(inner)
        elif isinstance(s, st.For):
            self.loop(s)
        elif isinstance(s, st.Store):
            self.store(s)
        elif isinstance(s, st.Cond):
            self.cond(s)
        elif isinstance(s, st.Allocate):
            size = math.prod(self.number(d) for d in s.buf.dims)
            self.memory[id(s.buf)] = torch.empty(size, dtype=s.buf.dtype.torch)
        elif isinstance(s, st.Free):
            self.memory.pop(id(s.buf), None)
        elif isinstance(s, st.ExternalCall):
            self.external(s)
        else:
            raise RuntimeError(f"UNIMPLEMENTED LOWERING: {type(s).__name__}")

    def loop(self, s: st.For) -> None:
        """Runs a loop: at once, where no round needs another's results."""
        start, stop = self.number(s.start), self.number(s.stop)
        outer = dict(self.values)
        if stop - start > 1 and self.independent(s, start, stop):
            for k, v in self.values.items():
                if isinstance(v, torch.Tensor):
                    self.values[k] = v.unsqueeze(-1)
            mask, self.mask = self.mask, None if self.mask is None else self.mask.unsqueeze(-1)
            self.values[id(s.var)] = torch.arange(start, stop)
            self.run(s.body())
            self.mask = mask
        else:
            for i in range(start, stop):
                self.values[id(s.var)] = i
                self.run(s.body())
        self.values = outer

    def independent(self, s: st.For, start: int, stop: int) -> bool:
        """Whether the rounds of a loop write different elements, which no other round reads."""
        from torchjit._tensorexpr.simplification import key, polynomial, simplified

        extents = {id(s.var): stop - start}
        for inner in st.walk(s.body()):
            if isinstance(inner, (st.Allocate, st.Free, st.ExternalCall)):
                return False
            if isinstance(inner, st.For):
                bounds = [simplified(b) for b in (inner.start, inner.stop)]
                if not all(self.known(b) for b in bounds):
                    return False
                extents[id(inner.var)] = self.number(bounds[1]) - self.number(bounds[0])
        stored: dict[int, Any] = {}
        for w in st.writes(s.body()):
            index = flat(w.buf, w.indices)
            if id(w.buf) in stored and key(simplified(index)) != key(simplified(stored[id(w.buf)])):
                return False
            stored[id(w.buf)] = index
        for read in st.loads(s.body()):
            if id(read.buf) in stored and key(simplified(flat(read.buf, read.parts()))) != key(simplified(stored[id(read.buf)])):
                return False
        return all(self.injective(polynomial(simplified(index)), id(s.var), extents) for index in stored.values())

    def known(self, x: ExprHandle) -> bool:
        """Whether an expression is one number that is known."""
        return all(
            not isinstance(p, ex.Load) and (not isinstance(p, VarHandle) or id(p) in self.values and not isinstance(self.values[id(p)], torch.Tensor))
            for p in ex.walk(x)
        )

    def injective(self, index: Any, var: int, extents: dict[int, int]) -> bool:
        """Whether different values of a variable give different indices, whatever the variables of inner loops are."""
        digits: dict[int, int] = {}
        for coefficient, factors in index.terms.values():
            varying = [f for f in factors if any(id(p) in extents for p in ex.walk(f))]
            if not varying:
                continue
            rest = [f for f in factors if all(f is not v for v in varying)]
            if len(varying) != 1 or id(varying[0]) not in extents or not all(self.known(f) for f in rest):
                return False
            digits[id(varying[0])] = digits.get(id(varying[0]), 0) + coefficient * math.prod(self.number(f) for f in rest)
        if not digits.get(var):
            return False
        reach = 0
        for coefficient, extent in sorted((abs(c), extents[v]) for v, c in digits.items() if c):
            if coefficient <= reach:
                return False
            reach += coefficient * max(extent - 1, 0)
        return True

    def store(self, s: st.Store) -> None:
        """Writes an element, or several at once."""
        memory, at = self.place(s.buf, s.indices)
        value = self.tensor(self.value(s.value), s.buf.dtype)
        if not isinstance(at, torch.Tensor):
            memory[at] = value
            return
        shape = torch.broadcast_shapes(at.shape, value.shape, *([self.mask.shape] if self.mask is not None else []))
        at, value = at.expand(shape), value.expand(shape)
        if self.mask is not None:
            at, value = (torch.masked_select(x, self.mask) for x in (at, value))
        memory[at.reshape(-1)] = value.reshape(-1)

    def cond(self, s: st.Cond) -> None:
        """Runs one of two statements, or both where each counts."""
        condition = self.value(s.condition)
        yes, no = s.true_stmt(), s.false_stmt()
        if not isinstance(condition, torch.Tensor) or condition.dim() == 0:
            chosen = yes if bool(condition) else no
            if chosen is not None:
                self.run(chosen)
            return
        outer, condition = self.mask, condition != 0
        for holds, side in ((condition, yes), (~condition, no)):
            if side is not None:
                self.mask = holds if outer is None else holds & outer
                self.run(side)
        self.mask = outer

    def external(self, s: st.ExternalCall) -> None:
        """Calls an operator of the library."""
        name = s.function.removeprefix("nnc_aten_").removeprefix("nnc_")
        function = getattr(torch, name, None)
        if not s.function.startswith("nnc_") or function is None:
            raise RuntimeError(f"UNIMPLEMENTED LOWERING: {s.function}")
        buffers = [self.shaped(b) for b in s.buffers]
        args = [self.value(a) for a in s.args]
        args = [a.item() if isinstance(a, torch.Tensor) else a for a in args]
        made = function(*buffers, beta=args[0], alpha=args[1]) if name == "addmm" and args else function(*buffers, *args)
        self.shaped(s.buf).copy_(made)

    def shaped(self, buf: BufHandle) -> Any:
        """The memory of a buffer with its dimensions."""
        sizes = [self.number(d) for d in buf.dims]
        return self.memory[id(buf)][: math.prod(sizes)].view(sizes)


_EVALUATORS: dict[type, Callable[[Evaluator, Any], Any]] = {
    ex.Immediate: Evaluator.immediate, VarHandle: Evaluator.variable, ex.Binary: Evaluator.binary, ex.Compare: Evaluator.compare,
    ex.Conversion: Evaluator.conversion, ex.Load: Evaluator.load, ex.Select: Evaluator.select, ex.Extreme: Evaluator.extreme,
    ex.Call: Evaluator.call, ex.Reduction: Evaluator.reduction,
}  # fmt: skip


def promoted_float(dtype: Dtype) -> Any:
    """The type itself where it has floats, otherwise float."""
    return dtype.torch if dtype.floats else torch.float32


def flat(buf: BufHandle, indices: Sequence[ExprHandle]) -> ExprHandle:
    """Where in the memory of a buffer the element at indices is."""
    if len(indices) == 1 or not indices:
        return indices[0] if indices else ex.Immediate(0, Dtype.Int)
    if len(indices) != len(buf.dims):
        raise RuntimeError(f"MALFORMED INPUT: {len(indices)} indices for a buffer with {len(buf.dims)} dimensions")
    made: ExprHandle = ex.Immediate(0, indices[0].dtype)
    for i, stride in zip(indices, buf.strides()):
        made = ex.binary("+", made, ex.binary("*", i, stride))
    return made


def evaluate(x: ExprHandle) -> Any:
    """The value of an expression without variables."""
    return Evaluator().value(x)


class CodeGen:
    """A program of tensor expressions that can be called."""

    def __init__(self, stmt: st.Stmt, args: Sequence[Any]) -> None:
        self._stmt, self._args = stmt, [a if isinstance(a, BufferArg) else BufferArg(a) for a in args]

    def _run(self, given: Sequence[Any], memory: Callable[[Evaluator, BufHandle, Any], Any]) -> None:
        given = list(given)
        if len(given) != len(self._args):
            raise RuntimeError(f"MALFORMED INPUT: bad args in {type(self).__name__} call: {len(given)} given, {len(self._args)} expected")
        e = Evaluator()
        for a, x in zip(self._args, given):
            if isinstance(a.of, VarHandle):
                e.values[id(a.of)] = e.tensor(x, a.of.dtype) if a.of.dtype.floats else int(x)
        for a, x in zip(self._args, given):
            if isinstance(a.of, BufHandle):
                e.memory[id(a.of)] = memory(e, a.of, x)
        with torch.no_grad():
            e.run(self._stmt)

    def call(self, args: Sequence[Any]) -> None:
        """Runs the program with tensors for buffers and numbers for variables."""
        self._run(args, _memory_of)

    def call_raw(self, args: Sequence[int]) -> None:
        """Runs the program with addresses of memory for buffers and numbers for variables."""
        self._run(args, _memory_at)

    def get_code_text(self, attr: str = "") -> str:
        """The text of what is run: none, since the statements are run as they are."""
        return ""


class SimpleIREvaluator(CodeGen):
    """A program whose statements are run as they are."""


def _memory_of(e: Evaluator, buf: BufHandle, x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"the argument for the buffer '{buf.name}' is a tensor, not {x!r}")
    if x.dtype != buf.dtype.torch:
        raise RuntimeError(f"UNSUPPORTED DTYPE: the tensor for the buffer '{buf.name}' has {x.dtype}, the buffer has {buf.dtype.torch}")
    if not x.is_contiguous():
        raise RuntimeError(f"MALFORMED INPUT: the tensor for the buffer '{buf.name}' is not contiguous")
    return x.detach().view(-1)


def _memory_at(e: Evaluator, buf: BufHandle, address: Any) -> Any:
    size = math.prod(e.number(d) for d in buf.dims)
    itemsize = torch.empty((), dtype=buf.dtype.torch).element_size()
    if not size:
        return torch.empty(0, dtype=buf.dtype.torch)
    return torch.frombuffer((ctypes.c_char * (size * itemsize)).from_address(int(address)), dtype=buf.dtype.torch)


def construct_codegen(name: str, stmt: st.Stmt, args: Sequence[Any]) -> CodeGen:
    """A program of a statement and what it is called with. Its name is 'ir_eval'."""
    if name == "llvm":
        raise RuntimeError("torchjit has no LLVM in it: construct_codegen() takes 'ir_eval'")
    if name == "cuda":
        raise RuntimeError("tensor expressions run on the CPU: construct_codegen() takes 'ir_eval'")
    if name != "ir_eval":
        raise RuntimeError("construct_codegen() expects 'llvm', 'cuda', or 'ir_eval'")
    return SimpleIREvaluator(stmt, args)
