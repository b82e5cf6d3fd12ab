package indexing

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Elements of types that sums do not know are not taken for larger ones.
func TestScatterAddRefusesComplexHalf(t *testing.T) {
	x, _ := tensor.Zeros([]int{3}, tensor.Complex32)
	at, _ := tensor.Zeros([]int{1}, tensor.Int64)
	defer func() {
		if recover() == nil {
			t.Error("scatter_add of complex32 does not fail")
		}
	}()
	ScatterInto(x, 0, at, x, AddTo)
}
