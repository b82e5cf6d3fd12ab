package linalg

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// WithLayout makes the operator of a name give its matrices as PyTorch's lie: those of some results column by column, because LAPACK does, and
// Fourier transforms contiguous.
func WithLayout(name string, columns []int, o *ops.Operator) {
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
			return contiguousResult(args, out)
		}
		if strings.HasPrefix(name, "linalg_solve") && name != "linalg_solve_triangular" && !args[2].Bool() { // x @ A = b
			return contiguousResult(args, out)
		}
		for _, i := range columns {
			given := out[i].Tensor()
			t, err := byColumns(given)
			if err != nil {
				return err
			}
			out[i] = value.OfTensor(t)
			if t != given {
				define.Release(given, args)
			}
		}
		return nil
	}
}

func contiguousResult(args, out []value.Value) error {
	given := out[0].Tensor()
	t, err := given.Contiguous()
	out[0] = value.OfTensor(t)
	if t != given {
		define.Release(given, args)
	}
	return err
}

// byColumns returns t with its matrices column by column.
func byColumns(t *tensor.Tensor) (*tensor.Tensor, error) {
	n := t.Dim()
	if n < 2 || t.Numel() == 0 {
		return t, nil
	}
	turned, err := t.Transpose(n-2, n-1)
	if err != nil || turned.IsContiguous() {
		return t, err
	}
	defer turned.Release()
	rows, err := turned.Contiguous()
	if err != nil {
		return nil, err
	}
	return elementwise.OwnTransposed(rows, n-2, n-1), nil
}
