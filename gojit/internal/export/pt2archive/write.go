package pt2archive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Records are those of an archive that torch.export.load of PyTorch 2.15 reads. It fails on what PyTorch has no form of, and where the program lacks a
// tensor.
func Records(a *exportir.Archive) (records []archive.Record, err error) {
	defer source.Catch(&err)
	source.Throw(a.Program.CheckWriting())
	add := func(name string, data []byte) { records = append(records, archive.Record{Name: name, Data: data}) }
	add(".data/version", []byte("6\n"))
	add(formatRecord, []byte("pt2"))
	add("archive_version", []byte("0"))
	add("byteorder", []byte("little"))
	add(modelFolder+defaultModelName+modelEnd, source.Must(json.Marshal(programText(a.Program))))
	records = append(records, tensorRecords(a)...)
	add(exampleFolder+defaultModelName+exampleEnd, source.Must(archive.WriteSaved(exampleOf(a))))
	for name, data := range a.Extra {
		add(extraFolder+name, data)
	}
	return records, nil
}

// tensorRecords are the records of tensors: parameters and buffers of the state are weights, all others constants. Tensors that are one share a record.
func tensorRecords(a *exportir.Archive) (records []archive.Record) {
	weights := &tensorWriter{folder: weightFolder, name: "weight_", config: map[string]payloadEntry{}, written: map[*tensor.Tensor]string{}}
	constants := &tensorWriter{folder: constantFolder, name: "tensor_", config: map[string]payloadEntry{}, written: map[*tensor.Tensor]string{}}
	for _, in := range a.Program.Signature.Inputs {
		if in.Target == "" {
			continue
		}
		t := a.Tensors[in.Target]
		if t == nil {
			source.Throw(source.Errorf(source.KeyError, source.Range{}, "there is no tensor %s, which the program takes", in.Target))
		}
		w := constants
		if in.Kind == exportir.Parameter || in.Kind == exportir.Buffer && in.Persistent {
			w = weights
		}
		w.add(in, t)
	}
	return slices.Concat(weights.finish(weightsConfig), constants.finish(constantsConfig))
}

type tensorWriter struct {
	folder, name string
	config       map[string]payloadEntry
	written      map[*tensor.Tensor]string // the records of tensors
	records      []archive.Record
}

func (w *tensorWriter) add(in exportir.InputSpec, t *tensor.Tensor) {
	record, known := w.written[t]
	dense := source.Must(t.Contiguous())
	if !known {
		record = fmt.Sprintf("%s%d", w.name, len(w.records))
		w.written[t] = record
		w.records = append(w.records, archive.Record{Name: w.folder + record, Data: source.Must(dense.Bytes())})
	}
	meta := &tensorMeta{DType: dtypeNumber(dense.DType().String()), RequiresGrad: t.RequiresGrad(), Device: deviceOf(t.Device().String()), Offset: ofInt(0), Layout: stridedLayout, Sizes: []union{}, Strides: []union{}}
	for d, n := range dense.Shape() {
		meta.Sizes, meta.Strides = append(meta.Sizes, ofInt(n)), append(meta.Strides, ofInt(dense.Strides()[d]))
	}
	w.config[in.Target] = payloadEntry{Record: record, IsParameter: in.Kind == exportir.Parameter, Meta: meta}
}

func (w *tensorWriter) finish(config string) []archive.Record {
	text := source.Must(json.Marshal(payload{w.config}))
	return append(w.records, archive.Record{Name: w.folder + defaultModelName + config, Data: text})
}

// writer makes the form of PyTorch of a program.
type writer struct {
	program *exportir.Program
	names   map[string]string // of symbols
	hints   map[string]int    // of symbols by their names in PyTorch; those that elements tell have none
}

