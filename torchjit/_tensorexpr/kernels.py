"""Kernels of tensor expressions that compute graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torchjit as torch
from torchjit._tensorexpr import expressions as ex
from torchjit._tensorexpr import statements as st
from torchjit._tensorexpr.evaluation import BufferArg, SimpleIREvaluator, Tensor
from torchjit._tensorexpr.expressions import BufHandle, Dtype, ExprHandle, Immediate, VarHandle
from torchjit._tensorexpr.loops import Compute2, LoopNest


class ArgValue:
    """An argument of an operator: a buffer, a variable, a number, a list of them or None."""

    def __init__(self, given: Any) -> None:
        self.given: Any = given.given if isinstance(given, ArgValue) else given.buf() if isinstance(given, Tensor) else given

    def _as(self, what: str, *kinds: type) -> Any:
        if not isinstance(self.given, kinds) or isinstance(self.given, bool) and bool not in kinds:
            raise RuntimeError(f"the argument is no {what}: {self.given!r}")
        return self.given

    def as_buf(self) -> BufHandle:
        """A buffer."""
        return self._as("buffer", BufHandle)

    def as_var(self) -> VarHandle:
        """A variable."""
        return self._as("variable", VarHandle)

    def as_float(self) -> float:
        """A float."""
        return self._as("float", float)

    def as_int(self) -> int:
        """An int."""
        return self._as("int", int)

    def as_bool(self) -> bool:
        """A truth value."""
        return self._as("bool", bool)

    def as_none(self) -> None:
        """None."""
        self._as("None", type(None))

    def as_buflist(self) -> list[BufHandle]:
        """A list of buffers."""
        return list(self._as("list", list))

    def as_intlist(self) -> list[int]:
        """A list of ints."""
        return list(self._as("list", list))


Elements = Callable[..., Any]
_ELEMENTWISE: dict[str, Elements] = {}
_WHOLE: dict[str, Callable[..., Tensor]] = {}


def _elementwise(f: Elements) -> Elements:
    """Registers what an operator of that name computes of elements."""
    _ELEMENTWISE[f.__name__.rstrip("_")] = f
    return f


def has_lowering(kind: str) -> bool:
    """Whether kernels have an operator."""
    name = kind.removeprefix("aten::")
    return kind.startswith("aten::") and (name in _ELEMENTWISE or name in ex.FUNCTIONS or name in _WHOLE or kind in _custom)


_custom: dict[str, Any] = {}


def _scaled(b: Any, alpha: Any) -> Any:
    return b if isinstance(alpha, (int, float)) and alpha == 1 else ex.binary("*", b, alpha)


@_elementwise
def add(a: Any, b: Any, alpha: Any = 1) -> Any:
    """a + alpha * b."""
    return ex.binary("+", a, _scaled(b, alpha))


@_elementwise
def sub(a: Any, b: Any, alpha: Any = 1) -> Any:
    """a - alpha * b."""
    return ex.binary("-", a, _scaled(b, alpha))


@_elementwise
def mul(a: Any, b: Any) -> Any:
    """a * b."""
    return ex.binary("*", a, b)


@_elementwise
def div(a: Any, b: Any) -> Any:
    """a / b, of floats."""
    a, b = (x if x.dtype.floats else x.cast(Dtype.Float) for x in (ex.expression(a), ex.expression(b)))
    return ex.binary("/", a, b)


@_elementwise
def neg(a: Any) -> Any:
    """-a."""
    return ex.binary("-", Immediate(0, a.dtype), a)


@_elementwise
def relu(a: Any) -> Any:
    """a where it is positive, otherwise 0."""
    zero = Immediate(0, a.dtype)
    return ex.Compare("<", a, zero, zero, a)


@_elementwise
def clamp(a: Any, low: Any = None, high: Any = None) -> Any:
    """a between two numbers."""
    a = a if low is None else ex.cast(ex.extreme("Max", a, low), a.dtype)
    return a if high is None else ex.cast(ex.extreme("Min", a, high), a.dtype)


@_elementwise
def minimum(a: Any, b: Any) -> Any:
    """The smaller number."""
    return ex.extreme("Min", a, b)


@_elementwise
def maximum(a: Any, b: Any) -> Any:
    """The larger number."""
    return ex.extreme("Max", a, b)


@_elementwise
def where(c: Any, a: Any, b: Any) -> Any:
    """a where c holds, otherwise b."""
    return ex.select(c, a, b)


@_elementwise
def reciprocal(a: Any) -> Any:
    """1 / a."""
    return ex.binary("/", Immediate(1.0, a.dtype), a)


@_elementwise
def silu(a: Any) -> Any:
    """a times its sigmoid."""
    return ex.binary("*", a, ex.call("sigmoid", a))


@_elementwise
def sigmoid_backward(g: Any, y: Any) -> Any:
    """The gradient of sigmoid."""
    return ex.binary("*", g, ex.binary("*", y, ex.binary("-", Immediate(1.0, y.dtype), y)))


@_elementwise
def tanh_backward(g: Any, y: Any) -> Any:
    """The gradient of tanh."""
    return ex.binary("*", g, ex.binary("-", Immediate(1.0, y.dtype), ex.binary("*", y, y)))


def _comparison(name: str, operator: str) -> None:
    _ELEMENTWISE[name] = lambda a, b: ex.compare(operator, a, b)


for _name, _operator in zip("eq ne lt le gt ge".split(), "== != < <= > >=".split()):
    _comparison(_name, _operator)
_ELEMENTWISE["pow"] = lambda a, b: ex.call("pow", a, b)
_ELEMENTWISE["atan2"] = lambda a, b: ex.call("atan2", a, b)
_ELEMENTWISE["fmod"] = lambda a, b: ex.call("fmod", a, b)
_ELEMENTWISE["remainder"] = lambda a, b: ex.call("remainder", a, b)


def _matmul(out: BufHandle, args: Sequence[Any]) -> Tensor:
    return Tensor(out, st.ExternalCall(out, "nnc_aten_matmul", [ArgValue(a).as_buf() for a in args[:2]], []))


_WHOLE["matmul"] = _WHOLE["mm"] = _WHOLE["bmm"] = _matmul


def _element(a: Any, indices: Sequence[ExprHandle]) -> Any:
    """The element of a buffer that is broadcast to indices, or a number."""
    if not isinstance(a, BufHandle):
        return a
    own = indices[len(indices) - len(a.dims) :]
    at = [Immediate(0, i.dtype) if isinstance(d, Immediate) and d.value == 1 else i for d, i in zip(a.dims, own)]
    return a.load(at)


def lower(op: str, args: Sequence[Any], out_shape: Sequence[Any], dtype: Any) -> Tensor:
    """The tensor expression of an operator with arguments, for a result of a shape and a type."""
    given = [ArgValue(a).given for a in args]
    name, dims = op.removeprefix("aten::"), [ex.expression(d, wide=True) for d in out_shape]
    dtype = dtype if isinstance(dtype, Dtype) else Dtype(dtype)
    if name in _WHOLE:
        return _WHOLE[name](BufHandle(f"aten_{name}", dims, dtype), given)
    f = _ELEMENTWISE.get(name) or ((lambda a: ex.call(name, a)) if name in ex.FUNCTIONS else None)
    if f is None or not op.startswith("aten::"):
        raise RuntimeError(f"UNIMPLEMENTED LOWERING: no lowering of {op} is registered")

    def body(indices: list[VarHandle]) -> ExprHandle:
        elements = [_element(a, indices) for a in given]
        numbers = [e for e in elements if isinstance(e, ExprHandle)]
        # A number takes part in the type of the tensors' elements.
        common = numbers[0].dtype if numbers else dtype
        for n in numbers[1:]:
            common = ex.promoted(common, n.dtype)
        elements = [
            Immediate(e, common if common.floats or isinstance(e, int) else Dtype.Float)
            if isinstance(e, (int, float)) and not isinstance(e, bool) and e != 1
            else e
            for e in elements
        ]
        return ex.cast(ex.expression(f(*elements)), dtype)

    return Compute2(f"aten_{name}", dims, body)


class TensorExprKernel:
    """A graph whose inputs and results have known types, as a kernel."""

    def __init__(
        self, g: Any, custom_lowerings_str: Any = None, symbolic_shape_inputs: Sequence[int] = (), pre_alloc: bool = False
    ) -> None:
        self._graph, self._custom, self._symbols = g, dict(custom_lowerings_str or {}), list(symbolic_shape_inputs)
        self.recompile()

    def recompile(self) -> None:
        """Makes the kernel anew."""
        self._inputs: list[Any] = []
        self._outputs: list[tuple[BufHandle, Dtype]] = []
        values: dict[str, Any] = {}
        tensors: list[Tensor] = []
        inputs = list(self._graph.inputs())
        symbols = dict(zip(self._symbols, inputs[len(inputs) - len(self._symbols) :] if self._symbols else []))
        sizes: dict[int, VarHandle] = {}
        for symbol, v in symbols.items():
            sizes[symbol] = VarHandle(v.debugName().replace(".", "_"), Dtype.Long)
        for v in inputs:
            values[v.debugName()] = self._argument(v, sizes, symbols)
        for n in self._graph.nodes():
            if n.kind() == "prim::Constant":
                values[n.output().debugName()] = n.output().toIValue()
                continue
            args = [values[v.debugName()] for v in n.inputs()]
            t = n.output().type()
            shape, dtype = self._shape(t, sizes, args), _dtype_of(n.output())
            if n.kind() in self._custom:
                made = self._custom[n.kind()]([ArgValue(a) for a in args], shape, [], dtype.torch, torch.device("cpu"))
            else:
                made = lower(n.kind(), args, shape, dtype)
            tensors.append(made)
            values[n.output().debugName()] = made.buf()
        outputs = [values[v.debugName()] for v in self._graph.outputs()]
        chosen = [next(t for t in tensors if t.buf() is b) for b in outputs]
        self._nest = LoopNest(chosen, tensors)
        self._nest.inline_intermediate_bufs(True)
        self._nest.prepare_for_codegen()
        self._stmt = self._nest.simplify()
        self._output_bufs = outputs
        self._codegen = SimpleIREvaluator(self._stmt, [*self._inputs, *[BufferArg(b) for b in outputs]])
        self._sizes = sizes

    def _argument(self, v: Any, sizes: dict[int, VarHandle], symbols: dict[int, Any]) -> Any:
        name, t = v.debugName().replace(".", "_"), v.type()
        if t.kind() == "TensorType":
            made: Any = BufHandle(name, self._shape(t, sizes, []), _dtype_of(v))
        else:
            known = [sizes[s] for s, w in symbols.items() if w.debugName() == v.debugName()]
            made = known[0] if known else VarHandle(name, Dtype.Double if t.kind() == "FloatType" else Dtype.Long)
        self._inputs.append(BufferArg(made))
        return made

    @staticmethod
    def _shape(t: Any, sizes: dict[int, VarHandle], args: Sequence[Any]) -> list[ExprHandle]:
        found = t.symbolic_sizes() or t.sizes()
        if found is None:
            bufs = [a for a in args if isinstance(a, BufHandle)]
            if not bufs:
                raise RuntimeError(f"MALFORMED INPUT: the shape of {t} is not known")
            return list(max(bufs, key=lambda b: len(b.dims)).dims)
        shape: list[ExprHandle] = []
        for s in found:
            if s >= 0:
                shape.append(Immediate(s, Dtype.Long))
            elif s in sizes:
                shape.append(sizes[s])
            else:
                raise RuntimeError(f"MALFORMED INPUT: nothing says what the size with the symbol {s} is")
        return shape

    def run(self, inputs: Sequence[Any]) -> Any:
        """Runs the kernel."""
        from torchjit._tensorexpr.evaluation import Evaluator

        inputs = [x.contiguous() if isinstance(x, torch.Tensor) else x for x in inputs]
        if len(inputs) != len(self._inputs):
            raise RuntimeError(f"MALFORMED INPUT: the kernel takes {len(self._inputs)} arguments, {len(inputs)} are given")
        e = Evaluator()
        for a, x in zip(self._inputs, inputs):
            if isinstance(a.of, VarHandle):
                e.values[id(a.of)] = x
        for a, x in zip(self._inputs, inputs):
            if isinstance(a.of, BufHandle) and list(x.shape) != [e.number(d) if e.known(d) else s for d, s in zip(a.of.dims, x.shape)]:
                raise RuntimeError(f"MALFORMED INPUT: the tensor for '{a.of.name}' has the shape {list(x.shape)}")
        made = [torch.empty([e.number(d) for d in b.dims], dtype=b.dtype.torch) for b in self._output_bufs]
        self._codegen.call([*inputs, *made])
        return made[0] if len(made) == 1 else tuple(made)

    def fallback(self, inputs: Sequence[Any]) -> Any:
        """Runs the graph without the kernel."""
        from torchjit import _C

        graph = self._graph.copy()
        return _C._create_function_from_graph("fallback", graph)(*inputs)

    def get_codegen_stmt(self) -> st.Stmt:
        """The statement that is run."""
        return self._stmt

    def get_code_text(self, attr: str = "") -> str:
        """The text of what is run."""
        return self._codegen.get_code_text(attr)


def _dtype_of(v: Any) -> Dtype:
    dtype = v.type().dtype() if v.type().kind() == "TensorType" else None
    if dtype is None:
        raise RuntimeError(f"MALFORMED INPUT: the type of the elements of %{v.debugName()} is not known")
    return Dtype(dtype)
