package aten

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Many operators that make tensors have an overload with out= whose arguments are not those of the functional one: it has no
// options. These overloads are derived by the names of the arguments: the element type is that of out.

// outsOf returns the overloads "name.out" and "name.X_out" of functional overloads that have none yet.
func outsOf(functional []ops.Operator, directs map[string]directOut) []ops.Operator {
	runs := make(map[string]bool, len(functional))
	for i := range functional {
		runs[functional[i].Name] = true
	}
	var all []ops.Operator
	for _, base := range ops.Names() {
		overloads := ops.Overloads(base)
		for _, o := range overloads {
			of, ok := functionalOf(o.Name)
			if ok && !runs[o.Name] && runs[of] {
				all = append(all, entry(o.Name, false, func(c call) { runInto(c, o, ops.Find(of), directs[of]) }))
			}
		}
	}
	return all
}

// functionalOf returns the name of the functional overload of one with out=: name.X of name.X_out.
func functionalOf(name string) (string, bool) {
	base, overload, _ := cutOverload(name)
	switch {
	case overload == ".out" || overload == ".out_":
		return base, !strings.HasSuffix(base, "_")
	case strings.HasSuffix(overload, "_out"):
		return base + strings.TrimSuffix(overload, "_out"), true
	}
	return "", false
}

// runInto runs a functional overload with the arguments of one with out=, and stores what it gives.
func runInto(c call, o, functional *ops.Operator, direct directOut) {
	formal, given := functional.Schema().Arguments, o.Schema().Arguments
	outs := len(given) - 1
	for outs > 0 && given[outs-1].IsOut() {
		outs--
	}
	args := make([]value.Value, len(formal))
	for i := range formal {
		args[i] = value.None
		if formal[i].HasDefault {
			args[i] = formal[i].NewDefault()
		}
		if formal[i].Name == "dtype" && c.args[outs].IsTensor() {
			args[i] = value.Int(int64(c.tensor(outs).DType()))
		}
		for j := range outs {
			if given[j].Name == formal[i].Name {
				args[i] = c.args[j]
			}
		}
	}
	if len(c.out) == 1 && c.args[outs].IsTensor() && runDirect(direct, args, c.tensor(outs)) {
		c.giveOut(0)
		return
	}
	results := make([]value.Value, len(functional.Schema().Returns))
	succeed(functional.Run(args, results))
	if len(c.out) == 0 {
		storeParts(c.tensors(outs), results[0].List().Items)
		return
	}
	for i, r := range results {
		storeOut(c.tensor(outs+i), r.Tensor())
		release(r.Tensor(), c.args)
		c.giveOut(i)
	}
}

// storeOut puts a result into a tensor of out=, which gets its shape.
func storeOut(dst, result *tensor.Tensor) {
	checkCast(result.DType(), dst.DType())
	if !tensor.SameShape(dst.Shape(), result.Shape()) {
		if dst.Numel() > 0 {
			warn("An output with one or more elements was resized since it had shape %s, which does not match the required output shape %s. "+
				"This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "+
				"You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).", shapeText(dst.Shape()), shapeText(result.Shape()))
		}
		succeed(dst.Resize(result.Shape()))
	}
	succeed(tensor.Copy(dst, result))
}

// checkOutType fails where an operator wants out to have the type of its result, and it has another.
func checkOutType(rule ops.OutType, c call, result, out tensor.DType) {
	switch rule {
	case ops.OutOfInput:
		in := c.tensor(0).DType()
		check(in == out, "Expected the dtype for input and out to match, but got %s for input's dtype and %s for out's dtype.", in.CppName(), out.CppName())
	case ops.OutOfResult:
		check(result == out, "Expected out tensor to have dtype %s, but got %s instead", lowerNames[result], lowerNames[out])
	case ops.OutInt64:
		check(out == tensor.Int64, "multinomial expects Long tensor out, got: %s", out.CppName())
	}
}

func storeParts(into []*tensor.Tensor, parts []value.Value) {
	if len(parts) != len(into) {
		raise(source.RuntimeError, "expected %d tensors in out, but got %d", len(parts), len(into))
	}
	for i, dst := range into {
		storeOut(dst, parts[i].Tensor())
		dst.Bump()
	}
}
