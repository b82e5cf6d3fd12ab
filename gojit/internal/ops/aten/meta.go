package aten

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/sparse"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// runOnZeros runs the body of an operator on zeros in place of tensors without elements.
func runOnZeros(name string, body func(c define.Call), args, out []value.Value) {
	if reader := readsElements(ops.BaseName(name), args); reader != "" {
		source.Raise(source.NotImplementedError, "Could not run '%s' with arguments from the 'Meta' backend: the result depends on elements, and tensors on the device meta have none.", reader)
	}
	refuseRealResult(name, args)
	s := zerosForMeta()
	body(define.Call{Args: s.values(args), Out: out})
	for meta, zero := range s.of {
		s.follow(meta, zero)
	}
	for i := range out {
		out[i] = s.resultOf(out[i])
	}
}

// refuseRealResult fails where an operator would write a tensor with elements by the shapes of others without.
func refuseRealResult(name string, args []value.Value) {
	isReal := func(v value.Value) bool { return v.IsTensor() && !define.IsMeta(v.Tensor()) }
	base, overload, _ := define.CutOverload(name)
	switch {
	case strings.HasSuffix(base, "_") && isReal(args[0]):
		source.Raise(source.NotImplementedError, "Cannot inplace into non-meta tensor with meta tensor argument")
	case strings.HasSuffix(overload, "out") && isReal(args[len(args)-1]):
		source.Check(false, "Expected out tensor to have device meta, but got %s instead", args[len(args)-1].Tensor().Device())
	}
}

// readsElements returns the name of the operator whose results follow from the elements of the arguments, "" where there
// is none: the operator itself, or the one that makes positions of masks.
func readsElements(name string, args []value.Value) string {
	switch name {
	case "aten::one_hot":
		source.Check(args[1].Int() >= 0, "Can not infer total number of classes from meta tensor.")
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
			if !i.IsTensor() || !define.IsMeta(i.Tensor()) {
				continue
			}
			source.Check(define.IsMeta(args[0].Tensor()), "indices should be either on cpu or on the same device as the indexed tensor (cpu)")
			if d := i.Tensor().DType(); d == tensor.Bool || d == tensor.Uint8 {
				return "aten::nonzero"
			}
		}
	case "aten::index_put":
		if !define.IsMeta(args[0].Tensor()) {
			source.Raise(source.NotImplementedError, "Cannot inplace into non-meta tensor with meta tensor argument")
		}
	}
	if ops.DependsOnElements(name) || sparse.MakesSparse(name) {
		return name
	}
	return ""
}

// standIns are tensors that stand for others while an operator runs.
type standIns struct {
	isAway func(t *tensor.Tensor) bool           // t needs one
	make   func(t *tensor.Tensor) *tensor.Tensor // makes it
	result func(t *tensor.Tensor) *tensor.Tensor // gives what stands for a result of new memory
	of     map[*tensor.Tensor]*tensor.Tensor     // those that were made, by what they stand for
}

// zerosForMeta are hollow zeros that stand for tensors without elements.
func zerosForMeta() *standIns {
	return &standIns{isAway: define.IsMeta, make: zerosLike, result: define.WithoutElements, of: map[*tensor.Tensor]*tensor.Tensor{}}
}

func (s *standIns) values(vs []value.Value) []value.Value {
	changed := make([]value.Value, len(vs))
	for i, v := range vs {
		changed[i] = v
		switch v.Kind() {
		case value.KindTensor:
			if s.isAway(v.Tensor()) {
				changed[i] = value.OfTensor(s.standing(v.Tensor()))
			}
		case value.KindList:
			if items := v.List().Items; slices.ContainsFunc(items, func(v value.Value) bool { return v.IsTensor() && s.isAway(v.Tensor()) }) {
				changed[i] = value.OfList(value.NewList(v.List().Elem, s.values(items)...))
			}
		}
	}
	return changed
}

// standing returns what stands for t.
func (s *standIns) standing(t *tensor.Tensor) *tensor.Tensor {
	if s.of[t] == nil {
		s.of[t] = s.make(t)
	}
	return s.of[t]
}

func zerosLike(meta *tensor.Tensor) *tensor.Tensor {
	return source.Must(tensor.EmptyHollow(meta.Shape(), meta.Strides(), meta.DType(), func(t *tensor.Tensor) {
		if n := t.Dim(); n >= 2 && t.Size(n-1) == t.Size(n-2) && (t.DType().IsFloating() || t.DType().IsComplex()) {
			tensor.Fill(source.Must(t.Diagonal(0, n-2, n-1)), tensor.Int(1)) // so that it has an inverse
		}
	}))
}

// follow gives a tensor that the operator has resized the new shape.
func (s *standIns) follow(meta, zero *tensor.Tensor) {
	if !tensor.SameShape(meta.Shape(), zero.Shape()) {
		source.Throw(meta.SetGeometry(0, zero.Shape(), zero.Strides()))
	}
}

// resultOf returns what stands for a result.
func (s *standIns) resultOf(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindList:
		items := v.List().Items
		for i := range items {
			items[i] = s.resultOf(items[i])
		}
	case value.KindTensor:
		return value.OfTensor(s.original(v.Tensor()))
	}
	return v
}

// original returns what a result stands for: an argument, a view of one, or a new tensor.
func (s *standIns) original(t *tensor.Tensor) *tensor.Tensor {
	for away, here := range s.of {
		if here == t {
			return away
		}
	}
	for away, here := range s.of {
		if here.SharesStorage(t) && t.DType() == away.DType() && tensor.SameShape(here.Strides(), away.Strides()) {
			return source.Must(away.AsStrided(t.Shape(), t.Strides(), away.Offset()+t.Offset()))
		}
	}
	return s.result(t)
}
