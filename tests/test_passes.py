"""torch._C._jit_pass_*: graphs compute the same after each pass, and after all of them."""

import pytest

import torchjit as torch
from torchjit import _C
from torchjit.testing import FileCheck, assert_close

Tensor = torch.Tensor


def arithmetic(x: Tensor, n: int):
    y = x * 1 + 0
    z = (y + n) * (y + n)
    return z.relu() - z.relu(), n * 1 + 0, y


def views(x: Tensor, n: int):
    y = x + 1
    v = y[0]
    w = y.clone()
    v.add_(n)
    w.mul_(2)
    u = y.transpose(0, 1).transpose(0, 1)
    return y, w, u, v


def lists(x: Tensor, n: int):
    parts = [x, x + n]
    parts.append(x * 2)
    first = parts[0]
    ints = [n, 2] + [3]
    return torch.cat(parts), first, len(parts), ints[1], len(ints)


def tuples(x: Tensor, n: int):
    pair = (x, n)
    if n > 2:
        pair = (x + 1, n + 1)
    for i in range(n):
        pair = (pair[0] + i, pair[1] + 1)
    a, b = pair
    return pair, a, b


def loops(x: Tensor, n: int):
    total = x
    for i in range(3):
        total = total + i
    for i in range(n):
        total = total * 2 + i
    k = 0
    while k < n:
        k += 2
    return total, k


def branches(x: Tensor, n: int, flag: int | None = None):
    y = x.neg()
    if flag is None:
        y = y + 1
    if not n > 1:
        y.zero_()
    else:
        y = y.abs()
    ok = True if n > 0 else False
    return y, ok


def constants(x: Tensor, n: int):
    size = [1, 1 + 1]
    base = torch.ones(size)
    return x.sum() + base.sum(), base * n


def changing(x: Tensor, n: int):
    y = x.relu()
    y.add_(1)
    z = torch.zeros_like(x)
    z.fill_(2.0)
    y.mul_(z)
    y.zero_()
    out = torch.jit.annotate(list[int], [])
    for i in range(n):
        out.append(i)
    return y, z, out


FUNCTIONS = [arithmetic, views, lists, tuples, loops, branches, constants, changing]
PASSES = ["inline", "dce", "cse", "peephole", "peephole_list_idioms", "constant_pooling", "constant_propagation",
          "constant_propagation_immutable_types", "loop_unrolling", "constant_loop_unrolling", "lower_simple_tuples", "remove_mutation",
          "remove_expands", "decompose_ops", "erase_shape_information", "canonicalize_graph_fuser_ops", "batch_mm", "fuse_addmm",
          "integer_value_refinement", "propagate_shapes_on_graph",
          "inplace_to_functional_activation", "functional_to_inplace_activation", "propagate_dtype", "propagate_device", "fuse_add_relu", "transform_conv1d_to_conv2d", "refine_tuple_types"]  # fmt: skip


def run_pass(name, graph):
    getattr(_C, "_jit_pass_" + name)(graph)
    _C._jit_pass_lint(graph)


def results(graph, n):
    x = torch.arange(4.0).reshape(2, 2) - 1
    args = (x, n, None) if len(list(graph.inputs())) == 3 else (x, n)
    return _C._jit_interpret_graph(graph, args), x


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_pass_keeps_the_meaning(function):
    graph = torch.jit.script(function).graph
    for n in (0, 3, 9):
        expected = results(graph, n)
        everything = graph.copy()
        for name in PASSES:
            one = graph.copy()
            run_pass(name, one)
            run_pass(name, everything)
            assert_close(results(one, n), expected, msg=lambda m, name=name: f"{name}: {m}")
        for name in reversed(PASSES):
            run_pass(name, everything)
        assert_close(results(everything, n), expected)


def test_all_tuples_are_lowered():
    graph = torch.jit.script(tuples).graph.copy()
    expected = results(graph, 4)[0]
    _C._jit_pass_lower_all_tuples(graph)
    FileCheck().check_not("prim::Tuple").run(graph)
    (pair, a, b), flat = expected, results(graph, 4)[0]
    assert_close(flat, (*pair, a, b))


