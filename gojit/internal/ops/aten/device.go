package aten

import (
	"errors"
	"os"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Tensors on a device have their elements where the processor cannot look. The bodies of operators are the same for them: views need no
// elements, and kernels, copies and fills run where their operands are. A body that reads elements itself fails when it asks for their address,
// and its operator has no form for the device then.

// isAway reports whether t has no elements in the memory of the processor: it is on a device, on meta among them.
func isAway(t *tensor.Tensor) bool { return t.Device().Type != tensor.CPU }

// hasAway reports whether a tensor is among the arguments that the processor has no elements of.
func hasAway(args []value.Value) bool {
	for i := range args {
		switch args[i].Kind() {
		case value.KindTensor:
			if isAway(args[i].Tensor()) {
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

// deviceAmong returns the device of the first tensor on one among the arguments; ok is false where there is none.
func deviceAmong(args []value.Value) (d tensor.Device, ok bool) {
	eachTensorIn(args, func(t *tensor.Tensor) bool {
		if ok = t.OnDevice(); ok {
			d = t.Device()
		}
		return !ok
	})
	return d, ok
}

// eachTensorIn calls f with the tensors among values and in lists of them, until it returns false.
func eachTensorIn(values []value.Value, f func(t *tensor.Tensor) bool) bool {
	for _, v := range values {
		switch v.Kind() {
		case value.KindTensor:
			if !f(v.Tensor()) {
				return false
			}
		case value.KindList:
			if !eachTensorIn(v.List().Items, f) {
				return false
			}
		}
	}
	return true
}

// deviceFallback has operators without a form for the device run on the processor, with copies of their arguments: GOJIT_CUDA_FALLBACK=1.
var deviceFallback = os.Getenv("GOJIT_CUDA_FALLBACK") == "1"

// runOnDevice runs the body of an operator with tensors on a device among the arguments.
func runOnDevice(name string, record *ops.Def, body func(c call), device tensor.Device, args, out []value.Value) {
	moves := record != nil && record.Has(ops.MovesDevice)
	if !moves {
		checkSameDevice(device, args)
	}
	writes := deviceWrites(args)
	err := tryBody(body, args, out)
	var refused *tensor.HostAccessError
	var mixed mixedError
	isHost := errors.As(err, &refused) || errors.Is(err, kernel.ErrNoDeviceForm) || !moves && errors.As(err, &mixed) // it mixes with tensors of its own
	switch {
	case err == nil:
		if !moves {
			placeOn(device, args, out)
		}
	case !isHost:
		succeed(err)
	case deviceWrites(args) != writes:
		raise(source.NotImplementedError, "'%s' has no form for the device %s, and found out when it had written an argument", name, device)
	case deviceFallback:
		runOnCopies(name, body, args, out)
	default:
		raise(source.NotImplementedError, "Could not run '%s' with arguments from the 'CUDA' backend: the operator has no form for the device %s. "+
			"Copy the arguments with cpu(), or set GOJIT_CUDA_FALLBACK=1 to have the processor run such operators with copies.", name, device)
	}
}

func tryBody(body func(c call), args, out []value.Value) (err error) {
	defer source.Catch(&err)
	body(call{args, out})
	return nil
}

// checkSameDevice fails where tensors are not on one device. One of the processor without dimensions stands for a number.
func checkSameDevice(device tensor.Device, args []value.Value) {
	eachTensorIn(args, func(t *tensor.Tensor) bool {
		checkBeside(t, device)
		return true
	})
}

// deviceWrites counts how often devices have written the memory of the arguments.
func deviceWrites(args []value.Value) (n uint64) {
	eachTensorIn(args, func(t *tensor.Tensor) bool {
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
		case v.IsTensor() && v.Tensor().Device().Type == tensor.CPU && !v.Tensor().IsSparse() && !isAmong(v.Tensor(), args):
			out[i] = value.OfTensor(must(v.Tensor().ToDevice(device)))
		}
	}
}

// runOnCopies has the processor run an operator with copies of tensors on a device, and copies what it writes and gives.
func runOnCopies(name string, body func(c call), args, out []value.Value) {
	device, _ := deviceAmong(args)
	s := &standIns{
		isAway: (*tensor.Tensor).OnDevice,
		make:   func(t *tensor.Tensor) *tensor.Tensor { return must(t.ToDevice(tensor.Device{})) },
		result: func(t *tensor.Tensor) *tensor.Tensor { return must(t.ToDevice(device)) },
		of:     map[*tensor.Tensor]*tensor.Tensor{},
	}
	body(call{s.values(args), out})
	if isMutable(name) {
		for t, here := range s.of {
			if !tensor.SameShape(t.Shape(), here.Shape()) {
				succeed(t.Resize(here.Shape()))
			}
			succeed(tensor.Copy(t, here))
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

// runKernel runs a program over tensors that are on one device; numbers among them that are the processor's are copied there.
func runKernel(p *launch.Program, tensors []*tensor.Tensor, params []tensor.Scalar) {
	device := tensors[0].Device()
	for i, t := range tensors[1:] {
		if t.Device() != device {
			checkBeside(t, device)
			tensors[1+i] = must(t.ToDevice(device))
		}
	}
	backend, ok := must(tensor.BackendOf(device)).(kernel.Runner)
	check(ok, "the device %s runs no kernels", device)
	succeed(backend.Run(p.Kernel(), tensors, params))
	for i := range p.Kernel().Outputs {
		tensors[i].NoteDeviceWrite()
	}
}

// emptyAmong is empty for a result of tensors: on the device of the first that is away.
func emptyAmong(shape []int, d tensor.DType, ts ...*tensor.Tensor) *tensor.Tensor {
	for _, t := range ts {
		if isAway(t) {
			return must(tensor.EmptyOn(t.Device(), shape, d))
		}
	}
	return empty(shape, d)
}

// runRows runs a program that reduces rows which are on a device.
func runRows(p *launch.Program, r reduction, out *tensor.Tensor, singles []*tensor.Tensor) {
	if r.outer == 0 {
		return
	}
	operands := []*tensor.Tensor{must(out.View(r.outer, 1)), must(r.rows.View(r.outer, r.n))}
	for _, s := range singles {
		operands = append(operands, must(s.View(r.outer, 1)))
	}
	runKernel(p, operands, nil)
}

// productSums are the programs of products of matrices on a device: sums of products along the last dimension.
var productSums launch.Cache

// sumOfProductsOnDevice is sumOfProducts on a device, as a reduction: element (i, j) sums row i of a times column j of b. It reads each row and
// column anew for each element.
func sumOfProductsOnDevice(self, a, b *tensor.Tensor, shape []int) *tensor.Tensor {
	d, work := a.DType(), productType(a.DType())
	key := launch.Key(0).With(d)
	p := productSums.Get(key)
	if p == nil {
		p = must(productSums.Make(key, func() (*launch.Program, error) {
			k := kernel.NewBuilder()
			k.Reduce(kernel.ReduceSum, k.Mul(k.Input(d, work), k.Input(d, work)), d)
			return launch.ProgramOf(k.Kernel())
		}))
	}
	n := a.Dim()
	out := must(tensor.EmptyOn(a.Device(), shape, d))
	rows, columns := must(a.Unsqueeze(n-1)), must(must(b.Transpose(n-2, n-1)).Unsqueeze(n-2))
	if out.Numel() > 0 {
		runKernel(p, []*tensor.Tensor{must(out.Unsqueeze(n)), rows, columns}, nil)
	}
	if self == nil {
		return out
	}
	return add.run(out, []operand{ofTensor(out), ofTensor(self)})
}
