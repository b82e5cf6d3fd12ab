package tensor

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

// goldenData holds the elements of a tensor as numbers and, where JSON has none, as text.
type goldenData []json.RawMessage

func (g goldenData) floats(t *testing.T) []float64 {
	t.Helper()
	out := make([]float64, len(g))
	for i, raw := range g {
		text := string(raw)
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func tensorOf(t *testing.T, dtype string, shape []int, data []float64) *Tensor {
	t.Helper()
	d, ok := ParseDType(dtype)
	if !ok {
		t.Fatalf("no dtype %q", dtype)
	}
	x, err := Empty(shape, d)
	mustT(t, x, err)
	parts := x
	if d.IsComplex() {
		parts, err = x.ViewAsReal()
		mustT(t, parts, err)
	}
	flat, err := parts.View(-1)
	if parts.numel == 0 {
		return x
	}
	mustT(t, flat, err)
	if n := x.numel; n >= 100 { // an arithmetic sequence
		first, step := data[0], data[1]
		data = make([]float64, n)
		for i := range data {
			data[i] = first + float64(i)*step
		}
	}
	for i, v := range data {
		e, _ := flat.Select(0, i)
		Fill(e, Float(v))
	}
	return x
}

func TestPrintMatchesPyTorch(t *testing.T) {
	var cases []struct {
		DType        string
		Shape        []int
		Data         goldenData
		RequiresGrad bool `json:"requires_grad"`
		Repr         string
		Cpp          *string
	}
	readGolden(t, "print.json", &cases)
	for _, c := range cases {
		x := tensorOf(t, c.DType, c.Shape, c.Data.floats(t))
		x.requiresGrad = c.RequiresGrad
		if got := x.Repr(""); got != c.Repr {
			t.Errorf("repr\n%s\nwant\n%s", got, c.Repr)
		}
		if c.Cpp != nil {
			if got := x.CppString(); got != *c.Cpp {
				t.Errorf("C++ form\n%s\nwant\n%s", got, *c.Cpp)
			}
		}
	}
}
