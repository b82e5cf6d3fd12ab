package tracing

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/modules"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// exportFunctions capture programs as Export IR. Programs go between Python and the library as JSON.
var exportFunctions = []abi.Function{
	{Schema: "export_begin(list inputs, bool fixed_sizes) -> None", Run: exportBegin},
	{Schema: "export_end(list results, str options) -> any", Run: exportEnd},
	{Schema: "export_script(any module, list args, list inputs, str options) -> any", Run: exportScript},
	{Schema: "export_check(str program) -> None", Run: exportCheck},
	{Schema: "export_active() -> bool", Run: exportActive},
	{Schema: "export_save(str path, str program, dict tensors, dict extra, bool for_pytorch=False, object? progress=None) -> None", Run: exportSave},
	{Schema: "export_bytes(str program, dict tensors, dict extra, bool for_pytorch=False) -> bytes", Run: exportBytes},
	{Schema: "export_load(str path, object? progress=None) -> any", Run: exportLoad},
	{Schema: "export_read(bytes data) -> any", Run: exportRead},
	{Schema: "export_function(str program) -> any", Run: exportFunction},
	{Schema: "export_guard(str inputs) -> any", Run: exportGuard},
	{Schema: "export_check_that(Tensor condition, str message) -> None", Run: exportCheckThat},
	{Schema: "export_begin_if(Tensor predicate) -> None", Run: exportBeginIf},
	{Schema: "export_begin_map(list over) -> list", Run: exportBeginMap},
	{Schema: "export_begin_while(list carried) -> list", Run: exportBeginWhile},
	{Schema: "export_begin_scan(list carried, list over) -> list", Run: exportBeginScan},
	{Schema: "export_end_block(list results, bool further) -> list", Run: exportEndBlock},
}

// exportBegin begins an exact trace whose inputs are tensors that the program has; None stands for an input that is no tensor.
func exportBegin(c *abi.Call) error {
	if c.Thread.Recorder != nil {
		return abi.RuntimeErrorf("Tracing can't be nested")
	}
	r := trace.NewRecorder(abi.PythonHost{Thread: c.Thread})
	r.Exact, r.FixedSizes = true, c.ArgBool(1)
	t := c.Thread
	enabled := t.Mode.GradEnabled()
	r.NoGrad = func() bool { return enabled && !t.Mode.GradEnabled() }
	for w := range c.Arg(0).Items {
		v, err := abi.PlainValue(w)
		if err != nil {
			return err
		}
		if v.IsTensor() {
			w.Keep()
		}
		r.Bind("", v)
	}
	c.Thread.BeginRecorder(r)
	c.None()
	return nil
}

// exportOptions is what Python says of a program that has been traced. A value is given where an input is no tensor.
type exportOptions struct {
	Inputs []struct {
		exportir.InputSpec
		Dims map[int]symbolic.Size `json:"dims"`
	} `json:"inputs"`
	Results []struct {
		exportir.OutputSpec
		Value *exportir.Argument `json:"value"`
	} `json:"results"`
	Symbols []exportir.Symbol `json:"symbols"`
	Bare    bool              `json:"bare"`
	InSpec  string            `json:"in_spec"`
	OutSpec string            `json:"out_spec"`
	Modules map[string]string `json:"modules"`
}

// exportEnd ends an exact trace. It replies the program and the tensors that became inputs because the program used them.
func exportEnd(c *abi.Call) error {
	r := c.Thread.Recorder
	if r == nil || !r.Exact {
		return abi.RuntimeErrorf("no program is being exported")
	}
	defer c.Thread.EndRecorder()
	var given exportOptions
	if err := json.Unmarshal([]byte(c.ArgText(1)), &given); err != nil {
		return abi.RuntimeErrorf("the options of the export cannot be read: %s", err)
	}
	results, err := c.ArgValues(0)
	if err != nil {
		return err
	}
	g, err := r.FinishExact(results)
	if err != nil {
		return err
	}
	o := given.options()
	for i, v := range g.Inputs()[:len(given.Inputs)] {
		o.Inputs[i].Parameter = v
		o.Inputs[i].Value = r.Example(i)
		if in := given.Inputs[i].Constant; in != nil {
			if o.Inputs[i].Value, err = in.Value(); err != nil {
				return err
			}
		}
	}
	o.Lift(r.Lifted, g.Inputs()[len(given.Inputs):])
	passes.Inline(g)
	p, err := export.Capture(g, o)
	if err != nil {
		return fromUser(err)
	}
	p.InSpec, p.OutSpec, p.Modules = given.InSpec, given.OutSpec, given.Modules
	return program(c, p, r.Lifted)
}

// fromUser gives an error of a capture the calls that led to its place, which Python shows.
func fromUser(err error) error {
	var e *source.Error
	if !errors.As(err, &e) || !e.Range.IsValid() || !strings.Contains(e.Range.Text.Body, "): ") {
		return err
	}
	own := *e
	own.Range = source.Range{}
	own.Text += "\n\nfrom user code:\n" + e.Range.Text.Body
	return &own
}

