package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Guard tells whether tensors are such as a program was captured for: of the element types, the dimensions and the sizes, with the symbols in their ranges.
type Guard struct {
	inputs  []guarded
	symbols map[string]int // their numbers
	solved  []guardedSize  // sizes that depend on symbols, in the order in which they tell these
	bounded []guardedSize  // sizes that are in a range
}

// guarded is what is known of an input; of one that is no tensor nothing is.
type guarded struct {
	isTensor bool
	dtype    tensor.DType
	sizes    []symbolic.Size
}

// guardedSize is a size of an input.
type guardedSize struct {
	input, dim   int
	size         symbolic.Size
	symbol       int // its number, where the size is m*symbol + c, else -1
	m, c         int
	lower, upper int
}

// Misfit is what is wrong with an input. Text has %s where the input is named.
type Misfit struct {
	Input int
	Text  string
}

func misfit(input int, format string, args ...any) *Misfit {
	return &Misfit{input, fmt.Sprintf(format, args...)}
}

// NewGuard returns the guard of inputs by what metadata says of them, which is nil for one of which nothing is known, and of the ranges of symbols.
func NewGuard(inputs []*exportir.Value, symbols []exportir.Symbol) *Guard {
	g := &Guard{symbols: map[string]int{}}
	for i, s := range symbols {
		g.symbols[s.Name] = i
	}
	for i, v := range inputs {
		if v == nil || v.Kind != exportir.TensorValue {
			g.inputs = append(g.inputs, guarded{})
			continue
		}
		d, known := tensor.ParseDType(v.DType)
		g.inputs = append(g.inputs, guarded{known, d, v.Sizes})
		for dim, size := range v.Sizes {
			if known && !size.IsConstant() {
				g.addSize(i, dim, size, symbols)
			}
		}
	}
	slices.SortStableFunc(g.solved, func(a, b guardedSize) int { return a.rank() - b.rank() })
	return g
}

// Inputs returns how many inputs there are.
func (g *Guard) Inputs() int { return len(g.inputs) }

// rank orders sizes such that those come first that tell a symbol: symbols, then what is m*symbol + c.
func (s *guardedSize) rank() int {
	switch {
	case s.size.Name != "":
		return 0
	case s.symbol >= 0:
		return 1
	}
	return 2
}

func (g *Guard) addSize(input, dim int, size symbolic.Size, symbols []exportir.Symbol) {
	s := guardedSize{input: input, dim: dim, size: size, symbol: -1}
	if name, m, c, ok := size.Affine(); ok {
		if i, known := g.symbols[name]; known {
			s.symbol, s.m, s.c = i, m, c
			s.lower, s.upper = m*symbols[i].Lower+c, math.MaxInt
			if symbols[i].Upper >= 0 && symbols[i].Upper < math.MaxInt/m-c {
				s.upper = m*symbols[i].Upper + c
			}
			g.bounded = append(g.bounded, s)
		}
	}
	g.solved = append(g.solved, s)
}

// unknown stands for a symbol that is yet to be found.
const unknown = math.MinInt

// Check returns what is wrong with the inputs, nil where the program fits. Those that are no tensors are nil.
func (g *Guard) Check(given []*tensor.Tensor) *Misfit {
	for i := range g.inputs {
		if in := &g.inputs[i]; in.isTensor {
			if wrong := in.check(i, given[i]); wrong != nil {
				return wrong
			}
		}
	}
	var space [16]int
	known := slices.Grow(space[:0], len(g.symbols))[:len(g.symbols)]
	for i := range known {
		known[i] = unknown
	}
	for i := range g.solved {
		s := &g.solved[i]
		if wrong := g.solve(s, given[s.input].Shape()[s.dim], known); wrong != nil {
			return wrong
		}
	}
	for i := range g.bounded {
		s := &g.bounded[i]
		n := given[s.input].Shape()[s.dim]
		if n < s.lower {
			return misfit(s.input, "Expected input at %%s.shape[%d] to be >= %d, but got %d", s.dim, s.lower, n)
		}
		if n > s.upper {
			return misfit(s.input, "Expected input at %%s.shape[%d] to be <= %d, but got %d", s.dim, s.upper, n)
		}
	}
	return nil
}

func (in *guarded) check(i int, x *tensor.Tensor) *Misfit {
	switch {
	case x == nil:
		return misfit(i, "Expected input at %%s to be a tensor")
	case x.DType() != in.dtype:
		return misfit(i, "Expected input at %%s to have dtype torch.%s, but got torch.%s", in.dtype, x.DType())
	case len(x.Shape()) != len(in.sizes):
		return misfit(i, "Unexpected number of dimensions in input at %%s.shape (expected %s, got %s)", shapeText(in.sizes), shapeText(x.Shape()))
	}
	for dim := range in.sizes {
		if s := &in.sizes[dim]; s.IsConstant() && x.Shape()[dim] != s.Const {
			return misfit(i, "Expected input at %%s.shape[%d] to be equal to %d, but got %d", dim, s.Const, x.Shape()[dim])
		}
	}
	return nil
}

func shapeText[T any](sizes []T) string {
	texts := make([]string, len(sizes))
	for i, s := range sizes {
		texts[i] = fmt.Sprint(s)
	}
	return "torch.Size([" + strings.Join(texts, ", ") + "])"
}

// solve compares a size with n, which makes a symbol known that was not.
func (g *Guard) solve(s *guardedSize, n int, known []int) *Misfit {
	if s.symbol >= 0 && known[s.symbol] == unknown {
		if (n-s.c)%s.m != 0 {
			name, _, _, _ := s.size.Affine()
			return misfit(s.input, "Expected input %%s.shape[%d] = %d to be of the form %s, where %s is an integer", s.dim, n, s.size, name)
		}
		known[s.symbol] = (n - s.c) / s.m
		return nil
	}
	expected := 0
	if s.symbol >= 0 {
		expected = s.m*known[s.symbol] + s.c
	} else {
		at := map[string]int{}
		for name, i := range g.symbols {
			if known[i] != unknown {
				at[name] = known[i]
			}
		}
		var err error
		if expected, err = s.size.Eval(at); err != nil {
			return nil // of symbols that no input tells
		}
	}
	if n != expected {
		return misfit(s.input, "Expected input at %%s.shape[%d] to be equal to %d, but got %d", s.dim, expected, n)
	}
	return nil
}