func programText(p *exportir.Program) *exportedProgram {
	w := &writer{program: p, names: map[string]string{}, hints: map[string]int{}}
	ranges := w.symbols()
	module := graphModule{Graph: w.graph(p.Graph), Metadata: map[string]string{}, NamedTuples: map[string]namedTuple{}}
	placeholders := p.Graph.Placeholders()
	for i, in := range p.Signature.Inputs {
		module.Signature.Inputs = append(module.Signature.Inputs, w.input(in, placeholders[i]))
	}
	for i, in := range p.Signature.Inputs {
		if in.Constant != nil {
			module.Graph.Inputs[i] = constant(*in.Constant)
		}
	}
	for i, out := range p.Signature.Outputs {
		result := module.Graph.Outputs[i]
		if result.kind == "as_string" {
			source.Throw(exportir.Violation("PyTorch 2.15 reads no program that gives a text"))
		}
		module.Signature.Outputs = append(module.Signature.Outputs, w.output(out, result))
	}
	module.writeContainers(p)
	return &exportedProgram{Module: module, Ranges: ranges, Opsets: map[string]int{"aten": 10}, Schema: schemaVersion{8, 20},
		Verifiers: []string{"TRAINING"}, TorchVersion: "2.15.0", Guards: []string{}}
}

// symbols names the symbols as PyTorch does: those of sizes of inputs and those that elements tell. It returns their ranges.
func (w *writer) symbols() map[string]interval {
	given := map[string]bool{}
	for _, n := range w.program.Graph.Placeholders() {
		if v := n.Meta.Val; v != nil {
			sizes := slices.Clone(v.Sizes)
			if v.Int != nil {
				sizes = append(sizes, *v.Int)
			}
			for _, s := range sizes {
				s.Symbols(func(name string) { given[name] = true })
			}
		}
	}
	ranges := map[string]interval{}
	for i, s := range w.program.Symbols {
		name := fmt.Sprintf("%c%d", unbacked, i)
		if given[s.Name] {
			name = fmt.Sprintf("%c%d", backed, i)
			w.hints[name] = s.Hint
		}
		w.names[s.Name] = name
		limits := interval{Min: &s.Lower}
		if s.Upper >= 0 {
			limits.Max = &s.Upper
		}
		ranges[name] = limits
	}
	return ranges
}

func unionOf(kind string, content any) union {
	return union{kind, source.Must(json.Marshal(content))}
}

func ofInt(n int) union { return unionOf("as_int", n) }

func (w *writer) input(in exportir.InputSpec, n *exportir.Node) union {
	arg := map[string]any{"name": in.Name}
	switch {
	case in.Kind == exportir.Parameter:
		return unionOf("parameter", map[string]any{"arg": arg, "parameter_name": in.Target})
	case in.Kind == exportir.Buffer:
		return unionOf("buffer", map[string]any{"arg": arg, "buffer_name": in.Target, "persistent": in.Persistent})
	case in.Kind == exportir.ConstantTensor:
		return unionOf("tensor_constant", map[string]any{"arg": arg, "tensor_constant_name": in.Target})
	case in.Constant != nil:
		return unionOf("constant_input", map[string]any{"name": in.Name, "value": constant(*in.Constant)})
	}
	return unionOf("user_input", map[string]any{"arg": valueText(in.Name, n.Meta.Val)})
}

func (w *writer) output(out exportir.OutputSpec, arg union) union {
	of := map[string]any{"name": out.Name}
	switch out.Kind {
	case exportir.BufferMutation:
		return unionOf("buffer_mutation", map[string]any{"arg": of, "buffer_name": out.Target})
	case exportir.UserInputMutation:
		return unionOf("user_input_mutation", map[string]any{"arg": of, "user_input_name": out.Target})
	}
	return unionOf("user_output", map[string]any{"arg": arg})
}

// valueText is a value of a graph as an argument.
func valueText(name string, v *exportir.Value) union {
	switch v.Kind {
	case exportir.IntValue:
		return unionOf("as_sym_int", unionOf("as_name", name))
	case exportir.FloatValue:
		return unionOf("as_sym_float", unionOf("as_name", name))
	case exportir.BoolValue:
		return unionOf("as_sym_bool", unionOf("as_name", name))
	}
	return unionOf("as_tensor", map[string]any{"name": name})
}

// scopeWriter writes one graph.
type scopeWriter struct {
	*writer
	from  *exportir.Graph
	to    *graph
	parts map[string][]string // the names of the parts of values that are several
	vals  map[string]*exportir.Value
}

