package aten_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// array is a tensor in detection.json.
type array struct {
	Shape []int
	Data  []float32
}

// argument reads an argument of a case: an array, a truth value or a number by the operator's schema.
func argument(t *testing.T, text json.RawMessage, kind string) value.Value {
	t.Helper()
	var err error
	switch kind {
	case "Tensor":
		var a array
		if err = json.Unmarshal(text, &a); err == nil {
			x, failure := tensor.FromSlice(a.Data, a.Shape...)
			if failure != nil {
				t.Fatal(failure)
			}
			return value.OfTensor(x)
		}
	case "bool":
		var b bool
		if err = json.Unmarshal(text, &b); err == nil {
			return value.Bool(b)
		}
	case "int":
		var i int64
		if err = json.Unmarshal(text, &i); err == nil {
			return value.Int(i)
		}
	default:
		var f float64
		if err = json.Unmarshal(text, &f); err == nil {
			return value.Float(f)
		}
	}
	t.Fatal(err)
	return value.None
}

// The operators of torchvision give what torchvision gives.
func TestDetectionOperators(t *testing.T) {
	text, err := os.ReadFile("testdata/detection.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name string
		Args []json.RawMessage
		Out  []array
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		o := ops.Find(c.Name)
		args := make([]value.Value, len(c.Args))
		for i := range args {
			args[i] = argument(t, c.Args[i], o.Schema().Arguments[i].Type.String())
		}
		out := make([]value.Value, len(c.Out))
		if err := o.Run(args, out); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for k, want := range c.Out {
			got, err := out[k].Tensor().To(tensor.Float64)
			if err != nil || !tensor.SameShape(got.Shape(), want.Shape) {
				t.Fatalf("%s: result %d has shape %v, not %v (%v)", c.Name, k, out[k].Tensor().Shape(), want.Shape, err)
			}
			flat, _ := got.Reshape(-1)
			for i, w := range want.Data {
				if g := flat.At(i).Float64(); math.Abs(g-float64(w)) > 1e-4*max(1, math.Abs(float64(w))) {
					t.Errorf("%s: element %d of result %d is %v, not %v", c.Name, i, k, g, w)
					break
				}
			}
		}
	}
}
