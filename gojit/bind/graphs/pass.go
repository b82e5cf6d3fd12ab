package graphs

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
	"github.com/torchjit/torchjit/gojit/internal/passes/passlog"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// passMembers are the transformations of graphs under their names in Python.
var passMembers = []abi.Function{
	{Schema: "_C._jit_pass_inline(Graph graph) -> None", Doc: "Replaces calls of functions and methods by their bodies.", Run: Pass(inlineCalls)},
	{Schema: "_C._jit_pass_inline_fork_wait(Graph graph) -> None", Doc: "Runs forked calls in their place.", Run: Pass(Quiet(passes.InlineForkWait))},
	{Schema: "_C._jit_pass_dce(Graph graph) -> None", Doc: "Removes nodes that have no effect.", Run: Pass(Quiet(passes.DCE))},
	{Schema: "_C._jit_pass_dce_allow_deleting_nodes_with_side_effects(Graph graph) -> None", Doc: "Removes nodes whose outputs are not used, even where they print or write.", Run: Pass(Quiet(passes.DCEWithoutEffects))},
	{Schema: "_C._jit_pass_create_autodiff_subgraphs(Graph graph, int threshold=2) -> None", Doc: "Groups differentiable operators that follow each other, at least threshold of them.", Run: abi.Bind(groupDifferentiable)},
	{Schema: "_C._jit_pass_cse(Graph graph) -> bool", Doc: "Removes nodes that compute what another one has computed; returns whether anything changed.", Run: Pass(passes.CSE)},
	{Schema: "_C._jit_pass_peephole(Graph graph, bool disable_shape_peepholes=False) -> bool", Doc: "Replaces nodes whose outcome is seen from the nodes beside them; returns whether anything changed.", Run: abi.Bind(peephole)},
	{Schema: "_C._jit_pass_peephole_list_idioms(Graph graph, bool refine_list_len=False) -> bool", Doc: "Answers what is asked of lists that are made in the graph; returns whether anything changed.", Run: abi.Bind(listIdioms)},
	{Schema: "_C._jit_pass_constant_pooling(Graph graph) -> None", Doc: "Keeps one of equal constants.", Run: Pass(passes.ConstantPooling)},
	{Schema: "_C._jit_pass_constant_propagation(Graph graph) -> bool", Doc: "Runs the nodes whose inputs are constants; returns whether anything changed.", Run: Pass(passes.ConstantPropagationWithResults)},
	{Schema: "_C._propagate_constants(Graph graph) -> bool", Doc: "_jit_pass_constant_propagation, which leaves tensors and containers that a function gives to its caller to be made in every call.", Run: Pass(passes.ConstantPropagation)},
	{Schema: "_C._jit_pass_constant_propagation_immutable_types(Graph graph) -> bool", Doc: "Runs the nodes whose inputs and outputs are constants that cannot be changed in place; returns whether anything changed.", Run: Pass(passes.ConstantPropagationImmutableTypes)},
	{Schema: "_C._jit_pass_loop_unrolling(Graph graph) -> bool", Doc: "Repeats the bodies of small for-loops; returns whether anything changed.", Run: Pass(passes.UnrollLoops)},
	{Schema: "_C._jit_pass_constant_loop_unrolling(Graph graph) -> bool", Doc: "Replaces for-loops of a few rounds by their bodies; returns whether anything changed.", Run: Pass(passes.UnrollConstantLoops)},
	{Schema: "_C._jit_pass_lower_all_tuples(Graph graph) -> None", Doc: "Replaces tuples by their elements, also in parameters and results.", Run: Pass(parity.LowerAllTuples)},
	{Schema: "_C._jit_pass_lower_simple_tuples(Graph graph) -> None", Doc: "Connects uses of elements of tuples with what the tuples were made of.", Run: Pass(passes.LowerSimpleTuples)},
	{Schema: "_C._jit_pass_remove_mutation(Graph graph) -> bool", Doc: "Replaces writes to memory of the graph by operators that make new memory; returns whether anything changed.", Run: Pass(passes.RemoveMutation)},
	{Schema: "_C._jit_pass_remove_inplace_ops(Graph graph) -> None", Doc: "Replaces operators that write a tensor by those that make a new one, whoever sees the memory.", Run: Pass(Quiet(passes.RemoveInplaceOps))},
	{Schema: "_C._jit_pass_remove_expands(Graph graph) -> None", Doc: "Removes expansions that operators imply.", Run: Pass(Quiet(passes.RemoveExpands))},
	{Schema: "_C._jit_pass_decompose_ops(Graph graph) -> None", Doc: "Replaces addmm by mm and add.", Run: Pass(Quiet(parity.DecomposeOps))},
	{Schema: "_C._jit_pass_erase_number_types(Graph graph) -> None", Doc: "Makes numbers tensors without dimensions.", Run: Pass(parity.EraseNumberTypes)},
	{Schema: "_C._jit_pass_erase_shape_information(Graph graph) -> None", Doc: "Makes tensor types ones that say nothing of shapes.", Run: Pass(passes.EraseShapeInformation)},
	{Schema: "_C._jit_pass_canonicalize(Graph graph, bool keep_unique_names=True) -> Graph", Doc: "A copy whose values are numbered in order, with or without names.", Run: abi.Bind(canonicalize)},
	{Schema: "_C._jit_pass_canonicalize_graph_fuser_ops(Graph graph) -> None", Doc: "Puts the outputs of branches and loops into the order of their uses, and makes one node of a chunk whose parts are known.", Run: Pass(canonicalizeForFuser)},
	{Schema: "_C._jit_pass_fuse_linear(Graph graph) -> None", Doc: "Replaces products with transposed weights by linear.", Run: Pass(Quiet(freeze.FuseLinear))},
	{Schema: "_C._jit_pass_transpose_frozen_linear(Graph graph) -> bool", Doc: "Replaces linear with constant weights by a product with the transposed weights.", Run: Pass(freeze.TransposeFrozenLinear)},
	{Schema: "_C._jit_pass_custom_pattern_based_rewrite_graph(str pattern, str fused_node_name, Graph g, list? value_name_pairs=None) -> None", Doc: "Replaces what looks like the pattern, the text of a graph with one result, by the graph of another text.", Run: abi.Bind(rewriteGraph)},
	{Schema: "_C._jit_pass_custom_pattern_based_rewrite(str pattern, str fused_node_name, Module m) -> None", Doc: "Replaces what looks like the pattern in all methods of a module.", Run: abi.Bind(rewriteModule)},
	{Schema: "_C._jit_pass_remove_dropout(Module module) -> None", Doc: "Removes the dropouts of a module in eval mode from its methods.", Run: abi.Bind(removeDropout)},
	{Schema: "_C._jit_pass_batch_mm(Graph graph) -> None", Doc: "Makes one node of a sum of four and more matrix products.", Run: Pass(Quiet(parity.BatchMM))},
	{Schema: "_C._jit_pass_fuse_addmm(Graph graph) -> bool", Doc: "Puts addmm beside sums of products and matrices of known sizes; returns whether there were any.", Run: Pass(parity.FuseAddmm)},
	{Schema: "_C._jit_pass_integer_value_refinement(Graph graph) -> bool", Doc: "Replaces integers by the constants that conditions say they are; returns whether anything changed.", Run: Pass(parity.RefineIntegers)},
	{Schema: "_C._jit_pass_refine_integer_values(Graph graph) -> bool", Doc: "The same as _jit_pass_integer_value_refinement.", Run: Pass(parity.RefineIntegers)},
	{Schema: "_C._infer_tensor_types(Graph graph) -> None", Doc: "Gives tensors the types, element types and strides too, that follow from those of the parameters.", Run: Pass(Quiet(parity.PropagateShapes))},
	{Schema: "_C._jit_pass_complete_shape_analysis(Graph graph, any inputs, bool with_grad) -> None", Doc: "Gives the parameters the types of the inputs, a tuple, and tensors those that follow.", Run: abi.Bind(completeShapes)},
	{Schema: "_C._propagate_shapes(Graph graph, any inputs, bool with_grad) -> Graph", Doc: "A copy in which tensors have the element types and numbers of dimensions that follow from the inputs, a tuple.", Run: abi.Bind(propagateRanks)},
	{Schema: "_C._jit_erase_non_input_shape_information(Graph graph) -> None", Doc: "Makes tensor types, apart from those of the parameters, ones that say nothing of shapes.", Run: Pass(passes.EraseInnerShapes)},
	{Schema: "_C._jit_pass_lower_graph(Graph graph, Module module) -> any", Doc: "A graph without the module, with parameters for the tensors of its attributes, and the list of these.", Run: abi.Bind(lowerGraph)},
	{Schema: "_C._get_caught_jit_exception_class_name() -> str", Doc: "The class of the last exception that left a program by a raise statement, \"\" where none has.", Run: abi.Bind(func() string { return scripts.Engine.LastRaised().Class })},
	{Schema: "_C._get_caught_jit_exception_original_msg() -> str", Doc: "What the last exception that left a program by a raise statement said.", Run: abi.Bind(func() string { return scripts.Engine.LastRaised().Message })},
	{Schema: "_C._last_executed_optimized_graph() -> Graph", Doc: "The optimized form of the graph of the compiled function that was called last.", Run: abi.Bind(lastOptimized)},
	{Schema: "_C._jit_pass_inplace_to_functional_activation(Graph graph) -> bool", Doc: "Replaces activations that write new memory of the graph by those that make some; tensors that others see are left. Returns whether anything changed.", Run: Pass(parity.InplaceToFunctionalActivation)},
	{Schema: "_C._jit_pass_functional_to_inplace_activation(Graph graph) -> bool", Doc: "Makes activations write their input where it is new memory that nothing else uses; returns whether anything changed.", Run: Pass(parity.FunctionalToInplaceActivation)},
	{Schema: "_C._jit_pass_propagate_dtype(Graph graph) -> bool", Doc: "Gives tensors the element types that follow from those of the parameters; returns whether any was learned.", Run: Pass(parity.PropagateDTypes)},
	{Schema: "_C._jit_pass_propagate_device(Graph graph) -> bool", Doc: "Gives tensors the devices that follow from those of the parameters; returns whether any was learned.", Run: Pass(parity.PropagateDevices)},
	{Schema: "_C._jit_pass_fuse_add_relu(Graph graph) -> None", Doc: "Replaces aten::relu of sums by aten::_add_relu.", Run: Pass(Quiet(freeze.FuseAddRelu))},
	{Schema: "_C._jit_pass_fuse_quantized_add_relu(Graph graph) -> None", Doc: "Replaces aten::relu of sums of integers with a scale by the operators that give both.", Run: Pass(Quiet(freeze.FuseQuantizedAddRelu))},
	{Schema: "_C._jit_pass_transform_conv1d_to_conv2d(Graph graph) -> None", Doc: "Replaces convolutions over one dimension by those over two.", Run: Pass(Quiet(freeze.Conv1dToConv2d))},
	{Schema: "_C._jit_pass_refine_tuple_types(Graph graph) -> None", Doc: "Gives tuples that are constructed the types of their elements.", Run: Pass(Quiet(freeze.RefineTupleTypes))},
	{Schema: "_C._jit_pass_run_decompositions(Graph graph) -> None", Doc: "Replaces operators by the graphs that are registered for them, and simplifies the graph.", Run: Pass(composite.RunDecompositions)},
	{Schema: "_C._jit_decomposition_graph_for_node(Node node) -> Graph?", Doc: "The graph that is registered for a node's operator, None where there is none.", Run: abi.Bind(composite.Decomposition)},
	{Schema: "_C._jit_register_decomposition_for_schema(FunctionSchema schema, Graph graph) -> None", Doc: "Has a graph stand for an operator from now on.", Run: abi.Bind(registerDecomposition)},
	{Schema: "_C._jit_pass_create_functional_graphs(Graph graph) -> None", Doc: "Groups the nodes that write nothing and whose results nothing writes.", Run: Pass(Quiet(parity.CreateFunctionalGraphs))},
	{Schema: "_C._jit_pass_inline_functional_graphs(Graph graph) -> None", Doc: "Puts the nodes of functional graphs in their places.", Run: Pass(Quiet(parity.InlineFunctionalGraphs))},
	{Schema: "_C._jit_pass_specialize_autogradzero(Graph graph) -> None", Doc: "Removes what is done with gradients that are undefined.", Run: Pass(Quiet(autodiff.RemoveZeros))},
	{Schema: "_C._differentiate(Graph graph) -> tuple", Doc: "What torch._C.Gradient has, in the order of its names.", Run: abi.Bind(differentiate)},
	{Schema: "_C._jit_pass_autocast(Graph graph) -> None", Doc: "Writes the casts of the autocasts of a graph, whose calls are inlined, as nodes.", Run: abi.Bind(autocast)},
	{Schema: "_C._erase_outer_shapes(Graph graph) -> None", Doc: "Forgets what types say of tensors that are no constants, outside of groups.", Run: Pass(Quiet(tensorexpr.EraseOuterShapes))},
	{Schema: "_C._fuse_tensorexprs(Graph graph) -> None", Doc: "Groups elementwise nodes whose tensors' types are known, and guards the groups.", Run: Pass(Quiet(tensorexpr.FuseTensorExprs))},
	{Schema: "_C._set_logging(str option) -> None", Doc: "Has passes print what they do: PYTORCH_JIT_LOG_LEVEL.", Run: abi.Bind(setLogging)},
	{Schema: "_C._set_logging_stream(str name) -> None", Doc: "Has passes print to stdout, stderr or a file.", Run: abi.Bind(setLogStream)},
	{Schema: "_C._jit_pass_lint(Graph graph) -> None", Doc: "Checks the graph's invariants.", Run: abi.Bind(lint)},
}