// graph writes a graph.
func (w *writer) graph(g *exportir.Graph) *graph {
	s := &scopeWriter{writer: w, from: g, parts: map[string][]string{}, vals: map[string]*exportir.Value{}, to: &graph{
		Inputs: []union{}, Outputs: []union{}, Nodes: []node{}, Tensors: map[string]tensorMeta{}, Ints: map[string]union{}, Bools: map[string]union{},
		Floats: map[string]union{}, Objects: map[string]union{},
	}}
	for _, n := range g.Nodes {
		if n.Op != exportir.GetAttr {
			s.vals[n.Name] = s.valOf(n)
		}
		if n.Op == exportir.CallFunction && n.Target == getItem {
			s.part(n)
		}
	}
	for _, n := range g.Nodes {
		switch {
		case n.Op == exportir.Placeholder:
			s.to.Inputs = append(s.to.Inputs, valueText(n.Name, n.Meta.Val))
			s.describe(n, n.Name, n.Meta.Val)
		case n.Op == exportir.CallFunction && n.Target != getItem:
			s.node(n)
		}
	}
	for _, a := range g.Outputs() {
		s.to.Outputs = append(s.to.Outputs, s.argument(a, nil))
	}
	return s.to
}

const (
	getItem   = "operator::getitem"
	whileLoop = "higher_order::while_loop"
)

// part notes the name of a part of a value that is several.
func (s *scopeWriter) part(n *exportir.Node) {
	whole := n.Args[0].Text
	for int64(len(s.parts[whole])) <= n.Args[1].Int {
		s.parts[whole] = append(s.parts[whole], "")
	}
	s.parts[whole][n.Args[1].Int] = n.Name
	s.describe(n, n.Name, s.vals[n.Name])
}

// node writes a call. An error of it says which call it is of.
func (s *scopeWriter) node(n *exportir.Node) {
	defer func() {
		if err := source.Thrown(recover()); err != nil {
			source.Throw(exportir.Violation("%s, a call of %s: %s", n.Name, exportir.TargetText(n), err))
		}
	}()
	if isDropped(n.Target) {
		source.Throw(exportir.Violation("PyTorch 2.15 has no such operator"))
	}
	made := node{Target: targetText(n), Inputs: []namedArgument{}, Outputs: []union{}, Name: n.Name, Metadata: s.metadata(n)}
	var sch *schema.FunctionSchema
	if o := ops.Find(n.Target); o != nil {
		sch = o.Schema()
	}
	for i, a := range n.Args {
		name, t := parameter(sch, i)
		if strings.HasPrefix(n.Target, "operator::") {
			name = string(rune('a' + i))
		}
		made.Inputs = append(made.Inputs, namedArgument{name, s.argument(a, t), byPlace})
	}
	for _, k := range n.Kwargs {
		_, t := parameter(sch, sch.ArgumentIndex(k.Name))
		made.Inputs = append(made.Inputs, namedArgument{k.Name, s.argument(k.Value, t), byName})
	}
	if n.Target == aten.PrivateScaledDotProductAttention {
		made.Target = "torch.ops.aten._scaled_dot_product_attention_math.default" // which gives the weights always
		made.Inputs = slices.DeleteFunc(made.Inputs, func(a namedArgument) bool { return a.Name == "need_attn_weights" })
	}
	if n.Target == whileLoop { // whose condition is a tensor
		condition := read[graphArgument](made.Inputs[0].Argument)
		condition.Graph.SingleReturn = true
		made.Inputs[0].Argument = unionOf("as_graph", condition)
	}
	s.outputs(n, sch, &made)
	s.to.Nodes = append(s.to.Nodes, made)
}

func parameter(s *schema.FunctionSchema, i int) (string, types.Type) {
	if s == nil {
		return "", nil
	}
	return s.Arguments[i].Name, s.Arguments[i].Type
}

