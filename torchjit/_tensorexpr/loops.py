"""Making loops of expressions, and transforming them: Compute, Reduce and LoopNest."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torchjit as torch
from torchjit._tensorexpr import expressions as ex
from torchjit._tensorexpr import statements as st
from torchjit._tensorexpr.evaluation import Tensor, flat
from torchjit._tensorexpr.expressions import BufHandle, Dtype, ExprHandle, Immediate, VarHandle
from torchjit._tensorexpr.simplification import equal, key, polynomial, simplified, simplify
from torchjit._tensorexpr.statements import Block, Cond, For, Stmt, Store


def _dims(dims: Sequence[Any]) -> list[ExprHandle]:
    if not isinstance(dims, (list, tuple)):
        raise TypeError(f"dimensions are a list of ExprHandles, not {dims!r}")
    return [ex.expression(d, wide=True) for d in dims]


def _vars(dims: Sequence[ExprHandle]) -> list[VarHandle]:
    return [VarHandle("i", d.dtype) for d in dims]


def _nest(variables: Sequence[VarHandle], dims: Sequence[ExprHandle], body: Stmt) -> Stmt:
    for v, d in zip(reversed(variables), reversed(dims)):
        body = For(v, Immediate(0, v.dtype), d, body)
    return body


def Compute(name: str, dims: Sequence[Any], body: Callable[..., Any]) -> Tensor:
    """A buffer of dimensions whose elements are what body gives for their indices."""
    sizes = _dims(dims)
    taken = len(inspect.signature(body).parameters)
    if taken != len(sizes):
        raise RuntimeError(f"MALFORMED INPUT: the function of {name} takes {taken} indices for {len(sizes)} dimensions")
    return _computed(name, sizes, lambda variables: body(*variables))


def Compute2(name: str, dims: Sequence[Any], body: Callable[[list[VarHandle]], Any]) -> Tensor:
    """The same, where body takes a list of indices."""
    return _computed(name, _dims(dims), body)


def _computed(name: str, sizes: list[ExprHandle], body: Callable[[list[VarHandle]], Any]) -> Tensor:
    variables = _vars(sizes)
    value = ex.expression(body(variables))
    buf = BufHandle(name, sizes, value.dtype)
    return Tensor(buf, _nest(variables, sizes, Store(buf, variables, value)))


class Reducer:
    """How elements are put together, and what they begin with."""

    def __init__(self, initial: Any, interaction: Callable[[ExprHandle, ExprHandle], Any]) -> None:
        self.initial, self.interaction = ex.expression(initial), interaction

    def begin(self, dtype: Dtype) -> ExprHandle:
        """What a reduction to a type begins with."""
        return self.initial


class Sum(Reducer):
    """The sum."""

    def __init__(self) -> None:
        super().__init__(0, lambda a, b: a + b)
        self.initial = Immediate(0, Dtype.Int)


class Maximum(Reducer):
    """The largest, of numbers of a type."""

    def __init__(self, dtype: Dtype) -> None:
        least = -float("inf") if dtype.floats else torch.iinfo(dtype.torch).min
        super().__init__(Immediate(least, dtype), lambda a, b: ex.extreme("Max", a, b))


def Reduce(name: str, dims: Sequence[Any], reducer: Reducer, body: Any, *further: Any) -> Tensor:
    """A buffer of dimensions whose elements are reductions of what body gives over further dimensions.

    body is a Tensor, a buffer, or a function of a list of indices; a function between it and the dimensions gives what a reduction begins with.
    """
    sizes = _dims(dims)
    begin = further[0] if len(further) == 2 else None
    over = _dims(further[-1])
    variables, reduced = _vars(sizes), _vars(over)
    if isinstance(body, (Tensor, BufHandle)):
        value = body.load([*variables, *reduced])
    else:
        value = ex.expression(body([*variables, *reduced]))
    buf = BufHandle(name, sizes, value.dtype)
    initial = reducer.begin(value.dtype) if begin is None else ex.expression(begin(variables))
    if begin is None and type(initial) is Immediate:
        initial = ex.Conversion(initial, value.dtype)  # as PyTorch writes it
    step = ex.cast(ex.expression(reducer.interaction(buf.load(variables), value)), value.dtype)
    inner = _nest(reduced, over, Store(buf, variables, ex.Reduction(step, reduced, reducer)))
    return Tensor(buf, _nest(variables, sizes, Block([Store(buf, variables, initial), inner])))


def _fresh(s: Stmt) -> Stmt:
    """A copy with variables of its own."""
    values: dict[int, ExprHandle] = {id(f.var): VarHandle(f.var.name, f.var.dtype) for f in st.walk(s) if isinstance(f, For)}

    def change(x: ExprHandle) -> ExprHandle:
        def part(p: ExprHandle) -> ExprHandle | None:
            if isinstance(p, ex.Reduction):
                return ex.Reduction(p.parts()[0], [values.get(id(v), v) for v in p.over], p.reducer)  # type: ignore[misc]
            return values.get(id(p))

        return ex.rebuilt(x, part)

    made = s.clone(change)
    for f in st.walk(made):
        if isinstance(f, For):
            f.var = values[id(f.var)]  # type: ignore[assignment]
    return made


def _parent_block(s: Stmt) -> Block:
    if not isinstance(s.parent, Block):
        raise RuntimeError("MALFORMED INPUT: the statement is in no block")
    return s.parent


def _rounds(loop: For) -> ExprHandle:
    return ex.binary("-", loop.stop, loop.start)


def _constant(x: ExprHandle) -> int | None:
    made = polynomial(simplified(x))
    return made.constant() if not made.terms or list(made.terms) == [()] else None


def _only_loop(loop: For) -> For | None:
    body = loop.body().stmts()
    return body[0] if len(body) == 1 and isinstance(body[0], For) else None


class LoopNest:
    """Loops that compute tensors, and what can be done with them."""

    def __init__(self, outputs: Any, given: Any = None) -> None:
        if isinstance(outputs, Stmt):
            self._root = outputs if isinstance(outputs, Block) else Block([outputs])
            self._outputs = list(given or [])
        else:
            tensors = list(given) if given is not None else list(outputs)
            self._root = Block([s for t in tensors for s in self._parts(t)])
            self._outputs = [t.buf() for t in outputs]

    def _intermediate(self) -> list[BufHandle]:
        """The buffers that are written and are no outputs."""
        written = {id(w.buf): w.buf for w in st.writes(self._root)}
        taken = {id(b) for b in self._outputs}
        return [b for k, b in written.items() if k not in taken]

    @staticmethod
    def _parts(t: Tensor) -> list[Stmt]:
        s = t.stmt()
        if s.parent is not None:
            s = _fresh(s)
        return [s]

    def __str__(self) -> str:
        return str(self._root)

    def root_stmt(self) -> Block:
        """The statement."""
        return self._root

    # Finding loops.

    def get_loops_for(self, tensor: Any) -> list[For]:
        """The loops around what computes a tensor, the outermost first."""
        return self.get_enclosing_loopnest(self.get_loop_body_for(tensor))

    def get_loop_body_for(self, tensor: Any) -> Stmt:
        """The statement that computes a tensor."""
        buf = tensor.buf() if isinstance(tensor, Tensor) else tensor
        found = [w for w in st.writes(self._root) if w.buf is buf]
        if not found:
            raise RuntimeError(f"MALFORMED INPUT: nothing writes the buffer '{buf.name}'")
        found = [w for w in found if isinstance(w, Store) and isinstance(w.value, ex.Reduction)] or found
        return found[-1] if len(found) == 1 or isinstance(getattr(found[0], "value", None), ex.Reduction) else found[0]

    def get_all_loopnests_for(self, buf: BufHandle) -> list[list[For]]:
        """The loops around each statement that writes a buffer."""
        return [self.get_enclosing_loopnest(w) for w in st.writes(self._root) if w.buf is buf]

    def get_writes_for(self, buf: BufHandle) -> list[Stmt]:
        """The statements that write a buffer."""
        return [w for w in st.writes(self._root) if w.buf is buf]

    def get_innermost_loops_for(self, buf: BufHandle) -> list[For]:
        """The innermost loop around each statement that writes a buffer."""
        return [loops[-1] for loops in self.get_all_loopnests_for(buf) if loops]

    @staticmethod
    def get_parent_loop(s: Stmt) -> For | None:
        """The loop around a statement."""
        above = s.parent
        while above is not None and not isinstance(above, For):
            above = above.parent
        return above

    @staticmethod
    def get_enclosing_loopnest(s: Stmt) -> list[For]:
        """The loops around a statement, the outermost first."""
        found: list[For] = []
        loop = LoopNest.get_parent_loop(s)
        while loop is not None:
            found.insert(0, loop)
            loop = LoopNest.get_parent_loop(loop)
        return found

    @staticmethod
    def get_loop_at(root: For, indices: Sequence[int]) -> For:
        """The loop that is reached from a loop by the numbers of statements."""
        loop: Any = root
        for i in indices:
            loop = loop.body().stmts()[i]
            if not isinstance(loop, For):
                raise RuntimeError("MALFORMED INPUT: the statement is no loop")
        return loop

    @staticmethod
    def get_loop_stmts_in_loopnest(loop: For, num: int) -> list[For]:
        """A loop and those that are alone in it, so many in all."""
        found = [loop]
        while len(found) < num:
            inner = _only_loop(found[-1])
            if inner is None:
                raise RuntimeError(f"MALFORMED INPUT: there are {len(found)} loops, not {num}, in each other")
            found.append(inner)
        return found

    # Splitting loops.

    @staticmethod
    def split_with_tail(loop: For, factor: int) -> tuple[For, For | None]:
        """Makes of a loop two in each other, the inner one with factor rounds, and one for the rounds that are left."""
        rounds, v = _rounds(loop), loop.var
        size = Immediate(_positive(factor), v.dtype)
        count, outer, inner = ex.binary("/", rounds, size), VarHandle(v.name + "_outer", v.dtype), VarHandle(v.name + "_inner", v.dtype)
        index = _offset(loop, ex.binary("+", ex.binary("*", outer, size), inner))
        main = For(outer, 0, count, For(inner, 0, size, st.copied(loop.body(), {id(v): index})))
        made: list[Stmt] = [main]
        known = _constant(rounds)
        tail = None
        if known is None or known % factor:
            left = VarHandle(v.name + "_tail", v.dtype)
            at = _offset(loop, ex.binary("+", left, ex.binary("*", count, size)))
            tail = For(left, 0, ex.binary("%", rounds, size), st.copied(loop.body(), {id(v): at}))
            made.append(tail)
        _parent_block(loop).replace(loop, made)
        return main.body().stmts()[0], tail  # type: ignore[return-value]

    @staticmethod
    def split_with_mask(loop: For, factor: int) -> For:
        """Makes of a loop two in each other, the inner one with factor rounds, of which those run that there are."""
        rounds, v = _rounds(loop), loop.var
        size, one = Immediate(_positive(factor), v.dtype), Immediate(1, v.dtype)
        outer, inner = VarHandle(v.name + "_outer", v.dtype), VarHandle(v.name + "_inner", v.dtype)
        count = ex.binary("/", ex.binary("-", ex.binary("+", rounds, size), one), size)
        index = _offset(loop, ex.binary("+", ex.binary("*", outer, size), inner))
        body = st.copied(loop.body(), {id(v): index})
        known = _constant(rounds)
        if known is None or known % factor:
            body = Cond(ex.compare("<", index, loop.stop), body, None)
        main = For(outer, 0, count, For(inner, 0, size, body))
        _parent_block(loop).replace(loop, [main])
        return main.body().stmts()[0]  # type: ignore[return-value]

    @staticmethod
    def slice_head(loop: For, factor: int) -> tuple[For, For | None]:
        """Makes of a loop one for the first rounds and one for the others."""
        size = Immediate(factor, loop.var.dtype)
        return LoopNest._sliced(loop, ex.extreme("Min", ex.binary("+", loop.start, size), loop.stop))

    @staticmethod
    def slice_tail(loop: For, factor: int) -> tuple[For, For | None]:
        """Makes of a loop one for the last rounds and one for those before."""
        size = Immediate(factor, loop.var.dtype)
        return LoopNest._sliced(loop, ex.extreme("Max", loop.start, ex.binary("-", loop.stop, size)))

    @staticmethod
    def _sliced(loop: For, at: ExprHandle) -> tuple[For, For | None]:
        first = For(loop.var, loop.start, at, st.copied(loop.body()))
        second = For(loop.var, at, loop.stop, st.copied(loop.body()))
        _parent_block(loop).replace(loop, [first, second])
        return first, second

    def tile(self, x: For, y: For, x_factor: int, y_factor: int) -> For:
        """Has two loops in each other go over tiles."""
        if _only_loop(x) is not y:
            raise RuntimeError("MALFORMED INPUT: the second loop is not alone in the first")
        inner_x, _ = LoopNest.split_with_tail(x, x_factor)
        y_of = _only_loop(inner_x)
        assert y_of is not None
        inner_y, _ = LoopNest.split_with_tail(y_of, y_factor)
        outer_y = LoopNest.get_parent_loop(inner_y)
        assert outer_y is not None
        if len(inner_x.body().stmts()) == 1:
            LoopNest.reorder_axis(inner_x, outer_y)
        return outer_y

    @staticmethod
    def normalize(loop: For) -> bool:
        """Has a loop begin with 0."""
        if _constant(loop.start) == 0:
            return False
        start, body = loop.start, st.copied(loop.body(), {id(loop.var): ex.binary("+", loop.var, loop.start)})
        loop.stop, loop.start = simplified(ex.binary("-", loop.stop, start)), Immediate(0, loop.var.dtype)
        loop.set_body(body)
        return True

    @staticmethod
    def fullUnroll(loop: For) -> Block:
        """Writes the rounds of a loop one after another."""
        start, stop = _constant(loop.start), _constant(loop.stop)
        if start is None or stop is None:
            raise RuntimeError("MALFORMED INPUT: can't unroll a loop whose bounds are not constant")
        made = Block([_simple(s, loop, i) for i in range(start, stop) for s in loop.body().stmts()])
        _parent_block(loop).replace(loop, [made])
        return made

    @staticmethod
    def unroll(loop: For, factor: int) -> Stmt:
        """Writes so many rounds of a loop one after another."""
        inner, _ = LoopNest.split_with_tail(loop, factor)
        outer = LoopNest.get_parent_loop(inner)
        LoopNest.fullUnroll(inner)
        return outer  # type: ignore[return-value]

    @staticmethod
    def vectorize(loop: For) -> None:
        """Notes that the rounds of an innermost loop run at once."""
        if any(isinstance(s, For) for s in st.walk(loop.body())):
            raise RuntimeError("MALFORMED INPUT: can only vectorize the innermost loop")
        loop.note = "vectorized"

    def vectorize_inner_loops(self) -> None:
        """Notes that the rounds of all innermost loops run at once."""
        for s in list(st.walk(self._root)):
            if isinstance(s, For) and not any(isinstance(x, For) for x in st.walk(s.body())):
                s.note = "vectorized"

    # Reordering loops.

    @staticmethod
    def reorder_axis(a: For, b: For) -> None:
        """Exchanges two loops, one of which is in the other."""
        if any(x is b for x in LoopNest.get_enclosing_loopnest(a)):
            a, b = b, a
        if not any(x is a for x in LoopNest.get_enclosing_loopnest(b)):
            raise RuntimeError("MALFORMED INPUT: the loops are not in each other")
        inner: Any = a
        while inner is not b:
            inner = _only_loop(inner)
            if inner is None:
                raise RuntimeError("MALFORMED INPUT: there are other statements between the loops")
        a.var, b.var, a.start, b.start, a.stop, b.stop, a.note, b.note = b.var, a.var, b.start, a.start, b.stop, a.stop, b.note, a.note

    @staticmethod
    def reorder(loops: Sequence[For], permutation: Sequence[int]) -> list[For]:
        """Puts loops that are in each other into another order: at place i stands the loop of number permutation[i]."""
        if sorted(permutation) != list(range(len(loops))):
            raise RuntimeError(f"MALFORMED INPUT: {list(permutation)} is no permutation of {len(loops)} loops")
        for x, y in zip(loops, loops[1:]):
            if _only_loop(x) is not y:
                raise RuntimeError("MALFORMED INPUT: the loops are not perfectly nested")
        heads = [(loops[p].var, loops[p].start, loops[p].stop, loops[p].note) for p in permutation]
        for loop, (loop_var, start, stop, note) in zip(loops, heads):
            loop.var, loop.start, loop.stop, loop.note = loop_var, start, stop, note
        return list(loops)

    @staticmethod
    def flatten(loops: Sequence[For]) -> For:
        """Makes one loop of loops that are in each other."""
        for x, y in zip(loops, loops[1:]):
            if _only_loop(x) is not y:
                raise RuntimeError("MALFORMED INPUT: the loops are not perfectly nested")
        for loop in loops:
            LoopNest.normalize(loop)
        dtype = loops[0].var.dtype
        v = VarHandle(loops[0].var.name + "_flat", dtype)
        total: ExprHandle = Immediate(1, dtype)
        values: dict[int, ExprHandle] = {}
        for i in range(len(loops) - 1, -1, -1):
            at = ex.binary("/", v, total)
            values[id(loops[i].var)] = ex.binary("%", at, loops[i].stop) if i else at
            total = ex.binary("*", loops[i].stop, total)
        made = For(v, 0, total, st.copied(loops[-1].body(), values))
        _parent_block(loops[0]).replace(loops[0], [made])
        return made

    @staticmethod
    def fuse_loops(loops: Sequence[For]) -> For | None:
        """Makes one loop of loops that follow each other, where what they compute stays; None where it does not."""
        if not LoopNest._alike(loops) or LoopNest._carries(loops):
            return None
        return LoopNest.unsafe_fuse_loops(loops)

    @staticmethod
    def unsafe_fuse_loops(loops: Sequence[For]) -> For | None:
        """Makes one loop of loops that follow each other; None where they go over other values."""
        if not LoopNest._alike(loops):
            return None
        first = loops[0]
        for other in loops[1:]:
            for s in st.copied(other.body(), {id(other.var): first.var}).inner():
                s.parent = None
                first.body().insert(len(first.body().stmts()), s)
            _parent_block(other).replace(other, [])
        return first

    @staticmethod
    def _alike(loops: Sequence[For]) -> bool:
        if not loops or any(x.parent is not loops[0].parent for x in loops):
            return False
        siblings = _parent_block(loops[0]).stmts()
        places = [next(i for i, s in enumerate(siblings) if s is x) for x in loops]
        follow = places == list(range(places[0], places[0] + len(loops)))
        return follow and all(equal(x.start, loops[0].start) and equal(x.stop, loops[0].stop) for x in loops)

    @staticmethod
    def _carries(loops: Sequence[For]) -> bool:
        """Whether a round of a later loop needs what another round of an earlier one writes, or writes what it reads."""
        for i, earlier in enumerate(loops):
            for later in loops[i + 1 :]:
                one: dict[int, ExprHandle] = {id(earlier.var): loops[0].var}
                two: dict[int, ExprHandle] = {id(later.var): loops[0].var}
                writes, others = ([(w.buf, w.indices) for w in st.writes(x) if isinstance(w, Store)] for x in (earlier, later))
                reads, read_later = ([(r.buf, list(r.parts())) for r in st.loads(x)] for x in (earlier, later))
                pairs = [(a, b) for a in writes for b in read_later + others] + [(a, b) for a in reads for b in others]
                for (buf, at), (other, place) in pairs:
                    if buf is other and not any(
                        _coefficient(x, loops[0].var) and all(len(f) < 2 and (not f or f[0] is loops[0].var) for _, f in polynomial(x).terms.values()) and equal(x, y)
                        for x, y in (
                            [simplified(ex.substituted(ex.substituted(z, one), two)) for z in both] for both in zip(at, place)
                        )
                    ):
                        return True
        return False

    @staticmethod
    def distribute_loop(loop: For, pivots: Any = None) -> list[For]:
        """Makes of a loop one for each of its statements, or for those up to each of some."""
        ends = None if pivots is None else {id(p) for p in pivots}
        groups: list[list[Stmt]] = [[]]
        for s in loop.body().stmts():
            groups[-1].append(s)
            if ends is None or id(s) in ends:
                groups.append([])
        made: list[For] = []
        for g in groups:
            if g:
                v = VarHandle(loop.var.name, loop.var.dtype) if made else loop.var
                made.append(For(v, loop.start, loop.stop, Block([st.copied(s, {id(loop.var): v}) for s in g])))
        _parent_block(loop).replace(loop, made)
        return made

    @staticmethod
    def distribute_loop_over_inner_loops(loop: For) -> list[For]:
        """Makes of a loop one for each loop in it."""
        return LoopNest.distribute_loop(loop, [s for s in loop.body().stmts() if isinstance(s, For)])

    # What is computed where.

    def compute_inline(self, of: Any) -> None:
        """Writes what a buffer holds where it is read, where that can be done."""
        self._inlined(of)

    def _inlined(self, of: Any) -> bool:
        buf = of.buf if isinstance(of, Store) else of
        if any(b is buf for b in self._outputs):
            return False
        written = [w for w in st.writes(self._root) if w.buf is buf]
        if len(written) != 1 or not isinstance(written[0], Store) or isinstance(written[0].value, ex.Reduction):
            return False
        producer = written[0]
        if any(not isinstance(i, VarHandle) for i in producer.indices) or any(isinstance(x, Cond) for x in _above(producer)):
            return False

        def part(p: ExprHandle) -> ExprHandle | None:
            if isinstance(p, ex.Load) and p.buf is buf:
                return ex.substituted(producer.value, {id(v): i for v, i in zip(producer.indices, p.parts())})
            return None

        self._remove(producer)
        self._rewrite(lambda x: ex.rebuilt(x, part))
        return True

    def inline_intermediate_bufs(self, allow_duplicated_work: bool) -> None:
        """Writes what buffers that are no outputs hold where they are read; unless work may be duplicated, of those that are read once."""
        for buf in self._intermediate():
            reads = sum(1 for r in st.loads(self._root) if r.buf is buf)
            if allow_duplicated_work or reads == 1:
                self._inlined(buf)

    def _rewrite(self, change: Callable[[ExprHandle], ExprHandle]) -> None:
        for s in st.walk(self._root):
            if isinstance(s, Store):
                s.indices, s.value = [change(i) for i in s.indices], change(s.value)
            elif isinstance(s, For):
                s.start, s.stop = change(s.start), change(s.stop)
            elif isinstance(s, Cond):
                s.condition = change(s.condition)
            elif isinstance(s, st.ExternalCall):
                s.args = [change(a) for a in s.args]

    def _remove(self, s: Stmt) -> None:
        above: Any = s
        while isinstance(above.parent, (Block, For)) and above is not self._root:
            block = above.parent
            if isinstance(block, Block):
                block.replace(above, [])
                if block.stmts() or block.parent is None:
                    return
            above = block

    @staticmethod
    def compute_at(s: Stmt, loop: For) -> None:
        """Computes what a statement computes in each round of a loop that reads it, in a buffer for that round alone."""
        if not isinstance(s, Store):
            raise RuntimeError("MALFORMED INPUT: compute_at takes a store")
        ranges = _bounds(loop.body(), s.buf, {})
        if ranges is None:
            return
        dtype = loop.var.dtype
        temp = BufHandle("temp", [simplified(ex.binary("+", ex.binary("-", high, low), Immediate(1, dtype))) for low, high in ranges], s.buf.dtype)
        variables = [VarHandle(f"idx{i}", dtype) for i in range(len(ranges))]
        values = {id(v): simplified(ex.binary("+", i, low)) for v, i, (low, _) in zip(s.indices, variables, ranges)}
        made = _nest(variables, temp.dims, Store(temp, variables, ex.substituted(s.value, values)))
        _redirect(loop.body(), s.buf, temp, _from([low for low, _ in ranges]))
        loop.body().insert(0, made)

    @staticmethod
    def cache_accesses(buf: BufHandle, name: str, consumer: Stmt) -> tuple[BufHandle, Stmt]:
        """Has a statement read a copy of what it reads of a buffer, or write into one that is copied back."""
        ranges = _bounds(consumer, buf, {})
        if ranges is None:
            return buf, consumer
        dtype = ranges[0][0].dtype if ranges else Dtype.Int
        sizes = [simplified(ex.binary("+", ex.binary("-", high, low), Immediate(1, dtype))) for low, high in ranges]
        temp, variables = BufHandle(name, sizes, buf.dtype), [VarHandle("ij"[min(i, 1)], dtype) for i in range(len(ranges))]
        lows = [low for low, _ in ranges]
        at = [ex.binary("+", v, low) for v, low in zip(variables, lows)]
        writes, reads = any(w.buf is buf for w in st.writes(consumer)), any(r.buf is buf for r in st.loads(consumer))
        block = _parent_block(consumer)
        place = next(i for i, s in enumerate(block.stmts()) if s is consumer)
        if writes:
            block.insert(place + 1, _fresh(_nest(variables, sizes, Store(buf, at, temp.load(variables)))))
        if reads or writes:
            block.insert(place, _nest(variables, sizes, Store(temp, variables, buf.load(at))))
        _redirect(consumer, buf, temp, _from(lows))
        return temp, consumer

    @staticmethod
    def compress_buffer(buf: BufHandle, s: Stmt) -> None:
        """Has a buffer one element in the dimensions in which all of a statement reads and writes the same index."""
        places = [x.indices for x in st.writes(s) if isinstance(x, Store) and x.buf is buf] + [list(r.parts()) for r in st.loads(s) if r.buf is buf]
        if not places:
            return
        same = []
        for d in range(len(buf.dims)):
            keys = {key(simplified(p[d])) for p in places}
            same.append(len(keys) == 1)
        zero = Immediate(0, Dtype.Int)

        def indices(old: Sequence[ExprHandle]) -> list[ExprHandle]:
            return [zero if alike else i for alike, i in zip(same, old)]

        _redirect(s, buf, buf, indices)
        buf.dims = [Immediate(1, Dtype.Int) if alike else d for alike, d in zip(same, buf.dims)]

    @staticmethod
    def rfactor(s: Stmt, loop: For) -> BufHandle | None:
        """Splits a reduction: each round of a loop reduces into an element of its own, and these are reduced; the buffer of the elements."""
        if not isinstance(s, Store) or not isinstance(s.value, ex.Reduction):
            return None
        loops = LoopNest.get_enclosing_loopnest(s)
        over = {id(v) for v in s.value.over}
        inside = [x for x in loops if id(x.var) in over]
        if len(inside) < 2 or inside[0] is not loop:
            return None
        if any(_only_loop(x) is not y for x, y in zip(inside, inside[1:])):
            return None
        old, reducer = s.buf, s.value.reducer
        temp = BufHandle(old.name + "_rfac", [*old.dims, _rounds(loop) if _constant(loop.start) != 0 else loop.stop], old.dtype)
        index = [*s.indices, loop.var]
        body = _other_side(s.value.parts()[0], old)
        step = ex.cast(ex.expression(reducer.interaction(temp.load(index), body)), old.dtype)
        inner = Store(temp, index, ex.Reduction(step, [v for v in s.value.over if v is not loop.var], reducer))
        first = Store(temp, index, ex.Conversion(reducer.begin(old.dtype), old.dtype))
        last = ex.cast(ex.expression(reducer.interaction(old.load(s.indices), temp.load(index))), old.dtype)
        _parent_block(s).replace(s, [inner])
        loop.body().insert(0, first)
        loop.body().insert(len(loop.body().stmts()), Store(old, s.indices, ex.Reduction(last, [loop.var], reducer)))
        return temp

    def eliminate_dead_stores(self) -> None:
        """Removes stores into buffers that nothing reads and that are no outputs."""
        while True:
            kept = {id(b) for b in self._outputs} | {id(r.buf) for r in st.loads(self._root)}
            kept |= {id(b) for x in st.walk(self._root) if isinstance(x, st.ExternalCall) for b in x.buffers}
            dead = [w for w in st.writes(self._root) if id(w.buf) not in kept]
            if not dead:
                break
            self._remove(dead[0])

    # Making programs.

    def simplify(self) -> Stmt:
        """Makes the statement simpler, and gives it."""
        self._root = simplify(self._root)  # type: ignore[assignment]
        return self._root

    def prepare_for_codegen(self) -> None:
        """Indexes memory as it lies, and makes and frees that of what is no output."""

        def part(p: ExprHandle) -> ExprHandle | None:
            return ex.Load(p.buf, [flat(p.buf, p.parts())]) if isinstance(p, ex.Load) and len(p.parts()) > 1 else None

        self._rewrite(lambda x: ex.rebuilt(x, part))
        for w in st.writes(self._root):
            if isinstance(w, Store) and len(w.indices) != 1:
                w.indices = [flat(w.buf, w.indices)]
        made = {id(s.buf) for s in st.walk(self._root) if isinstance(s, st.Allocate)}
        for buf in self._intermediate():
            if id(buf) not in made:
                self._root.insert(0, st.Allocate(buf))
                self._root.insert(len(self._root.stmts()), st.Free(buf))

    @staticmethod
    def sanitize_names(s: Stmt) -> Stmt:
        """Gives variables and buffers names that are names of C, each its own."""
        names, changed = ex.Names(), set()
        for inner in st.walk(s):
            found: list[Any] = [inner.var] if isinstance(inner, For) else []
            found += [inner.buf] if isinstance(inner, (Store, st.Allocate, st.Free, st.ExternalCall)) else []
            for e in inner.expressions():
                found += [p if isinstance(p, VarHandle) else p.buf for p in ex.walk(e) if isinstance(p, (VarHandle, ex.Load))]
            for x in found:
                if id(x) not in changed:
                    changed.add(id(x))
                    x.name = "".join(c if c.isalnum() or c == "_" else "_" for c in x.name)
                    x.name = names.of(x)
        return s


def _positive(factor: int) -> int:
    if factor <= 0:
        raise RuntimeError(f"MALFORMED INPUT: a loop is split into parts of more than 0 rounds, not {factor}")
    return factor


def _offset(loop: For, index: ExprHandle) -> ExprHandle:
    return index if _constant(loop.start) == 0 else ex.binary("+", index, loop.start)


def _simple(s: Stmt, loop: For, i: int) -> Stmt:
    made = simplify(Block([st.copied(s, {id(loop.var): Immediate(i, loop.var.dtype)})]))
    inner = made.inner()
    for x in inner:
        x.parent = None
    return inner[0] if len(inner) == 1 else Block(inner)


def _above(s: Stmt) -> list[Stmt]:
    found, above = [], s.parent
    while above is not None:
        found.append(above)
        above = above.parent
    return found


def _coefficient(x: ExprHandle, v: VarHandle) -> int:
    return sum(c for c, f in polynomial(simplified(x)).terms.values() if len(f) == 1 and f[0] is v)


def _other_side(step: ExprHandle, buf: BufHandle) -> ExprHandle:
    """What a step of a reduction puts to what a buffer holds."""
    a, b = step.parts()
    return b if isinstance(a, ex.Load) and a.buf is buf else a


def _bounds(s: Stmt, buf: BufHandle, known: dict[int, tuple[ExprHandle, ExprHandle]]) -> list[tuple[ExprHandle, ExprHandle]] | None:
    """The smallest and the largest index in each dimension at which a statement reads or writes a buffer; None where it does neither."""
    found: list[tuple[ExprHandle, ExprHandle]] | None = None

    def add(indices: Sequence[ExprHandle]) -> None:
        nonlocal found
        pairs = [_range(i, known) for i in indices]
        if found is None:
            found = pairs
            return
        found = [
            (a if equal(a, c) else simplified(ex.extreme("Min", a, c)), b if equal(b, d) else simplified(ex.extreme("Max", b, d)))
            for (a, b), (c, d) in zip(found, pairs)
        ]

    for e in s.expressions():
        for p in ex.walk(e):
            if isinstance(p, ex.Load) and p.buf is buf:
                add(p.parts())
    if isinstance(s, Store) and s.buf is buf:
        add(s.indices)
    if isinstance(s, For):
        known = {**known, id(s.var): (s.start, ex.binary("-", s.stop, Immediate(1, s.var.dtype)))}
    for inner in s.inner():
        below = _bounds(inner, buf, known)
        if below is not None:
            if found is None:
                found = below
            else:
                found = [
                    (a if equal(a, c) else simplified(ex.extreme("Min", a, c)), b if equal(b, d) else simplified(ex.extreme("Max", b, d)))
                    for (a, b), (c, d) in zip(found, below)
                ]
    return found


def _range(x: ExprHandle, known: dict[int, tuple[ExprHandle, ExprHandle]]) -> tuple[ExprHandle, ExprHandle]:
    """The smallest and the largest value of an index, for variables in ranges."""
    ends = []
    for end in (0, 1):
        total: ExprHandle = Immediate(0, x.dtype)
        for c, factors in polynomial(simplified(x)).terms.values():
            product: ExprHandle = Immediate(c, x.dtype)
            for f in factors:
                if id(f) in known:
                    f = known[id(f)][end if c > 0 else 1 - end]
                elif any(id(p) in known for p in ex.walk(f)):
                    raise RuntimeError("MALFORMED INPUT: the bounds of an index that is no sum of variables are not known")
                product = ex.binary("*", product, f)
            total = ex.binary("+", total, product)
        ends.append(simplified(total))
    return ends[0], ends[1]


def _from(lows: Sequence[ExprHandle]) -> Callable[[Sequence[ExprHandle]], list[ExprHandle]]:
    """What makes indices that begin at others begin at 0."""
    return lambda indices: [simplified(ex.binary("-", i, low)) for i, low in zip(indices, lows)]


def _redirect(s: Stmt, old: BufHandle, new: BufHandle, moved: Callable[[Sequence[ExprHandle]], list[ExprHandle]]) -> None:
    """Has a statement read and write a buffer in place of another, at indices that are made of the former."""

    def part(p: ExprHandle) -> ExprHandle | None:
        return ex.Load(new, moved(p.parts())) if isinstance(p, ex.Load) and p.buf is old else None

    for x in st.walk(s):
        if isinstance(x, Store):
            x.value = ex.rebuilt(x.value, part)
            if x.buf is old:
                x.buf, x.indices = new, moved(x.indices)
            else:
                x.indices = [ex.rebuilt(i, part) for i in x.indices]
        elif isinstance(x, Cond):
            x.condition = ex.rebuilt(x.condition, part)
