package aten

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// hasAway reports whether a tensor is among the arguments that the processor has no elements of.
func hasAway(args []value.Value) bool {
	for i := range args {
		switch args[i].Kind() {
		case value.KindTensor:
			if define.IsAway(args[i].Tensor()) {
				return true
			}
		case value.KindList:
			if items := args[i].List().Items; len(items) > 0 && (items[0].IsTensor() || items[0].IsNone()) && hasAway(items) {
				return true
			}
		}
	}
	return false
}

// deviceFallback has operators without a form for the device run on the processor, with copies of their arguments: GOJIT_CUDA_FALLBACK=1.
var deviceFallback = os.Getenv("GOJIT_CUDA_FALLBACK") == "1"

// runOnDevice runs the body of an operator with tensors on a device among the arguments.
func runOnDevice(name string, record *ops.Def, body func(c define.Call), device tensor.Device, args, out []value.Value) {
	moves := record != nil && record.Has(ops.MovesDevice)
	if !moves {
		checkSameDevice(device, args)
	}
	op := ops.Find(name)
	writes := deviceWrites(args)
	err := tryBody(body, args, out)
	var refused *tensor.HostAccessError
	var mixed elementwise.MixedError
	isHost := errors.As(err, &refused) || errors.Is(err, kernel.ErrNoDeviceForm) || !moves && errors.As(err, &mixed) // it mixes with tensors of its own
	switch {
	case err == nil:
		if !moves {
			placeOn(device, args, out)
		}
	case !isHost:
		kernel.NameCaptured(err, name)
		source.Throw(err)
	case deviceWrites(args) != writes:
		source.Raise(source.NotImplementedError, "'%s' has no form for the device %s, and found out when it had written an argument", name, device)
	case runAsOthers(op, args, out):
	case deviceFallback:
		runOnCopies(name, body, args, out)
	default:
		source.Raise(source.NotImplementedError, "Could not run '%s' with arguments from the 'CUDA' backend: the operator has no form for the device %s. "+
			"Copy the arguments with cpu(), or set GOJIT_CUDA_FALLBACK=1 to have the processor run such operators with copies.", name, device)
	}
}

// runAsOthers runs an operator as what it is made of, there or on devices, or one that writes as the one that does not. ok is false where it is known as neither.
func runAsOthers(op *ops.Operator, args, out []value.Value) (ok bool) {
	switch {
	case op == nil || isNestedDeeply():
		return false
	case op.PartsOnDevices != nil:
		source.Throw(op.PartsOnDevices(args, out))
		return true
	case op.Parts != nil:
		source.Throw(op.Parts(args, out))
		return true
	case op.IsFunctional() && (op.Def().Decomp != nil || op.Def().Parts != nil):
		run, parts := &partsOnDevice{Plainly: *define.PlainlyBeside(args), of: op.Name}, op.Def().Decomp
		if parts == nil {
			parts = op.Def().Parts
		}
		copy(out, parts(run, args))
		run.GiveUp(out)
		return true
	}
	functional := functionalBase(op.Name)
	if functional == nil || functional.Run == nil || len(functional.Schema().Arguments) > len(args) || len(functional.Schema().Returns) != len(out) {
		return false
	}
	results := make([]value.Value, len(out))
	inputs := args[:len(functional.Schema().Arguments)]
	source.Throw(functional.Run(inputs, results))
	for i, r := range results {
		dst := args[0]
		if len(inputs) < len(args) {
			dst = args[len(inputs)+i]
		}
		if !r.IsTensor() || !dst.IsTensor() {
			return false
		}
		elementwise.StoreOut(dst.Tensor(), r.Tensor())
		out[i] = dst
	}
	return true
}

// deepestParts is how deep operators that are made of others lie in each other at most. A few are made of one that is made of them again.
const deepestParts = 6

// isNestedDeeply reports whether runAsOthers runs inside of itself that often. Nothing but the stack knows: operators are given no more than arguments.
func isNestedDeeply() bool {
	var room [1024]uintptr
	frames, depth := runtime.CallersFrames(room[:runtime.Callers(1, room[:])]), 0
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "aten.runAsOthers") {
			depth++
		}
		if !more || depth > deepestParts {
			return depth > deepestParts
		}
	}
}

