"""Tensor expressions: programs of loops give what tensors give, also after they have been transformed."""

import pytest

import torchjit as torch

te = torch._C._te
FLOAT = te.Dtype.Float


def ints(*sizes):
    return [te.ExprHandle.int(s) for s in sizes]


def run(nest, args, given):
    nest.prepare_for_codegen()
    te.construct_codegen("ir_eval", te.simplify(nest.root_stmt()), args).call(given)


def two_steps():
    """Y = (A + 1) * A with a buffer between."""
    a = te.BufHandle("A", ints(6, 5), FLOAT)
    x = te.Compute("X", ints(6, 5), lambda i, j: a.load([i, j]) + te.ExprHandle.float(1))
    y = te.Compute("Y", ints(6, 5), lambda i, j: x.load([i, j]) * a.load([i, j]))
    return te.LoopNest([y], [x, y]), a, x, y


TRANSFORMATIONS = {
    "none": lambda nest, x, y: None,
    "inline": lambda nest, x, y: nest.compute_inline(x.buf()),
    "inline all": lambda nest, x, y: nest.inline_intermediate_bufs(False),
    "split with tail": lambda nest, x, y: nest.split_with_tail(nest.get_loops_for(y)[0], 4),
    "split evenly": lambda nest, x, y: nest.split_with_tail(nest.get_loops_for(y)[0], 3),
    "split with mask": lambda nest, x, y: nest.split_with_mask(nest.get_loops_for(y)[1], 3),
    "slices": lambda nest, x, y: (nest.slice_head(nest.get_loops_for(y)[0], 2), nest.slice_tail(nest.get_loops_for(x)[1], 2)),
    "tile": lambda nest, x, y: nest.tile(*nest.get_loops_for(y), 3, 5),
    "tile with rests": lambda nest, x, y: nest.tile(*nest.get_loops_for(y), 4, 2),
    "reorder": lambda nest, x, y: nest.reorder(nest.get_loops_for(y), [1, 0]),
    "reorder axis": lambda nest, x, y: nest.reorder_axis(*nest.get_loops_for(y)),
    "flatten": lambda nest, x, y: nest.flatten(nest.get_loops_for(y)),
    "unroll": lambda nest, x, y: (nest.fullUnroll(nest.get_loops_for(y)[1]), nest.unroll(nest.get_loops_for(x)[0], 4)),
    "fuse": lambda nest, x, y: nest.fuse_loops([nest.get_loops_for(x)[0], nest.get_loops_for(y)[0]]),
    "compute at": lambda nest, x, y: nest.compute_at(nest.get_loop_body_for(x), nest.get_loops_for(y)[0]),
    "cache": lambda nest, x, y: nest.cache_accesses(x.buf(), "near", nest.get_loops_for(y)[0]),
    "vectorize": lambda nest, x, y: nest.vectorize_inner_loops(),
    "split and normalize": lambda nest, x, y: nest.normalize(nest.slice_head(nest.get_loops_for(y)[0], 2)[1]),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformed_loops_compute_the_same(name):
    nest, a, x, y = two_steps()
    before = str(nest)
    TRANSFORMATIONS[name](nest, x, y)
    assert name == "none" or str(nest) != before
    given, made = torch.rand(6, 5), torch.zeros(6, 5)
    run(nest, [a, y], [given, made])
    assert torch.equal(made, (given + 1) * given)


def reduced(reducer, begin=None):
    a = te.BufHandle("A", ints(4, 3, 5), FLOAT)
    return a, te.Reduce("R", ints(4), reducer, lambda v: a.load(v), *([begin] if begin else []), ints(3, 5))


@pytest.mark.parametrize(
    ("reducer", "begin", "expected"),
    [
        (te.Sum(), None, lambda a: a.sum((1, 2))),
        (te.Maximum(FLOAT), None, lambda a: a.amax((1, 2))),
        (te.Reducer(te.ExprHandle.float(1), lambda a, b: a * b), None, lambda a: a.flatten(1).prod(1)),
        (te.Sum(), lambda v: v[0].cast(FLOAT), lambda a: a.sum((1, 2)) + torch.arange(4)),
    ],
)
def test_reductions(reducer, begin, expected):
    a, r = reduced(reducer, begin)
    given, made = torch.randn(4, 3, 5), torch.zeros(4)
    run(te.LoopNest([r]), [a, r], [given, made])
    torch.testing.assert_close(made, expected(given))


def test_a_reduction_is_split_into_partial_ones():
    a = te.BufHandle("A", ints(8, 4), FLOAT)
    r = te.Reduce("R", ints(1), te.Sum(), lambda v: a.load(v[1:]), ints(8, 4))
    nest = te.LoopNest([r])
    loops = nest.get_loops_for(r)
    partial = nest.rfactor(nest.get_writes_for(r.buf())[-1], loops[1])
    assert str(partial) == "R_rfac(dtype=float, sizes=[1, 8], strides=[1 * 8, 1])"
    given, made = torch.rand(8, 4), torch.zeros(1)
    run(nest, [a, r], [given, made])
    torch.testing.assert_close(made, given.sum().view(1))


def test_loops_whose_rounds_need_other_rounds_are_not_fused():
    a = te.BufHandle("A", ints(6), FLOAT)
    x = te.Compute("X", ints(6), lambda i: a.load([i]) + te.ExprHandle.float(1))
    y = te.Compute("Y", ints(6), lambda i: x.load([te.ExprHandle.int(5) - i]))
    nest = te.LoopNest([y], [x, y])
    assert nest.fuse_loops([nest.get_loops_for(x)[0], nest.get_loops_for(y)[0]]) is None
    given, made = torch.rand(6), torch.zeros(6)
    run(nest, [a, y], [given, made])
    assert torch.equal(made, given.flip(0) + 1)


def test_rounds_that_need_each_other_run_in_order():
    b = te.BufHandle("B", ints(6), FLOAT)
    i = te.VarHandle("i", te.Dtype.Int)
    step = te.For.make(i, te.ExprHandle.int(1), te.ExprHandle.int(6), b.store([i], b.load([i - te.ExprHandle.int(1)]) + b.load([i])))
    made = torch.ones(6)
    te.construct_codegen("ir_eval", te.Block([step]), [b]).call([made])
    assert made.tolist() == [1, 2, 3, 4, 5, 6]


def test_sizes_that_are_arguments_and_addresses_of_memory():
    n = te.VarHandle("n", te.Dtype.Int)
    a = te.BufHandle("A", [n], FLOAT)
    x = te.Compute("X", [n], lambda i: a.load([i]) + i.cast(FLOAT) * n.cast(FLOAT))
    nest = te.LoopNest([x])
    nest.prepare_for_codegen()
    program = te.construct_codegen("ir_eval", nest.simplify(), [te.BufferArg(z) for z in (a, x, n)])
    for size in (1, 4, 7):
        given, made = torch.rand(size), torch.zeros(size)
        program.call([given, made, size])
        expected = given + torch.arange(size) * size
        assert torch.equal(made, expected)
        made.zero_()
        program.call_raw([given.data_ptr(), made.data_ptr(), size])
        assert torch.equal(made, expected)


def test_integers_conditions_and_operators_of_the_library():
    long = te.BufHandle("L", [te.ExprHandle.int64_t(9)], te.Dtype.Long)
    k = te.VarHandle("k", te.Dtype.Long)
    seven = te.ExprHandle.int64_t(-7)
    odd = te.Cond.make(k % te.ExprHandle.int64_t(2), long.store([k], (seven + k) / te.ExprHandle.int64_t(2)), long.store([k], k << te.ExprHandle.int64_t(3)))
    made = torch.zeros(9, dtype=torch.int64)
    te.construct_codegen("ir_eval", te.For.make(k, te.ExprHandle.int64_t(0), te.ExprHandle.int64_t(9), odd), [long]).call([made])
    assert made.tolist() == [0, -3, 16, -2, 32, -1, 48, 0, 64]
    a, out = te.BufHandle("A", ints(3, 3), FLOAT), te.BufHandle("O", ints(3, 3), FLOAT)
    given, made = torch.rand(3, 3), torch.zeros(3, 3)
    te.construct_codegen("ir_eval", te.Block([te.ExternalCall(out, "nnc_aten_matmul", [a, a], [])]), [a, out]).call([given, made])
    assert torch.equal(made, given @ given)


@pytest.mark.parametrize("name", "sin tanh sigmoid expm1 log1p erf rsqrt floor frac lgamma abs log2 fast_tanh fast_sigmoid".split())
def test_functions_of_elements(name):
    a = te.BufHandle("A", ints(7), FLOAT)
    x = te.Compute("X", ints(7), lambda i: getattr(a.load([i]), name)())
    given, made = torch.rand(7) + 0.5, torch.zeros(7)
    run(te.LoopNest([x]), [a, x], [given, made])
    torch.testing.assert_close(made, getattr(torch, name.removeprefix("fast_"))(given))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: te.construct_codegen("nothing", te.Block([]), []), "construct_codegen[(][)] expects"),
        (lambda: te.construct_codegen("llvm", te.Block([]), []), "no LLVM"),
        (lambda: te.construct_codegen("ir_eval", te.Block([]), []).call([1]), "1 given, 0 expected"),
        (lambda: te.construct_codegen("ir_eval", te.Block([]), [two_steps()[1]]).call([torch.zeros(30, dtype=torch.int64)]), "UNSUPPORTED DTYPE"),
        (lambda: te.construct_codegen("ir_eval", two_steps()[0].root_stmt(), [two_steps()[1]]).call([torch.zeros(30)]), "no memory for the buffer 'X'"),
        (lambda: te.Compute("Z", ints(2), lambda i, j: i), "takes 2 indices for 1 dimensions"),
        (lambda: te.lower("aten::nothing", [], ints(1), FLOAT), "no lowering of aten::nothing"),
        (lambda: two_steps()[0].split_with_tail(two_steps()[0].get_loops_for(te.Tensor(two_steps()[1], te.Block([])))[0], 2), "nothing writes the buffer 'A'"),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises((RuntimeError, TypeError), match=error):
        make()