def test_tuples_that_are_formatted_are_lowered():
    """As in PyTorch, where the text is written of the elements; without it a compiled LSTM was not exported to ONNX."""

    @torch.jit.script
    def f(x):
        sizes = (x.size(0), x.size(1))
        return f"{sizes} {x.dim()}"

    graph = f.graph.copy()
    _C._jit_pass_lower_all_tuples(graph)
    (text,) = graph.findAllNodes("aten::format")
    assert [v.type().kind() for v in text.inputs()] == ["StringType", "IntType", "IntType", "IntType"]


def test_mutation_is_removed():
    graph = torch.jit.script(changing).graph.copy()
    assert _C._jit_pass_remove_mutation(graph)
    FileCheck().check_not("add_").check_not("mul_").check_not("zero_").check("aten::add(").check("aten::full_like").run(
        graph
    )
    assert not _C._jit_pass_remove_mutation(graph)


def test_mutation_that_is_seen_stays():
    graph = torch.jit.script(views).graph.copy()
    _C._jit_pass_remove_mutation(graph)
    FileCheck().check("aten::add_").run(graph)
    FileCheck().check_not("aten::mul_").run(graph)


def test_inplace_operators_are_removed_whoever_looks():
    graph = _C.parse_ir("graph(%x : Tensor, %y : Tensor):\n  %z : Tensor = aten::mul_(%x, %y)\n  return (%x)")
    _C._jit_pass_remove_inplace_ops(graph)
    FileCheck().check("%3 : Tensor = aten::mul(%x, %y)").check("return (%3)").run(graph)


def test_numbers_become_tensors():
    graph = _C.parse_ir(
        "graph(%a : int):\n  %1 : int = prim::Constant[value=1]()\n  %2 : int = aten::add(%a, %1)\n  return (%2)"
    )
    _C._jit_pass_erase_number_types(graph)
    FileCheck().check("%a : Long(device=cpu)").check("prim::Constant[value={1}]").check(
        "Long(device=cpu) = aten::add"
    ).run(graph)


def test_canonical_graphs_are_numbered_in_order():
    graph = _C.parse_ir(
        "graph(%a.1, %b : int):\n  %9 : int = prim::Constant[value=1]()\n  %4 = aten::add(%a.1, %b, %9)\n  return (%4)"
    )
    assert "%3 : Tensor = aten::add(%a.1, %b, %2)" in str(_C._jit_pass_canonicalize(graph))
    assert "%3 : Tensor = aten::add(%0, %1, %2)" in str(_C._jit_pass_canonicalize(graph, keep_unique_names=False))


def test_forks_run_in_place():
    def child(x):
        return x.relu()

    def parent(x):
        future = torch.jit.fork(child, x)
        return torch.jit.wait(future)

    graph = torch.jit.script(parent).graph.copy()
    _C._jit_pass_inline_fork_wait(graph)
    _C._jit_pass_inline(graph)
    FileCheck().check_not("fork").check_not("wait").check("aten::relu").run(graph)


def test_dead_code_with_effects():
    graph = _C.parse_ir(
        "graph(%a : Tensor):\n  %1 : int = prim::Constant[value=1]()\n  %2 = aten::add_(%a, %a, %1)\n  return (%a)"
    )
    _C._jit_pass_dce(graph)
    assert graph.findNode("aten::add_") is not None
    _C._jit_pass_dce_allow_deleting_nodes_with_side_effects(graph)
    assert list(graph.nodes()) == []


def test_optimized_graphs_are_shown():
    def inner(x, k: int):
        return x + (2 * 3 + k * 0)

    def outer(x, n: int, flag: bool):
        a = inner(x, n) * inner(x, n)
        for i in range(3):
            a = a * 2 + i
        m = n if flag else 7
        return a, m

    f = torch.jit.script(outer)
    graph = f.graph_for(torch.ones(2), 3, True)
    FileCheck().check_not("CallFunction").check_not("prim::Loop").check("prim::IfThenElse").run(graph)
    FileCheck().check_count("aten::mul(", 5).run(graph)
    assert str(torch.jit.last_executed_optimized_graph().copy()) == str(graph)
    assert_close(_C._jit_interpret_graph(graph, (torch.ones(2), 3, False)), f(torch.ones(2), 3, False))


def test_optimized_graphs_of_modules():
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.k = 2

        def forward(self, x):
            return x * self.k

    m = torch.jit.script(Scale())
    FileCheck().check('prim::GetAttr[name="k"]').check("aten::mul").run(m.graph_for(torch.ones(1)))
    FileCheck().check("aten::mul").run(m.forward.graph_for(torch.ones(1)))


