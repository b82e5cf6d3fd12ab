package export

import (
	"maps"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// number returns the node that computes a size, or the constant that it is.
func (c *capture) number(s symbolic.Size) exportir.Argument {
	if s.IsConstant() {
		return exportir.OfInt(int64(s.Const))
	}
	if a, ok := c.scope.numbers[s.Key()]; ok {
		return a
	}
	if from, ok := c.scope.sources[s.Key()]; ok {
		return c.numberNode(s, "aten::sym_size.int", "sym_size_int", exportir.Ref(from.handle.node.Name), exportir.OfInt(int64(from.dim)))
	}
	if s.Name != "" {
		if a, ok := c.solved(s); ok {
			return a
		}
		c.fail(source.RuntimeError, "the size %s is not known in this part of the program", s)
	}
	target := symbolic.OperationOf(func(o *symbolic.Operation) bool { return o.Sign == s.Op }).Name
	a, b := s.Args[0], s.Args[1]
	if s.Op == "+" && b.IsConstant() && b.Const < 0 {
		target, b = "sub", symbolic.Constant(-b.Const)
	}
	left, right := c.number(a), c.number(b)
	return c.numberNode(s, "operator::"+target, target, left, right)
}

// solved computes a symbol from a size that is a multiple of it with something added.
func (c *capture) solved(s symbolic.Size) (exportir.Argument, bool) {
	for _, key := range slices.Sorted(maps.Keys(c.scope.sources)) {
		from := c.scope.sources[key].size
		name, m, k, ok := from.Affine()
		if !ok || name != s.Name || m == 1 && k == 0 {
			continue
		}
		whole := c.number(from)
		if k != 0 {
			whole = c.numberNode(symbolic.Times(m, s), "operator::sub", "sub", whole, exportir.OfInt(int64(k)))
		}
		if m == 1 {
			c.scope.numbers[s.Key()] = whole
			return whole, true
		}
		return c.numberNode(s, "operator::floordiv", "floordiv", whole, exportir.OfInt(int64(m))), true
	}
	return exportir.Argument{}, false
}

func (c *capture) numberNode(s symbolic.Size, target, name string, args ...exportir.Argument) exportir.Argument {
	n := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name(name), Target: target, Args: args, Meta: c.place()}
	n.Meta.Val = &exportir.Value{Kind: exportir.IntValue, Int: &s}
	c.scope.add(n)
	c.scope.numbers[s.Key()] = exportir.Ref(n.Name)
	return exportir.Ref(n.Name)
}

// describe returns what is known of a tensor.
func (c *capture) describe(h *handle) exportir.Value {
	first := h.metas[0]
	v := exportir.Value{Kind: exportir.TensorValue, DType: first.DType().String(), Device: h.device.String(), Sizes: make([]symbolic.Size, first.Dim())}
	contiguous := true
	for d := range v.Sizes {
		p := make(symbolic.Profile, c.runs)
		for r, m := range h.metas {
			if m.Dim() != first.Dim() {
				c.refuse(source.Errorf(source.RuntimeError, source.Range{}, "the number of dimensions depends on sizes"), r)
			}
			p[r] = m.Size(d)
		}
		v.Sizes[d] = c.fit.Size(p)
		if s := v.Sizes[d]; !s.IsConstant() {
			if _, ok := c.scope.sources[s.Key()]; !ok {
				c.scope.sources[s.Key()] = sizeOf{h, d, s}
			}
		}
	}
	for _, m := range h.metas {
		contiguous = contiguous && m.IsContiguous()
	}
	v.Strides = c.strides(h, v.Sizes, contiguous)
	return v
}

// strides are expressions of strides where they are known: those of dense tensors, and constants.
func (c *capture) strides(h *handle, sizes []symbolic.Size, contiguous bool) []symbolic.Size {
	strides := make([]symbolic.Size, len(sizes))
	step := symbolic.Constant(1)
	for d := len(sizes) - 1; d >= 0; d-- {
		if contiguous {
			strides[d] = step
			step = multiply(step, sizes[d])
			continue
		}
		p := make(symbolic.Profile, c.runs)
		for r, m := range h.metas {
			p[r] = m.Strides()[d]
		}
		if !p.IsConstant() {
			if known, ok := c.fit.Known[p.Key()]; ok {
				strides[d] = known
				continue
			}
			return nil
		}
		strides[d] = symbolic.Constant(p[0])
	}
	return strides
}

func multiply(a, b symbolic.Size) symbolic.Size {
	switch {
	case a.IsConstant() && b.IsConstant():
		return symbolic.Constant(a.Const * b.Const)
	case b.IsConstant():
		a, b = b, a
		fallthrough
	case a.IsConstant() && a.Const == 1:
		return symbolic.Times(a.Const, b)
	case a.IsConstant() && b.Op == "*" && b.Args[0].IsConstant():
		return symbolic.Times(a.Const*b.Args[0].Const, b.Args[1])
	case a.IsConstant():
		return symbolic.Times(a.Const, b)
	}
	return symbolic.Size{Op: "*", Args: []symbolic.Size{a, b}}
}

// valueOf describes what an argument is.
func (c *capture) valueOf(a exportir.Argument) *exportir.Value {
	switch a.Kind {
	case exportir.NodeArgument:
		if n := c.scope.graph.Node(a.Text); n != nil {
			return n.Meta.Val
		}
	case exportir.ListArgument, exportir.TupleArgument:
		v := &exportir.Value{Kind: exportir.ListValue}
		for _, item := range a.Items {
			v.Items = append(v.Items, *c.valueOf(item))
		}
		return v
	}
	return &exportir.Value{Kind: exportir.NoneValue}
}

// place says where the captured program is.
func (c *capture) place() exportir.Meta {
	if c.node == nil {
		return exportir.Meta{}
	}
	m := exportir.Meta{Scope: c.node.Scope}
	r := c.node.Range
	if !r.IsValid() {
		return m
	}
	if text := r.Text.Body; r.Start == 0 && r.End == len(text) && strings.HasSuffix(text, "\n") && strings.Contains(text, "): ") {
		m.Stack = text
	} else if file, line, _, ok := r.FileLineCol(); ok {
		m.Stack = "  File \"" + file + "\", line " + itoa(line) + ", in forward\n    " + strings.TrimSpace(r.Text.Line(r.Text.LineOf(r.Start))) + "\n"
	}
	return m
}