// logged has each pass print what it does where that is asked for, under its name without "_jit_pass_".
func logged(members []abi.Function) []abi.Function {
	for i := range members {
		name, isPass := strings.CutPrefix(members[i].Schema, "_C._jit_pass_")
		name, _, _ = strings.Cut(name, "(")
		run := members[i].Run
		if !isPass {
			continue
		}
		members[i].Run = func(c *abi.Call) error {
			g, ok := c.Arg(0).Content().(*ir.Graph)
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
			return abi.RuntimeErrorf("%s", err)
		}
		out = f
	}
	logStream.out = out
	passlog.Set(logStream.option, out)
	return nil
}

// Pass makes the run of a pass, which sees a well formed graph, from one that returns nothing or
// whether it changed anything, and does not look at memory that is not there.
func Pass[F func(*ir.Graph) | func(*ir.Graph) bool](run F) func(*abi.Call) error {
	switch run := any(run).(type) {
	case func(*ir.Graph):
		return abi.Bind(func(g *ir.Graph) error {
			err := Prepared(g)
			if err == nil {
				run(g)
			}
			return err
		})
	case func(*ir.Graph) bool:
		return abi.Bind(func(g *ir.Graph) (bool, error) {
			if err := Prepared(g); err != nil {
				return false, err
			}
			return run(g), nil
		})
	}
	return nil
}