// exportScript captures the method forward of a compiled module. inputs are the tensors of the inputs, None for others.
func exportScript(c *abi.Call) error {
	self, err := modules.ArgInstance(c, 0)
	if err != nil {
		return err
	}
	f, ok := self.Class.FindMethod("forward").(*ir.Function)
	if !ok {
		return abi.RuntimeErrorf("the module has no method forward")
	}
	if err := f.EnsureDefined(); err != nil {
		return err
	}
	var given exportOptions
	if err := json.Unmarshal([]byte(c.ArgText(3)), &given); err != nil {
		return abi.RuntimeErrorf("the options of the export cannot be read: %s", err)
	}
	o := given.options()
	i := 0
	for w := range c.Arg(2).Items {
		if o.Inputs[i].Value, err = abi.PlainValue(w); err != nil {
			return err
		}
		if in := given.Inputs[i].Constant; in != nil {
			if o.Inputs[i].Value, err = in.Value(); err != nil {
				return err
			}
		}
		i++
	}
	o.Script = &export.Script{Self: self}
	for w := range c.Arg(1).Items {
		p := &f.Schema.Arguments[1+len(o.Script.Arguments)]
		v := p.Default
		if w.Kind() != abi.KindEllipsis {
			if v, err = abi.ToValue(w, p.Type, -1); err != nil {
				return err
			}
		}
		o.Script.Arguments = append(o.Script.Arguments, v)
	}
	g := f.Graph().Copy()
	passes.Inline(g)
	p, err := export.Capture(g, o)
	if err != nil {
		return err
	}
	p.InSpec, p.Modules = given.InSpec, given.Modules
	return program(c, p, nil)
}

// program replies a program and tensors.
func program(c *abi.Call, p *exportir.Program, tensors []*tensor.Tensor) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	c.Open(abi.KindTuple, 2)
	c.String(string(text))
	return keptTensors(c, tensors)
}

func (given *exportOptions) options() *export.Options {
	o := &export.Options{Symbols: given.Symbols, Bare: given.Bare}
	for _, in := range given.Inputs {
		o.Inputs = append(o.Inputs, export.Input{Spec: in.InputSpec, Dims: in.Dims})
	}
	for _, out := range given.Results {
		o.Results = append(o.Results, export.Result{Spec: out.OutputSpec, Constant: out.Value})
	}
	return o
}

// argProgram reads the program in an argument.
func argProgram(c *abi.Call, i int) (*exportir.Program, error) {
	return exportir.Parse([]byte(c.ArgText(i)))
}

func exportCheck(c *abi.Call) error {
	p, err := argProgram(c, 0)
	if err != nil {
		return err
	}
	c.None()
	return p.Check()
}

func exportActive(c *abi.Call) error {
	c.Bool(c.Thread.Recorder != nil && c.Thread.Recorder.Exact)
	return nil
}

// exportRecorder returns the recorder of the exact trace that is being recorded.
func exportRecorder(c *abi.Call) (*trace.Recorder, error) {
	if r := c.Thread.Recorder; r != nil && r.Exact {
		return r, nil
	}
	return nil, abi.RuntimeErrorf("no program is being exported")
}

func exportBeginIf(c *abi.Call) error {
	r, err := exportRecorder(c)
	if err != nil {
		return err
	}
	c.None()
	return r.BeginIf(c.ArgTensor(0))
}

func exportCheckThat(c *abi.Call) error {
	r, err := exportRecorder(c)
	if err != nil {
		return err
	}
	c.None()
	return r.Check(c.ArgTensor(0), c.ArgString(1))
}

// exportBlock returns the function that begins or ends a block of the program with the tensors of its first arguments, so many lists, and
// replies those that the program has then.
func exportBlock(lists int, step func(c *abi.Call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error)) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		r, err := exportRecorder(c)
		if err != nil {
			return err
		}
		given := make([][]*tensor.Tensor, lists)
		for i := range given {
			if given[i], err = c.ArgTensors(i); err != nil {
				return err
			}
		}
		own, err := step(c, r, given)
		if err != nil {
			return err
		}
		return keptTensors(c, own)
	}
}

var (
	exportBeginMap = exportBlock(1, func(_ *abi.Call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.BeginMap(given[0])
	})
	exportBeginWhile = exportBlock(1, func(_ *abi.Call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.BeginWhile(given[0])
	})
	exportBeginScan = exportBlock(2, func(_ *abi.Call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.BeginScan(given[0], given[1])
	})
	exportEndBlock = exportBlock(1, func(c *abi.Call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.EndBlock(given[0], c.ArgBool(1))
	})
)