// outputs writes what a call gives.
func (s *scopeWriter) outputs(n *exportir.Node, sch *schema.FunctionSchema, made *node) {
	control := strings.HasPrefix(n.Target, "higher_order::")
	if control {
		one := false
		made.SingleReturn = &one
	}
	v := s.vals[n.Name]
	switch v.Kind {
	case exportir.NoneValue:
		return
	case exportir.ListValue:
	default:
		if control { // the one tensor of a tuple, which has the name that the call has here
			made.Name = n.Name + "_whole"
		}
		made.Outputs = append(made.Outputs, valueText(n.Name, v))
		s.describe(n, n.Name, v)
		return
	}
	var parts []union
	for i := range v.Items {
		name := ""
		if i < len(s.parts[n.Name]) {
			name = s.parts[n.Name][i]
		}
		if v.Items[i].Kind == exportir.NoneValue && name == "" {
			parts = append(parts, unionOf("as_none", true))
			continue
		}
		if name == "" {
			name = fmt.Sprintf("%s_unused_%d", n.Name, i)
			s.describe(n, name, &v.Items[i])
		}
		parts = append(parts, valueText(name, &v.Items[i]))
	}
	if sch != nil && len(sch.Returns) == 1 { // a list
		if slices.ContainsFunc(parts, func(u union) bool { return u.kind != "as_tensor" }) {
			source.Throw(exportir.Violation("PyTorch 2.15 has no form of a result that is a list of other values than tensors"))
		}
		made.Outputs = []union{unionOf(tensorsKind, contents(parts))}
		return
	}
	made.Outputs = parts
}

// contents are the contents of values of one kind.
func contents(of []union) []json.RawMessage {
	all := []json.RawMessage{}
	for _, u := range of {
		all = append(all, u.content)
	}
	return all
}

// argument writes an argument of a call; t is the type of the parameter, nil where it is not known.
func (s *scopeWriter) argument(a exportir.Argument, t types.Type) union {
	switch a.Kind {
	case exportir.NodeArgument:
		n := s.from.Node(a.Text)
		if n.Op == exportir.GetAttr {
			return unionOf("as_graph", graphArgument{n.Target, s.graph(s.from.Graph(n.Target))})
		}
		if v := s.vals[a.Text]; v.Kind == exportir.NoneValue || v.Kind == exportir.ListValue {
			source.Throw(exportir.Violation("PyTorch 2.15 needs to know what %s is, which the program does not say", a.Text))
		}
		return valueText(a.Text, s.vals[a.Text])
	case exportir.ListArgument, exportir.TupleArgument:
		return s.list(a, t)
	}
	return constant(a)
}

// list writes a list, whose kind is that of its items, or of the parameter where it has none.
func (s *scopeWriter) list(a exportir.Argument, t types.Type) union {
	kinds := map[string]bool{}
	var items []union
	for _, item := range a.Items {
		u := s.argument(item, nil)
		items = append(items, u)
		kinds[u.kind] = true
	}
	only := func(all ...string) bool {
		for kind := range kinds {
			if !slices.Contains(all, kind) {
				return false
			}
		}
		return true
	}
	switch {
	case len(items) == 0:
		return unionOf(emptyKind(t), contents(items))
	case only("as_tensor"):
		return unionOf(tensorsKind, contents(items))
	case only("as_tensor", "as_none"):
		return unionOf("as_optional_tensors", items)
	case only("as_int"):
		return unionOf("as_ints", contents(items))
	case only("as_float"):
		return unionOf("as_floats", contents(items))
	case only("as_bool"):
		return unionOf("as_bools", contents(items))
	case only("as_string"):
		return unionOf("as_strings", contents(items))
	case only("as_int", "as_sym_int"):
		return unionOf("as_sym_ints", names(items))
	case only("as_float", "as_sym_float"):
		return unionOf("as_sym_floats", names(items))
	case only("as_bool", "as_sym_bool"):
		return unionOf("as_sym_bools", names(items))
	}
	source.Throw(exportir.Violation("PyTorch 2.15 has no form of a list of values of several kinds"))
	return union{}
}

// emptyKind is the kind of a list of nothing: that of the parameter.
func emptyKind(t types.Type) string {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if l, ok := t.(*types.List); ok {
		switch l.Elem.Kind() {
		case types.KindInt:
			return "as_ints"
		case types.KindFloat:
			return "as_floats"
		case types.KindBool:
			return "as_bools"
		}
	}
	return tensorsKind
}

