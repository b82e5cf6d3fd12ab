package bind

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
	"github.com/torchjit/torchjit/gojit/internal/passes/passlog"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// passMembers are the transformations of graphs under their names in Python.
var passMembers = []function{
	{schema: "_C._jit_pass_inline(Graph graph) -> None", doc: "Replaces calls of functions and methods by their bodies.", run: pass(inlineCalls)},
	{schema: "_C._jit_pass_inline_fork_wait(Graph graph) -> None", doc: "Runs forked calls in their place.", run: pass(quiet(passes.InlineForkWait))},
	{schema: "_C._jit_pass_dce(Graph graph) -> None", doc: "Removes nodes that have no effect.", run: pass(quiet(passes.DCE))},
	{schema: "_C._jit_pass_dce_allow_deleting_nodes_with_side_effects(Graph graph) -> None", doc: "Removes nodes whose outputs are not used, even where they print or write.", run: pass(quiet(passes.DCEWithoutEffects))},
	{schema: "_C._jit_pass_create_autodiff_subgraphs(Graph graph, int threshold=2) -> None", doc: "Groups differentiable operators that follow each other, at least threshold of them.", run: bind(groupDifferentiable)},
	{schema: "_C._jit_pass_cse(Graph graph) -> bool", doc: "Removes nodes that compute what another one has computed; returns whether anything changed.", run: pass(passes.CSE)},
	{schema: "_C._jit_pass_peephole(Graph graph, bool disable_shape_peepholes=False) -> bool", doc: "Replaces nodes whose outcome is seen from the nodes beside them; returns whether anything changed.", run: bind(peephole)},
	{schema: "_C._jit_pass_peephole_list_idioms(Graph graph, bool refine_list_len=False) -> bool", doc: "Answers what is asked of lists that are made in the graph; returns whether anything changed.", run: bind(listIdioms)},
	{schema: "_C._jit_pass_constant_pooling(Graph graph) -> None", doc: "Keeps one of equal constants.", run: pass(passes.ConstantPooling)},
	{schema: "_C._jit_pass_constant_propagation(Graph graph) -> bool", doc: "Runs the nodes whose inputs are constants; returns whether anything changed.", run: pass(passes.ConstantPropagationWithResults)},
	{schema: "_C._propagate_constants(Graph graph) -> bool", doc: "_jit_pass_constant_propagation, which leaves tensors and containers that a function gives to its caller to be made in every call.", run: pass(passes.ConstantPropagation)},
	{schema: "_C._jit_pass_constant_propagation_immutable_types(Graph graph) -> bool", doc: "Runs the nodes whose inputs and outputs are constants that cannot be changed in place; returns whether anything changed.", run: pass(passes.ConstantPropagationImmutableTypes)},
	{schema: "_C._jit_pass_loop_unrolling(Graph graph) -> bool", doc: "Repeats the bodies of small for-loops; returns whether anything changed.", run: pass(passes.UnrollLoops)},
	{schema: "_C._jit_pass_constant_loop_unrolling(Graph graph) -> bool", doc: "Replaces for-loops of a few rounds by their bodies; returns whether anything changed.", run: pass(passes.UnrollConstantLoops)},
	{schema: "_C._jit_pass_lower_all_tuples(Graph graph) -> None", doc: "Replaces tuples by their elements, also in parameters and results.", run: pass(parity.LowerAllTuples)},
	{schema: "_C._jit_pass_lower_simple_tuples(Graph graph) -> None", doc: "Connects uses of elements of tuples with what the tuples were made of.", run: pass(passes.LowerSimpleTuples)},
	{schema: "_C._jit_pass_remove_mutation(Graph graph) -> bool", doc: "Replaces writes to memory of the graph by operators that make new memory; returns whether anything changed.", run: pass(passes.RemoveMutation)},
	{schema: "_C._jit_pass_remove_inplace_ops(Graph graph) -> None", doc: "Replaces operators that write a tensor by those that make a new one, whoever sees the memory.", run: pass(quiet(passes.RemoveInplaceOps))},
	{schema: "_C._jit_pass_remove_expands(Graph graph) -> None", doc: "Removes expansions that operators imply.", run: pass(quiet(passes.RemoveExpands))},
	{schema: "_C._jit_pass_decompose_ops(Graph graph) -> None", doc: "Replaces addmm by mm and add.", run: pass(quiet(parity.DecomposeOps))},
	{schema: "_C._jit_pass_erase_number_types(Graph graph) -> None", doc: "Makes numbers tensors without dimensions.", run: pass(parity.EraseNumberTypes)},
	{schema: "_C._jit_pass_erase_shape_information(Graph graph) -> None", doc: "Makes tensor types ones that say nothing of shapes.", run: pass(passes.EraseShapeInformation)},
	{schema: "_C._jit_pass_canonicalize(Graph graph, bool keep_unique_names=True) -> Graph", doc: "A copy whose values are numbered in order, with or without names.", run: bind(canonicalize)},
	{schema: "_C._jit_pass_canonicalize_graph_fuser_ops(Graph graph) -> None", doc: "Puts the outputs of branches and loops into the order of their uses, and makes one node of a chunk whose parts are known.", run: pass(canonicalizeForFuser)},
	{schema: "_C._jit_pass_fuse_linear(Graph graph) -> None", doc: "Replaces products with transposed weights by linear.", run: pass(quiet(freeze.FuseLinear))},
	{schema: "_C._jit_pass_transpose_frozen_linear(Graph graph) -> bool", doc: "Replaces linear with constant weights by a product with the transposed weights.", run: pass(freeze.TransposeFrozenLinear)},
	{schema: "_C._jit_pass_custom_pattern_based_rewrite_graph(str pattern, str fused_node_name, Graph g, list? value_name_pairs=None) -> None", doc: "Replaces what looks like the pattern, the text of a graph with one result, by the graph of another text.", run: bind(rewriteGraph)},
	{schema: "_C._jit_pass_custom_pattern_based_rewrite(str pattern, str fused_node_name, Module m) -> None", doc: "Replaces what looks like the pattern in all methods of a module.", run: bind(rewriteModule)},
	{schema: "_C._jit_pass_remove_dropout(Module module) -> None", doc: "Removes the dropouts of a module in eval mode from its methods.", run: bind(removeDropout)},
	{schema: "_C._jit_pass_batch_mm(Graph graph) -> None", doc: "Makes one node of a sum of four and more matrix products.", run: pass(quiet(parity.BatchMM))},
	{schema: "_C._jit_pass_fuse_addmm(Graph graph) -> bool", doc: "Puts addmm beside sums of products and matrices of known sizes; returns whether there were any.", run: pass(parity.FuseAddmm)},
	{schema: "_C._jit_pass_integer_value_refinement(Graph graph) -> bool", doc: "Replaces integers by the constants that conditions say they are; returns whether anything changed.", run: pass(parity.RefineIntegers)},
	{schema: "_C._jit_pass_refine_integer_values(Graph graph) -> bool", doc: "The same as _jit_pass_integer_value_refinement.", run: pass(parity.RefineIntegers)},
	{schema: "_C._infer_tensor_types(Graph graph) -> None", doc: "Gives tensors the types, element types and strides too, that follow from those of the parameters.", run: pass(quiet(parity.PropagateShapes))},
	{schema: "_C._jit_pass_complete_shape_analysis(Graph graph, any inputs, bool with_grad) -> None", doc: "Gives the parameters the types of the inputs, a tuple, and tensors those that follow.", run: bind(completeShapes)},
	{schema: "_C._propagate_shapes(Graph graph, any inputs, bool with_grad) -> Graph", doc: "A copy in which tensors have the element types and numbers of dimensions that follow from the inputs, a tuple.", run: bind(propagateRanks)},
	{schema: "_C._jit_erase_non_input_shape_information(Graph graph) -> None", doc: "Makes tensor types, apart from those of the parameters, ones that say nothing of shapes.", run: pass(passes.EraseInnerShapes)},
	{schema: "_C._jit_pass_lower_graph(Graph graph, Module module) -> any", doc: "A graph without the module, with parameters for the tensors of its attributes, and the list of these.", run: bind(lowerGraph)},
	{schema: "_C._get_caught_jit_exception_class_name() -> str", doc: "The class of the last exception that left a program by a raise statement, \"\" where none has.", run: bind(func() string { return engine.LastRaised().Class })},
	{schema: "_C._get_caught_jit_exception_original_msg() -> str", doc: "What the last exception that left a program by a raise statement said.", run: bind(func() string { return engine.LastRaised().Message })},
	{schema: "_C._last_executed_optimized_graph() -> Graph", doc: "The optimized form of the graph of the compiled function that was called last.", run: bind(lastOptimized)},
	{schema: "_C._jit_pass_inplace_to_functional_activation(Graph graph) -> bool", doc: "Replaces activations that write new memory of the graph by those that make some; tensors that others see are left. Returns whether anything changed.", run: pass(parity.InplaceToFunctionalActivation)},
	{schema: "_C._jit_pass_functional_to_inplace_activation(Graph graph) -> bool", doc: "Makes activations write their input where it is new memory that nothing else uses; returns whether anything changed.", run: pass(parity.FunctionalToInplaceActivation)},
	{schema: "_C._jit_pass_propagate_dtype(Graph graph) -> bool", doc: "Gives tensors the element types that follow from those of the parameters; returns whether any was learned.", run: pass(parity.PropagateDTypes)},
	{schema: "_C._jit_pass_propagate_device(Graph graph) -> bool", doc: "Gives tensors the devices that follow from those of the parameters; returns whether any was learned.", run: pass(parity.PropagateDevices)},
	{schema: "_C._jit_pass_fuse_add_relu(Graph graph) -> None", doc: "Replaces aten::relu of sums by aten::_add_relu.", run: pass(quiet(freeze.FuseAddRelu))},
	{schema: "_C._jit_pass_transform_conv1d_to_conv2d(Graph graph) -> None", doc: "Replaces convolutions over one dimension by those over two.", run: pass(quiet(freeze.Conv1dToConv2d))},
	{schema: "_C._jit_pass_refine_tuple_types(Graph graph) -> None", doc: "Gives tuples that are constructed the types of their elements.", run: pass(quiet(freeze.RefineTupleTypes))},
	{schema: "_C._jit_pass_run_decompositions(Graph graph) -> None", doc: "Replaces operators by the graphs that are registered for them, and simplifies the graph.", run: pass(composite.RunDecompositions)},
	{schema: "_C._jit_decomposition_graph_for_node(Node node) -> Graph?", doc: "The graph that is registered for a node's operator, None where there is none.", run: bind(composite.Decomposition)},
	{schema: "_C._jit_register_decomposition_for_schema(FunctionSchema schema, Graph graph) -> None", doc: "Has a graph stand for an operator from now on.", run: bind(registerDecomposition)},
	{schema: "_C._jit_pass_create_functional_graphs(Graph graph) -> None", doc: "Groups the nodes that write nothing and whose results nothing writes.", run: pass(quiet(parity.CreateFunctionalGraphs))},
	{schema: "_C._jit_pass_inline_functional_graphs(Graph graph) -> None", doc: "Puts the nodes of functional graphs in their places.", run: pass(quiet(parity.InlineFunctionalGraphs))},
	{schema: "_C._jit_pass_specialize_autogradzero(Graph graph) -> None", doc: "Removes what is done with gradients that are undefined.", run: pass(quiet(autodiff.RemoveZeros))},
	{schema: "_C._differentiate(Graph graph) -> tuple", doc: "What torch._C.Gradient has, in the order of its names.", run: bind(differentiate)},
	{schema: "_C._jit_pass_autocast(Graph graph) -> None", doc: "Writes the casts of the autocasts of a graph, whose calls are inlined, as nodes.", run: bind(autocast)},
	{schema: "_C._fuse_tensorexprs(Graph graph) -> None", doc: "Groups elementwise nodes whose tensors' types are known, and guards the groups.", run: pass(quiet(tensorexpr.FuseTensorExprs))},
	{schema: "_C._set_logging(str option) -> None", doc: "Has passes print what they do: PYTORCH_JIT_LOG_LEVEL.", run: bind(setLogging)},
	{schema: "_C._set_logging_stream(str name) -> None", doc: "Has passes print to stdout, stderr or a file.", run: bind(setLogStream)},
	{schema: "_C._jit_pass_lint(Graph graph) -> None", doc: "Checks the graph's invariants.", run: bind(lint)},
}

