package pt2archive

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// reader makes a program of Export IR of one that an archive has.
type reader struct {
	module   *graphModule
	ranges   map[string]interval
	hints    map[string]int    // what symbols were when the program was captured, as far as the archive says it
	symbols  map[string]bool   // that sizes have
	modules  map[string]string // the classes of the modules that calls came through, by their paths
	detached bool              // a part of the program without gradients is being read
}

// programOf makes a program of Export IR. It fails on what there is no form of here.
func programOf(from *exportedProgram) (p *exportir.Program, err error) {
	defer source.Catch(&err)
	m := &from.Module
	if m.Graph == nil || len(m.Calls) == 0 || m.Calls[0].Signature == nil {
		return nil, exportir.Violation("the program has no graph, or does not say what it takes and gives")
	}
	r := &reader{module: m, ranges: from.Ranges, hints: map[string]int{}, symbols: map[string]bool{}, modules: map[string]string{"": "torch.nn.Module"}}
	p = &exportir.Program{Modules: r.modules}
	for _, spec := range m.Signature.Inputs {
		p.Signature.Inputs = append(p.Signature.Inputs, inputOf(spec))
	}
	for _, spec := range m.Signature.Outputs {
		p.Signature.Outputs = append(p.Signature.Outputs, outputOf(spec))
	}
	// The names of constants among the inputs are in the signature alone.
	names := make([]string, len(p.Signature.Inputs))
	for i, in := range p.Signature.Inputs {
		names[i] = in.Name
	}
	p.Graph = r.graph(m.Graph, names, 0)
	for i, out := range p.Graph.Outputs() { // values of parts that became those of the whole graph are called otherwise
		if out.Kind == exportir.NodeArgument && i < len(p.Signature.Outputs) {
			p.Signature.Outputs[i].Name = out.Text
		}
	}
	p.Symbols = r.symbolsOf()
	m.describeContainers(p)
	return p, p.CheckWriting()
}

// The contents of inputs and outputs of a signature.
type specContent struct {
	Argument   named  `json:"arg"`
	Parameter  string `json:"parameter_name"`
	Buffer     string `json:"buffer_name"`
	Persistent bool   `json:"persistent"`
	Constant   string `json:"tensor_constant_name"`
	UserInput  string `json:"user_input_name"`
}

type userContent struct {
	Argument union `json:"arg"`
}

type constantContent struct {
	Name  string `json:"name"`
	Value union  `json:"value"`
}

func read[T any](u union) (content T) {
	source.Throw(u.read(&content))
	return content
}

func inputOf(spec union) exportir.InputSpec {
	switch spec.kind {
	case "parameter":
		c := read[specContent](spec)
		return exportir.InputSpec{Kind: exportir.Parameter, Name: c.Argument.Name, Target: c.Parameter}
	case "buffer":
		c := read[specContent](spec)
		return exportir.InputSpec{Kind: exportir.Buffer, Name: c.Argument.Name, Target: c.Buffer, Persistent: c.Persistent}
	case "tensor_constant":
		c := read[specContent](spec)
		return exportir.InputSpec{Kind: exportir.ConstantTensor, Name: c.Argument.Name, Target: c.Constant}
	case "user_input":
		return exportir.InputSpec{Kind: exportir.UserInput, Name: valueName(read[userContent](spec).Argument)}
	case "constant_input":
		c := read[constantContent](spec)
		value := plain(c.Value)
		return exportir.InputSpec{Kind: exportir.UserInput, Name: c.Name, Constant: &value}
	}
	source.Throw(exportir.Violation("the program has an input of the kind %q, which there is not here", spec.kind))
	return exportir.InputSpec{}
}

func outputOf(spec union) exportir.OutputSpec {
	switch spec.kind {
	case "user_output":
		return exportir.OutputSpec{Kind: exportir.UserOutput, Name: valueName(read[userContent](spec).Argument)}
	case "buffer_mutation":
		c := read[specContent](spec)
		return exportir.OutputSpec{Kind: exportir.BufferMutation, Name: c.Argument.Name, Target: c.Buffer}
	case "user_input_mutation":
		c := read[specContent](spec)
		return exportir.OutputSpec{Kind: exportir.UserInputMutation, Name: c.Argument.Name, Target: c.UserInput}
	}
	source.Throw(exportir.Violation("the program has an output of the kind %q, which there is not here", spec.kind))
	return exportir.OutputSpec{}
}

