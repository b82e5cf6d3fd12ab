package autograd_test

import (
	"fmt"
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestResampleDerivatives compares the derivatives of operators that weigh the elements around a place
// with finite differences.
func TestResampleDerivatives(t *testing.T) {
	seed = 1 // whatever ran before: places on the border of a pixel have no derivative
	line, plane, solid := random(-1, 1, 2, 2, 5), random(-1, 1, 2, 2, 4, 5), random(-1, 1, 1, 2, 3, 2, 4)
	cases := []struct {
		name string
		args []any
	}{
		{"upsample_linear1d", []any{line, []int{8}, false, nil}}, {"upsample_linear1d.vec", []any{line, nil, true, floats(1.7)}},
		{"upsample_bilinear2d", []any{plane, []int{3, 9}, true, nil, nil}}, {"upsample_bilinear2d.vec", []any{plane, nil, false, floats(2, 0.5)}},
		{"upsample_trilinear3d", []any{solid, []int{4, 4, 3}, false, nil, nil, nil}}, {"upsample_bicubic2d", []any{plane, []int{7, 3}, false, nil, nil}},
		{"_upsample_bilinear2d_aa", []any{plane, []int{2, 3}, false, nil, nil}}, {"_upsample_bicubic2d_aa", []any{plane, []int{3, 2}, false, nil, nil}},
		{"_upsample_nearest_exact2d", []any{plane, []int{7, 3}, nil, nil}},
		{"__interpolate", []any{line, 8, nil, "linear", false, nil, false}}, {"__interpolate", []any{plane, nil, 1.5, "nearest", nil, nil, false}},
		{"__interpolate.scale_list", []any{plane, nil, floats(2, 0.5), "bicubic", true, nil, false}}, {"__interpolate.size_list", []any{plane, []int{2, 3}, nil, "area", nil, nil, false}},
		{"__interpolate.size_list", []any{plane, []int{2, 3}, nil, "bilinear", false, nil, true}}, {"__interpolate", []any{solid, nil, 2.0, "trilinear", false, true, false}},
		{"grid_sampler_3d", []any{random(-1, 1, 1, 2, 3, 2, 4), random(-1.2, 1.2, 1, 2, 1, 2, 3), 0, 0, false}},
		{"affine_grid_generator", []any{random(-1, 1, 2, 2, 3), []int{2, 1, 3, 4}, true}}, {"affine_grid_generator", []any{random(-1, 1, 2, 2, 3), []int{2, 1, 3, 4}, false}},
		{"affine_grid_generator", []any{random(-1, 1, 2, 3, 4), []int{2, 1, 2, 3, 4}, true}}, {"affine_grid_generator", []any{random(-1, 1, 2, 3, 4), []int{2, 1, 2, 3, 4}, false}},
		{"embedding_bag", []any{random(0, 1, 4, 3), longs(1, 3, 3, 0), longs(0, 2, 2)}}, {"embedding_bag", []any{random(0, 1, 4, 3), longs(1, 3, 3, 0), longs(0, 1), false, 1}},
		{"embedding_bag", []any{random(0, 1, 4, 3), longs(1, 3, 2, 0), longs(0, 3), false, 2}}, {"embedding_bag", []any{random(0, 1, 4, 3), longs(1, 3, 3, 0), longs(0, 1), false, 0, false, random(0, 1, 4)}},
		{"embedding_bag.padding_idx", []any{random(0, 1, 4, 3), longs(1, 3, 3, 0), longs(0, 1, 4), false, 1, false, nil, true, 3}},
	}
	for _, how := range []string{"sum", "mean", "prod", "amax", "amin"} {
		for _, include := range []bool{true, false} {
			cases = append(cases, struct {
				name string
				args []any
			}{"scatter_reduce.two", []any{random(-1, 1, 2, 3), 1, grid(2, 0, 2, 2, 1), random(-1, 1, 2, 2), how, include}})
		}
	}
	for mode := range 3 {
		for beyond := range 3 {
			for _, corners := range []bool{true, false} {
				cases = append(cases, struct {
					name string
					args []any
				}{"grid_sampler", []any{random(-1, 1, 2, 2, 4, 3), random(-1.4, 1.4, 2, 2, 3, 2), mode, beyond, corners}})
			}
		}
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(c.name, "/", i), func(t *testing.T) { checkDerivative(t, c.name, c.args) })
	}
}

// TestZeroFactors: a product of scattered factors of which one is zero.
func TestZeroFactors(t *testing.T) {
	self, source := random(0.5, 1, 3), random(0.5, 1, 4)
	tensor.Data[float64](source)[1] = 0
	checkDerivative(t, "scatter_reduce.two", []any{self, 0, longs(0, 0, 1, 1), source, "prod", true})
}
