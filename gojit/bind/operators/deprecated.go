package operators

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// oldOrders are the orders of positional arguments that Python's functions and methods took before numbers became keywords: each number before what
// it scales. Functions have self where methods, whose self comes first, have none.
func (f *Function) oldOrders() [][]string {
	var numbers, factors []string
	for _, v := range f.all() {
		if !v.op.Has(ops.NumbersFirst) {
			continue
		}
		for _, a := range v.schema.Arguments[1:] {
			switch {
			case a.IsOut():
			case a.KwargOnly:
				numbers = append(numbers, a.Name)
			default:
				factors = append(factors, a.Name)
			}
		}
		break
	}
	order := func(parts ...string) []string { return append(parts, factors...) }
	switch {
	case len(numbers) == 1:
		return [][]string{order("self", numbers[0])}
	case len(numbers) == 2:
		beta, alpha := numbers[0], numbers[1]
		return [][]string{order(beta, "self", alpha), order(beta, "self"), order("self", beta, alpha), order("self", beta)}
	}
	return nil
}

// inOldOrder returns the overload that takes the arguments in an order of old, with the arguments bound, nil where there is none.
func (f *Function) inOldOrder(c *abi.Call) (*overload, error) {
	for _, order := range f.oldOrders() {
		if c.Positional > len(order) || c.Positional+c.Keywords < len(order) {
			continue
		}
		for _, v := range f.all() {
			if v.op.Run != nil && v.matchesInOrder(c, order) {
				return v, source.WarnOnceOf("old orders of arguments", v.oldOrderWarning(f.CallableName(), order))
			}
		}
	}
	return nil, nil
}

// matchesInOrder is matches where positional arguments are for the parameters of the given names, all of which there must be.
func (v *overload) matchesInOrder(c *abi.Call, order []string) bool {
	n := len(v.parameters)
	c.Bound, c.Values = append(c.Bound[:0], make([]*abi.Word, n)...), append(c.Values[:0], make([]value.Value, n+len(v.schema.Returns))...)
	c.Unread, c.Work, c.WantsGrad = 0, 0, false
	x := c.Args
	for _, name := range order[:c.Positional] {
		i := v.schema.ArgumentIndex(name)
		if i < 0 {
			return false
		}
		c.Bound[i] = x
		x = x.Next()
	}
	if !v.bindKeywords(c) {
		return false
	}
	for _, name := range order {
		if i := v.schema.ArgumentIndex(name); i < 0 || c.Bound[i] == nil {
			return false
		}
	}
	return v.takeFrom(c, 0, false)
}

// oldOrderWarning says what to write in place of an old order.
func (v *overload) oldOrderWarning(name string, order []string) string {
	method := order[0] == "self" && v.firstOut == len(v.parameters)
	var old, now, behind []string
	for _, parameter := range order {
		old = v.appendDescription(old, parameter, method)
	}
	for i := range v.parameters[:v.firstOut] {
		if p := &v.parameters[i]; p.KwargOnly {
			behind = v.appendDescription(behind, p.Name, method)
		} else {
			now = v.appendDescription(now, p.Name, method)
		}
	}
	if !method {
		old, behind = append(old, "*", "Tensor out"), append(behind, "Tensor out")
	}
	now = append(append(now, "*"), behind...)
	return "This overload of " + name + " is deprecated:\n\t" + name + "(" + strings.Join(old, ", ") +
		")\nConsider using one of the following signatures instead:\n\t" + name + "(" + strings.Join(now, ", ") + ")"
}

// appendDescription appends the type and the name of a parameter, unless it is the self of a method.
func (v *overload) appendDescription(parts []string, name string, method bool) []string {
	switch p := &v.parameters[v.schema.ArgumentIndex(name)]; {
	case name == "self" && method:
		return parts
	case name == "self":
		return append(parts, "Tensor input")
	case p.base == types.KindTensor:
		return append(parts, "Tensor "+name)
	}
	return append(parts, "Number "+name)
}