// Prepared makes the operators known and fails where the graph is not well formed.
func Prepared(g *ir.Graph) error {
	gojit.LinkOperators()
	return WellFormed(g)
}

// Quiet makes a pass that does not tell whether it changed anything.
func Quiet(run func(*ir.Graph) bool) func(*ir.Graph) {
	return func(g *ir.Graph) { run(g) }
}

func peephole(g *ir.Graph, disableShapes bool) (bool, error) {
	if err := Prepared(g); err != nil {
		return false, err
	}
	if disableShapes {
		return parity.Peephole(g, passes.PeepholeWithoutShapes), nil
	}
	return parity.Peephole(g, passes.Peephole), nil
}

func listIdioms(g *ir.Graph, refine bool) (bool, error) {
	if err := Prepared(g); err != nil {
		return false, err
	}
	changed := passes.PeepholeListIdioms(g)
	if refine {
		changed = parity.RefineListLengths(g) || changed
	}
	return changed, nil
}

func canonicalize(g *ir.Graph, keepNames bool) (*ir.Graph, error) {
	if err := Prepared(g); err != nil {
		return nil, err
	}
	return passes.Canonicalize(g, keepNames), nil
}

func removeDropout(module *value.Object) error {
	if training, ok := module.Attr("training"); ok && training.Bool() {
		return abi.RuntimeErrorf("Dropout removal module in training mode is not yet supported")
	}
	return EachMethod(module, func(f *ir.Function) error {
		passes.Inline(f.Expose())
		freeze.RemoveDropoutAnyway(f.Graph())
		return nil
	})
}

