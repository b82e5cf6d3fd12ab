"""torch._C: graphs, nodes, values, types and schemas from Python."""

import pytest

import torchjit as torch
from torchjit import _C

TEXT = """graph(%x : Tensor,
      %n : int):
  %2 : int = prim::Constant[value=1]()
  %3 : Tensor = aten::add(%x, %n, %2)
  %4 : bool = aten::gt(%n, %2)
  %5 : Tensor = prim::If(%4)
    block0():
      %6 : Tensor = aten::mul(%3, %n)
      -> (%6)
    block1():
      -> (%3)
  return (%5)
"""


@pytest.fixture
def graph():
    return _C.parse_ir(TEXT)


def test_text_comes_back(graph):
    assert str(graph) == TEXT and repr(graph) == TEXT and graph.str(False) == TEXT
    assert str(graph.copy()).count("aten::") == 3


def test_nodes_and_values_are_the_same_objects_each_time(graph):
    add = graph.findNode("aten::add")
    assert add is graph.findNode("aten::add") and add.output() is add.outputsAt(0) and add.output().node() is add
    assert [n.kind() for n in graph.nodes()] == ["prim::Constant", "aten::add", "aten::gt", "prim::If"]
    assert [v.debugName() for v in graph.inputs()] == ["x", "n"]
    assert [v.debugName() for v in add.inputs()] == ["x", "n", "2"]
    assert repr(add) == "%3 : Tensor = aten::add(%x, %n, %2)\n"
    assert repr(add.output()) == f"3 defined in ({add!r})"
    assert (
        add.prev().kind() == "prim::Constant"
        and add.next().kind() == "aten::gt"
        and add.prev().prev() is graph.param_node()
    )
    assert add.isBefore(add.next()) and add.next().isAfter(add)


def test_text_that_leaves_types_and_numbers_out():
    g = _C.parse_ir(
        "graph(%a, %b : int):\n  # a comment\n  %c = aten::gt(%b, %b)\n  %d = aten::neg(%a)\n  return (%c, %d)"
    )
    assert str(g) == (
        "graph(%a : Tensor,\n      %b : int):\n  %2 : bool = aten::gt(%b, %b)\n  %3 : Tensor = aten::neg(%a)\n  return (%2, %3)\n"
    )


def test_search(graph):
    assert graph.findNode("aten::mul").owningBlock().owningNode() is graph.findNode("prim::If")
    assert graph.findNode("aten::mul", recurse=False) is None and graph.findAllNodes("aten::nothing") == []
    assert len(graph.findNode("prim::If").findAllNodes("aten::mul")) == 1
    assert [len(list(b.nodes())) for b in graph.findNode("prim::If").blocks()] == [1, 0]


def test_uses(graph):
    uses = graph.findNode("aten::add").output().uses()
    assert [(u.user.kind(), u.offset) for u in uses] == [("aten::mul", 0), ("prim::Return", 0)]


def test_a_graph_can_be_built_and_run():
    g = _C.Graph()
    x, y = g.addInput(), g.addInput().setType(_C.IntType.get())
    x.setDebugName("x")
    relu = g.appendNode(g.create("aten::relu", [x]))
    with g.insert_point_guard(relu):
        shifted = g.insert("aten::add", [x, y])
    relu.replaceInput(0, shifted)
    two = g.insertConstant(2)
    assert two.toIValue() == 2 and two.node().kindOf("value") == "i" and two.type().kind() == "IntType"
    g.registerOutput(relu.output())
    g.registerOutput(two)
    g.lint()
    f = _C._create_function_from_graph("pkg.f", g)
    out, number = f(torch.tensor([-3.0, 1.0]), 1)
    assert out.tolist() == [0.0, 2.0] and number == 2
    assert str(f.schema) == "f(Tensor x, int argument_1) -> (Tensor, int)"
    g.makeMultiOutputIntoTuple()
    assert _C._jit_interpret_graph(g, (torch.ones(1), 2))[0].item() == 3.0


