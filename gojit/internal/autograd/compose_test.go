package autograd_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// endless is an operator whose gradient goes through what it is made of, which is itself.
var endless = func() *ops.Operator {
	op, err := ops.Define("aten::_endless(Tensor x) -> Tensor", ops.AliasFromSchema)
	if err != nil {
		panic(err)
	}
	op.Run = func(args, out []value.Value) error {
		out[0] = value.OfTensor(args[0].Tensor().Detach())
		return nil
	}
	autograd.Decompose("_endless", func(m *autograd.Mode, args, out []value.Value) error { return m.Run(op, args, out) }, func() bool { return false })
	return op
}()

func TestGradientOfItself(t *testing.T) {
	leaf, out := random(1, 2, 3), make([]value.Value, 1)
	if err := new(autograd.Mode).Run(endless, []value.Value{value.OfTensor(leaf)}, out); err != nil {
		t.Fatal(err)
	}
	results, seeds := []*tensor.Tensor{out[0].Tensor()}, []*tensor.Tensor{random(2, 2, 3)}
	_, err := new(autograd.Mode).Gradients(results, []*tensor.Tensor{leaf}, seeds, autograd.Options{})
	if err == nil || !strings.Contains(err.Error(), "the gradient of aten::_endless is made of gradients that are made of it") {
		t.Errorf("got %v", err)
	}
}
