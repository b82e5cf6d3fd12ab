package aten

import (
	"errors"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// elements is the number of elements of the arguments: calls of a few milliseconds. Longer ones look as often for each element.
const elements = 1 << 20

// looksExpected is how often an operator over so many elements looks at least.
const looksExpected = 4

// longCalls are operators with arguments for which they take long where there are many elements: rows, planes, lists, sparse places. Plain copies
// and sums go as fast as the memory, and look every million elements.
func longCalls() map[string][]any {
	row := drawnUniform(1, elements)
	line, flat, indices := source.Must(row.View(1, 1, elements)), source.Must(row.View(elements)), arangeOf(elements)
	sparse := define.Apply("to_sparse", flat)
	places := source.Must(tensor.FromSlice(make([]int64, 2*elements), 2, elements))
	twice := define.Apply("sparse_coo_tensor.indices", places, flat)
	image := source.Must(row.View(1, 1, 1024, 1024))
	return map[string][]any{
		"softmax.int": {row, 1}, "log_softmax.int": {row, 1}, "logsumexp": {row, ints(1)}, "argmax": {row}, "cumsum": {row, 1},
		"max_pool1d": {line, ints(3), ints(1)}, "max_pool1d_with_indices": {line, ints(3), ints(1)}, "avg_pool1d": {line, ints(3), ints(1)},
		"max_pool2d_with_indices": {image, ints(3, 3), ints(1, 1)}, "adaptive_max_pool2d": {image, ints(512, 512)},
		"upsample_linear1d": {line, ints(elements), false}, "upsample_nearest1d": {line, ints(elements)}, "upsample_bicubic2d": {image, ints(1024, 1024), false},
		"nonzero": {flat}, "argwhere": {flat}, "masked_select": {flat, elementwise.To(flat, tensor.Bool)}, "index_select": {flat, 0, indices}, "gather": {flat, 0, indices},
		"scatter.src": {flat, 0, indices, flat}, "scatter_add": {flat, 0, indices, flat}, "index_add": {flat, 0, indices, flat}, "take": {flat, indices},
		"index_put.hacked_twin": {flat, []*tensor.Tensor{indices}, flat}, "masked_scatter": {flat, elementwise.To(flat, tensor.Bool), flat}, "one_hot": {elementwise.To(define.Apply("zeros_like", indices), tensor.Int64), 2},
		"coalesce": {twice}, "to_sparse": {flat}, "to_dense": {sparse}, "_sparse_sum": {twice},
		"unbind.int": {flat, 0}, "split.Tensor": {flat, 1}, "repeat": {flat, ints(4)}, "tile": {flat, ints(4)}, "flip": {row, ints(1)},
		"sort": {row}, "topk": {row, 5}, "kthvalue": {row, 5}, "median": {row}, "mode": {row}, "_unique": {flat}, "unique_consecutive": {flat}, "histc": {flat}, "bincount": {indices},
		"searchsorted.Tensor": {flat, flat}, "igamma": {flat, flat}, "special_zeta": {flat, flat}, "frexp.Tensor": {flat}, "lgamma": {flat}, "digamma": {flat},
		"embedding": {source.Must(row.View(elements/4, 4)), indicesBelow(elements, 100)}, "embedding_dense_backward": {source.Must(row.View(elements/4, 4)), indicesBelow(elements/4, 100), 100, -1, false},
		"bernoulli": {flat}, "normal_": {define.Apply("clone", flat)}, "nll_loss": {source.Must(row.View(elements/2, 2)), indicesBelow(elements/2, 2)}, "multinomial": {flat, elements, true}, "randperm": {elements}, "dropout": {flat, 0.5, true}, "alpha_dropout": {flat, 0.5, true},
		"reflection_pad1d": {source.Must(row.View(1, elements)), ints(1, 1)}, "linear": {source.Must(row.View(elements/4, 4)), drawnUniform(4, 4), drawnUniform(4)},
		"group_norm": {source.Must(row.View(1, 4, elements/4)), 2}, "native_batch_norm": {source.Must(row.View(1, 4, elements/4)), nil, nil, nil, nil, true, 0.1, 1e-5},
		"fft_fft": {flat}, "vander": {indicesBelow(3, 3), elements / 8, true}, "im2col": {image, ints(3, 3), ints(1, 1), ints(0, 0), ints(1, 1)}, "add.Tensor": {source.Must(source.Must(row.View(1024, 1024)).T()), source.Must(row.View(1024, 1024))},
	}
}

func ints(xs ...int) []int { return xs }

func drawnUniform(shape ...int) *tensor.Tensor {
	t := define.Empty(shape, tensor.Float32)
	random.DrawUniform(rng.Default(), t, 0, 1)
	return t
}

func arangeOf(n int) *tensor.Tensor { return indicesBelow(n, n) }

// indicesBelow returns n indices that begin again at a limit.
func indicesBelow(n, limit int) *tensor.Tensor {
	data := make([]int64, n)
	for i := range data {
		data[i] = int64(i % limit)
	}
	return source.Must(tensor.FromSlice(data, n))
}

// Operators look for interrupts all the way through what they do, and end at one.
func TestLongOperatorsEndAtAnInterrupt(t *testing.T) {
	calls := longCalls()
	failure := errors.New("enough")
	defer parallel.SetNumThreads(0)
	for name, args := range calls {
		t.Run(name, func(t *testing.T) {
			parallel.SetNumThreads(1)
			looks, limit := 0, 1<<30
			call := func() (err error) {
				parallel.SetInterrupt(func() error {
					if looks++; looks > limit {
						return failure
					}
					return nil
				}, 0)
				defer parallel.SetInterrupt(nil, 0)
				defer source.Catch(&err)
				define.ApplyAll(name, args...)
				return nil
			}
			for range 2 { // the first one makes tables, too
				looks = 0
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}
			if looks < looksExpected {
				t.Errorf("looks %d times", looks)
			}
			limit, looks = looks/2, 0
			if err := call(); err != failure || looks > limit+1 {
				t.Errorf("ends with %v, after %d looks of %d", err, looks, limit)
			}
		})
	}
}

// Elements that go to many places of one row are written with looks between them, too.
func TestWritesToOneRowLookForInterrupts(t *testing.T) {
	places := make([]int, elements)
	for i := range places {
		places[i] = elements - 1 - i
	}
	to, from, looks := drawnUniform(elements), drawnUniform(elements), 0
	parallel.SetInterrupt(func() error { looks++; return nil }, 0)
	defer parallel.SetInterrupt(nil, 0)
	indexing.MoveTo(to, from, indexing.OneOffset, places)
	if looks < looksExpected {
		t.Errorf("looks %d times", looks)
	}
	if got, want := to.At(0).Float64(), from.At(elements-1).Float64(); got != want {
		t.Errorf("the first element is %v, want %v", got, want)
	}
}