def test_create_has_four_forms(graph):
    x = next(graph.inputs())
    for args, inputs, outputs in [((), 0, 1), ((3,), 0, 3), (([x],), 1, 1), (([x, x], 2), 2, 2)]:
        node = graph.create("my::op", *args)
        assert (node.inputsSize(), node.outputsSize()) == (inputs, outputs)


def test_moving_and_inserting_graphs(graph):
    gt, add = graph.findNode("aten::gt"), graph.findNode("aten::add")
    gt.moveBefore(add)
    assert add.prev() is gt
    gt.moveAfter(add)
    assert add.next() is gt
    callee = _C.parse_ir("graph(%a):\n  %b = aten::neg(%a)\n  return (%b)")
    (out,) = graph.insertGraph(callee, [add.output()])
    assert out.node().kind() == "aten::neg" and out.node().next() is graph.return_node()
    clone = graph.createClone(callee.findNode("aten::neg"), lambda v: add.output())
    assert graph.prependNode(clone).input() is add.output()


ATTRIBUTES = [("i", 3), ("f", 2.5), ("s", "a\"b"), ("c", 1j), ("is", [1, 2]), ("fs", [1.5, 2.0]), ("ss", ["a", "b"]),
              ("ty", _C.IntType.get()), ("tys", [_C.IntType.get(), _C.TensorType.get()]), ("ival", (1, "x"))]  # fmt: skip


@pytest.mark.parametrize("kind, value", ATTRIBUTES, ids=lambda v: str(v))
def test_attributes(graph, kind, value):
    node = graph.create("my::op", 0)
    assert getattr(node, kind + "_")("a", value) is node
    assert node.kindOf("a") == kind and getattr(node, kind)("a") == value and node.attributeNames() == ["a"]
    assert graph.create("my::op").copyAttributes(node).hasAttribute("a")
    with pytest.raises(RuntimeError, match="required keyword attribute 'a' has the wrong type"):
        getattr(node, "f" if kind != "f" else "i")("a")
    assert not node.removeAttribute("a").hasAttributes()
    with pytest.raises(RuntimeError, match="required keyword attribute 'a' is undefined"):
        getattr(node, kind)("a")


def test_attributes_that_are_tensors_and_graphs(graph):
    t = torch.ones(2)
    node = graph.create("my::op", 0).t_("t", t).ts_("ts", [t]).g_("g", graph).gs_("gs", [graph])
    assert node.t("t") is t and node.ts("ts")[0] is t and node.g("g") is graph and node.gs("gs") == [graph]
    assert "g=<Graph>, gs=[<Graphs>]" in str(node)


def test_a_constant_may_be_made_by_hand():
    g = _C.Graph()
    n = g.appendNode(g.create("prim::Constant").i_("value", 1))
    n.output().setType(_C.BoolType.get())
    g.registerOutput(n.output())
    assert n.output().toIValue() is True and _C._jit_interpret_graph(g, ()) is True


def test_handles_of_what_is_destroyed_are_refused(graph):
    condition = graph.findNode("prim::If")
    block, mul = next(condition.blocks()), graph.findNode("aten::mul")
    product, z = mul.output(), condition.output()
    graph.eraseOutput(0)
    condition.destroy()
    graph.lint()
    for dead in (condition, block, mul, product, z):
        if type(dead) is not _C.Block:
            with pytest.raises(RuntimeError, match="has been invalidated"):
                repr(dead)
    for use in (mul.kind, lambda: list(block.nodes()), product.debugName, z.node, lambda: graph.registerOutput(z),
                lambda: graph.create("a::b", [product]), lambda: graph.setInsertPoint(mul)):  # fmt: skip
        with pytest.raises(RuntimeError, match="has been invalidated"):
            use()
    assert graph.insertConstant(1).node().next() is graph.return_node()