// logged has each pass print what it does where that is asked for, under its name without "_jit_pass_".
func logged(members []function) []function {
	for i := range members {
		name, isPass := strings.CutPrefix(members[i].schema, "_C._jit_pass_")
		name, _, _ = strings.Cut(name, "(")
		run := members[i].run
		if !isPass {
			continue
		}
		members[i].run = func(c *call) error {
			g, ok := c.arg(0).content().(*ir.Graph)
			if !ok {
				return run(c)
			}
			return passlog.Run(name, g, func() error { return run(c) })
		}
	}
	return members
}

var logStream = struct {
	sync.Mutex
	option string
	out    *os.File
}{out: os.Stderr}

func setLogging(option string) {
	logStream.Lock()
	defer logStream.Unlock()
	logStream.option = option
	passlog.Set(option, logStream.out)
}

// setLogStream has passes print to "stdout", "stderr" or a file.
func setLogStream(name string) error {
	logStream.Lock()
	defer logStream.Unlock()
	out := os.Stderr
	switch name {
	case "stderr":
	case "stdout":
		out = os.Stdout
	default:
		f, err := os.Create(name)
		if err != nil {
			return runtimeErrorf("%s", err)
		}
		out = f
	}
	logStream.out = out
	passlog.Set(logStream.option, out)
	return nil
}

