package sparse

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// checkCompressed fails where parts are none of a tensor of a shape.
func checkCompressed(indices, plain, values *tensor.Tensor, shape []int, l tensor.Layout) {
	compressedName, plainName, rowName, _ := compressedNames(l)
	blocks := 0
	if l.Blocked() {
		blocks = 2
	}
	for _, part := range []struct {
		t    *tensor.Tensor
		name string
	}{{indices, compressedName}, {plain, plainName}, {values, "values"}} {
		source.Check(!part.t.IsSparse(), "expected %s to be a strided and contiguous tensor", part.name)
	}
	source.Check(indices.Dim() >= 1, "%s must have dimensionality >= 1 but got %d", compressedName, indices.Dim())
	source.Check(indices.Dim() == plain.Dim(), "%s and %s dimensionalities must be equal but got %d and %d, respectively", compressedName, plainName, indices.Dim(), plain.Dim())
	batch := indices.Dim() - 1
	dense := values.Dim() - batch - blocks - 1
	source.Check(dense >= 0, "values must have dimensionality > sum of batch and block dimensionalities (=%d + %d) but got %d", batch, blocks, values.Dim())
	source.Check(len(shape) == batch+2+dense, "tensor dimensionality must be sum of batch, base, and dense dimensionalites (=%d + 2 + %d) but got %d", batch, dense, len(shape))
	for d := range batch {
		source.Check(indices.Size(d) == shape[d] && plain.Size(d) == shape[d] && values.Size(d) == shape[d],
			"all batch dimensions of %s (=%s), %s (=%s), and values (=%s) must be equal to tensor batch dimensions (=%s)", compressedName, define.ShapeText(indices.Shape()[:batch]),
			plainName, define.ShapeText(plain.Shape()[:batch]), define.ShapeText(values.Shape()[:batch]), define.ShapeText(shape[:batch]))
	}
	block := []int{1, 1}
	if blocks > 0 {
		block = values.Shape()[batch+1 : batch+3]
		for i, n := range block {
			source.Check(n > 0 && shape[batch+i]%n == 0, "tensor shape[%d] (=%d) must be divisible with blocksize[%d] (=%d) as defined by values shape", batch+i, shape[batch+i], i, n)
		}
	}
	rows, columns := shape[batch]/block[0], shape[batch+1]/block[1]
	if !l.ByRows() {
		rows, columns = columns, rows
	}
	if blocks > 0 {
		rowName += " block"
	}
	source.Check(indices.Size(batch) == rows+1, "%s.shape[-1] must be equal to the number of %ss + 1 (=%d), but got %d", compressedName, rowName, rows+1, indices.Size(batch))
	nnz := values.Size(batch)
	source.Check(plain.Size(batch) == nnz, "%s.shape[-1] must be equal to nnz (=%d) as defined by values.shape[%d], but got %d", plainName, nnz, batch, plain.Size(batch))
	for d := range dense {
		source.Check(values.Size(batch+1+blocks+d) == shape[batch+2+d], "values.shape[%d] (=%d) must be equal to tensor shape[%d] (=%d)", batch+1+blocks+d, values.Size(batch+1+blocks+d), batch+2+d, shape[batch+2+d])
	}
	source.Check(indices.DType() == plain.DType(), "%s and %s must have the same dtype, bot got %s and %s, respectively", compressedName, plainName, indices.DType().CppName(), plain.DType().CppName())
	source.Check(indices.DType() == tensor.Int64 || indices.DType() == tensor.Int32, "%s and %s must be an int32 or int64 type, but got %s", compressedName, plainName, indices.DType().CppName())
	checkCompressedIndices(indexNumbers(indices), indexNumbers(plain), rows, columns, nnz, l)
}

// indexNumbers returns the elements of indices.
func indexNumbers(t *tensor.Tensor) []int {
	out := make([]int, t.Numel())
	if len(out) == 0 {
		return out
	}
	for i, x := range tensor.Data[int64](elementwise.Contiguous(elementwise.To(t, tensor.Int64))) {
		out[i] = int(x)
	}
	return out
}

// checkCompressedIndices fails where the indices of some matrix name no places, or one twice.
func checkCompressedIndices(begin, plain []int, rows, columns, nnz int, l tensor.Layout) {
	compressedName, plainName, rowName, columnName := compressedNames(l)
	short := map[string]string{"row": "nrows", "column": "ncols"}
	source.Check(rows >= 0, "%s must have at least one element", compressedName)
	for m := range len(begin) / (rows + 1) {
		b, p := begin[m*(rows+1):(m+1)*(rows+1)], plain[m*nnz:(m+1)*nnz]
		source.Check(b[0] == 0, "`%s[..., 0] == 0` is not satisfied.", compressedName)
		source.Check(b[rows] == nnz, "`%s[..., -1] == nnz` is not satisfied.", compressedName)
		for i := range rows {
			if b[i+1] < b[i] || b[i+1]-b[i] > columns {
				source.Raise(source.RuntimeError, "`0 <= %s[..., 1:] - %s[..., :-1] <= %s` is not satisfied.", compressedName, compressedName, short[columnName])
			}
		}
		for _, x := range p {
			if x < 0 || x >= columns {
				source.Raise(source.RuntimeError, "`0 <= %s < %s` is not satisfied.", plainName, short[columnName])
			}
		}
		for i := range rows {
			for j := b[i] + 1; j < b[i+1]; j++ {
				if p[j-1] >= p[j] {
					source.Raise(source.RuntimeError, "`%s[..., %s[..., i - 1]:%s[..., i]] for all i = 1, ..., %s are sorted and distinct along the last dimension values` is not satisfied.",
						plainName, compressedName, compressedName, short[rowName])
				}
			}
		}
	}
}