@pytest.mark.parametrize(
    "wrong, error, text",
    [
        (lambda g, add: add.destroy(), RuntimeError, "its output %3 has 2 uses, the first in %6 : Tensor = aten::mul"),
        (lambda g, add: add.eraseOutput(0), RuntimeError, "%3 cannot be removed: it has 2 uses"),
        (lambda g, add: add.inputsAt(7), RuntimeError, "ArrayRef: invalid index Index = 7; Length = 3"),
        (lambda g, add: add.input(), RuntimeError, "has 3 inputs, not one"),
        (lambda g, add: add.insertBefore(add), RuntimeError, "is in a block already"),
        (lambda g, add: g.create("a::b").moveAfter(add), RuntimeError, "is in no block yet"),
        (lambda g, add: g.findNode("prim::If").moveAfter(g.findNode("aten::mul")), RuntimeError, "a block of its own"),
        (lambda g, add: g.param_node().destroy(), RuntimeError, "belongs to its block"),
        (lambda g, add: g.create("nonamespace"), RuntimeError, "all symbols must have a namespace, .* but found: nonamespace"),
        (lambda g, add: g.create("a::b", -1), RuntimeError, "cannot have -1 outputs"),
        (lambda g, add: add.addInput(_C.Graph().addInput()), RuntimeError, "of another graph"),
        (lambda g, add: g.create("a::b", [_C.Graph().addInput()]), RuntimeError, "belongs to another graph"),
        (lambda g, add: add.namedInput("nope"), RuntimeError, "Couldn't find an argument called nope"),
        (lambda g, add: add.output().setDebugName("12"), RuntimeError, "Invalid name: '12'"),
        (lambda g, add: g.insert("aten::nope", []), RuntimeError, "Unknown builtin op: aten::nope"),
        (lambda g, add: g.insertConstant(object()), TypeError, "incompatible function arguments"),
        (lambda g, add: add.addInput(3), TypeError, "must be Value, not int"),
        (lambda g, add: add.is_("a", ["x"]), TypeError, "expected a list of int, but an element is a str"),
        (lambda g, add: add.insertBefore(g), TypeError, "must be Node, not Graph"),
        (lambda g, add: g.permuteInputs([0, 0]), RuntimeError, "no permutation"),
        (lambda g, add: g.insertGraph(g.copy(), []), RuntimeError, "has 2 inputs, but 0 were given"),
        (lambda g, add: _C.parse_ir("graph(%a):\n  %b = aten::neg(%c)\n  return (%b)"), RuntimeError, "Cannot find a variable with name 'c'"),
        (lambda g, add: _C.Value(), TypeError, "made by the library"),
    ],
)  # fmt: skip
def test_mistakes_are_named(graph, wrong, error, text):
    with pytest.raises(error, match=text):
        wrong(graph, graph.findNode("aten::add"))
    graph.lint()


def test_a_graph_that_is_not_well_formed_is_told_of(graph):
    graph.findNode("aten::mul").moveBefore(graph.findNode("aten::add"))
    with pytest.raises(RuntimeError, match="not well formed: aten::mul uses %3, which is not defined there"):
        graph.lint()


def test_types():
    i, t = _C.IntType.get(), _C.TensorType.get()
    assert i is _C.IntType.get() and i == _C.ListType.ofInts().getElementType() and i != t
    assert _C.ListType(i) == _C.ListType.ofInts() and hash(_C.ListType(i)) == hash(_C.ListType.ofInts())
    d = _C.DictType(_C.StringType.get(), _C.OptionalType(t))
    assert (d.kind(), repr(d), d.annotation_str, d.str()) == (
        "DictType", "Dict[str, Optional[Tensor]]", "Dict[str, Optional[Tensor]]", "Dict(str, Tensor?)",
    )  # fmt: skip
    assert d.getKeyType() == _C.StringType.get() and d.getValueType().getElementType() is t
    assert _C.TupleType([i, t]).elements() == [i, t] and i.isSubtypeOf(_C.OptionalType(i)) and not t.isSubtypeOf(i)
    assert str(_C.UnionType([i, _C.StringType.get()])) == "Union[int, str]" and isinstance(i, _C.Type)
    assert str(_C.unify_type_list([i, _C.NoneType.get()])) == "Optional[int]"
    with pytest.raises(RuntimeError, match="element 1 of type str did not match the types before it .int."):
        _C.unify_type_list([i, _C.StringType.get()])
    with pytest.raises(TypeError, match="No constructor defined"):
        _C.IntType()