def test_patterns_are_rewritten():
    pattern = "graph(%x, %y):\n  %c = aten::mul(%x, %y)\n  %d = aten::relu(%c)\n  return (%d)"
    graph = _C.parse_ir(
        "graph(%a, %b):\n  %c = aten::mul(%a, %b)\n  %d = aten::relu(%c)\n  %e = aten::mul(%d, %b)\n  return (%d, %e)"
    )
    _C._jit_pass_custom_pattern_based_rewrite_graph(
        pattern, "graph(%x, %y):\n  %r = my::both(%x, %y)\n  return (%r)", graph
    )
    FileCheck().check("my::both(%a, %b)").check_next("aten::mul(").check_not("relu").run(graph)
    with pytest.raises(
        RuntimeError, match="inputs and outputs: the pattern has 2 and 1, what replaces it 1 and 1"
    ):
        _C._jit_pass_custom_pattern_based_rewrite_graph(pattern, "graph(%x):\n  %r = my::one(%x)\n  return (%r)", graph)
    with pytest.raises(RuntimeError, match="a pattern is a graph without blocks whose results nodes define"):
        _C._jit_pass_custom_pattern_based_rewrite_graph("graph(%x):\n  return (%x)", pattern, graph)


def test_methods_of_a_module_are_rewritten():
    class Two(torch.nn.Module):
        def forward(self, x):
            return x.neg().relu()

        @torch.jit.export
        def other(self, x):
            return x.neg().relu() + 1

    m = torch.jit.script(Two())
    x = torch.tensor([-1.0, 2.0])
    pattern = "graph(%x):\n  %c = aten::neg(%x)\n  %d = aten::relu(%c)\n  return (%d)"
    _C._jit_pass_custom_pattern_based_rewrite(pattern, "graph(%x):\n  %d = aten::abs(%x)\n  return (%d)", m._c)
    assert m(x).tolist() == [1.0, 2.0] and m.other(x).tolist() == [2.0, 3.0]
    assert torch.jit.export_opnames(m) == ["aten::abs", "aten::add.Scalar"]


def test_linear_layers_are_fused_and_transposed():
    def layer(x, w, b):
        return x.matmul(w.t()) + b

    x, w, b = torch.rand(2, 3), torch.rand(4, 3), torch.rand(4)
    graph = torch.jit.script(layer).graph.copy()
    expected = _C._jit_interpret_graph(graph, (x, w, b))
    _C._jit_pass_fuse_linear(graph)
    FileCheck().check_not("matmul").check("aten::linear").run(graph)
    assert_close(_C._jit_interpret_graph(graph, (x, w, b)), expected)
    frozen = torch.jit.freeze(torch.jit.script(torch.nn.Linear(3, 4)).eval())
    expected = frozen(x)
    assert _C._jit_pass_transpose_frozen_linear(frozen.graph)
    FileCheck().check_not("aten::linear").check("aten::matmul").check("aten::add").run(frozen.graph)
    assert_close(_C._jit_interpret_graph(frozen.graph, (frozen._c, x)), expected)


def test_lower_graph():
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("b", torch.full((2,), 3.0))

        def forward(self, x):
            return x * self.w + self.b

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.p = torch.nn.Parameter(torch.full((2,), 2.0))

        def forward(self, x):
            return self.inner(x) * self.p + self.inner.w

    module = torch.jit.script(Outer())
    graph, tensors = _C._jit_pass_lower_graph(module.graph, module._c)
    assert [t.tolist() for t in tensors] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]  # the last that is read comes first
    x = torch.tensor([5.0, 7.0])
    assert torch.equal(_C._create_function_from_graph("lowered", graph)(x, *tensors), module(x))