func lastOptimized() (*ir.Graph, error) {
	f := cmp.Or(scripts.Engine.LastGradient(), scripts.LastExecuted.Value())
	if f == nil {
		return nil, abi.RuntimeErrorf("no compiled function has been called yet, or the last one is gone")
	}
	return f.Executed(), nil
}

func registerDecomposition(s *schema.FunctionSchema, g *ir.Graph) error {
	if err := Prepared(g); err != nil {
		return err
	}
	composite.RegisterDecomposition(s.QualifiedName(), g)
	return nil
}

// inlineCalls is passes.Inline that shows what fallback functions run.
func inlineCalls(g *ir.Graph) {
	scripts.Engine.InlineFallbacks(g)
	passes.Inline(g)
}

// canonicalizeForFuser is what PyTorch does to graphs before it fuses.
func canonicalizeForFuser(g *ir.Graph) {
	passes.CanonicalizeOutputs(g)
	passes.ConstantChunks(g)
	passes.DCEWithWrites(g)
}

func groupDifferentiable(g *ir.Graph, threshold int) error {
	if err := Prepared(g); err != nil {
		return err
	}
	passes.GroupDifferentiable(g, threshold)
	return nil
}

func differentiate(g *ir.Graph) (f, df *ir.Graph, realOutputs int, vjps, capturedInputs, capturedOutputs, outputVJPs []int, err error) {
	if err := Prepared(g); err != nil {
		return nil, nil, 0, nil, nil, nil, nil, err
	}
	d, err := autodiff.Differentiate(g)
	if err != nil {
		return nil, nil, 0, nil, nil, nil, nil, err
	}
	return d.F, d.DF, d.FRealOutputs, d.DFInputVJPs, d.DFInputCapturedInputs, d.DFInputCapturedOutputs, d.DFOutputVJPs, nil
}