def test_tensor_types():
    t = _C.TensorType.create_from_tensor(torch.ones(2, 3))
    assert t.str() == "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
    assert (t.dim(), t.sizes(), t.strides(), t.scalarType(), t.dtype()) == (2, [2, 3], [3, 1], "Float", torch.float32)
    assert t.device() == torch.device("cpu") and not t.requires_grad() and _C.TensorType.get().sizes() is None
    partly = t.with_sizes([1, None])
    assert partly.sizes() is None and partly.varyingSizes() == [1, None] and partly.symbolic_sizes()[0] == 1 and partly.symbolic_sizes()[1] < -1
    assert t.with_dtype(torch.int64).str().startswith("Long(") and t.isSubtypeOf(_C.TensorType.get())
    with pytest.raises(RuntimeError, match="expected a Tensor type, but the type is int"):
        _C.IntType.get().sizes()


def test_schemas():
    s = _C.parse_schema('my::op.out(Tensor(a!) x, int[2] k=[1, 2], *, str s="q", Tensor(b!) out) -> Tensor(b!)')
    assert str(s) == 'my::op.out(Tensor(a!) x, int[2] k=[1, 2], *, str s="q", Tensor(b!) out) -> Tensor(b!)'
    assert (s.name, s.overload_name, s.is_mutable) == ("my::op", "out", True)
    x, k, named, out = s.arguments
    assert (k.name, str(k.type), k.N, k.default_value, k.has_default_value(), x.has_default_value()) == (
        "k",
        "List[int]",
        2,
        [1, 2],
        True,
        False,
    )
    assert (
        named.kwarg_only
        and not k.kwarg_only
        and out.is_out
        and x.alias_info.before_set == {"a"}
        and k.alias_info is None
    )
    assert s == _C.parse_schema(str(s)) and len(s.returns) == 1


@pytest.mark.parametrize(
    "new, backward, forward",
    [
        ("f(Tensor x, int n=1) -> Tensor", True, True),
        ("f(Tensor x, int n=2) -> Tensor", False, False),
        ("f(Tensor x, int n=1, int m=2) -> Tensor", True, True),
        ("f(Tensor x, int n=1, int[] m=[]) -> Tensor", True, False),
        ("f(Tensor x, int n=1, *, int m) -> Tensor", False, False),
        ("f(Tensor x) -> Tensor", False, True),
        ("f(Tensor? x, int n=1) -> Tensor", True, False),
        ("f(Tensor x, int n=1) -> Tensor?", False, True),
        ("f(Tensor x, int n=1) -> Tensor y", False, True),
    ],
)
def test_compatible_schemas(new, backward, forward):
    old = _C.parse_schema("f(Tensor x, int n=1) -> Tensor")
    assert _C.parse_schema(new).is_backward_compatible_with(old) is backward
    ok, why = _C.parse_schema(new).check_forward_compatible_with(old)
    assert ok is forward and bool(why) is not forward


def test_schemas_of_operators():
    assert str(_C._get_schema("aten::relu", "")) == "aten::relu(Tensor self) -> Tensor"
    assert {s.overload_name for s in _C._jit_get_schemas_for_operator("aten::gt")} >= {"Tensor", "Scalar", "int", "str"}
    f, overloads = _C._jit_get_operation("aten::relu")
    assert overloads == ["", "out"] and f(torch.tensor([-1.0])).item() == 0
    with pytest.raises(RuntimeError, match="Found no matching schema"):
        _C._get_schema("aten::relu", "nope")
    with pytest.raises(RuntimeError, match="No such operator aten::nope"):
        _C._jit_get_operation("aten::nope")