def test_lower_graph_takes_tensors_alone():
    class Number(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.k = 3

        def forward(self, x):
            return x * self.k

    module = torch.jit.script(Number())
    with pytest.raises(RuntimeError, match="Unknown type int encountered in graph lowering"):
        _C._jit_pass_lower_graph(module.graph, module._c)


def test_complete_shape_analysis():
    @torch.jit.script
    def f(x, y):
        return torch.mm(x, y).relu().t()

    graph = f.graph.copy()
    _C._jit_pass_complete_shape_analysis(graph, (torch.ones(2, 3), torch.ones(3, 4)), False)
    FileCheck().check("Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)").check(
        "Float(2, 4, strides=[4, 1]"
    ).check("Float(*, *, device=cpu) = aten::t").run(str(graph))
    _C._jit_erase_non_input_shape_information(graph)
    FileCheck().check("Float(2, 3").check("Float(3, 4").check_not("Float(4, 2").run(str(graph))
    with pytest.raises(RuntimeError, match="2 parameters, but 1 inputs"):
        _C._jit_pass_complete_shape_analysis(graph, (torch.ones(2, 3),), False)


def test_batch_mm_computes_the_sum():
    @torch.jit.script
    def f(x, y):
        return torch.mm(x, y) + torch.mm(y, x) + torch.mm(x, x) + torch.mm(y, y)

    graph = f.graph.copy()
    _C._jit_pass_batch_mm(graph)
    FileCheck().check("prim::MMTreeReduce").check_not("aten::mm").run(str(graph))
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    assert_close(_C._create_function_from_graph("batched", graph)(x, y), f(x, y))


def test_ranks_follow_from_the_inputs():
    def f(x, y):
        pair = (x, y)
        z = pair[0] @ y
        return z, z.sum(), [z]

    graph = torch.jit.script(f).graph
    found = _C._propagate_shapes(graph, (torch.ones(2, 3), torch.ones(3, 4, requires_grad=True)), True)
    FileCheck().check("x.1 : Float(*, *, requires_grad=0").check("y.1 : Float(*, *, requires_grad=1").check("z.1 : Float(*, *, device=cpu)").check(
        ": Float(device=cpu) = aten::sum"
    ).check("(Float(*, *, device=cpu), Float(device=cpu), Tensor[]) = prim::TupleConstruct").run(found)
    assert "Float" not in str(graph)


def test_functional_graphs():
    def f(x: Tensor, n: int):
        y = torch.tanh(x * x).sin().cos().exp()
        x.add_(n)
        return y.neg().abs() + x

    graph = torch.jit.script(f).graph.copy()
    _C._jit_pass_create_functional_graphs(graph)
    FileCheck().check("prim::FunctionalGraph_0").check("aten::add_").check("with prim::FunctionalGraph_0").run(graph)
    made = _C._create_function_from_graph("f", graph)
    assert_close(made(torch.ones(2), 3), f(torch.ones(2), 3))
    _C._jit_pass_inline_functional_graphs(graph)
    FileCheck().check_not("FunctionalGraph").check("aten::exp").check("aten::add_").run(graph)


def test_operator_versions():
    versions = _C._get_operator_version_map()
    assert len(versions) == 19
    assert versions["aten::div.Tensor"][0].upgrader_name == "div_Tensor_0_3" and versions["aten::gelu"][0].old_schema == "aten::gelu(Tensor self) -> Tensor"
    assert [(r.min_version, r.max_version) for r in _C._get_upgrader_ranges("aten::linspace")] == [(0, 7)]
    assert _C._get_upgrader_ranges("aten::div") == []
    _C._test_only_add_entry_to_op_version_map("aten::gelu", _C._UpgraderEntry(12, "gelu_10_11", "aten::gelu(Tensor self) -> Tensor"))
    assert [(r.min_version, r.max_version) for r in _C._get_upgrader_ranges("aten::gelu")] == [(0, 9), (10, 11)]
    _C._test_only_remove_entry_to_op_version_map("aten::gelu")
    assert [(r.min_version, r.max_version) for r in _C._get_upgrader_ranges("aten::gelu")] == [(0, 9)]


def test_optimize_for_inference():
    module = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.BatchNorm2d(3), torch.nn.Dropout()).eval()
    frozen = torch.jit.freeze(torch.jit.script(module), optimize_numerics=False)
    assert "aten::batch_norm" in str(frozen.graph)
    _C._jit_pass_optimize_for_inference(frozen._c)
    assert "aten::batch_norm" not in str(frozen.graph)
    x = torch.ones(1, 2, 4, 4)
    assert_close(frozen(x), module(x))