def test_an_index_outside_of_a_buffer_is_refused():
    b = te.BufHandle("B", ints(3), FLOAT)
    i = te.VarHandle("i", te.Dtype.Int)
    loop = te.For.make(i, te.ExprHandle.int(0), te.ExprHandle.int(4), b.store([i], te.ExprHandle.float(1)))
    with pytest.raises(RuntimeError, match="index 3 is out of bounds of the buffer 'B' with 3 elements"):
        te.construct_codegen("ir_eval", loop, [b]).call([torch.zeros(3)])


GRAPH = """graph(%a.1 : Float(5, 3, strides=[3, 1], requires_grad=0, device=cpu), %b.1 : Float(5, 3, strides=[3, 1], requires_grad=0, device=cpu)):
  %k : int = prim::Constant[value=2]()
  %c : Float(5, 3, strides=[3, 1], requires_grad=0, device=cpu) = aten::mul(%a.1, %b.1)
  %d : Float(5, 3, strides=[3, 1], requires_grad=0, device=cpu) = aten::sub(%c, %b.1, %k)
  %e : Float(5, 3, strides=[3, 1], requires_grad=0, device=cpu) = aten::relu(%d)
  return (%e)"""


def test_a_graph_becomes_a_kernel():
    a, b = torch.randn(5, 3), torch.randn(5, 3)
    kernel = te.TensorExprKernel(torch._C.parse_ir(GRAPH))
    assert torch.equal(kernel.run((a, b)), torch.relu(a * b - 2 * b))
    assert torch.equal(kernel.fallback((a, b)), torch.relu(a * b - 2 * b))
    assert str(kernel.get_codegen_stmt()).count("for (") == 2

    def mine(inputs, shape, strides, dtype, device):
        return te.Compute("mine", shape, lambda i, j: inputs[0].as_buf().load([i, j]) + te.ExprHandle.float(4))

    kernel = te.TensorExprKernel(torch._C.parse_ir(GRAPH), {"aten::relu": mine})
    assert torch.equal(kernel.run((a, b)), a * b - 2 * b + 4)


