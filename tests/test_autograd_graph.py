"""Nodes, hooks on nodes and on what they save, anomalies, profiles, and what autograd says when it is used wrongly."""

import copy
import warnings

import pytest

import torchjit as torch
from torchjit.autograd import graph, profiler


def leaf():
    return torch.tensor([1.0, 2.0], requires_grad=True)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.factor = 2
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.factor + 0 * x


def test_nodes():
    x = leaf()
    y = x * x
    node = y.grad_fn
    assert type(node).__name__ == "MulBackward0" and repr(node).startswith("<MulBackward0 object at ") and y.grad_fn is node
    (first, number), _ = node.next_functions
    assert type(first).__name__ == "AccumulateGrad" and first.name() == "torch::autograd::AccumulateGrad" and number == 0
    assert first.variable is x and node.requires_grad
    assert node._saved_self is x and x.exp().grad_fn._saved_result.grad_fn.name() == "ExpBackward0"
    node.metadata["a"] = 1
    assert y.grad_fn.metadata == {"a": 1}
    assert [t.output_nr for t in (x * 1).split(1)] == [0, 1]
    z = x * 1
    assert z.view(2)._base is z and z.view(2)._is_view() and not z._is_view()


def test_the_node_of_a_function_has_its_context():
    node = Double.apply(leaf()).grad_fn
    assert type(node).__name__ == "DoubleBackward" and node.factor == 2 and node.needs_input_grad == (True,)
    assert node.saved_tensors[0].tolist() == [1, 2]
    y = Double.apply(leaf())
    y.sum().backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors after they have already been freed"):
        y.grad_fn.saved_tensors  # noqa: B018


