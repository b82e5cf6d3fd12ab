package aten

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Many operators that make tensors have an overload with out= whose arguments are not those of the functional one: it has no
// options. These overloads are derived by the names of the arguments: the element type is that of out.

// outsOf returns the overloads "name.out" and "name.X_out" of functional overloads that have none yet.
func outsOf(functional []ops.Operator, directs map[string]define.DirectOut) []ops.Operator {
	runs := make(map[string]bool, len(functional))
	for i := range functional {
		runs[functional[i].Name] = true
	}
	var all []ops.Operator
	for _, base := range ops.Names() {
		overloads := ops.Overloads(base)
		for _, o := range overloads {
			of, ok := functionalOf(o.Name)
			if !ok || runs[o.Name] {
				continue
			}
			if of = taking(o, of, overloads); runs[of] {
				all = append(all, entry(o.Name, false, func(c define.Call) { runInto(c, o, ops.Find(of), directs[of]) }))
			}
		}
	}
	return all
}

// taking returns the overload that takes all arguments of one with out=: the one of its name, or else another of the operator, as arange.start_step for
// arange.start_out(start, end, step).
func taking(o *ops.Operator, name string, overloads []*ops.Operator) string {
	takes := func(functional *ops.Operator) bool {
		return functional != nil && !slices.ContainsFunc(o.Schema().Arguments, func(a schema.Argument) bool {
			return !a.IsOut() && functional.Schema().ArgumentIndex(a.Name) < 0
		})
	}
	if takes(ops.Find(name)) {
		return name
	}
	for _, other := range overloads {
		if _, writes := functionalOf(other.Name); !writes && takes(other) {
			return other.Name
		}
	}
	return name
}

// functionalOf returns the name of the functional overload of one with out=: name.X of name.X_out.
func functionalOf(name string) (string, bool) {
	base, overload, _ := define.CutOverload(name)
	switch {
	case overload == ".out" || overload == ".out_":
		return base, !strings.HasSuffix(base, "_")
	case strings.HasSuffix(overload, "_out"):
		return base + strings.TrimSuffix(overload, "_out"), true
	}
	return "", false
}

// runInto runs a functional overload with the arguments of one with out=, and stores what it gives.
func runInto(c define.Call, o, functional *ops.Operator, direct define.DirectOut) {
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
		if formal[i].Name == "dtype" && c.Args[outs].IsTensor() {
			args[i] = value.Int(int64(c.Tensor(outs).DType()))
		}
		for j := range outs {
			if given[j].Name == formal[i].Name {
				args[i] = c.Args[j]
			}
		}
	}
	if len(c.Out) == 1 && c.Args[outs].IsTensor() && indexing.RunDirect(direct, args, c.Tensor(outs)) {
		c.GiveOut(0)
		return
	}
	results := make([]value.Value, len(functional.Schema().Returns))
	source.Throw(functional.Run(args, results))
	if len(c.Out) == 0 {
		storeParts(c.Tensors(outs), results[0].List().Items)
		return
	}
	creates := !slices.ContainsFunc(c.Args[:outs], func(v value.Value) bool {
		return v.IsTensor() || v.Kind() == value.KindList && v.List().Elem == types.Tensor
	})
	for i, r := range results {
		if creates {
			storeCreated(c.Tensor(outs+i), r.Tensor(), o.Schema().ArgumentIndex("end") >= 0)
		} else {
			elementwise.StoreOut(c.Tensor(outs+i), r.Tensor())
		}
		define.Release(r.Tensor(), c.Args)
		c.GiveOut(i)
	}
}

// storeCreated puts what is made of no tensors into one of out=, which is given its shape, or, as a sequence, keeps a shape of as many elements.
func storeCreated(dst, made *tensor.Tensor, sequence bool) {
	elementwise.CheckCast(made.DType(), dst.DType())
	if sequence && dst.Numel() == made.Numel() {
		made = source.Must(made.Reshape(dst.Shape()...))
	} else if !tensor.SameShape(dst.Shape(), made.Shape()) {
		source.Throw(dst.Resize(made.Shape()))
	}
	source.Throw(tensor.Copy(dst, made))
}

// wantsResult reports whether a rule wants out to have the type of the result.
func wantsResult(rule ops.OutType) bool {
	return rule == ops.OutOfResult || rule == ops.OutOfKernel || rule == ops.OutOfScalars
}

// checkOutType fails where an operator wants out to have the type of its result i, and it has another.
func checkOutType(o *ops.Operator, rule ops.OutType, c define.Call, i int, result, out tensor.DType) {
	switch rule {
	case ops.OutOfResult:
		if result != out {
			source.Raise(source.RuntimeError, "%s", refusedOut(o, i, result, out))
		}
	case ops.OutOfInput:
		in := c.Tensor(0).DType()
		source.Check(in == out, "Expected the dtype for input and out to match, but got %s for input's dtype and %s for out's dtype.", in.CppName(), out.CppName())
	case ops.OutComputed, ops.OutComputedFloating:
		define.CheckOutType(result, out)
	case ops.OutOfKernel:
		source.Check(result == out, "Found dtype %s but expected %s", out.CppName(), result.CppName())
	case ops.OutOfScalars:
		source.Check(result == out, "expected scalar type %s but found %s", result.CppName(), out.CppName())
	case ops.OutInt64:
		source.Check(out == tensor.Int64, "multinomial expects Long tensor out, got: %s", out.CppName())
	}
}

// refusedOut is what is said of out= for result i that has another type.
func refusedOut(o *ops.Operator, i int, result, out tensor.DType) string {
	name := strings.TrimPrefix(o.BaseName(), "aten::")
	tensorName := func(d tensor.DType) string { return "torch." + d.CppName() + "Tensor" }
	return strings.NewReplacer("{op}", name, "{module}", strings.Replace(name, "linalg_", "linalg.", 1), "{result}", define.LowerNames[result], "{out}", define.LowerNames[out],
		"{Result}", result.CppName(), "{Out}", out.CppName(), "{Tensor}", tensorName(result), "{OutTensor}", tensorName(out),
		"{small}", map[bool]string{true: "True", false: "False"}[result == tensor.Int32]).Replace(o.OutRefusal(i))
}

func storeParts(into []*tensor.Tensor, parts []value.Value) {
	if len(parts) != len(into) {
		source.Raise(source.RuntimeError, "expected %d tensors in out, but got %d", len(parts), len(into))
	}
	for i, dst := range into {
		elementwise.StoreOut(dst, parts[i].Tensor())
		dst.Bump()
	}
}
