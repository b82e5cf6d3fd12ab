"""Whether a trace does what its program does: torch.jit.trace with check_trace."""

from __future__ import annotations

import difflib
import importlib
import linecache
import re
import warnings
from collections.abc import Callable
from typing import Any

from torchjit import _C as _classes
from torchjit import _native
from torchjit._tensor import Tensor

_C: Any = _classes  # its members are made when it is loaded


class TracingCheckError(Exception):
    """A program that was traced again gave another graph, or did not run."""

    def __init__(self, graph_diff_error: str | None, tensor_compare_error: str | None, extra_msg: str | None = None) -> None:
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += extra_msg + "\n"
        if graph_diff_error is not None:
            self.message += "ERROR: Graphs differed across invocations!\n" + indent(graph_diff_error) + "\n"
        if tensor_compare_error is not None:
            self.message += (
                "ERROR: Tensor-valued Constant nodes differed in value across invocations. This often indicates that the tracer "
                "has encountered untraceable code.\n" + indent(tensor_compare_error) + "\n"
            )
        super().__init__(self.message)


TracingCheckError.__module__ = "torch.jit._trace"


def indent(text: str) -> str:
    return "\n".join("\t" + line for line in text.split("\n"))


def clone(x: Any) -> Any:
    """A copy of inputs, with tensors that share nothing with theirs."""
    if isinstance(x, Tensor):
        own = x.detach().clone().requires_grad_(x.requires_grad)
        return own
    if isinstance(x, dict):
        return {name: clone(item) for name, item in x.items()}
    return type(x)(clone(item) for item in x) if isinstance(x, (list, tuple)) else x


def check(func: Any, traced: Any, inputs: Any, again: Callable[[Any], Any], tolerance: float) -> None:
    """Compares a trace with its program and with a second trace, on inputs.

    Issues a TracerWarning where results differ. Raises TracingCheckError where the graphs differ or one of them does not run.
    """
    _Check(func, traced, inputs, again(clone(inputs)), tolerance).run()


class _Check:
    def __init__(self, func: Any, traced: Any, inputs: Any, second: Any, tolerance: float) -> None:
        self.func, self.traced, self.inputs, self.second, self.tolerance = func, traced, inputs, second, tolerance
        self.warned = False

    def run(self) -> None:
        mine = self.outputs(self.traced, "trace")
        if self.agree(mine, self.outputs(self.func, "Python function"), "Python function"):
            self.agree(mine, self.outputs(self.second, "repeated trace"), "repeated trace")
        found = self.differences()
        if any(f is not None for f in found):
            raise TracingCheckError(*found)

    def outputs(self, call: Any, what: str) -> list[Tensor]:
        try:
            out = call(*clone(self.inputs))
        except Exception as e:
            raise TracingCheckError(
                *self.differences(),
                extra_msg=f"encountered an exception while running the {what} with test inputs.\nException:\n{indent(str(e))}",
            ) from e
        return [x for x in (out if isinstance(out, tuple) else (out,)) if isinstance(x, Tensor)]

    def agree(self, mine: list[Tensor], theirs: list[Tensor], what: str) -> bool:
        agreed = True
        for i, (a, b) in enumerate(zip(mine, theirs, strict=False)):
            why = _difference(a.detach(), b.detach(), self.tolerance)
            if why is None:
                continue
            self.warn_of_random()
            warnings.warn(
                f"Output nr {i + 1}. of the traced function does not match the corresponding output of the {what}. "
                f"Detailed error:\n{why}",
                _tracer_warning(),
                stacklevel=5,
            )
            agreed = False
        return agreed

    def warn_of_random(self) -> None:
        random = [str(n) for n in self.traced.graph.nodes() if n.isNondeterministic()]
        if not random or self.warned:
            return
        self.warned = True
        warnings.warn(
            "Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n"
            + "\n".join(indent(t) for t in random[:20])
            + "\nThis may cause errors in trace checking. To disable trace checking, pass check_trace=False to torch.jit.trace()",
            _tracer_warning(),
            stacklevel=6,
        )

    def differences(self) -> tuple[str | None, str | None]:
        """How the graphs of the two traces differ: their texts, and the values of constants."""
        (text, mine), (other, theirs) = _nodes(self.traced), _nodes(self.second)
        return _graph_difference(text, other, mine, theirs), _constant_difference(mine, theirs)


def _tracer_warning() -> Any:
    from torchjit.jit._trace import TracerWarning

    return TracerWarning


class _Node:
    def __init__(self, text: str, kind: str, place: str, file: str, line: int, value: Any, random: bool) -> None:
        self.text, self.kind, self.place, self.file, self.line = _unmangled(text), kind, place, file, line
        self.value, self.random = value, random


def _unmangled(text: str) -> str:
    return re.sub(r"___torch_mangle_[0-9]+\.", "", text)


def _nodes(traced: Any) -> tuple[str, list[_Node]]:
    """The text of a trace's graph, inlined and without shapes, and its nodes."""
    text, *nodes = _native.trace_nodes(traced)
    return _unmangled(text), [_Node(text.rstrip("\n"), *rest) for text, *rest in nodes]


def _placeless(text: str) -> str:
    """The text of nodes without where they are from: two traces may be called from different lines."""
    return re.sub(r" +# \S+:\d+:\d+$", "", text, flags=re.M)


