package aten

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// withLayout makes the operator of a name give its matrices as PyTorch's lie: those of some results column by column, because LAPACK does, and
// Fourier transforms contiguous.
func withLayout(name string, columns []int, o *ops.Operator) {
	isFourier := strings.HasPrefix(name, "fft_")
	if columns == nil && !isFourier {
		return
	}
	run := o.Run
	o.Run = func(args, out []value.Value) error {
		if err := run(args, out); err != nil {
			return err
		}
		if isFourier {
			return contiguousResult(out)
		}
		if strings.HasPrefix(name, "linalg_solve") && name != "linalg_solve_triangular" && !args[2].Bool() { // x @ A = b
			return contiguousResult(out)
		}
		for _, i := range columns {
			t, err := byColumns(out[i].Tensor())
			if err != nil {
				return err
			}
			out[i] = value.OfTensor(t)
		}
		return nil
	}
}

func contiguousResult(out []value.Value) error {
	t, err := out[0].Tensor().Contiguous()
	out[0] = value.OfTensor(t)
	return err
}

// byColumns returns t with its matrices column by column.
func byColumns(t *tensor.Tensor) (*tensor.Tensor, error) {
	n := t.Dim()
	if n < 2 || t.Numel() == 0 {
		return t, nil
	}
	rows, err := t.Transpose(n-2, n-1)
	if err == nil && !rows.IsContiguous() {
		if rows, err = rows.Contiguous(); err == nil {
			if rows, err = rows.Transpose(n-2, n-1); err == nil {
				rows.SetBase(nil)
			}
			return rows, err
		}
	}
	return t, err
}
