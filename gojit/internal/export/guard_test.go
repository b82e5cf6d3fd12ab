package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestGuard(t *testing.T) {
	var inputs []*exportir.Value
	var symbols []exportir.Symbol
	for text, into := range map[string]any{
		`[{"kind":"tensor","dtype":"float32","sizes":["a",["+",["*",2,"a"],1],3]},{"kind":"int"},{"kind":"tensor","dtype":"float32","sizes":[["+","a","b"],["+",["*",3,"b"],1]]}]`: &inputs,
		`[{"name":"a","lower":2,"upper":5},{"name":"b","lower":1,"upper":-1}]`:                                                                                                     &symbols,
	} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	g := export.NewGuard(inputs, symbols)
	for _, c := range []struct {
		x, y []int
		want string
	}{
		{[]int{2, 5, 3}, []int{3, 4}, ""},
		{[]int{5, 11, 3}, []int{1005, 3001}, ""},
		{[]int{2, 5, 4}, []int{3, 4}, "Expected input at %s.shape[2] to be equal to 3, but got 4"},
		{[]int{2, 6, 3}, []int{3, 4}, "Expected input at %s.shape[1] to be equal to 5, but got 6"},
		{[]int{2, 5, 3}, []int{3, 5}, "Expected input %s.shape[1] = 5 to be of the form 3*b + 1, where b is an integer"},
		{[]int{2, 5, 3}, []int{9, 4}, "Expected input at %s.shape[0] to be equal to 3, but got 9"},
		{[]int{6, 13, 3}, []int{7, 4}, "Expected input at %s.shape[0] to be <= 5, but got 6"},
		{[]int{1, 3, 3}, []int{2, 4}, "Expected input at %s.shape[0] to be >= 2, but got 1"},
		{[]int{2, 5, 3}, []int{2, 1}, "Expected input at %s.shape[1] to be >= 4, but got 1"},
		{[]int{2, 5}, []int{3, 4}, "Unexpected number of dimensions in input at %s.shape (expected torch.Size([a, 2*a + 1, 3]), got torch.Size([2, 5]))"},
	} {
		x, y := zeros(t, c.x, tensor.Float32), zeros(t, c.y, tensor.Float32)
		got := ""
		if wrong := g.Check([]*tensor.Tensor{x, nil, y}); wrong != nil {
			got = wrong.Text
		}
		if got != c.want {
			t.Errorf("%v, %v: %q, not %q", c.x, c.y, got, c.want)
		}
	}
	if wrong := g.Check([]*tensor.Tensor{zeros(t, []int{2, 5, 3}, tensor.Int64), nil, nil}); wrong == nil || !strings.Contains(wrong.Text, "to have dtype torch.float32, but got torch.int64") {
		t.Errorf("integers: %v", wrong)
	}
}

func zeros(t *testing.T, shape []int, dtype tensor.DType) *tensor.Tensor {
	t.Helper()
	x, err := tensor.Zeros(shape, dtype)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