def _graph_difference(a: str, b: str, mine: list[_Node], theirs: list[_Node]) -> str | None:
    if _placeless(a) == _placeless(b):
        return None
    text = "Graph diff:\n" + indent(_lines_that_differ(a, b)) + "\n"
    for x, y in zip(mine, theirs, strict=False):
        if _placeless(x.text) != _placeless(y.text):
            text += "First diverging operator:\nNode diff:\n" + indent(_lines_that_differ(x.text, y.text)) + "\n"
            if x.place:
                text += "Trace source location:\n" + indent(x.place) + "\n"
            if y.place:
                text += "Check source location:\n" + indent(y.place) + "\n"
            break
    return text + _dependent(mine, theirs)


def _lines_that_differ(a: str, b: str) -> str:
    return "\n".join(line.rstrip("\n") for line in difflib.ndiff(a.splitlines(), b.splitlines()))


def _dependent(mine: list[_Node], theirs: list[_Node]) -> str:
    """The constants that are others on other inputs, with the lines that made them."""
    if [n.kind for n in mine] != [n.kind for n in theirs]:
        return ""
    text = ""
    for x, y in zip(mine, theirs, strict=True):
        if x.kind != "prim::Constant" or _placeless(x.text) == _placeless(y.text) or not x.file:
            continue
        line = linecache.getline(x.file, x.line).rstrip("\n")
        text += f"{_constant_text(x)} became {_constant_text(y)}:\n"
        text += f'  File "{x.file}", line {x.line}\n{line}\n'
        if line.strip():
            start = len(line) - len(line.lstrip())
            text += " " * start + "~" * (len(line) - start) + " <--- HERE\n"
    return "Constants that depend on the example:\n" + text if text else ""


def _constant_text(n: _Node) -> str:
    found = re.search(r"value=(.*)\]\(\)", n.text)
    return found.group(1) if found else n.text.strip()


def _constant_difference(mine: list[_Node], theirs: list[_Node]) -> str | None:
    for x, y in zip(mine, theirs, strict=False):
        if x.kind != y.kind:
            return None
        if x.value is None or y.value is None:
            continue
        why = _assertion(x.value, y.value)
        if why is not None:
            text = "Node:\n" + indent(x.text) + "\n"
            if x.place:
                text += "Source Location:\n" + indent(x.place) + "\n"
            return text + "Comparison exception: " + indent(why)
    return None


def _difference(a: Tensor, b: Tensor, tolerance: float) -> str | None:
    """What is different between two tensors, None where they are close."""
    if a.layout is not b.layout:
        return f"The values for attribute 'layout' do not match: {a.layout} != {b.layout}."
    if a.layout.name != "strided":
        a, b = a.to_dense(), b.to_dense()
    if a.is_quantized:
        a = a.dequantize()
    if b.is_quantized:
        b = b.dequantize()
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if a.is_complex() != b.is_complex():
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    if not a.is_complex():
        a, b = a.double(), b.double()
    return _assertion(a, b, rtol=tolerance, atol=1e-5)


def _assertion(a: Tensor, b: Tensor, **tolerances: Any) -> str | None:
    """What assert_close says of two tensors, None where it says nothing."""
    testing: Any = importlib.import_module("torchjit.testing")
    try:
        testing.assert_close(a, b, equal_nan=True, **tolerances)
    except AssertionError as e:
        return str(e)
    return None


def _verify_equal(xs: Any, ys: Any) -> None:
    """Raises RuntimeError where tensors differ from others by more than 1e-6."""
    for x, y in zip(xs, ys, strict=True):
        if x.sub(y).abs().max() > 1e-6:
            raise RuntimeError("JIT and real computation mismatch")


def verify(model: Any, args: Any, loss_fn: Callable[..., Any] | None = None, devices: Any = None) -> None:
    """Checks that what torch.jit.trace or torch.jit.script makes of a model gives the outputs and gradients of the model itself.

    model is a module or a function, args are its arguments: one of them, or a tuple. loss_fn makes a number of the outputs: their sum where
    there is one, and it is needed where there are several. Tensors of args and parameters that require gradients are compared by theirs.
    Raises AssertionError where something differs, ValueError without a loss_fn for several outputs.
    """
    import torchjit
    from torchjit import random

    args = args if isinstance(args, tuple) else (args,)
    compiled = model if hasattr(model, "graph") else torchjit.jit.trace(model, clone(args), check_trace=False)
    saved = random.get_rng_state()
    found = []
    for run in (model, compiled):
        random.set_rng_state(saved)
        found.append(_outputs_and_gradients(run, clone(args), loss_fn))
    for ours, theirs in zip(*found, strict=True):
        _verify_equal(ours, theirs)


def _outputs_and_gradients(run: Any, args: Any, loss_fn: Callable[..., Any] | None) -> tuple[list[Any], list[Any]]:
    import torchjit

    made = run(*args)
    outputs = [made] if isinstance(made, Tensor) else list(made)
    if loss_fn is None and len(outputs) > 1:
        raise ValueError(f"Model returns {len(outputs)} outputs, but default loss function (torch.sum) can only handle a single output")
    parameters = list(run.parameters()) if hasattr(run, "parameters") else []
    wanted = [t for t in [*_C._jit_flatten(args)[0], *parameters] if t.requires_grad]
    loss = loss_fn(*outputs) if loss_fn is not None else outputs[0].sum()
    gradients = torchjit.autograd.grad(loss, wanted, allow_unused=True) if wanted else []
    return outputs, [g for g in gradients if g is not None]
