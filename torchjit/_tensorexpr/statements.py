"""Statements of tensor expressions: loops, stores and blocks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torchjit._tensorexpr import expressions as ex
from torchjit._tensorexpr.expressions import BufHandle, ExprHandle, Names, VarHandle


class Stmt:
    """A statement."""

    parent: Stmt | None = None

    def __new__(cls, *args: Any) -> Any:
        return super().__new__(Block if cls is Stmt else cls)

    def __str__(self) -> str:
        return "\n".join(self.lines(Names()))

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        raise NotImplementedError

    def inner(self) -> list[Stmt]:
        """The statements in it."""
        return []

    def expressions(self) -> list[ExprHandle]:
        """The expressions in it, but for those of the statements in it."""
        return []

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        raise NotImplementedError


class Block(Stmt):
    """Statements that run one after another."""

    def __init__(self, statements: Sequence[Stmt]) -> None:
        self._stmts: list[Stmt] = []
        for s in statements:
            if not isinstance(s, Stmt):
                raise TypeError(f"Block() takes a list of statements, not {s!r}")
            self.insert(len(self._stmts), s)

    def insert(self, at: int, s: Stmt) -> None:
        """Puts a statement at a place."""
        if s.parent is not None:
            raise RuntimeError("MALFORMED INPUT: Block creation with Stmt with existing parent")
        s.parent = self
        self._stmts.insert(at, s)

    def stmts(self) -> list[Stmt]:
        """The statements."""
        return list(self._stmts)

    def inner(self) -> list[Stmt]:
        """The statements in it."""
        return self.stmts()

    def replace(self, old: Stmt, new: Iterable[Stmt]) -> None:
        """Puts statements in the place of one."""
        at = next(i for i, s in enumerate(self._stmts) if s is old)
        del self._stmts[at]
        old.parent = None
        for i, s in enumerate(new):
            self.insert(at + i, s)

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        return ["{", *["  " + line for s in self._stmts for line in s.lines(names)], "}"]

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        return Block([s.clone(change) for s in self._stmts])


def _block(s: Stmt) -> Block:
    return s if isinstance(s, Block) else Block([s])


class For(Stmt):
    """A loop over the values of a variable from one number to before another."""

    def __init__(self, var: VarHandle, start: Any, stop: Any, body: Stmt) -> None:
        self.var = var
        self.start, self.stop = (ex.cast(ex.expression(x, wide=True), var.dtype) for x in (start, stop))
        self._body = _block(body)
        if self._body.parent is not None:
            raise RuntimeError("MALFORMED INPUT: For creation with a body with existing parent")
        self._body.parent = self
        self.note = ""

    @staticmethod
    def make(var: VarHandle, start: Any, stop: Any, body: Stmt) -> For:
        """The loop."""
        return For(var, start, stop, body)

    def index_var(self) -> VarHandle:
        """The variable."""
        return self.var

    def body(self) -> Block:
        """What is repeated."""
        return self._body

    def set_body(self, body: Stmt) -> None:
        """Has something else repeated."""
        self._body.parent, self._body = None, _block(body)
        self._body.parent = self

    def set_parallel(self) -> None:
        """Notes that the rounds may run at the same time."""
        self.note = "parallel"

    def set_gpu_block_index(self, index: int) -> None:
        """Notes that each round is a block of threads."""
        self.note = f"blockIdx.{'xyzw'[index]}"

    def set_gpu_thread_index(self, index: int) -> None:
        """Notes that each round is a thread."""
        self.note = f"threadIdx.{'xyzw'[index]}"

    def inner(self) -> list[Stmt]:
        """The statements in it."""
        return [self._body]

    def expressions(self) -> list[ExprHandle]:
        """The expressions in it, but for those of the statements in it."""
        return [self.start, self.stop]

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        v = names.of(self.var)
        head = f"for ({self.var.dtype.text} {v} = {ex.text(self.start, names)}; {v} < {ex.text(self.stop, names)}; {v}++) "
        first, *rest = self._body.lines(names)
        return [head + (f" /* {self.note} */" if self.note else "") + first, *rest]

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        made = For(self.var, change(self.start), change(self.stop), self._body.clone(change))
        made.note = self.note
        return made


class Store(Stmt):
    """Writes an element of a buffer."""

    def __init__(self, buf: BufHandle, indices: Sequence[ExprHandle], value: ExprHandle) -> None:
        if not isinstance(buf, BufHandle):
            raise TypeError(f"Store() writes a BufHandle, not {buf!r}")
        self.buf, self.indices, self.value = buf, list(indices), ex.cast(value, buf.dtype)

    @staticmethod
    def make(buf: BufHandle, indices: Sequence[Any], value: Any) -> Store:
        """The statement."""
        return buf.store(indices, value)

    def expressions(self) -> list[ExprHandle]:
        """The expressions in it, but for those of the statements in it."""
        return [*self.indices, self.value]

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        indices = ", ".join(ex.text(i, names) for i in self.indices)
        return [f"{names.of(self.buf)}[{indices}] = {ex.text(self.value, names)};"]

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        return Store(self.buf, [change(i) for i in self.indices], change(self.value))


class Cond(Stmt):
    """One of two statements, by a condition."""

    def __init__(self, condition: ExprHandle, yes: Stmt, no: Stmt | None) -> None:
        self.condition = ex.expression(condition)
        self._yes, self._no = _block(yes), _block(no) if no is not None else None
        for b in (self._yes, self._no):
            if b is not None:
                b.parent = self

    @staticmethod
    def make(condition: Any, yes: Stmt, no: Stmt) -> Cond:
        """The statement."""
        return Cond(condition, yes, no)

    def true_stmt(self) -> Block:
        """What runs where the condition holds."""
        return self._yes

    def false_stmt(self) -> Block | None:
        """What runs where it does not."""
        return self._no

    def inner(self) -> list[Stmt]:
        """The statements in it."""
        return [s for s in (self._yes, self._no) if s is not None]

    def expressions(self) -> list[ExprHandle]:
        """The expressions in it, but for those of the statements in it."""
        return [self.condition]

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        first, *rest = self._yes.lines(names)
        made = [f"if ({ex.text(self.condition, names)}) {first}", *rest]
        if self._no is not None:
            first, *rest = self._no.lines(names)
            made[-1] += f" else {first}"
            made += rest
        return made

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        no = self._no.clone(change) if self._no is not None else None
        return Cond(change(self.condition), self._yes.clone(change), no)


class Allocate(Stmt):
    """Makes the memory of a buffer."""

    def __init__(self, buf: BufHandle) -> None:
        self.buf = buf

    def expressions(self) -> list[ExprHandle]:
        """The expressions in it, but for those of the statements in it."""
        return list(self.buf.dims)

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        dims = ", ".join(ex.text(d, names) for d in self.buf.dims)
        return [f"Allocate({names.of(self.buf)}); // dtype={self.buf.dtype.text}, dims=[{dims}]"]

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        return Allocate(self.buf)


class Free(Stmt):
    """Gives the memory of a buffer back."""

    def __init__(self, buf: BufHandle) -> None:
        self.buf = buf

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        return [f"Free({names.of(self.buf)});"]

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        return Free(self.buf)


class ExternalCall(Stmt):
    """Calls an operator of the library with buffers for tensors."""

    def __init__(self, buf: BufHandle, function: str, buffers: Sequence[BufHandle], args: Sequence[Any]) -> None:
        self.buf, self.function, self.buffers, self.args = buf, function, list(buffers), [ex.expression(a) for a in args]

    def expressions(self) -> list[ExprHandle]:
        """The expressions in it, but for those of the statements in it."""
        return list(self.args)

    def lines(self, names: Names) -> list[str]:
        """The text of the statement."""
        buffers, args = (", ".join(ex.text(x, names) for x in given) for given in (self.buffers, self.args))
        return [f"{ex.text(self.buf, names)} = {self.function}(buf_args={{{buffers}}}, args={{{args}}})"]

    def clone(self, change: Callable[[ExprHandle], ExprHandle]) -> Stmt:
        """A copy with other expressions."""
        return ExternalCall(self.buf, self.function, self.buffers, [change(a) for a in self.args])


def walk(s: Stmt) -> Iterator[Stmt]:
    """The statement and all in it, in the order of the text."""
    yield s
    for inner in s.inner():
        yield from walk(inner)


def copied(s: Stmt, values: dict[int, ExprHandle] | None = None) -> Stmt:
    """A copy with values for variables, by their ids."""
    return s.clone((lambda x: ex.substituted(x, values)) if values else (lambda x: x))


def loads(s: Stmt) -> Iterator[ex.Load]:
    """What a statement and those in it read."""
    for inner in walk(s):
        for e in inner.expressions():
            yield from (x for x in ex.walk(e) if isinstance(x, ex.Load))


def writes(s: Stmt) -> Iterator[Any]:
    """The statements in a statement that write a buffer."""
    yield from (x for x in walk(s) if isinstance(x, (Store, ExternalCall)))
