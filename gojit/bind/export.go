package bind

import (
	"encoding/json"
	"errors"
	"strings"

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
var exportFunctions = []function{
	{schema: "export_begin(list inputs, bool fixed_sizes) -> None", run: exportBegin},
	{schema: "export_end(list results, str options) -> any", run: exportEnd},
	{schema: "export_script(any module, list args, list inputs, str options) -> any", run: exportScript},
	{schema: "export_check(str program) -> None", run: exportCheck},
	{schema: "export_active() -> bool", run: exportActive},
	{schema: "export_save(str path, str program, dict tensors, dict extra, object? progress=None) -> None", run: exportSave},
	{schema: "export_bytes(str program, dict tensors, dict extra) -> bytes", run: exportBytes},
	{schema: "export_load(str path, object? progress=None) -> any", run: exportLoad},
	{schema: "export_read(bytes data) -> any", run: exportRead},
	{schema: "export_function(str program) -> any", run: exportFunction},
	{schema: "export_check_that(Tensor condition, str message) -> None", run: exportCheckThat},
	{schema: "export_begin_if(Tensor predicate) -> None", run: exportBeginIf},
	{schema: "export_begin_map(list over) -> list", run: exportBeginMap},
	{schema: "export_begin_while(list carried) -> list", run: exportBeginWhile},
	{schema: "export_begin_scan(list carried, list over) -> list", run: exportBeginScan},
	{schema: "export_end_block(list results, bool further) -> list", run: exportEndBlock},
}

// exportBegin begins an exact trace whose inputs are tensors that the program has; None stands for an input that is no tensor.
func exportBegin(c *call) error {
	if c.thread.recorder != nil {
		return runtimeErrorf("Tracing can't be nested")
	}
	r := trace.NewRecorder(pythonHost{c.thread})
	r.Exact, r.FixedSizes = true, c.argBool(1)
	t := c.thread
	enabled := t.mode.GradEnabled()
	r.NoGrad = func() bool { return enabled && !t.mode.GradEnabled() }
	for w := range c.arg(0).items {
		v, err := plainValue(w)
		if err != nil {
			return err
		}
		if v.IsTensor() {
			w.keep()
		}
		r.Bind("", v)
	}
	c.thread.beginRecorder(r)
	c.none()
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
func exportEnd(c *call) error {
	r := c.thread.recorder
	if r == nil || !r.Exact {
		return runtimeErrorf("no program is being exported")
	}
	defer c.thread.endRecorder()
	var given exportOptions
	if err := json.Unmarshal([]byte(c.argText(1)), &given); err != nil {
		return runtimeErrorf("the options of the export cannot be read: %s", err)
	}
	results, err := c.argValues(0)
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
	return c.program(p, r.Lifted)
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
func exportScript(c *call) error {
	self, err := c.argInstance(0)
	if err != nil {
		return err
	}
	f, ok := self.Class.FindMethod("forward").(*ir.Function)
	if !ok {
		return runtimeErrorf("the module has no method forward")
	}
	if err := f.EnsureDefined(); err != nil {
		return err
	}
	var given exportOptions
	if err := json.Unmarshal([]byte(c.argText(3)), &given); err != nil {
		return runtimeErrorf("the options of the export cannot be read: %s", err)
	}
	o := given.options()
	i := 0
	for w := range c.arg(2).items {
		if o.Inputs[i].Value, err = plainValue(w); err != nil {
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
	for w := range c.arg(1).items {
		p := &f.Schema.Arguments[1+len(o.Script.Arguments)]
		v := p.Default
		if w.kind() != kindEllipsis {
			if v, err = toValue(w, p.Type, -1); err != nil {
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
	return c.program(p, nil)
}

// program replies a program and tensors.
func (c *call) program(p *exportir.Program, tensors []*tensor.Tensor) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	c.open(kindTuple, 2)
	c.string(string(text))
	return c.keptTensors(tensors)
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
func (c *call) argProgram(i int) (*exportir.Program, error) {
	return exportir.Parse([]byte(c.argText(i)))
}

func exportCheck(c *call) error {
	_, err := c.argProgram(0)
	c.none()
	return err
}

func exportActive(c *call) error {
	c.bool(c.thread.recorder != nil && c.thread.recorder.Exact)
	return nil
}

// argTensors returns the tensors in a list.
func (c *call) argTensors(i int) ([]*tensor.Tensor, error) {
	var found []*tensor.Tensor
	for w := range c.arg(i).items {
		t := w.tensor()
		if t == nil {
			return nil, typeErrorf("expected tensors, not %s", w.kindName())
		}
		w.keep()
		found = append(found, t)
	}
	return found, nil
}

// exportRecorder returns the recorder of the exact trace that is being recorded.
func (c *call) exportRecorder() (*trace.Recorder, error) {
	if r := c.thread.recorder; r != nil && r.Exact {
		return r, nil
	}
	return nil, runtimeErrorf("no program is being exported")
}

func exportBeginIf(c *call) error {
	r, err := c.exportRecorder()
	if err != nil {
		return err
	}
	c.none()
	return r.BeginIf(c.argTensor(0))
}

func exportCheckThat(c *call) error {
	r, err := c.exportRecorder()
	if err != nil {
		return err
	}
	c.none()
	return r.Check(c.argTensor(0), c.argString(1))
}

// exportBlock returns the function that begins or ends a block of the program with the tensors of its first arguments, so many lists, and
// replies those that the program has then.
func exportBlock(lists int, step func(c *call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error)) func(c *call) error {
	return func(c *call) error {
		r, err := c.exportRecorder()
		if err != nil {
			return err
		}
		given := make([][]*tensor.Tensor, lists)
		for i := range given {
			if given[i], err = c.argTensors(i); err != nil {
				return err
			}
		}
		own, err := step(c, r, given)
		if err != nil {
			return err
		}
		return c.keptTensors(own)
	}
}

var (
	exportBeginMap = exportBlock(1, func(_ *call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.BeginMap(given[0])
	})
	exportBeginWhile = exportBlock(1, func(_ *call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.BeginWhile(given[0])
	})
	exportBeginScan = exportBlock(2, func(_ *call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.BeginScan(given[0], given[1])
	})
	exportEndBlock = exportBlock(1, func(c *call, r *trace.Recorder, given [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return r.EndBlock(given[0], c.argBool(1))
	})
)

// keptTensors replies tensors that a trace knows.
func (c *call) keptTensors(ts []*tensor.Tensor) error {
	c.open(kindList, len(ts))
	for _, t := range ts {
		if err := c.keptValue(value.OfTensor(t)); err != nil {
			return err
		}
	}
	return nil
}

// argArchive reads an archive's program and tensors by their names from three arguments.
func (c *call) argArchive(program, tensors, extra int) (*exportir.Archive, error) {
	p, err := c.argProgram(program)
	if err != nil {
		return nil, err
	}
	a := &exportir.Archive{Program: p, Tensors: map[string]*tensor.Tensor{}}
	for name, item := range c.arg(tensors).entries {
		t := item.tensor()
		if t == nil {
			return nil, typeErrorf("%q is no tensor", name)
		}
		a.Tensors[strings.Clone(name)] = t
	}
	a.Extra, err = c.argFiles(extra)
	return a, err
}

func exportSave(c *call) error {
	a, err := c.argArchive(1, 2, 3)
	if err != nil {
		return err
	}
	path, progress := c.argString(0), c.argProgress(4)
	c.none()
	return c.withoutGIL(func() error { return a.SaveReporting(path, progress) })
}

func exportBytes(c *call) error {
	a, err := c.argArchive(0, 1, 2)
	if err != nil {
		return err
	}
	data, err := a.Write()
	if err != nil {
		return err
	}
	c.bytes(kindBytes, string(data))
	return nil
}

func exportLoad(c *call) error {
	path, progress := c.argString(0), c.argProgress(1)
	return c.archive(func() (*exportir.Archive, error) { return exportir.Load(path, progress) })
}

func exportRead(c *call) error {
	data := []byte(c.argText(0))
	return c.archive(func() (*exportir.Archive, error) { return exportir.Read(data) })
}

// archive reads an archive without the GIL and replies the program, the tensors and the extra files.
func (c *call) archive(read func() (*exportir.Archive, error)) error {
	var a *exportir.Archive
	err := c.withoutGIL(func() (err error) {
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
	c.open(kindTuple, 3)
	c.string(string(text))
	c.open(kindDict, len(a.Tensors))
	for name, t := range a.Tensors {
		c.string(name)
		c.tensor(t)
	}
	c.open(kindDict, len(a.Extra))
	for name, data := range a.Extra {
		c.string(name)
		c.bytes(kindBytes, string(data))
	}
	return nil
}

// exportFunction replies a function that runs a program: its parameters are the inputs of the graph, and it returns a tuple of the outputs.
func exportFunction(c *call) error {
	p, err := c.argProgram(0)
	if err != nil {
		return err
	}
	f, err := export.Function(p, program.Mangle("__torch__.exported"))
	if err != nil {
		return err
	}
	c.scriptFunction(&scriptFunction{function: f})
	return nil
}
