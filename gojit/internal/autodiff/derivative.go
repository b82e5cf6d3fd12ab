// Package autodiff differentiates graphs: it makes of a graph one that computes the same and gives out what the second one
// needs, which computes the gradients of its inputs from those of its outputs.
//
// What the derivatives of operators are is written in the language itself (derivatives.py), in terms of operators alone, so
// that a gradient is a graph like any other. Package autograd differentiates what has run; this one knows no sizes.
package autodiff

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// A derivative has the name of its operator, with the overload behind two underscores. It gives the gradients of the arguments
// that are tensors, in their order; those at the end may be missing. Its parameters are known by their names:
//
//	grad, grad0      the gradient of the output, of the output 0
//	result, result1  the output, the output 1
//	saved1           the output 1 of the function that runs instead of the operator, which is called forward_ and the name
//	self_size        the size of the argument self if it is not that of the output: what a gradient is summed to
//	self_sizes       the size of the argument self
//
// Others are arguments of the operator. Names that begin with _own_ are those of functions that the derivatives call.
//
//go:embed derivatives.py
var text string

var functions = sync.OnceValue(func() map[string]*ir.Function { return composite.Definitions("derivatives.py", text) })

// Names returns the operators that have a derivative, in the order of their names.
func Names() []string {
	var names []string
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if isSymbolic(o) {
				names = append(names, o.Name)
			}
		}
	}
	for name := range functions() {
		if !strings.HasPrefix(name, "_own_") && !strings.HasPrefix(name, "forward_") {
			names = append(names, "aten::"+strings.ReplaceAll(name, "__", "."))
		}
	}
	slices.Sort(names)
	return names
}

// body returns the graph of a function of derivatives.py without calls, nil where there is none.
func body(name string) (*ir.Graph, error) {
	f := functions()[name]
	if f == nil {
		return nil, nil
	}
	if err := f.EnsureDefined(); err != nil {
		return nil, err
	}
	g := f.Graph().Copy()
	passes.Inline(g)
	passes.ConstantPooling(g)
	passes.DCE(g)
	return g, nil
}

// nameOf returns under which name a node's operator is found in derivatives.py, "" where it is no operator.
func nameOf(n *ir.Node) string {
	if o := n.Operator(); o != nil && strings.HasPrefix(o.Name, "aten::") {
		return nameOfOperator(o)
	}
	return ""
}

func nameOfOperator(o *ops.Operator) string {
	return strings.ReplaceAll(strings.TrimPrefix(o.Name, "aten::"), ".", "__")
}

// numbered splits "result1" into "result" and 1; a name without a number has -1.
func numbered(name string) (string, int) {
	base := strings.TrimRight(name, "0123456789")
	if base == name {
		return name, -1
	}
	i, err := strconv.Atoi(name[len(base):])
	if err != nil {
		return name, -1
	}
	return base, i
}

// isDifferentiable reports whether values of a type may have gradients: tensors and lists of them whose type does not deny it.
func isDifferentiable(t types.Type) bool {
	switch t := t.(type) {
	case *types.TensorInfo:
		return t.RequiresGrad == nil || *t.RequiresGrad
	case *types.List:
		return t.Elem.Kind() == types.KindTensor
	case *types.Optional:
		return t.Elem.Kind() == types.KindTensor
	}
	return false
}
