package aten

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// columnMajor are the results, by their numbers, whose matrices PyTorch gives column by column, because LAPACK does.
var columnMajor = map[string][]int{
	"linalg_qr": {0, 1}, "qr": {0, 1}, "geqrf": {0}, "linalg_svd": {0, 2}, "svd": {0},
	"linalg_lu_factor": {0}, "linalg_lu_factor_ex": {0}, "_lu_with_info": {0}, "linalg_lu_solve": {0}, "lu_solve": {0},
	"linalg_eigh": {1}, "linalg_eig": {1}, "linalg_cholesky": {0}, "linalg_cholesky_ex": {0}, "cholesky": {0}, "cholesky_solve": {0}, "cholesky_inverse": {0},
	"linalg_inv": {0}, "linalg_inv_ex": {0}, "inverse": {0}, "linalg_solve": {0}, "linalg_solve_ex": {0}, "linalg_solve_triangular": {0}, "triangular_solve": {0, 1},
	"linalg_ldl_factor": {0}, "linalg_ldl_factor_ex": {0}, "linalg_ldl_solve": {0},
}

// withLayout makes the operator of a name give its matrices as PyTorch's lie: column by column, and Fourier transforms contiguous.
func withLayout(name string, o *ops.Operator) {
	columns, isFourier := columnMajor[name], strings.HasPrefix(name, "fft_")
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