// names are values of the graph and constants, side by side in a list.
func names(items []union) []union {
	all := []union{}
	for _, item := range items {
		if strings.HasPrefix(item.kind, "as_sym_") {
			item = read[union](item)
		}
		all = append(all, item)
	}
	return all
}

// constant writes an argument that is a constant.
func constant(a exportir.Argument) union {
	switch a.Kind {
	case exportir.NoneArgument:
		return unionOf("as_none", true)
	case exportir.BoolArgument:
		return unionOf("as_bool", a.Int != 0)
	case exportir.IntArgument:
		return unionOf("as_int", a.Int)
	case exportir.FloatArgument:
		return unionOf("as_float", float(a.Float))
	case exportir.ComplexArgument:
		return unionOf("as_complex", map[string]float{"real": float(real(a.Complex)), "imag": float(imag(a.Complex))})
	case exportir.StringArgument:
		return unionOf("as_string", a.Text)
	case exportir.DTypeArgument:
		return unionOf("as_scalar_type", dtypeNumber(a.Text))
	case exportir.LayoutArgument:
		return unionOf("as_layout", numberOf(layouts, "layout", a.Text))
	case exportir.FormatArgument:
		return unionOf("as_memory_format", numberOf(memoryFormats, "memory format", a.Text))
	case exportir.DeviceArgument:
		return unionOf("as_device", deviceOf(a.Text))
	}
	source.Throw(exportir.Violation("PyTorch 2.15 has no form of an argument of the kind %s", a.Kind))
	return union{}
}

// valOf is what a node gives. Of numbers that are no integers of known expressions metadata need not tell: what computes them does.
func (s *scopeWriter) valOf(n *exportir.Node) *exportir.Value {
	name, isOperator := strings.CutPrefix(n.Target, "operator::")
	switch {
	case n.Meta.Val.Kind != exportir.NoneValue || n.Op != exportir.CallFunction:
	case isOperator && relations[name] != "":
		return &exportir.Value{Kind: exportir.BoolValue}
	case isOperator && name != "getitem":
		return &exportir.Value{Kind: exportir.FloatValue}
	case (n.Target == aten.Item || n.Target == aten.LocalScalarDense) && n.Args[0].Kind == exportir.NodeArgument:
		switch d, _ := tensor.ParseDType(s.vals[n.Args[0].Text].DType); {
		case d == tensor.Bool:
			return &exportir.Value{Kind: exportir.BoolValue}
		case d.IsFloating():
			return &exportir.Value{Kind: exportir.FloatValue}
		}
	}
	return n.Meta.Val
}

// relations are sympy's functions of comparisons.
var relations = map[string]string{
	"eq": "Equality", "ne": "Unequality", "lt": "StrictLessThan", "le": "LessThan", "gt": "StrictGreaterThan", "ge": "GreaterThan",
}

// describe says what a value is that a node gives, or a part of it.
func (s *scopeWriter) describe(n *exportir.Node, name string, v *exportir.Value) {
	switch v.Kind {
	case exportir.TensorValue:
		s.to.Tensors[name] = s.meta(v)
	case exportir.IntValue:
		if v.Int == nil {
			source.Throw(exportir.Violation("PyTorch 2.15 needs an expression of the integer %s", name))
		}
		s.to.Ints[name] = s.size(*v.Int)
	case exportir.FloatValue: // a symbol of its own
		s.to.Floats[name] = unionOf("as_expr", symExpr{Text: fmt.Sprintf("Symbol('zuf%d')", len(s.to.Floats))})
	case exportir.BoolValue:
		s.to.Bools[name] = unionOf("as_expr", symExpr{Text: s.relation(n)})
	}
}

