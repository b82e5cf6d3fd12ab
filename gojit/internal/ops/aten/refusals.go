package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The operators that a ops.Decomposition is made of take arguments that the operator itself refuses. Functions here find such arguments and run the
// operator for its error.

func refuseIf(x composer, wrong bool, name string, args []value.Value) {
	if wrong {
		unrecorded(x).Emit(name, args...)
	}
}

func refuseLayerNorm(x composer, a []value.Value) {
	var shape []int
	for _, n := range a[1].List().Items {
		shape = append(shape, int(n.Int()))
	}
	lead := a[0].Tensor().Dim() - len(shape)
	fits := func(v value.Value) bool { return v.IsNone() || tensor.SameShape(v.Tensor().Shape(), shape) }
	wrong := len(shape) == 0 || lead < 0 || !tensor.SameShape(a[0].Tensor().Shape()[max(lead, 0):], shape) || !fits(a[2]) || !fits(a[3])
	refuseIf(x, wrong, "layer_norm", a)
}

func refuseGroupNorm(x composer, a []value.Value) {
	t, groups := a[0].Tensor(), int(a[1].Int())
	wrong := t.Dim() < 2 || groups <= 0 || t.Size(1)%groups != 0 || !isVector(a[2], t.Size(1)) || !isVector(a[3], t.Size(1))
	refuseIf(x, wrong, "group_norm", a)
}

func refuseBatchNorm(x composer, a []value.Value) {
	t := a[0].Tensor()
	wrong := t.Dim() < 2
	for _, v := range a[1:5] {
		wrong = wrong || !isVector(v, t.Size(1))
	}
	refuseIf(x, wrong, "batch_norm", a)
}

// isVector reports whether v, which may be None, is a tensor of one dimension and n elements.
func isVector(v value.Value, n int) bool {
	return v.IsNone() || v.Tensor().Dim() == 1 && v.Tensor().Numel() == n
}

func refuseGlu(x composer, a []value.Value) {
	t, dim := a[0].Tensor(), int(a[1].Int())
	if dim < 0 {
		dim += t.Dim()
	}
	refuseIf(x, dim < 0 || dim >= t.Dim() || t.Size(dim)%2 != 0, "glu", a)
}

// refuseProbabilities refuses those below 0 and above 1: only the operator itself looks at its elements.
func refuseProbabilities(x composer, a []value.Value) { refuseIf(x, true, "binary_cross_entropy", a) }