// pass makes the run of a pass, which sees a well formed graph, from one that returns nothing or
// whether it changed anything, and does not look at memory that is not there.
func pass[F func(*ir.Graph) | func(*ir.Graph) bool](run F) func(*call) error {
	switch run := any(run).(type) {
	case func(*ir.Graph):
		return bind(func(g *ir.Graph) error {
			err := prepared(g)
			if err == nil {
				run(g)
			}
			return err
		})
	case func(*ir.Graph) bool:
		return bind(func(g *ir.Graph) (bool, error) {
			if err := prepared(g); err != nil {
				return false, err
			}
			return run(g), nil
		})
	}
	return nil
}

// prepared makes the operators known and fails where the graph is not well formed.
func prepared(g *ir.Graph) error {
	linkOperators()
	return wellFormed(g)
}

// quiet makes a pass that does not tell whether it changed anything.
func quiet(run func(*ir.Graph) bool) func(*ir.Graph) {
	return func(g *ir.Graph) { run(g) }
}

func peephole(g *ir.Graph, disableShapes bool) (bool, error) {
	if err := prepared(g); err != nil {
		return false, err
	}
	if disableShapes {
		return parity.Peephole(g, passes.PeepholeWithoutShapes), nil
	}
	return parity.Peephole(g, passes.Peephole), nil
}

