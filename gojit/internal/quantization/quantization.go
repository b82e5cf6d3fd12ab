// Package quantization makes compiled modules compute with integers after training, in PyTorch's way: Observe inserts modules that note
// the range of each tensor to be quantized, programs run the result on examples, Quantize replaces the observers by roundings to integers
// and back with what they have learned, and Finalize replaces operators between such roundings by operators over integers.
//
// Which values are observed and what is replaced depends on the names of operators and functions alone; kinds.go lists them. Functions of
// the language are told by the last part of their names, as in torch.nn.functional.
package quantization

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Mode is a way to quantize, by its number in Python.
type Mode int

// The ways to quantize.
const (
	Dynamic    Mode = iota // weights beforehand, inputs of each call by their own range
	Static                 // weights and activations beforehand
	Training               // like Static, with modules that round while the model is trained
	WeightOnly             // weights alone
)

// Config are the observers that are copied for values of a module; a nil Config quantizes nothing.
type Config struct{ Activation, Weight *value.Object }

// Options say how a module is quantized.
type Options struct {
	Mode Mode
	// InPlace shares tensors with the module that is given; else they are copied.
	InPlace bool
	// Debug warns of what computes other numbers before Finalize than after it.
	Debug bool
	// Mangle gives the name of a class that is made of another.
	Mangle func(name string) string
	// Call runs a method.
	Call func(f *ir.Function, args ...value.Value) (value.Value, error)
}

func failf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, format, args...)
}

// method returns a compiled method of a module.
func method(o *value.Object, name string) (*ir.Function, error) {
	f, ok := o.Class.FindMethod(name).(*ir.Function)
	if !ok {
		return nil, failf("Method '%s' is not defined.", name)
	}
	return f, f.EnsureDefined()
}

// invocation is a method of a module that a node calls.
type invocation struct {
	module *value.Object
	method *ir.Function
}

// invoked returns what a prim::CallMethod in a method of self calls; ok is false for other nodes, and where no module is called.
func invoked(self *value.Object, n *ir.Node) (c invocation, ok bool) {
	if n.Kind() != prim.CallMethod {
		return c, false
	}
	m := freeze.ModuleAt(n.Graph(), self, n.Input(0))
	if m == nil {
		return c, false
	}
	f, err := method(m, n.StringAttr("name"))
	return invocation{m, f}, err == nil
}

// invocations lists the methods of modules that a method of self calls, each as often as it is called, without those of observers.
func invocations(self *value.Object, g *ir.Graph) []invocation {
	var found []invocation
	g.Block().Walk(func(n *ir.Node) {
		if _, observer := observerName(n); observer {
			return
		}
		if c, ok := invoked(self, n); ok {
			found = append(found, c)
		}
	})
	return found
}

// calledFunction returns the function of the program that a node calls where it is none of those that kinds.go knows; nil for other nodes.
func calledFunction(n *ir.Node) *ir.Function {
	if n.Kind() != prim.CallFunction || computing.has(n) || general(n) {
		return nil
	}
	if t, ok := n.Input(0).Type().(*types.Function); ok {
		if f, ok := t.Target.(*ir.Function); ok && f.EnsureDefined() == nil && f.Graph() != nil {
			return f
		}
	}
	return nil
}
