package export

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// inputs makes placeholders for the parameters.
func (c *capture) inputs() {
	c.Symbols()
	for i := range c.options.Inputs {
		given := &c.options.Inputs[i]
		in := given.Parameter
		spec := given.Spec
		spec.Name = c.scope.names.input(spec.Name)
		n := &exportir.Node{Op: exportir.Placeholder, Name: spec.Name, Target: spec.Name}
		c.scope.add(n)
		if given.Value.IsTensor() {
			example := given.Value.Tensor()
			metas := make([]*tensor.Tensor, c.runs)
			values := make(run, c.runs)
			for r := range metas {
				metas[r] = c.placeholder(example, given.Dims, r)
				values[r] = value.OfTensor(metas[r])
			}
			h := c.scope.bind(metas, n)
			h.device, h.input = example.Device(), i+1
			v := c.describe(h)
			v.Grad = example.RequiresGrad()
			n.Meta.Val = &v
			if in != nil {
				c.env[in] = values
			}
			c.given[example] = values
		} else {
			constant, ok := constantArgument(given.Value)
			if !ok {
				c.fail(source.TypeError, "The input %s is a %s, which a program cannot take", spec.Name, value.TypeOf(given.Value).Annotation(nil))
			}
			spec.Constant = &constant
			n.Meta.Val = &exportir.Value{Kind: exportir.NoneValue}
			if in != nil {
				c.env[in] = c.all(given.Value)
			}
		}
		c.program.Signature.Inputs = append(c.program.Signature.Inputs, spec)
	}
}

// Symbols gives the user's symbols numbers for the runs.
func (c *capture) Symbols() {
	for position, s := range c.options.Symbols {
		if !c.options.isFree(s) {
			continue
		}
		p := make(symbolic.Profile, c.runs)
		for r := range p {
			p[r] = numberOf(s, position, r)
		}
		c.fit.Learn(p, symbolic.Symbol(s.Name))
		c.program.Symbols = append(c.program.Symbols, s)
		c.made++
	}
}

// numberOf is the number for the symbol at a position in a run.
func numberOf(s exportir.Symbol, position, run int) int {
	step := steps[run]
	if position > 0 && run > 0 {
		step = steps[1+(run-1+position)%(len(steps)-1)] + position/(len(steps)-1)*7
	}
	n := s.Hint + step
	if run == len(steps)-1 {
		n += s.Hint
	}
	if s.Upper >= 0 && n > s.Upper {
		low := max(s.Lower, min(2, s.Upper)) // 0 and 1 take part in broadcasting
		n = low + (n-low)%(s.Upper-low+1)
	}
	return n
}

// symbolNumber is the number for a symbol by name in a run.
func (c *capture) symbolNumber(name string, r int) int {
	if s, ok := c.options.Known[name]; ok {
		return c.sizeNumber(s, r)
	}
	for _, a := range c.fit.Atoms {
		if a.Size.Name == name {
			return a.Profile[r]
		}
	}
	return 0
}

// sizeNumber is what a size is in a run.
func (c *capture) sizeNumber(s symbolic.Size, r int) int {
	at := map[string]int{}
	s.Symbols(func(name string) { at[name] = c.symbolNumber(name, r) })
	return source.Must(s.Eval(at))
}

// placeholder returns a tensor without elements for a run, like an example with other sizes.
func (c *capture) placeholder(example *tensor.Tensor, dims map[int]symbolic.Size, r int) *tensor.Tensor {
	shape, strides := slices.Clone(example.Shape()), example.Strides()
	changed := false
	for d, size := range dims {
		if n := c.sizeNumber(size, r); n != shape[d] {
			shape[d], changed = n, true
		}
	}
	if changed {
		strides = stridesLike(shape, strides)
	}
	return metaTensor(shape, strides, example.DType())
}

// stridesLike are dense strides for a shape whose dimensions lie in the order that other strides have.
func stridesLike(shape, like []int) []int {
	order := make([]int, len(shape))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return like[b] - like[a] })
	strides, step := make([]int, len(shape)), 1
	for _, d := range slices.Backward(order) {
		strides[d] = step
		step *= max(1, shape[d])
	}
	return strides
}

func metaTensor(shape, strides []int, d tensor.DType) *tensor.Tensor {
	t := source.Must(tensor.EmptyMeta(shape, d))
	if err := t.SetGeometry(0, shape, strides); err != nil {
		source.Throw(err)
	}
	return t
}

// freshSymbol makes a symbol for a size that no expression gives.
func (c *capture) freshSymbol(p symbolic.Profile) symbolic.Size {
	name := "s" + itoa(c.made)
	c.made++
	c.program.Symbols = append(c.program.Symbols, exportir.Symbol{Name: name, Lower: 0, Upper: -1, Hint: p[0]})
	return symbolic.Symbol(name)
}