def test_fused_groups():
    def f(x: Tensor, y: Tensor):
        z = torch.tanh(x * y + 1)
        return torch.sigmoid(z), z.sum()

    graph = torch.jit.script(f).graph.copy()
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    _C._jit_pass_complete_shape_analysis(graph, (x, y), False)
    _C._jit_override_can_fuse_on_cpu(True)
    try:
        _C._jit_pass_fuse_tensorexprs(graph)
    finally:
        _C._jit_override_can_fuse_on_cpu(False)
    FileCheck().check("prim::TypeCheck[types=[Float(2, 3").check("prim::TensorExprGroup_0").check("prim::FallbackGraph_1").run(graph)
    made = _C._create_function_from_graph("f", graph)
    for args in ((x, y), (torch.randn(4), torch.randn(4)), (x.t(), y.t()), (x.double(), y)):
        assert_close(made(*args), f(*args))
    x.requires_grad_()
    made(x, y)[0].sum().backward()
    grad, x.grad = x.grad, None
    f(x, y)[0].sum().backward()
    assert_close(grad, x.grad)


def test_rewritten_nodes_are_from_where_the_pattern_was():
    @torch.jit.script
    def f(x, y):
        a = torch.mul(x, y)
        b = torch.add(a, 1)
        return b

    pattern = "graph(%x, %y, %n, %o):\n  %m = aten::mul(%x, %y)\n  %r = aten::add(%m, %n, %o)\n  return (%r)"
    replacement = "graph(%x, %y, %n, %o):\n  %q = my::first(%x, %y)\n  %s = my::second(%q, %n, %o)\n  return (%s)"

    def places(pairs):
        graph = f.graph.copy()
        _C._jit_pass_custom_pattern_based_rewrite_graph(pattern, replacement, graph, value_name_pairs=pairs)
        found = [graph.findNode(kind).sourceRange() for kind in ("my::first", "my::second")]
        under = "\n            ~~~~~~~~~ <--- HERE"
        marked = {"mul": f"torch.mul(x, y){under}", "add": f"torch.add(a, 1){under}", "text": "graph(%x, %y, %n, %o):"}
        return [next(name for name, text in marked.items() if text in place) for place in found]

    assert places([("q", "m"), ("s", "r")]) == ["mul", "add"]
    assert places([("s", "m")]) == ["text", "mul"]
    assert places([("absent", "m")]) == places([]) == ["text", "text"]
    with pytest.raises(RuntimeError, match="Value must be found in the replacement graph"):
        places([("q", "absent")])
    with pytest.raises(TypeError, match="expected pairs of names"):
        places(["q"])


def test_writes_to_elements_of_tuples_stay():
    """A tuple holds what was put into it: writes to its elements are seen (PyTorch 1.13 removes them)."""
    program = torch.jit.CompilationUnit("""
def f(x):
    t = (torch.zeros(2), torch.ones(2))
    t[0].add_(x)
    a, b = t
    b.mul_(5)
    return t
""").f
    assert [t.tolist() for t in program(torch.ones(2))] == [[1.0, 1.0], [5.0, 5.0]]


def test_results_of_quantized_modules_are_made_in_every_call():
    """torch._C._jit_pass_constant_propagation makes them constants, which the caller could write; what the package does itself does not."""
    from torchjit.ao.quantization import default_dynamic_qconfig
    from torchjit.ao.quantization.quantize_jit import quantize_dynamic_jit

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.l(x), torch.ones(2) + 1

    quantized = quantize_dynamic_jit(torch.jit.script(Net().eval()), {"": default_dynamic_qconfig})
    quantized(torch.ones(1, 2))[1].add_(5)
    assert quantized(torch.ones(1, 2))[1].tolist() == [2.0, 2.0]


def test_equal_constants_of_which_one_is_written_stay_apart():
    """A trace that writes one of two equal tensors: what is written reaches the other one neither in the graph nor in the archive."""
    graph = """graph(%x : Tensor):
      %1 : int = prim::Constant[value=1]()
      %a : Tensor = prim::Constant[value={1}]()
      %b : Tensor = prim::Constant[value={1}]()
      %w : Tensor = aten::add_(%a, %1, %1)
      %y : Tensor = aten::mul(%b, %x)
      %t : (Tensor, Tensor) = prim::TupleConstruct(%w, %y)
      return (%t)"""
    for name in ("constant_pooling", "cse"):
        g = _C.parse_ir(graph, True)
        getattr(_C, f"_jit_pass_{name}")(g)
        assert [v.item() for v in _C._jit_interpret_graph(g, (torch.full((), 3.0),))] == [2.0, 3.0], name