func listIdioms(g *ir.Graph, refine bool) (bool, error) {
	if err := prepared(g); err != nil {
		return false, err
	}
	changed := passes.PeepholeListIdioms(g)
	if refine {
		changed = parity.RefineListLengths(g) || changed
	}
	return changed, nil
}

func canonicalize(g *ir.Graph, keepNames bool) (*ir.Graph, error) {
	if err := prepared(g); err != nil {
		return nil, err
	}
	return passes.Canonicalize(g, keepNames), nil
}

func removeDropout(module *value.Object) error {
	if training, ok := module.Attr("training"); ok && training.Bool() {
		return runtimeErrorf("Dropout removal module in training mode is not yet supported")
	}
	return eachMethod(module, func(f *ir.Function) error {
		passes.Inline(f.Expose())
		freeze.RemoveDropoutAnyway(f.Graph())
		return nil
	})
}

func lastOptimized() (*ir.Graph, error) {
	f := cmp.Or(engine.LastGradient(), lastExecuted.Value())
	if f == nil {
		return nil, runtimeErrorf("no compiled function has been called yet, or the last one is gone")
	}
	return f.Executed(), nil
}

func registerDecomposition(s *schema.FunctionSchema, g *ir.Graph) error {
	if err := prepared(g); err != nil {
		return err
	}
	composite.RegisterDecomposition(s.QualifiedName(), g)
	return nil
}

// inlineCalls is passes.Inline that shows what fallback functions run.
func inlineCalls(g *ir.Graph) {
	engine.InlineFallbacks(g)
	passes.Inline(g)
}

// canonicalizeForFuser is what PyTorch does to graphs before it fuses.
func canonicalizeForFuser(g *ir.Graph) {
	passes.CanonicalizeOutputs(g)
	passes.ConstantChunks(g)
	passes.DCE(g)
}

func groupDifferentiable(g *ir.Graph, threshold int) error {
	if err := prepared(g); err != nil {
		return err
	}
	passes.GroupDifferentiable(g, threshold)
	return nil
}

func differentiate(g *ir.Graph) (f, df *ir.Graph, realOutputs int, vjps, capturedInputs, capturedOutputs, outputVJPs []int, err error) {
	if err := prepared(g); err != nil {
		return nil, nil, 0, nil, nil, nil, nil, err
	}
	d, err := autodiff.Differentiate(g)
	if err != nil {
		return nil, nil, 0, nil, nil, nil, nil, err
	}
	return d.F, d.DF, d.FRealOutputs, d.DFInputVJPs, d.DFInputCapturedInputs, d.DFInputCapturedOutputs, d.DFOutputVJPs, nil
}

func autocast(g *ir.Graph) error {
	if err := prepared(g); err != nil {
		return err
	}
	_, err := parity.Autocast(g)
	return err
}

