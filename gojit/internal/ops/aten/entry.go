package aten

import (
	"errors"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/sparse"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// entry makes an operator of a schema's name and a body. takesMeta says that the body knows tensors without elements.
func entry(name string, takesMeta bool, body func(c define.Call)) ops.Operator {
	return entryOf(name, nil, takesMeta, body)
}

// entryOf is entry with the operator's record. The text may be a whole schema.
func entryOf(text string, record *ops.Def, takesMeta bool, body func(c define.Call)) ops.Operator {
	name, _, _ := strings.Cut(text, "(")
	l := &loan{name: name}
	return ops.Operator{Name: text, Record: record, Run: func(args, out []value.Value) (err error) {
		defer nameTypes(name, args, &err)
		defer source.Catch(&err)
		if define.FirstQuantized(args) != nil {
			refuseQuantized(name, record, args)
		}
		if (!takesMeta || tensor.AwayInUse()) && hasAway(args) {
			if tensor.BitsInUse() && hasBits(args) {
				runWithBits(name, body, args, out)
				return nil
			}
			if sparse.HasSparse(args) {
				sparse.RunSparse(name, body, define.Call{Args: args, Out: out})
				return nil
			}
			if device, ok := define.DeviceAmong(args); ok {
				runOnDevice(name, record, body, device, args, out)
				settle(args, out)
				return nil
			}
			if !takesMeta {
				runOnZeros(name, body, args, out)
				return nil
			}
		}
		if given := l.of(args); given != nil {
			body(define.Call{Args: given, Out: out})
			giveBack(args, given, out)
		} else {
			body(define.Call{Args: args, Out: out})
		}
		settle(args, out)
		return nil
	}}
}

// refuseQuantized fails for an operator that quantized tensors do not have: the fact names the one of which PyTorch has no kernel for them.
// Functions of elements find no type for quantized and other tensors, and say so.
func refuseQuantized(name string, record *ops.Def, args []value.Value) {
	op := ops.Find(name)
	if op == nil || record != nil && record.Scalar != nil && readsPlain(op, args) {
		return
	}
	if fact, ok := op.Fact("unquantized"); ok {
		if fact != "" {
			name = "aten::" + fact
		}
		define.RefuseBackend(name, "QuantizedCPU")
	}
}

// refusingQuantized has those who run an operator as others refuse quantized tensors where it does.
func refusingQuantized(o *ops.Operator) {
	name, first, record := o.Name, o.Check, o.Record
	name, _, _ = strings.Cut(name, "(")
	o.Check = func(args []value.Value) (err error) {
		defer source.Catch(&err)
		if define.FirstQuantized(args) != nil {
			refuseQuantized(name, record, args)
		}
		if first != nil {
			return first(args)
		}
		return nil
	}
}

// readsPlain reports whether an argument that an operator reads is a tensor that is not quantized.
func readsPlain(op *ops.Operator, args []value.Value) bool {
	schema := op.Schema()
	for i, v := range args {
		if v.IsTensor() && !v.Tensor().DType().IsQuantized() && !schema.Arguments[i].IsOut() {
			return true
		}
	}
	return false
}

// nameTypes has an error about the types of a kernel speak of the operator that made the kernel.
func nameTypes(name string, args []value.Value, err *error) {
	if *err != nil {
		nameTypesOf(name, args, err)
	}
}

// nameTypesOf is nameTypes of an error: it has a variable on the heap, which calls that go well do not pay for.
func nameTypesOf(name string, args []value.Value, err *error) {
	var found *kernel.TypeError
	if !errors.As(*err, &found) {
		return
	}
	defer source.Catch(err)
	if slices.ContainsFunc(args, func(v value.Value) bool { return v.IsTensor() && v.Tensor().DType().IsQuantized() }) {
		define.RefuseBackend(name, "QuantizedCPU")
	}
	elementwise.NotImplemented(strings.TrimPrefix(name, "aten::"), found.DType)
}

// settle says of results over fresh memory that they alone use it, and are no views of what the operator has forgotten. The
// views by which an operator filled them would otherwise keep the memory from being reused when the results are released.
func settle(args, out []value.Value) {
	for _, v := range out {
		if !v.IsTensor() || v.Tensor().Users() <= 1 {
			continue
		}
		t, users := v.Tensor(), 0
		if !define.IsFresh(t, args) {
			continue
		}
		t.SetBase(nil)
		for _, other := range out {
			switch {
			case other.IsTensor() && other.Tensor().SharesStorage(t):
				users++
			case other.Kind() == value.KindList:
				return
			}
		}
		t.SetUsers(users)
	}
}