// symbolsOf are the symbols that the archive has a range of, and those in sizes.
func (r *reader) symbolsOf() []exportir.Symbol {
	for name := range r.ranges {
		if symbolic.ValidName(name) { // others are expressions of symbols
			r.symbols[name] = true
		}
	}
	var all []exportir.Symbol
	for name := range r.symbols {
		s := exportir.Symbol{Name: name, Upper: -1, Label: name}
		limits := r.ranges[name]
		if limits.Min != nil {
			s.Lower = max(*limits.Min, 0)
		}
		if limits.Max != nil {
			s.Upper = *limits.Max
		}
		hint, known := r.hints[name]
		if s.Hint = hint; !known {
			s.Hint = max(s.Lower, 2)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b exportir.Symbol) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// graph makes a graph of Export IR, whose placeholders have these names.
func (r *reader) graph(from *graph, names []string, depth int) *exportir.Graph {
	if depth > exportir.MaxNesting {
		source.Throw(exportir.Violation("graphs are nested more than %d deep", exportir.MaxNesting))
	}
	s := &scope{reader: r, from: from, to: &exportir.Graph{}, renamed: map[string]exportir.Argument{}, depth: depth}
	for _, name := range names {
		s.add(&exportir.Node{Op: exportir.Placeholder, Name: name, Target: name, Meta: exportir.Meta{Val: s.meaning(name)}})
	}
	for i := range from.Nodes {
		s.node(&from.Nodes[i])
	}
	results, vals := []exportir.Argument{}, []exportir.Value{}
	for _, given := range from.Outputs {
		a := s.argument(given)
		results, vals = append(results, a), append(vals, *s.meaning(valueName(given)))
	}
	s.add(&exportir.Node{Op: exportir.Output, Name: "output", Target: "output", Args: []exportir.Argument{exportir.OfTuple(results)},
		Meta: exportir.Meta{Val: &exportir.Value{Kind: exportir.ListValue, Items: vals}}})
	return s.to
}

// scope reads one graph.
type scope struct {
	*reader
	from    *graph
	to      *exportir.Graph
	renamed map[string]exportir.Argument // values of from that are called otherwise in to
	depth   int
}

func (s *scope) add(n *exportir.Node) { s.to.Nodes = append(s.to.Nodes, n) }

// node reads a call. An error of it says which call it is of.
func (s *scope) node(n *node) {
	defer func() {
		if err := source.Thrown(recover()); err != nil {
			source.Throw(exportir.Violation("%s of the program: %s", n.Name, err))
		}
	}()
	if translate := translationOf(n.Target); translate != nil {
		translate(s, n)
		return
	}
	if target := targetOf(n.Target); !checks[target] {
		s.call(n, target)
	}
}

// call adds a call, and nodes for the parts of what it gives.
func (s *scope) call(n *node, target string) {
	call := &exportir.Node{Op: exportir.CallFunction, Target: target, Meta: s.place(n.Metadata)}
	s.giveArguments(call, n.Inputs)
	s.addCall(call, n)
}

// giveArguments gives a call its arguments. One that may be None, and that PyTorch 2 need not be given, is None.
func (s *scope) giveArguments(call *exportir.Node, given []namedArgument) {
	o := ops.Find(call.Target)
	names := map[string]bool{}
	for _, g := range given {
		names[g.Name] = true
		a := fitting(s.argument(g.Argument), o, g.Name)
		if g.Kind == byName || isElsewhere(o, g.Name, len(call.Args)) {
			call.Kwargs = append(call.Kwargs, exportir.Keyword{Name: g.Name, Value: a})
		} else {
			call.Args = append(call.Args, a)
		}
	}
	if o == nil {
		return
	}
	for _, a := range o.Schema().Arguments[min(len(call.Args), len(o.Schema().Arguments)):] {
		if _, optional := a.Type.(*types.Optional); optional && !a.HasDefault && !names[a.Name] {
			call.Kwargs = append(call.Kwargs, exportir.Keyword{Name: a.Name, Value: exportir.None})
		}
	}
}

// isElsewhere reports whether an operator takes the argument of a name in another place than that one.
func isElsewhere(o *ops.Operator, name string, place int) bool {
	return o != nil && o.Schema().ArgumentIndex(name) >= 0 && o.Schema().ArgumentIndex(name) != place
}

// fitting is an argument as an operator takes it: integers that PyTorch 2 lets be floats, such as corrections of variances, are integers.
func fitting(a exportir.Argument, o *ops.Operator, name string) exportir.Argument {
	if o == nil || a.Kind != exportir.FloatArgument || a.Float != math.Trunc(a.Float) {
		return a
	}
	i := o.Schema().ArgumentIndex(name)
	if i < 0 || !types.Equal(o.Schema().Arguments[i].Type, types.NewOptional(types.Int)) {
		return a
	}
	return exportir.OfInt(int64(a.Float))
}

// addCall adds a call that has its arguments, and nodes for the parts of what it gives.
func (s *scope) addCall(call *exportir.Node, n *node) {
	parts := partsOf(n.Outputs)
	if len(parts) == 1 && len(n.Outputs) == 1 && n.Outputs[0].kind != tensorsKind && valueName(parts[0]) != "" && (n.SingleReturn == nil || *n.SingleReturn) {
		call.Name = valueName(parts[0])
		call.Meta.Val = s.meaning(call.Name)
		s.add(call)
		return
	}
	if call.Name = n.Name; call.Name == "" { // archives before the version that names calls
		call.Name = s.freeName(call.Target)
	}
	s.add(call)
	whole := &exportir.Value{Kind: exportir.ListValue}
	for i, part := range parts {
		name := valueName(part)
		val := s.meaning(name)
		whole.Items = append(whole.Items, *val)
		if name != "" {
			meta := call.Meta
			meta.Val = val
			s.add(&exportir.Node{Op: exportir.CallFunction, Name: name, Target: "operator::getitem", Meta: meta,
				Args: []exportir.Argument{exportir.Ref(call.Name), exportir.OfInt(int64(i))}})
		}
	}
	if call.Meta.Val = whole; len(parts) == 0 {
		call.Meta.Val = &exportir.Value{Kind: exportir.NoneValue}
	}
}

// freeName is a name for a call that no node before it has.
func (s *scope) freeName(target string) string {
	_, name, _ := strings.Cut(target, "::")
	name, _, _ = strings.Cut(name, ".")
	for name += "_whole"; s.to.Node(name) != nil; {
		name += "_"
	}
	return name
}

// partsOf lists what a call gives one by one.
func partsOf(outputs []union) []union {
	if len(outputs) != 1 || outputs[0].kind != tensorsKind {
		return outputs
	}
	return itemsOf(outputs[0], "as_tensor")
}

// meaning is what a value of the graph is, as the archive says it.
func (s *scope) meaning(name string) *exportir.Value {
	if t, known := s.from.Tensors[name]; known {
		return s.tensorValue(&t)
	}
	if size, known := s.from.Ints[name]; known {
		v := &exportir.Value{Kind: exportir.IntValue}
		if n, ok := s.size(size); ok {
			v.Int = &n
		}
		return v
	}
	if _, known := s.from.Floats[name]; known {
		return &exportir.Value{Kind: exportir.FloatValue}
	}
	if _, known := s.from.Bools[name]; known {
		return &exportir.Value{Kind: exportir.BoolValue}
	}
	return &exportir.Value{Kind: exportir.NoneValue}
}

// tensorValue describes a tensor; one with sizes that there is no form of is described as none.
func (r *reader) tensorValue(t *tensorMeta) *exportir.Value {
	v := &exportir.Value{Kind: exportir.TensorValue, DType: source.Must(dtypeOf(t.DType)).String(), Device: t.Device.String(), Grad: t.RequiresGrad}
	sizes, known := r.sizes(t.Sizes)
	if !known {
		return &exportir.Value{Kind: exportir.NoneValue}
	}
	v.Sizes = sizes
	if strides, known := r.sizes(t.Strides); known {
		v.Strides = strides
	}
	return v
}

func (r *reader) sizes(given []union) (sizes []symbolic.Size, known bool) {
	sizes = []symbolic.Size{}
	for _, u := range given {
		n, ok := r.size(u)
		if !ok {
			return nil, false
		}
		sizes = append(sizes, n)
	}
	return sizes, true
}

// size reads a size; ok is false where there is no form of it here.
func (r *reader) size(u union) (n symbolic.Size, ok bool) {
	if u.kind == "as_int" {
		return symbolic.Constant(read[int](u)), true
	}
	if u.kind != "as_expr" {
		return n, false
	}
	content := read[symExpr](u)
	if n, ok = parseExpression(content.Text); !ok {
		return n, false
	}
	n.Symbols(func(name string) { r.symbols[name] = true })
	if _, known := r.hints[n.Name]; n.Name != "" && !known && content.Hint != nil && content.Hint.kind == "as_int" {
		r.hints[n.Name] = read[int](*content.Hint)
	}
	return n, true
}

// place says where a call comes from.
func (r *reader) place(metadata map[string]string) exportir.Meta {
	var frames strings.Builder
	for line := range strings.Lines(metadata["stack_trace"]) {
		if strings.HasPrefix(line, "File") {
			frames.WriteString("  ")
		}
		frames.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	var scope []string
	for entry := range strings.SplitSeq(metadata["nn_module_stack"], ";") {
		_, rest, ok := strings.Cut(entry, ",")
		comma := strings.LastIndexByte(rest, ',')
		if !ok || comma < 0 {
			continue
		}
		path := rest[:comma]
		r.modules[path] = rest[comma+1:]
		scope = append(scope, strings.TrimSuffix("__module."+path, "."))
	}
	return exportir.Meta{Stack: frames.String(), Scope: strings.Join(scope, "/")}
}