def test_compiled_functions_show_schemas():
    def scaled(x, by: int = 2):
        return x * by

    f = torch.jit.script(scaled)
    assert f.schema.arguments[1].default_value == 2 and f.schema.returns[0].type.kind() == "TensorType"
    assert f.graph.findNode("aten::mul").sourceRange().count("x * by") == 1


def test_graphs_of_dropped_handles_stay(graph):
    add = graph.findNode("aten::add")
    del graph
    assert add.owningGraph().findNode("aten::gt").kind() == "aten::gt"


def test_alias_database(capsys):
    g = _C.parse_ir("""graph(%x : Tensor, %i : int):
  %2 : Tensor = aten::relu(%x)
  %3 : Tensor = aten::select(%2, %i, %i)
  %4 : Tensor = aten::neg_(%3)
  %5 : Tensor = aten::abs(%x)
  return (%4, %5)""")
    x, _ = g.inputs()
    relu, select, neg, absolute = (n.output() for n in g.nodes())
    db = g.alias_db()
    assert (
        db.may_contain_alias(relu, neg)
        and not db.may_contain_alias([relu], [x, absolute])
        and db.may_alias(select, relu)
    )
    assert db.has_writers(relu) and not db.has_writers(absolute) and db.has_writers(neg.node())
    assert not db.move_after_topologically_valid(neg.node(), g.return_node())
    assert db.move_before_topologically_valid(absolute.node(), relu.node()) and next(g.nodes()).kind() == "aten::abs"
    assert "%3 points to: %2" in str(db) and '"\\%3" -> "\\%2"' in db.to_graphviz_str()


def test_alias_database_of_calls():
    def inner(x):
        return x.neg_()

    inner = torch.jit.script(inner)

    def outer(x):
        y = x + 1
        return inner(y)

    g = torch.jit.script(outer).graph
    x, y, out = next(g.inputs()), g.findNode("aten::add").output(), next(g.outputs())
    for descend in (False, True):
        db = g.alias_db(descend_function_calls=descend)
        assert db.has_writers(y) and db.may_contain_alias(out, y) and db.has_writers(x) is not descend


def test_attributes_by_subscript_and_nodes_by_op(graph):
    add = graph.findNode("aten::add")
    with graph.insert_point_guard(add):
        out = graph.op("my::op", next(graph.inputs()), 3, alpha_f=2.5, dims_i=[1, 2])
        first, second = graph.op("Split", out, outputs=2)
    node = out.node()
    assert (node["alpha"], node["dims"], first.node().kind(), second.offset()) == (2.5, [1, 2], "onnx::Split", 1)
    assert node.inputsAt(1).toIValue() == 3


def test_units_take_functions_from_graphs():
    unit = _C.CompilationUnit("def foo(x):\n    return x + 1\n")
    assert unit.find_function("foo") is unit.foo and unit.find_function("bar") is None
    unit.create_function("bar", unit.foo.graph)
    assert unit.bar(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="already defined"):
        unit.create_function("bar", unit.foo.graph)
    assert len(unit.get_functions()) == 2
    unit.drop_all_functions()
    with pytest.raises(AttributeError, match="'CompilationUnit' has no attribute 'foo'"):
        unit.foo  # noqa: B018


@pytest.mark.parametrize(
    "value, text",
    [(1, "int"), ([1], "List[int]"), ({"a": [1.0]}, "Dict[str, List[float]]"), ((1, "a"), "Tuple[int, str]"), (None, "NoneType"),
     (torch.ones(1), "Tensor"), ([1, "a"], "consistent element type. Found int and str"), ([], "must have elements"),
     (object(), "instead got value of type object")],
    ids=lambda v: "",
)  # fmt: skip
def test_types_of_values(value, text):
    inferred = _C._jit_try_infer_type(value)
    shown = str(inferred.type()) if inferred.success() else inferred.reason()
    assert text in shown