def test_hooks_of_nodes_and_tensors():
    x = leaf()
    y = x * x
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), len(outputs))))
    y.sum().backward()
    assert seen == [(2, 1)]
    for before, hook in ((False, lambda inputs, _: (inputs[0] * 10, *inputs[1:])), (True, lambda outputs: (outputs[0] * 10,))):
        x = leaf()
        y = x.exp()
        handle = (y.grad_fn.register_prehook if before else y.grad_fn.register_hook)(hook)
        y.sum().backward(retain_graph=True)
        torch.testing.assert_close(x.grad, 10 * x.detach().exp())
        handle.remove()
        x.grad = None
        y.sum().backward()
        torch.testing.assert_close(x.grad, x.detach().exp())
    x = leaf()
    assert x._backward_hooks is None
    handle = x.register_hook(lambda g: g * 3)
    assert list(x._backward_hooks) == [handle.id]
    x.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_saved_tensors_hooks():
    log = []

    def pack(t):
        log.append("pack")
        return t.detach().numpy()

    def unpack(a):
        log.append("unpack")
        return torch.from_numpy(a)

    x = leaf()
    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp().sum() + x.sum()  # additions save nothing
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert log == ["pack"] * 3 + ["unpack"] * 3
    torch.testing.assert_close(g.detach(), (2 * x * (x * x).exp() + 1).detach())
    g.sum().backward()
    torch.testing.assert_close(x.grad, ((2 + 4 * x * x) * (x * x).exp()).detach())
    x = leaf()
    with graph.save_on_cpu():
        y = Double.apply(x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor but got result of type int"):
        with graph.saved_tensors_hooks(lambda t: t, lambda t: 5):
            z = (leaf() ** 2).sum()
        z.backward()
    with pytest.raises(RuntimeError, match="modifying its input in place"), graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        leaf() ** 3
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_anomalies_are_reported_with_their_place():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
            y = torch.zeros(1, requires_grad=True).sqrt() * 0  # the place
            with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output."):
                y.sum().backward()
    assert not torch.is_anomaly_enabled()
    texts = [str(w.message) for w in found]
    assert texts[0].startswith("Anomaly Detection has been enabled.")
    assert texts[1].startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n") and "# the place" in texts[1]
    y = torch.zeros(1, requires_grad=True).sqrt() * 0
    with torch.autograd.set_detect_anomaly(True), pytest.warns(UserWarning, match="SqrtBackward0. No forward pass information available"):
        with pytest.raises(RuntimeError, match="returned nan"):
            y.sum().backward()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (torch.zeros(1, requires_grad=True).sqrt() * 0).sum().backward()


@torch.jit.script
def named(x):
    with torch.autograd.profiler.record_function("part"):
        return x + 1


def test_profile():
    with profiler.profile() as p:
        with profiler.record_function("mine"):
            (leaf().exp() @ torch.ones(2)).backward()
        named(torch.ones(2))
    counts = {e.key: e.count for e in p.key_averages()}
    assert counts["mine"] == counts["aten::exp"] == 1 and "aten::add" in counts
    mine = next(e for e in p.function_events if e.name == "mine")
    assert "aten::exp" in [e.name for e in mine.cpu_children] and 0 <= mine.self_cpu_time_total <= mine.cpu_time_total
    assert "Self CPU time total" in p.table(sort_by="self_cpu_time_total")


def modified():
    y = leaf() * 1
    z = y * y
    y.add_(1)
    z.sum().backward()


def written_view(make, forward=lambda x: x * 1):
    make(forward(leaf())).add_(1)


def views_made_without_grad():
    x = leaf() * 1
    with torch.no_grad():
        v = x.view(2)
    v.add_(1)


class ReturnsView(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g


def hooked(hook):
    y = leaf() * 2
    y.register_hook(hook)
    y.sum().backward()


def assigned(grad):
    x = leaf()
    x.grad = grad(x)


ERRORS = {
    "which is output 0 of AddBackward0, is at version 1; expected version 0 instead. Hint: enable anomaly detection": modified,
    "Output 0 of SplitBackward0 is a view and is being modified inplace. This view is the output of a function that returns multiple views": lambda: written_view(lambda x: x.split(1)[0]),
    "Output 1 of UnbindBackward0 is a view": lambda: written_view(lambda x: x.unbind()[1]),
    "Output 0 of ReturnsViewBackward is a view and is being modified inplace. This view was created inside a custom Function": lambda: written_view(ReturnsView.apply),
    "it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block": views_made_without_grad,
    "Can't detach views in-place. Use detach\\(\\) instead": lambda: (leaf() * 1).view(2).detach_(),
    "For complex Tensors, both grad_output and output are required to have the same dtype": lambda: (leaf() * 2).backward(torch.ones(2) * 1j),
    "'inputs' argument to backward\\(\\) cannot be empty": lambda: leaf().sum().backward(inputs=[]),
    "gradients can be either Tensors or None, but got int": lambda: torch.autograd.grad(leaf().sum(), leaf(), [2]),
    "grad requires non-empty inputs": lambda: torch.autograd.grad(leaf().sum(), []),
    "hook 'wide' has changed the size of value": lambda: hooked(wide),
    "expected Variable, but hook returned 'int'": lambda: hooked(lambda g: 5),
    "can't assign Variable as its own grad": lambda: assigned(lambda x: x),
    "got grad of typeint": lambda: assigned(lambda x: 5),
    "Only Tensors created explicitly by the user \\(graph leaves\\) support the deepcopy protocol": lambda: copy.deepcopy(leaf() * 2),
    "Only Tensors of floating point and complex dtype can require gradients": lambda: torch.tensor([1], requires_grad=True),
    "only Tensors of floating point dtype can require gradients": lambda: torch.tensor([1]).requires_grad_(),
    "apply\\(\\) takes no keyword arguments": lambda: Double.apply(x=leaf()),
}


def wide(g):
    return torch.ones(3)


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    with pytest.raises((RuntimeError, TypeError, ValueError), match=message):
        ERRORS[message]()


def test_warnings():
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert (leaf() * 2).grad is None
    with pytest.warns(UserWarning, match="Using backward\\(\\) with create_graph=True will create a reference cycle"):
        leaf().sum().backward(create_graph=True)


def test_variable():
    from torchjit.autograd import Variable

    assert isinstance(torch.ones(1), Variable) and Variable(torch.ones(1), requires_grad=True).requires_grad


def test_functions_are_called_at_the_end_of_a_backward_pass():
    engine = torch.autograd.Variable._execution_engine
    with pytest.raises(RuntimeError, match=r"^Final callbacks can only be installed during backward pass\.$"):
        engine.queue_callback(print)
    x = torch.ones(2, requires_grad=True)
    y, called = x * 2, []
    y.register_hook(lambda g: engine.queue_callback(lambda: called.append(("end", x.grad is not None))) or called.append("y"))
    x.register_hook(lambda g: called.append("x"))
    y.sum().backward()
    assert called == ["y", "x", ("end", True)]
    z = x * 2
    z.register_hook(lambda g: engine.queue_callback(lambda: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        torch.autograd.grad(z.sum(), x)
    w = x * 3
    outer = []
    v = (x * 2).sum()
    w.register_hook(lambda g: (engine.queue_callback(lambda: outer.append("outer")), v.backward(), outer.append("inner done"))[0])
    w.sum().backward()
    assert outer == ["inner done", "outer"]