// relation is the expression of a comparison of integers.
func (s *scopeWriter) relation(n *exportir.Node) string {
	function := relations[strings.TrimPrefix(n.Target, "operator::")]
	var operands []string
	for _, a := range n.Args {
		size := symbolic.Constant(int(a.Int))
		if a.Kind == exportir.NodeArgument && s.vals[a.Text].Int != nil {
			size = *s.vals[a.Text].Int
		} else if a.Kind != exportir.IntArgument {
			function = ""
		}
		operands = append(operands, expressionText(renamed(size, s.names)))
	}
	if function == "" {
		source.Throw(exportir.Violation("PyTorch 2.15 needs an expression of the truth value %s", n.Name))
	}
	return function + "(" + strings.Join(operands, ", ") + ")"
}

func (w *writer) meta(v *exportir.Value) tensorMeta {
	m := tensorMeta{DType: dtypeNumber(v.DType), RequiresGrad: v.Grad, Device: deviceOf(v.Device), Offset: ofInt(0), Layout: stridedLayout, Sizes: []union{}, Strides: []union{}}
	strides := v.Strides
	if strides == nil {
		strides = denseStrides(v.Sizes)
	}
	for i, n := range v.Sizes {
		m.Sizes, m.Strides = append(m.Sizes, w.size(n)), append(m.Strides, w.size(strides[i]))
	}
	return m
}

// denseStrides are those of a tensor without gaps.
func denseStrides(sizes []symbolic.Size) []symbolic.Size {
	strides := make([]symbolic.Size, len(sizes))
	step := symbolic.Constant(1)
	for i := len(sizes) - 1; i >= 0; i-- {
		strides[i] = step
		switch {
		case sizes[i].IsConstant() && step.IsConstant():
			step = symbolic.Constant(sizes[i].Const * step.Const)
		case step.IsConstant() && step.Const == 1:
			step = sizes[i]
		default:
			step = symbolic.Size{Op: "*", Args: []symbolic.Size{step, sizes[i]}}
		}
	}
	return strides
}

// size writes a size: a number, or an expression with what it was when the program was captured.
func (w *writer) size(s symbolic.Size) union {
	if s.IsConstant() {
		return ofInt(s.Const)
	}
	s = renamed(s, w.names)
	e := symExpr{Text: expressionText(s)}
	if n, err := s.Eval(w.hints); err == nil {
		hint := ofInt(n)
		e.Hint = &hint
	}
	return unionOf("as_expr", e)
}

// targetText is what a call calls, as PyTorch names it.
func targetText(n *exportir.Node) string {
	name, isOperator := strings.CutPrefix(n.Target, "operator::")
	if !isOperator {
		return exportir.TargetText(n)
	}
	for text, own := range functions {
		if own == name {
			return text
		}
	}
	return "_operator." + name
}

// metadata says where a call comes from.
func (w *writer) metadata(n *exportir.Node) map[string]string {
	stack := []string{}
	for path := range strings.SplitSeq(n.Meta.Scope, "/") {
		path = strings.TrimPrefix(strings.TrimPrefix(path, "__module"), ".")
		if class := w.program.Modules[path]; class != "" {
			stack = append(stack, "L__self__"+strings.ReplaceAll(path, ".", "_")+","+path+","+class)
		}
	}
	if len(stack) == 0 {
		stack = []string{"L__self__,,torch.nn.Module"}
	}
	made := map[string]string{"nn_module_stack": strings.Join(stack, ";")}
	if strings.HasPrefix(n.Meta.Stack, "  File") {
		made["stack_trace"] = strings.TrimPrefix(strings.TrimSuffix(strings.ReplaceAll(n.Meta.Stack, "\n  File", "\nFile"), "\n"), "  ")
	}
	return made
}

func dtypeNumber(name string) int { return numberOf(dtypes, "element type", name) }

// numberOf is the number that stands for something in a table.
func numberOf(table map[int]string, what, name string) int {
	for number, n := range table {
		if n == name {
			return number
		}
	}
	source.Throw(exportir.Violation("PyTorch 2.15 has no %s %s in archives", what, name))
	return 0
}

func deviceOf(name string) device {
	kind, index, indexed := strings.Cut(name, ":")
	d := device{Type: kind}
	if i, err := strconv.Atoi(index); indexed && err == nil {
		d.Index = &i
	}
	return d
}
