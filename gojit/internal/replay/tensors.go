package replay

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// buffered returns an argument with tensors that stay for its own. It returns why there are none, or "".
func (k *kind) buffered(v value.Value) (value.Value, string) {
	switch v.Kind() {
	case value.KindTensor:
		t := v.Tensor()
		own, err := tensor.EmptyStridedOn(t.Device(), t.Shape(), t.Strides(), t.DType())
		if err != nil {
			return v, err.Error()
		}
		k.inputs = append(k.inputs, own)
		return value.OfTensor(own), ""
	case value.KindList:
		items, why := k.allBuffered(v.List().Items)
		return value.OfList(&value.List{Elem: v.List().Elem, Items: items}), why
	case value.KindTuple:
		items, why := k.allBuffered(v.Tuple().Items)
		return value.OfTuple(&value.Tuple{Type: v.Tuple().Type, Items: items}), why
	}
	return v, ""
}

func (k *kind) allBuffered(vs []value.Value) (own []value.Value, why string) {
	own = make([]value.Value, len(vs))
	for i, v := range vs {
		if own[i], why = k.buffered(v); why != "" {
			return own, why
		}
	}
	return own, ""
}

// fill copies the tensors of an argument into those that stay, and returns the rest of these.
func fill(into []*tensor.Tensor, v value.Value) (rest []*tensor.Tensor, err error) {
	var items []value.Value
	switch v.Kind() {
	case value.KindTensor:
		return into[1:], tensor.Copy(into[0], v.Tensor())
	case value.KindList:
		items = v.List().Items
	case value.KindTuple:
		items = v.Tuple().Items
	}
	for _, item := range items {
		if into, err = fill(into, item); err != nil {
			return into, err
		}
	}
	return into, nil
}

// output is a tensor that the work writes.
type output struct {
	t, bytes  *tensor.Tensor // and all bytes of its storage
	inference bool
}

// result is what a call gives: a copy of an output, a container of results, or a value.
type result struct {
	output int // -1 for none
	v      value.Value
	items  []result
	list   types.Type // of the elements of a list
	tuple  *types.Tuple
}

// gives looks at a result of the run that was put down. seen are storages that others have, or that were given. It returns why a call cannot give such, or "".
func (k *kind) gives(v value.Value, seen map[*tensor.Storage]bool) (r result, why string) {
	r = result{output: -1, v: v}
	switch v.Kind() {
	case value.KindTensor:
		t := v.Tensor()
		switch {
		case !t.OnDevice():
			return r, "a result is on the device " + t.Device().String()
		case seen[t.Storage()]:
			return r, "a result shares its memory with an argument, an attribute, a constant or another result"
		case t.RequiresGrad() || t.IsSparse() || t.Lengths() != nil || t.DType().IsQuantized():
			return r, "a result is no plain tensor"
		}
		seen[t.Storage()] = true
		n := t.Storage().NBytes()
		bytes, err := tensor.FromStorage(t.Storage(), 0, []int{n}, []int{1}, tensor.Uint8)
		if err != nil {
			return r, err.Error()
		}
		if t.IsTemporary() {
			t.UnmarkTemporary()
		}
		r.output, r.v = len(k.outputs), value.None
		k.outputs = append(k.outputs, output{t, bytes, t.IsInference()})
	case value.KindList:
		r.list, r.v = v.List().Elem, value.None
		r.items, why = k.givesAll(v.List().Items, seen)
	case value.KindTuple:
		r.tuple, r.v = v.Tuple().Type, value.None
		r.items, why = k.givesAll(v.Tuple().Items, seen)
	case value.KindNone, value.KindBool, value.KindInt, value.KindFloat, value.KindString, value.KindDevice:
	default:
		why = fmt.Sprintf("a result is a %s", v.Kind())
	}
	return r, why
}

func (k *kind) givesAll(vs []value.Value, seen map[*tensor.Storage]bool) (all []result, why string) {
	all = make([]result, len(vs))
	for i, v := range vs {
		if all[i], why = k.gives(v, seen); why != "" {
			return all, why
		}
	}
	return all, ""
}

// replay does the work for a call. done is false where the device fails, which the call then meets when it runs as any, or has given the work up.
func (k *kind) replay(c *call, out []value.Value) (done bool) {
	k.work.Lock()
	defer k.work.Unlock()
	if k.lost.Load() {
		return false
	}
	into, err := k.inputs, error(nil)
	for _, a := range c.args {
		if into, err = fill(into, a); err != nil {
			return false
		}
	}
	if k.work.Replay() != nil {
		k.lost.Store(true)
		k.inputs, k.outputs = nil, nil
		return false
	}
	for i := range out {
		if out[i], err = k.copied(&k.results[i]); err != nil {
			clear(out)
			return false
		}
	}
	return true
}

// copied returns a result of its own.
func (k *kind) copied(r *result) (value.Value, error) {
	switch {
	case r.output >= 0:
		from := &k.outputs[r.output]
		bytes, err := tensor.EmptyOn(k.device, from.bytes.Shape(), tensor.Uint8)
		if err != nil {
			return value.None, err
		}
		if err := tensor.Copy(bytes, from.bytes); err != nil {
			return value.None, err
		}
		t, err := tensor.FromStorage(bytes.Storage(), from.t.Offset(), from.t.Shape(), from.t.Strides(), from.t.DType())
		if err != nil {
			return value.None, err
		}
		bytes.ReleaseMemory() // the storage is t's alone
		if from.inference {
			t.MakeInference()
		}
		t.MarkTemporary()
		return value.OfTensor(t), nil
	case r.items != nil:
		items := make([]value.Value, len(r.items))
		for i := range r.items {
			var err error
			if items[i], err = k.copied(&r.items[i]); err != nil {
				return value.None, err
			}
		}
		if r.list != nil {
			return value.OfList(&value.List{Elem: r.list, Items: items}), nil
		}
		return value.OfTuple(&value.Tuple{Type: r.tuple, Items: items}), nil
	}
	return r.v, nil
}
