package abi

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pythonPlaces are the places of traces by the calls that lead to them, while a thread records. The GIL guards them.
var pythonPlaces struct {
	texts     map[string]*source.Text
	recorders int
}

// DispatchModes is the number of Python's modes that see operators below autograd, in all threads. The GIL guards it.
var DispatchModes int

// recorders is how many threads record and how many modes see operators.
func recorders() int { return pythonPlaces.recorders + DispatchModes }

// NoteRecorders tells the embedder how many look at what it could answer without asking.
func NoteRecorders() { Attached.SetRecorders(recorders()) }

// BeginRecorder has the thread record what it does.
func (h *Thread) BeginRecorder(r *trace.Recorder) {
	h.Recorder = r
	pythonPlaces.recorders++
	NoteRecorders()
}

// EndRecorder ends the recording of the thread, if there is one.
func (h *Thread) EndRecorder() {
	if h.Recorder == nil {
		return
	}
	h.Recorder = nil
	if pythonPlaces.recorders--; pythonPlaces.recorders == 0 {
		pythonPlaces.texts = nil
	}
	NoteRecorders()
}

// PythonHost tells recorders where the Python program is.
type PythonHost struct{ Thread *Thread }

// Place implements trace.Host.
func (PythonHost) Place() source.Range {
	var file, stack string
	var line int
	err := Host.Invoke("trace_place", 0, nil, func(w *Word) error {
		if w.Kind() != KindTuple || w.Count() != 3 {
			return nil
		}
		x := w.After(1)
		file, x = strings.Clone(x.Text()), x.Next()
		line, x = int(x.Int()), x.Next()
		stack = strings.Clone(x.Text())
		return nil
	})
	if err != nil || stack == "" {
		return source.Range{}
	}
	t := pythonPlaces.texts[stack]
	if t == nil {
		t = source.NewText(file, stack, line)
		if pythonPlaces.texts == nil {
			pythonPlaces.texts = map[string]*source.Text{}
		}
		pythonPlaces.texts[stack] = t
	}
	return source.Range{Text: t, Start: 0, End: len(stack)}
}

// Name implements trace.Host.
func (h PythonHost) Name(t *tensor.Tensor) string {
	if h.Thread.Nameless || t.PyObject() == 0 {
		return ""
	}
	var name string
	_ = Host.Invoke("trace_name", 1, func(w *Writer) { _ = w.Value(value.OfTensor(t)) }, func(w *Word) error {
		name = strings.Clone(w.Text())
		return nil
	})
	return name
}

// Warn implements trace.Host.
func (PythonHost) Warn(text string) error {
	return Host.Invoke("trace_warn_text", 1, func(w *Writer) { w.String(text) }, nil)
}

// WarnTraced tells, while a trace is being recorded, that what the program does now with a tensor is not recorded. An exact trace
// notes it.
func (h *Thread) WarnTraced(t *tensor.Tensor, what string) error {
	if h.Recorder == nil {
		return nil
	}
	if h.Recorder.Exact {
		h.Recorder.Observe(t, what)
		return nil
	}
	return Host.Invoke("trace_warn", 1, func(w *Writer) { w.String(what) }, nil)
}

// ElementTraced is told that the program makes a number of a tensor's only element. In an exact trace it returns the tensor that stands for the number; else
// it warns, as it does of what no tensor can stand for.
func (h *Thread) ElementTraced(t *tensor.Tensor) (*tensor.Tensor, error) {
	if h.Recorder != nil && h.Recorder.Exact {
		if element := h.Recorder.Element(t); element != nil {
			return element, nil
		}
	}
	return nil, h.WarnTraced(t, "Converting a tensor to a Python number")
}

// NumberTraced is asked of each operator in a trace whether it makes a number of the elements of tensors, which the program takes for a constant: a trace
// warns. An exact one has a tensor in place of the number that one element is, which it puts among the results, and notes that the program depends on
// other elements; then the operator is done.
func (h *Thread) NumberTraced(op *ops.Operator, args, out []value.Value) (done bool, err error) {
	if len(out) != 1 || !ops.DependsOnElements(op.BaseName()) {
		return false, nil
	}
	kind := "number"
	switch out[0].Kind() {
	case value.KindBool:
		kind = "boolean"
	case value.KindInt, value.KindFloat, value.KindComplex:
	default:
		return false, nil
	}
	for _, arg := range args {
		if !arg.IsTensor() {
			continue
		}
		var element *tensor.Tensor
		if op.Schema().Returns[0].Type.Kind() == types.KindNumber {
			element, err = h.ElementTraced(arg.Tensor())
		} else {
			err = h.WarnTraced(arg.Tensor(), "Converting a tensor to a Python "+kind)
		}
		if element != nil {
			out[0] = value.OfTensor(element)
			return true, nil
		}
		if err != nil || !h.Recorder.Exact {
			return false, err
		}
	}
	return h.Recorder.Exact, nil
}

// Record adds a call of an operator to the trace that is being recorded, if there is one.
func (h *Thread) Record(op *ops.Operator, args, out []value.Value, given ...trace.Given) error {
	if h.Recorder == nil {
		return nil
	}
	KeepTensors(args)
	return h.Recorder.Record(op, args, out, given...)
}

// KeepTensors says of tensors that a trace has them: those that no operator of it made become
// constants of the graph.
func KeepTensors(vs []value.Value) {
	for _, v := range vs {
		switch v.Kind() {
		case value.KindTensor:
			if i := v.Tensor().PyObject(); i != 0 {
				slots[i].kept = true
			}
		case value.KindList:
			KeepTensors(v.List().Items)
		case value.KindTuple:
			KeepTensors(v.Tuple().Items)
		}
	}
}

// AppendGiven adds that a tensor was given for a number of an argument, if w is one.
func AppendGiven(given []trace.Given, argument, item int, t types.Type, w *Word) []trace.Given {
	x := w.Tensor()
	if x == nil || t.Kind() == types.KindTensor || t.Kind() == types.KindOptional {
		return given
	}
	return append(given, trace.Given{Argument: argument, Item: item, Kind: t.Kind(), Tensor: x})
}