def test_executor_settings_are_kept():
    assert (
        _C._jit_set_num_profiled_runs(3) == 1
        and _C._jit_get_num_profiled_runs() == 3
        and _C._jit_set_num_profiled_runs(1) == 3
    )
    former = torch.jit.set_fusion_strategy([("STATIC", 1)])
    assert former == [("STATIC", 2), ("DYNAMIC", 10)] and torch.jit.set_fusion_strategy(former) == [("STATIC", 1)]
    with pytest.raises(RuntimeError, match="FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: FOO"):
        torch.jit.set_fusion_strategy([("FOO", 1)])
    assert torch.jit.set_fusion_strategy(former) == former
    with torch.jit.optimized_execution(False):
        assert not _C._get_graph_executor_optimize()
    with torch.jit.fuser("fuser1"):
        assert _C._jit_texpr_fuser_enabled() and _C._jit_can_fuse_on_cpu()
    assert _C._get_graph_executor_optimize() and not _C._jit_can_fuse_on_cpu()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _C._jit_set_num_profiled_runs("many")


def test_a_function_runs_its_graph_as_it_was_changed():
    def shifted(x, n: int):
        return (x + n) * 2

    f = torch.jit.script(shifted)
    add = f.graph.findNode("aten::add")
    add.replaceInput(1, f.graph.insertConstant(10))
    add.inputsAt(1).node().moveBefore(add)
    assert f(torch.ones(1), 1).item() == 22


def test_a_graph_that_is_broken_does_not_run():
    def shifted(x, n: int):
        return (x + n) * 2

    f = torch.jit.script(shifted)
    f.graph.findNode("aten::mul").moveBefore(f.graph.findNode("aten::add"))
    with pytest.raises(RuntimeError, match="the graph of .*shifted is not well formed: aten::mul uses"):
        f(torch.ones(1), 1)
    with pytest.raises(RuntimeError, match="not well formed: prim::TupleUnpack has 0 inputs, expected 1"):
        g = _C.Graph()
        g.appendNode(g.create("prim::TupleUnpack", []))
        _C._jit_pass_cse(g)


@torch.jit.script
def _loops_and_branches(x, n: int):
    for i in range(n):
        x = x + i
    if bool(x.sum() > 0):
        x = x * 2
    else:
        x = x - 1
    k = 0
    while k < n:
        k += 2
        x = x.relu()
    y, z = x.max(0)
    return x, [y], z, n


def test_the_graph_of_what_a_graph_does_for_inputs():
    for n in (0, 1, 3):
        for x in (torch.ones(2), -4 * torch.ones(2)):
            traced = torch._C._jit_trace_graph(_loops_and_branches.graph, (x, n))
            kinds = [node.kind() for node in traced.nodes()]
            assert not {"prim::Loop", "prim::If"} & set(kinds) and kinds.count("aten::relu") == (n + 1) // 2
            torch.testing.assert_close(torch._C._jit_interpret_graph(traced, (x, n)), _loops_and_branches(x, n))
    torch.testing.FileCheck().check("%x.1 : Float(2, strides=[1], requires_grad=0, device=cpu)").check_count("aten::relu", 2, exactly=True).run(str(traced))
    with pytest.raises(RuntimeError, match="the graph has 2 inputs, 1 are given"):
        torch._C._jit_trace_graph(_loops_and_branches.graph, (torch.ones(2),))


def test_a_module_does_what_it_did_for_inputs():
    class Steps(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.n = torch.nn.Linear(2, 2), 2

        def forward(self, x):
            for _ in range(self.n):
                x = self.linear(x)
            return x

    steps = torch.jit.script(Steps())
    x = torch.rand(3, 2)
    expected = steps(x)
    torch._C._jit_trace_module(steps._c, (x,))
    assert str(steps.graph).count("aten::linear") == 2 and "prim::Loop" not in str(steps.graph)
    assert torch.equal(steps(x), expected)
    assert torch.equal(steps(x[:1]), expected[:1])
