package aten

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestMain(m *testing.M) {
	if err := ops.Register(Operators()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// encoded is a value as testdata/make_golden.py writes it.
type encoded struct {
	Ref    string            `json:"ref"`
	DType  string            `json:"t"`
	Shape  []int             `json:"s"`
	Data   []json.RawMessage `json:"v"`
	Float  json.RawMessage   `json:"f"`
	C      []float64         `json:"c"`
	Type   string            `json:"dtype"`
	Format string            `json:"format"`
}

func parseNumber(t *testing.T, raw json.RawMessage) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (e *encoded) tensor(t *testing.T) *tensor.Tensor {
	t.Helper()
	d, ok := tensor.ParseDType(e.DType)
	if !ok {
		t.Fatalf("no dtype %q", e.DType)
	}
	data := make([]float64, len(e.Data))
	for i, raw := range e.Data {
		data[i] = parseNumber(t, raw)
	}
	shape := e.Shape
	if d.IsComplex() {
		pairs, err := tensor.FromSlice(data, append(append([]int(nil), shape...), 2)...)
		if err != nil {
			t.Fatal(err)
		}
		return elementwise.To(source.Must(pairs.ViewAsComplex()), d)
	}
	x, err := tensor.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return elementwise.To(x, d)
}

// decode reads a value; fresh makes tensors that are written by nobody else.
func decode(t *testing.T, raw json.RawMessage, inputs map[string]*encoded) value.Value {
	t.Helper()
	text := string(raw)
	switch {
	case text == "null":
		return value.None
	case text == "true" || text == "false":
		return value.Bool(text == "true")
	case text[0] == '"':
		s, _ := strconv.Unquote(text)
		return value.Str(s)
	case text[0] == '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			t.Fatal(err)
		}
		l := value.NewList(types.Int)
		for _, item := range items {
			l.Items = append(l.Items, decode(t, item, inputs))
		}
		return value.OfList(l)
	case text[0] == '{':
		var e encoded
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Ref != "":
			return value.OfTensor(inputs[e.Ref].tensor(t))
		case e.Type != "":
			d, _ := tensor.ParseDType(e.Type)
			return value.Int(int64(d))
		case e.Format != "":
			return value.Int(map[string]int64{"contiguous_format": 0, "preserve_format": 1, "channels_last": 2}[e.Format])
		case e.C != nil:
			return value.Complex(complex(e.C[0], e.C[1]))
		case e.Float != nil:
			return value.Float(parseNumber(t, e.Float))
		}
		return value.OfTensor(e.tensor(t))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value.Int(n)
}

type goldenCall struct {
	Op     string
	Args   []json.RawMessage
	Out    json.RawMessage
	Error  []string
	Writes bool
}

func (g *goldenCall) arguments(t *testing.T, o *ops.Operator, inputs map[string]*encoded) []value.Value {
	t.Helper()
	formal := o.Schema().Arguments
	args := make([]value.Value, len(formal))
	for i := range formal {
		if i < len(g.Args) {
			args[i] = decode(t, g.Args[i], inputs)
			if formal[i].Type.String() == "float" && args[i].IsInt() {
				args[i] = value.Float(float64(args[i].Int()))
			}
		} else {
			args[i] = formal[i].Default
		}
	}
	return args
}

// run calls an operator; the results of several returns come as a tuple's items.
func run(o *ops.Operator, args []value.Value) ([]value.Value, error) {
	rng.Default().Seed(5)
	out := make([]value.Value, len(o.Schema().Returns))
	err := o.Run(args, out)
	return out, err
}

func TestAgainstPyTorch(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases_*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, path := range paths {
		var file struct {
			Inputs map[string]*encoded
			Calls  []goldenCall
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for i := range file.Calls {
			checkCall(t, &file.Calls[i], file.Inputs)
		}
	}
}

func checkCall(t *testing.T, g *goldenCall, inputs map[string]*encoded) {
	t.Helper()
	var args strings.Builder
	for _, a := range g.Args {
		args.WriteString(string(a) + " ")
	}
	label := g.Op + " " + args.String()
	if len(label) > 200 {
		label = label[:200]
	}
	o := ops.Find("aten::" + g.Op)
	if o == nil || o.Run == nil {
		t.Errorf("%s: not implemented", label)
		return
	}
	actual := g.arguments(t, o, inputs)
	out, err := run(o, actual)
	if g.Error != nil {
		switch {
		case err == nil:
			t.Errorf("%s: no error, want %s: %s", label, g.Error[0], g.Error[1])
		case err.Error() != g.Error[1] || string(source.ClassOf(err)) != g.Error[0]:
			t.Errorf("%s:\n got %s: %v\nwant %s: %s", label, source.ClassOf(err), err, g.Error[0], g.Error[1])
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", label, err)
		return
	}
	expect := []json.RawMessage{g.Out}
	if len(out) != 1 {
		expect = nil
		if err := json.Unmarshal(g.Out, &expect); err != nil {
			t.Fatal(err)
		}
	}
	for i := range out {
		sameResult(t, label, out[i], decode(t, expect[i], inputs))
	}
	if !g.Writes {
		checkVariants(t, g, label, inputs, out)
	}
}

// checkVariants runs the in-place and out= overloads derived from the functional one.
func checkVariants(t *testing.T, g *goldenCall, label string, inputs map[string]*encoded, want []value.Value) {
	t.Helper()
	inPlaceName, outName := ops.Forms("aten::" + g.Op)
	functional := ops.Find("aten::" + g.Op)
	if o := ops.Find("aten::" + inPlaceName); inPlaceName != "" && o != nil && o.Run != nil && want[0].IsTensor() {
		args := g.arguments(t, functional, inputs)
		self, r := args[0].Tensor(), want[0].Tensor()
		if args[0].IsTensor() && self.DType() == r.DType() && tensor.SameShape(self.Shape(), r.Shape()) && !o.IsNondeterministic() {
			out, err := run(o, args)
			if err != nil {
				t.Errorf("%s in place: %v", label, err)
			} else if out[0].Tensor() != self {
				t.Errorf("%s in place gives another tensor", label)
			} else {
				sameResult(t, label+"in place", out[0], want[0])
			}
		}
	}
	if o := ops.Find("aten::" + outName); outName != "" && o != nil && o.Run != nil && want[0].IsTensor() {
		args := g.arguments(t, functional, inputs)
		for _, w := range want {
			args = append(args, value.OfTensor(define.Empty([]int{0}, w.Tensor().DType())))
		}
		if len(args) != len(o.Schema().Arguments) || o.IsNondeterministic() {
			return
		}
		out, err := run(o, args)
		if err != nil {
			t.Errorf("%s out=: %v", label, err)
			return
		}
		for i := range out {
			sameResult(t, label+"out=", out[i], want[i])
		}
	}
}

var tolerances = map[tensor.DType]float64{tensor.Float32: 2e-5, tensor.Float64: 1e-9, tensor.Float16: 5e-3, tensor.BFloat16: 3e-2,
	tensor.Complex64: 2e-5, tensor.Complex128: 1e-9}

func sameResult(t *testing.T, label string, got, want value.Value) {
	t.Helper()
	switch {
	case want.Kind() == value.KindList:
		if got.Kind() != value.KindList || len(got.List().Items) != len(want.List().Items) {
			t.Errorf("%s: got %s", label, got.Kind())
			return
		}
		for i := range want.List().Items {
			sameResult(t, label, got.List().Items[i], want.List().Items[i])
		}
	case want.IsTensor():
		if !got.IsTensor() {
			t.Errorf("%s: got %s, want a tensor", label, got.Kind())
			return
		}
		sameTensor(t, label, got.Tensor(), want.Tensor())
	case want.IsFloat() || want.Kind() == value.KindComplex:
		if math.Abs(define.FloatOf(got)-define.FloatOf(want)) > 1e-5*math.Abs(define.FloatOf(want)) {
			t.Errorf("%s: got %v, want %v", label, define.FloatOf(got), define.FloatOf(want))
		}
	default:
		if !value.Same(got, want) {
			t.Errorf("%s: got %s, want %s", label, value.Repr(got, nil), value.Repr(want, nil))
		}
	}
}

func sameTensor(t *testing.T, label string, got, want *tensor.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || !tensor.SameShape(got.Shape(), want.Shape()) {
		t.Errorf("%s: got %s of %s, want %s of %s", label, define.ShapeText(got.Shape()), got.DType(), define.ShapeText(want.Shape()), want.DType())
		return
	}
	tolerance := tolerances[want.DType()]
	if want.DType().IsComplex() {
		got, want = source.Must(got.ViewAsReal()), source.Must(elementwise.Contiguous(want).ViewAsReal())
	}
	a := tensor.Data[float64](elementwise.Contiguous(elementwise.To(got, tensor.Float64)))
	b := tensor.Data[float64](elementwise.Contiguous(elementwise.To(want, tensor.Float64)))
	for i := range b {
		if a[i] == b[i] || a[i] != a[i] && b[i] != b[i] {
			continue
		}
		if d := math.Abs(a[i] - b[i]); !(d <= tolerance*math.Max(1, math.Abs(b[i]))) {
			t.Errorf("%s:\n got %s\nwant %s", label, got, want)
			return
		}
	}
}