func autocast(g *ir.Graph) error {
	if err := Prepared(g); err != nil {
		return err
	}
	_, err := parity.Autocast(g)
	return err
}

func rewriteGraph(pattern, replacement string, g *ir.Graph, pairs []*abi.Word) error {
	if err := Prepared(g); err != nil {
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
		return abi.RuntimeErrorf("a pattern is a graph without blocks whose results nodes define")
	}
	if len(to.Inputs()) != len(from.Inputs()) || len(to.Outputs()) != len(from.Outputs()) {
		return abi.RuntimeErrorf("inputs and outputs: the pattern has %d and %d, what replaces it %d and %d",
			len(from.Inputs()), len(from.Outputs()), len(to.Inputs()), len(to.Outputs()))
	}
	p.OwnConstants = true
	if p.Origins, err = originsOf(pattern, replacement, from, to, pairs); err != nil {
		return err
	}
	p.ReplaceAll(g, to)
	return nil
}

// originsOf are the values of a pattern by those of its replacement that pairs of names in their texts name.
func originsOf(pattern, replacement string, from, to *ir.Graph, pairs []*abi.Word) (map[*ir.Value]*ir.Value, error) {
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
		names := slices.Collect(pair.Items)
		if !pair.IsSequence() || len(names) != 2 || names[0].Kind() != abi.KindString || names[1].Kind() != abi.KindString {
			return nil, abi.TypeErrorf("value_name_pairs: expected pairs of names, not %s", pair.KindName())
		}
		v := made[names[0].Text()]
		origin := old[names[1].Text()]
		switch {
		case v == nil:
		case origin == nil:
			return nil, abi.RuntimeErrorf("Value must be found in the replacement graph.")
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

// EachMethod calls visit for the methods of a module.
func EachMethod(module *value.Object, visit func(*ir.Function) error) error {
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
	return EachMethod(module, func(f *ir.Function) error { return rewriteGraph(pattern, replacement, f.Expose(), nil) })
}

// completeShapes gives the parameters of a graph the types of tensors, and what is computed from them those that follow. Whether gradients are
// required is what the tensors say, as in PyTorch, which asks for with_grad and does not read it.
func completeShapes(g *ir.Graph, inputs value.Value, _ bool) error {
	return typeInputs(g, inputs, false)
}

func typeInputs(g *ir.Graph, inputs value.Value, ranks bool) error {
	if err := Prepared(g); err != nil {
		return err
	}
	if inputs.Kind() != value.KindTuple {
		return abi.TypeErrorf("_jit_pass_complete_shape_analysis(): incompatible function arguments: the inputs are a tuple")
	}
	given := inputs.Tuple().Items
	params := g.Inputs()
	if len(given) != len(params) {
		return abi.RuntimeErrorf("the graph has %d parameters, but %d inputs were given", len(params), len(given))
	}
	for i, v := range given {
		if !v.IsTensor() {
			continue
		}
		params[i].SetType(value.CompleteType(v.Tensor()))
	}
	parity.CompleteShapes(g, ranks)
	return nil
}

func propagateRanks(g *ir.Graph, inputs value.Value, withGrad bool) (*ir.Graph, error) {
	c := g.Copy()
	if err := Prepared(c); err != nil {
		return nil, err
	}
	passes.LowerSimpleTuples(c)
	if err := typeInputs(c, inputs, true); err != nil {
		return nil, err
	}
	passes.ForgetSizes(c)
	return c, nil
}

func lowerGraph(g *ir.Graph, module *value.Object) (*ir.Graph, []value.Value, error) {
	if err := Prepared(g); err != nil {
		return nil, nil, err
	}
	return parity.LowerGraph(g, module)
}