func rewriteGraph(pattern, replacement string, g *ir.Graph, pairs []*Word) error {
	if err := prepared(g); err != nil {
		return err
	}
	from, err := parseIR(pattern, false)
	if err != nil {
		return err
	}
	to, err := parseIR(replacement, false)
	if err != nil {
		return err
	}
	p, ok := ir.NewPattern(from)
	if !ok {
		return runtimeErrorf("a pattern is a graph without blocks that has one result, which a node defines")
	}
	if len(to.Inputs()) != len(from.Inputs()) || len(to.Outputs()) != 1 {
		return runtimeErrorf("the pattern has %d inputs and one output, what replaces it %d inputs and %d outputs",
			len(from.Inputs()), len(to.Inputs()), len(to.Outputs()))
	}
	p.OwnConstants = true
	if p.Origins, err = originsOf(pattern, replacement, from, to, pairs); err != nil {
		return err
	}
	p.ReplaceAll(g, to)
	return nil
}

// originsOf are the values of a pattern by those of its replacement that pairs of names in their texts name.
func originsOf(pattern, replacement string, from, to *ir.Graph, pairs []*Word) (map[*ir.Value]*ir.Value, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	old, err := valuesByName(pattern, from)
	if err != nil {
		return nil, err
	}
	made, err := valuesByName(replacement, to)
	if err != nil {
		return nil, err
	}
	origins := map[*ir.Value]*ir.Value{}
	for _, pair := range pairs {
		names := slices.Collect(pair.items)
		if !pair.isSequence() || len(names) != 2 || names[0].kind() != kindString || names[1].kind() != kindString {
			return nil, typeErrorf("value_name_pairs: expected pairs of names, not %s", pair.kindName())
		}
		v := made[names[0].text()]
		origin := old[names[1].text()]
		switch {
		case v == nil:
		case origin == nil:
			return nil, runtimeErrorf("Value must be found in the replacement graph.")
		default:
			origins[v] = origin
		}
	}
	return origins, nil
}

// valuesByName are the values of a graph by their names in its text, which the graph does not keep.
func valuesByName(text string, g *ir.Graph) (map[string]*ir.Value, error) {
	named, err := ir.ParseWith(text, ir.ParseOptions{TensorConstants: true, Named: namedType})
	if err != nil {
		return nil, err
	}
	found := map[string]*ir.Value{}
	for n, m := named.Block().First(), g.Block().First(); n != nil && m != nil; n, m = n.Next(), m.Next() {
		for i, out := range n.Outputs() {
			found[out.Name()] = m.Outputs()[i]
		}
	}
	return found, nil
}

// eachMethod calls visit for the methods of a module.
func eachMethod(module *value.Object, visit func(*ir.Function) error) error {
	for _, name := range module.Class.MethodNames() {
		f, ok := module.Class.FindMethod(name).(*ir.Function)
		if !ok {
			continue
		}
		if err := f.EnsureDefined(); err != nil {
			return err
		}
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

func rewriteModule(pattern, replacement string, module *value.Object) error {
	return eachMethod(module, func(f *ir.Function) error { return rewriteGraph(pattern, replacement, f.Expose(), nil) })
}

// completeShapes gives the parameters of a graph the types of tensors, and what is computed from them those that follow.
func completeShapes(g *ir.Graph, inputs value.Value, withGrad bool) error {
	return typeInputs(g, inputs, withGrad, false)
}

func typeInputs(g *ir.Graph, inputs value.Value, withGrad, ranks bool) error {
	if err := prepared(g); err != nil {
		return err
	}
	if inputs.Kind() != value.KindTuple {
		return typeErrorf("_jit_pass_complete_shape_analysis(): incompatible function arguments: the inputs are a tuple")
	}
	given := inputs.Tuple().Items
	params := g.Inputs()
	if len(given) != len(params) {
		return runtimeErrorf("the graph has %d parameters, but %d inputs were given", len(params), len(given))
	}
	for i, v := range given {
		if !v.IsTensor() {
			continue
		}
		t := *value.CompleteType(v.Tensor()).(*types.TensorInfo)
		if !withGrad {
			off := false
			t.RequiresGrad = &off
		}
		params[i].SetType(&t)
	}
	parity.CompleteShapes(g, ranks)
	return nil
}

func propagateRanks(g *ir.Graph, inputs value.Value, withGrad bool) (*ir.Graph, error) {
	c := g.Copy()
	if err := prepared(c); err != nil {
		return nil, err
	}
	passes.LowerSimpleTuples(c)
	if err := typeInputs(c, inputs, true, true); err != nil {
		return nil, err
	}
	passes.ForgetSizes(c)
	return c, nil
}

func lowerGraph(g *ir.Graph, module *value.Object) (*ir.Graph, []value.Value, error) {
	if err := prepared(g); err != nil {
		return nil, nil, err
	}
	return parity.LowerGraph(g, module)
}