def test_a_kernel_of_any_size():
    graph = torch._C.parse_ir(GRAPH)
    symbols = te.make_shapes_symbolic(graph, [5])
    kernel = te.TensorExprKernel(graph, {}, symbols)
    for size in (5, 2, 9):
        a, b = torch.randn(size, 3), torch.randn(size, 3)
        assert torch.equal(kernel.run((a, b, size)), torch.relu(a * b - 2 * b))
    with pytest.raises(RuntimeError, match="has the shape"):
        kernel.run((a, b, 4))


def test_graphs_are_prepared_for_kernels():
    trim = [[n.kind() for n in te.trim_graph(torch._C.parse_ir(GRAPH), i).nodes()] for i in range(4)]
    assert trim[0][-1] == "aten::relu" and trim[1][-1] == "aten::sub" and trim[2] == ["aten::mul"] and trim[3] == []
    graph = torch._C.parse_ir(GRAPH)
    assert te.is_graph_compilable(graph)
    assert len(list(te.remove_graph_output(graph, 0).outputs())) == 0

    class Pair(torch.nn.Module):
        def forward(self, x):
            return [x, x + 1]

    graph = te.remove_unused_self_argument(torch.jit.script(Pair()).graph)
    te.annotate_input_shapes(graph, [torch.ones(2, 3)])
    te.replace_list_output_with_tuple(graph)
    torch.testing.FileCheck().check("graph(%x.1 : Float(2, 3").check("prim::TupleConstruct").run(str(graph))