// functionalBase returns the operator that computes what one that writes in place or into out= does, nil where there is none.
func functionalBase(name string) *ops.Operator { return ops.Find(functionalNames()[name]) }

// functionalNames are the names of those operators by the names of what is derived from them.
var functionalNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for o := range ops.WithFact("forms") {
		inPlace, out := o.Forms()
		for _, name := range []string{inPlace, out} {
			if name != "" {
				names[define.Key(name)] = o.Name
			}
		}
	}
	return names
})

// partsOnDevice runs what an operator is made of on a device. Decompositions have the operator itself check its arguments: it does so by their shapes.
type partsOnDevice struct {
	define.Plainly
	of string
}

// Unrecorded is for those.
func (p *partsOnDevice) Unrecorded() ops.Emitter { return checksOfShapes{p} }

type checksOfShapes struct{ parts *partsOnDevice }

// Emit implements ops.Emitter.
func (c checksOfShapes) Emit(name string, args ...value.Value) []value.Value {
	if define.Key(name) == c.parts.of {
		s := &standIns{isAway: (*tensor.Tensor).OnDevice, make: define.WithoutElements, result: define.WithoutElements, of: map[*tensor.Tensor]*tensor.Tensor{}}
		args = s.values(args)
	}
	return c.parts.Emit(name, args...)
}

func tryBody(body func(c define.Call), args, out []value.Value) (err error) {
	defer source.Catch(&err)
	body(define.Call{Args: args, Out: out})
	return nil
}

// checkSameDevice fails where tensors are not on one device. One of the processor without dimensions stands for a number.
// So may indices, which are lists of tensors that may be None: they are copied.
func checkSameDevice(device tensor.Device, args []value.Value) {
	for i, a := range args {
		if a.Kind() == value.KindList && a.List().Elem.Kind() == types.KindOptional {
			continue
		}
		define.EachTensorIn(args[i:i+1], func(t *tensor.Tensor) bool {
			elementwise.CheckBeside(t, device)
			return true
		})
	}
}

// deviceWrites counts how often devices have written the memory of the arguments.
func deviceWrites(args []value.Value) (n uint64) {
	define.EachTensorIn(args, func(t *tensor.Tensor) bool {
		n += t.DeviceWrites()
		return true
	})
	return n
}

// placeOn copies results to the device that the processor has made without elements of the arguments.
func placeOn(device tensor.Device, args, out []value.Value) {
	for i, v := range out {
		switch {
		case v.Kind() == value.KindList:
			placeOn(device, args, v.List().Items)
		case v.IsTensor() && v.Tensor().Device().Type == tensor.CPU && !v.Tensor().IsSparse() && !define.IsAmong(v.Tensor(), args):
			out[i] = value.OfTensor(source.Must(v.Tensor().ToDevice(device)))
		}
	}
}

// runOnCopies has the processor run an operator with copies of tensors on a device, and copies what it writes and gives.
func runOnCopies(name string, body func(c define.Call), args, out []value.Value) {
	device, _ := define.DeviceAmong(args)
	s := &standIns{
		isAway: (*tensor.Tensor).OnDevice,
		make:   func(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.ToDevice(tensor.Device{})) },
		result: func(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.ToDevice(device)) },
		of:     map[*tensor.Tensor]*tensor.Tensor{},
	}
	body(define.Call{Args: s.values(args), Out: out})
	if isMutable(name) {
		for t, here := range s.of {
			if !tensor.SameShape(t.Shape(), here.Shape()) {
				source.Throw(t.Resize(here.Shape()))
			}
			source.Throw(tensor.Copy(t, here))
		}
	}
	for i := range out {
		out[i] = s.resultOf(out[i])
	}
}

// isMutable reports whether an operator writes arguments.
func isMutable(name string) bool {
	op := ops.Find(name)
	return op == nil || op.Schema().IsMutable()
}
