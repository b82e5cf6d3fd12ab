package aten

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Tensors of the device "meta" have a shape and no elements. Elementwise operators, views and what makes tensors know
// that. All others run on tensors of zeros that stand for them, and of their results only the shapes are kept; those
// whose results follow from elements fail. The zeros are hollow: operators with much to do, which ask for that, give
// hollow results without computing them.

// emptyBeside is empty for a result of t, hollow where t is.
func emptyBeside(t *tensor.Tensor, shape []int, d tensor.DType) *tensor.Tensor {
	if t.IsHollow() {
		return must(tensor.EmptyHollow(shape, nil, d, nil))
	}
	return empty(shape, d)
}

// hasMeta reports whether a tensor without elements is among the arguments.
func hasMeta(args []value.Value) bool {
	for i := range args {
		switch args[i].Kind() {
		case value.KindTensor:
			if isMeta(args[i].Tensor()) {
				return true
			}
		case value.KindList:
			if items := args[i].List().Items; len(items) > 0 && (items[0].IsTensor() || items[0].IsNone()) && hasMeta(items) {
				return true
			}
		}
	}
	return false
}

// runOnZeros runs the body of an operator on zeros in place of tensors without elements.
func runOnZeros(name string, body func(c call), args, out []value.Value) {
	if reader := readsElements(ops.BaseName(name), args); reader != "" {
		raise(source.NotImplementedError, "Could not run '%s' with arguments from the 'Meta' backend: the result depends on elements, and tensors on the device meta have none.", reader)
	}
	refuseRealResult(name, args)
	s := standIns{}
	body(call{s.values(args), out})
	for meta, zero := range s {
		s.follow(meta, zero)
	}
	for i := range out {
		out[i] = s.result(out[i])
	}
}

// refuseRealResult fails where an operator would write a tensor with elements by the shapes of others without.
func refuseRealResult(name string, args []value.Value) {
	isReal := func(v value.Value) bool { return v.IsTensor() && !isMeta(v.Tensor()) }
	base, overload, _ := cutOverload(name)
	switch {
	case strings.HasSuffix(base, "_") && isReal(args[0]):
		raise(source.NotImplementedError, "Cannot inplace into non-meta tensor with meta tensor argument")
	case strings.HasSuffix(overload, "out") && isReal(args[len(args)-1]):
		check(false, "Expected out tensor to have device meta, but got %s instead", args[len(args)-1].Tensor().Device())
	}
}

// readsElements returns the name of the operator whose results follow from the elements of the arguments, "" where there
// is none: the operator itself, or the one that makes positions of masks.
func readsElements(name string, args []value.Value) string {
	switch name {
	case "aten::one_hot":
		check(args[1].Int() >= 0, "Can not infer total number of classes from meta tensor.")
	case "aten::tensor_split":
		if args[1].IsTensor() {
			return name
		}
	case "aten::where":
		if len(args) == 1 {
			return "aten::nonzero"
		}
	case "aten::index":
		for _, i := range args[1].List().Items {
			if !i.IsTensor() || !isMeta(i.Tensor()) {
				continue
			}
			check(isMeta(args[0].Tensor()), "indices should be either on cpu or on the same device as the indexed tensor (cpu)")
			if d := i.Tensor().DType(); d == tensor.Bool || d == tensor.Uint8 {
				return "aten::nonzero"
			}
		}
	case "aten::index_put":
		if !isMeta(args[0].Tensor()) {
			raise(source.NotImplementedError, "Cannot inplace into non-meta tensor with meta tensor argument")
		}
	}
	if ops.DependsOnElements(name) || makesSparse(name) {
		return name
	}
	return ""
}

// standIns are tensors of zeros by the tensors without elements that they stand for.
type standIns map[*tensor.Tensor]*tensor.Tensor

func (s standIns) values(vs []value.Value) []value.Value {
	changed := make([]value.Value, len(vs))
	for i, v := range vs {
		changed[i] = v
		switch v.Kind() {
		case value.KindTensor:
			if isMeta(v.Tensor()) {
				changed[i] = value.OfTensor(s.of(v.Tensor()))
			}
		case value.KindList:
			if hasMeta(v.List().Items) {
				changed[i] = value.OfList(value.NewList(v.List().Elem, s.values(v.List().Items)...))
			}
		}
	}
	return changed
}

func (s standIns) of(meta *tensor.Tensor) *tensor.Tensor {
	if zero := s[meta]; zero != nil {
		return zero
	}
	zero := must(tensor.EmptyHollow(meta.Shape(), meta.Strides(), meta.DType(), func(t *tensor.Tensor) {
		if n := t.Dim(); n >= 2 && t.Size(n-1) == t.Size(n-2) && (t.DType().IsFloating() || t.DType().IsComplex()) {
			tensor.Fill(must(t.Diagonal(0, n-2, n-1)), tensor.Int(1)) // so that it has an inverse
		}
	}))
	s[meta] = zero
	return zero
}

// follow gives a tensor that the operator has resized the new shape.
func (s standIns) follow(meta, zero *tensor.Tensor) {
	if !tensor.SameShape(meta.Shape(), zero.Shape()) {
		succeed(meta.SetGeometry(0, zero.Shape(), zero.Strides()))
	}
}

// result returns what stands for a result without its elements.
func (s standIns) result(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindList:
		items := v.List().Items
		for i := range items {
			items[i] = s.result(items[i])
		}
	case value.KindTensor:
		return value.OfTensor(s.original(v.Tensor()))
	}
	return v
}

func (s standIns) original(t *tensor.Tensor) *tensor.Tensor {
	for meta, zero := range s {
		if zero == t {
			return meta
		}
	}
	for meta, zero := range s {
		if zero.SharesStorage(t) && t.DType() == meta.DType() {
			return must(meta.AsStrided(t.Shape(), t.Strides(), meta.Offset()+t.Offset()))
		}
	}
	meta := must(tensor.EmptyMeta(t.Shape(), t.DType()))
	succeed(meta.SetGeometry(0, t.Shape(), t.Strides()))
	return meta
}