// keptTensors replies tensors that a trace knows.
func keptTensors(c *abi.Call, ts []*tensor.Tensor) error {
	c.Open(abi.KindList, len(ts))
	for _, t := range ts {
		if err := c.KeptValue(value.OfTensor(t)); err != nil {
			return err
		}
	}
	return nil
}

// argArchive reads an archive's program and tensors by their names from three arguments.
func argArchive(c *abi.Call, program, tensors, extra int) (*exportir.Archive, error) {
	p, err := argProgram(c, program)
	if err != nil {
		return nil, err
	}
	a := &exportir.Archive{Program: p, Tensors: map[string]*tensor.Tensor{}}
	for name, item := range c.Arg(tensors).Entries {
		t := item.Tensor()
		if t == nil {
			return nil, abi.TypeErrorf("%q is no tensor", name)
		}
		a.Tensors[strings.Clone(name)] = t
	}
	a.Extra, err = modules.ArgFiles(c, extra)
	return a, err
}

func exportSave(c *abi.Call) error {
	a, err := argArchive(c, 1, 2, 3)
	if err != nil {
		return err
	}
	path, forPyTorch, progress := c.ArgString(0), c.ArgBool(4), modules.ArgProgress(c, 5)
	c.None()
	return c.WithoutGIL(func() error {
		if forPyTorch {
			return export.SaveForPyTorch(a, path, progress)
		}
		return a.SaveReporting(path, progress)
	})
}

func exportBytes(c *abi.Call) error {
	a, err := argArchive(c, 0, 1, 2)
	if err != nil {
		return err
	}
	write := a.Write
	if c.ArgBool(3) {
		write = func() ([]byte, error) { return export.WriteForPyTorch(a) }
	}
	data, err := write()
	if err != nil {
		return err
	}
	c.Bytes(abi.KindBytes, string(data))
	return nil
}

func exportLoad(c *abi.Call) error {
	path, progress := c.ArgString(0), modules.ArgProgress(c, 1)
	return archive(c, func() (*exportir.Archive, error) { return export.LoadArchive(path, progress) })
}

func exportRead(c *abi.Call) error {
	data := []byte(c.ArgText(0))
	return archive(c, func() (*exportir.Archive, error) { return export.ReadArchive(data) })
}

// archive reads an archive without the GIL and replies the program, the tensors and the extra files.
func archive(c *abi.Call, read func() (*exportir.Archive, error)) error {
	var a *exportir.Archive
	err := c.WithoutGIL(func() (err error) {
		a, err = read()
		return err
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(a.Program)
	if err != nil {
		return err
	}
	c.Open(abi.KindTuple, 3)
	c.String(string(text))
	c.Open(abi.KindDict, len(a.Tensors))
	for name, t := range a.Tensors {
		c.String(name)
		c.Tensor(t)
	}
	c.Open(abi.KindDict, len(a.Extra))
	for name, data := range a.Extra {
		c.String(name)
		c.Bytes(abi.KindBytes, string(data))
	}
	return nil
}

// exportFunction replies a function that runs a program: its parameters are the inputs of the graph, and it returns a tuple of the outputs. Errors
// and the casts of an autocast are those of the operators one by one.
func exportFunction(c *abi.Call) error {
	p, err := argProgram(c, 0)
	if err != nil {
		return err
	}
	f, err := export.Function(p, abi.Program.Mangle("__torch__.exported"))
	if err != nil {
		return err
	}
	f.IgnoresAutocast.Store(true)
	c.ScriptFunction(&scripts.Function{Function: f, AsOperators: true})
	return nil
}

// guard compares tensors with those that a program was captured for. A call with the tensors replies None where they fit, else the place of one among
// them and the text of what is wrong, which has %s where it is named.
type guard struct{ *export.Guard }

func exportGuard(c *abi.Call) error {
	var form struct {
		Inputs  []*exportir.Value `json:"inputs"`
		Symbols []exportir.Symbol `json:"symbols"`
	}
	if err := json.Unmarshal([]byte(c.ArgText(0)), &form); err != nil {
		return abi.ValueErrorf("the inputs cannot be read: %s", err)
	}
	c.ScriptFunction(&guard{export.NewGuard(form.Inputs, form.Symbols)})
	return nil
}

// CallableName implements abi.Callable.
func (g *guard) CallableName() string { return "guard" }

// Call implements abi.Callable.
func (g *guard) Call(c *abi.Call) error {
	var space [8]*tensor.Tensor
	given := space[:0]
	w := c.Args
	for range c.Positional {
		given = append(given, w.Tensor())
		w = w.Next()
	}
	if len(given) != g.Inputs() || c.Keywords > 0 {
		return abi.TypeErrorf("a guard of %d inputs is called with %d", g.Inputs(), c.Positional)
	}
	wrong := g.Check(given)
	if wrong == nil {
		c.None()
		return nil
	}
	c.Open(abi.KindTuple, 2)
	c.Int(wrong.Input)
	c.String(wrong.Text)
	return nil
}
