package aten

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
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
	op := ops.Find(name)
	if op != nil && op.PartsOnDevices != nil {
		succeed(op.PartsOnDevices(args, out))
		return
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
	case runAsOthers(op, args, out):
	case deviceFallback:
		runOnCopies(name, body, args, out)
	default:
		raise(source.NotImplementedError, "Could not run '%s' with arguments from the 'CUDA' backend: the operator has no form for the device %s. "+
			"Copy the arguments with cpu(), or set GOJIT_CUDA_FALLBACK=1 to have the processor run such operators with copies.", name, device)
	}
}

// runAsOthers runs an operator as what it is made of, or one that writes as the one that does not. ok is false where it is known as neither.
func runAsOthers(op *ops.Operator, args, out []value.Value) (ok bool) {
	switch {
	case op == nil || isNestedDeeply():
		return false
	case op.Parts != nil:
		succeed(op.Parts(args, out))
		return true
	case op.IsFunctional() && op.Def().Decomp != nil:
		run := &partsOnDevice{of: op.Name}
		copy(out, op.Def().Decomp(run, args))
		run.giveUp(out)
		return true
	}
	functional := functionalBase(op.Name)
	if functional == nil || functional.Run == nil || len(functional.Schema().Arguments) > len(args) || len(functional.Schema().Returns) != len(out) {
		return false
	}
	results := make([]value.Value, len(out))
	inputs := args[:len(functional.Schema().Arguments)]
	succeed(functional.Run(inputs, results))
	for i, r := range results {
		dst := args[0]
		if len(inputs) < len(args) {
			dst = args[len(inputs)+i]
		}
		if !r.IsTensor() || !dst.IsTensor() {
			return false
		}
		storeOut(dst.Tensor(), r.Tensor())
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
	for functional, derived := range variantsOf() {
		for _, name := range derived {
			if name != "" && name != "-" {
				names[key(name)] = key(functional)
			}
		}
	}
	return names
})

// partsOnDevice runs what an operator is made of on a device. Decompositions have the operator itself check its arguments: it does so by their shapes.
type partsOnDevice struct {
	plainly
	of string
}

// Unrecorded is for those.
func (p *partsOnDevice) Unrecorded() ops.Emitter { return checksOfShapes{p} }

type checksOfShapes struct{ parts *partsOnDevice }

// Emit implements ops.Emitter.
func (c checksOfShapes) Emit(name string, args ...value.Value) []value.Value {
	if key(name) == c.parts.of {
		s := &standIns{isAway: (*tensor.Tensor).OnDevice, make: withoutElements, result: withoutElements, of: map[*tensor.Tensor]*tensor.Tensor{}}
		args = s.values(args)
	}
	return c.parts.Emit(name, args...)
}

func tryBody(body func(c call), args, out []value.Value) (err error) {
	defer source.Catch(&err)
	body(call{args, out})
	return nil
}

// checkSameDevice fails where tensors are not on one device. One of the processor without dimensions stands for a number.
// So may indices, which are lists of tensors that may be None: they are copied.
func checkSameDevice(device tensor.Device, args []value.Value) {
	for i, a := range args {
		if a.Kind() == value.KindList && a.List().Elem.Kind() == types.KindOptional {
			continue
		}
		eachTensorIn(args[i:i+1], func(t *tensor.Tensor) bool {
			checkBeside(t, device)
			return true
		})
	}
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
	succeed(runThere(p, tensors, params))
}

// runThere runs a program over tensors of one device.
func runThere(p *launch.Program, tensors []*tensor.Tensor, params []tensor.Scalar) error {
	b, err := tensor.BackendOf(tensors[0].Device())
	if err != nil {
		return err
	}
	runner, ok := b.(kernel.Runner)
	if !ok {
		return source.Errorf(source.NotImplementedError, source.Range{}, "the device %s runs no kernels", tensors[0].Device())
	}
	if err := runner.Run(p.Kernel(), tensors, params); err != nil {
		return err
	}
	for i := range p.Kernel().Outputs {
		tensors[i].NoteDeviceWrite()
	}
	return nil
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

// sumOfComplexProducts multiplies matrices of complex numbers on a device, as a reduction: element (i, j) sums row i of a times column j of b.
var complexProductSums launch.Cache

func sumOfComplexProducts(a, b *tensor.Tensor, shape []int) *tensor.Tensor {
	d := a.DType()
	key := launch.Key(0).With(d)
	p := complexProductSums.Get(key)
	if p == nil {
		p = must(complexProductSums.Make(key, func() (*launch.Program, error) {
			k := kernel.NewBuilder()
			k.Reduce(kernel.ReduceSum, k.Mul(k.Input(d, d), k.Input(d, d)), d)
			return launch.ProgramOf(k.Kernel())
		}))
	}
	n := a.Dim()
	out := must(tensor.EmptyOn(a.Device(), shape, d))
	rows, columns := must(a.Unsqueeze(n-1)), must(must(b.Transpose(n-2, n-1)).Unsqueeze(n-2))
	if out.Numel() > 0 {
		runKernel(p, []*tensor.Tensor{must(out.Unsqueeze(n)), rows, columns}, nil)
	}
	return out
}

// productTile is how many rows and columns of a result a block of threads computes.
const productTile = 64

// runTiles runs a routine of products whose result has rows and columns, for each of a number of batches, and sums over depth.
func runTiles(entry string, rows, columns, depth, batches int, tensors []*tensor.Tensor, numbers ...int64) {
	tall, wide := (rows+productTile-1)/productTile, (columns+productTile-1)/productTile
	r := kernel.Routine{Text: "product", Entry: entry, Types: []tensor.DType{tensors[0].DType()}, Blocks: tall * wide * batches}
	numbers = append([]int64{int64(rows), int64(columns), int64(depth), int64(tall), int64(wide)}, numbers...)
	succeed(launchRoutine(r, tensors, numbers...))
}

// sumOfProductsOnDevice is sumOfProducts on a device.
func sumOfProductsOnDevice(self, a, b *tensor.Tensor, shape []int) *tensor.Tensor {
	n, d := a.Dim(), a.DType()
	if d.IsComplex() {
		out := sumOfComplexProducts(a, b, shape)
		if self != nil {
			out = add.run(out, []operand{ofTensor(out), ofTensor(self)})
		}
		return out
	}
	out := must(tensor.EmptyOn(a.Device(), shape, d))
	if out.Numel() == 0 {
		return out
	}
	tensors := []*tensor.Tensor{out, a, b}
	if self != nil {
		tensors = append(tensors, must(to(self, d).Expand(shape...)))
	}
	var steps []int64
	for _, t := range tensors {
		s := t.Strides()
		batch := 0
		if n == 3 {
			batch = s[0]
		}
		steps = append(steps, int64(batch), int64(s[n-2]), int64(s[n-1]))
	}
	batches := 1
	if n == 3 {
		batches = shape[0]
	}
	runTiles("product", shape[n-2], shape[n-1], a.Size(n-1), batches, tensors, steps...)
	return out
}

// convolutionNumbers are the numbers that routines of convolutions take.
func convolutionNumbers(g *dense.Convolution) []int64 {
	numbers := []int64{int64(g.InChannels / g.Groups), int64(g.OutChannels / g.Groups), int64(g.Groups)}
	for _, sizes := range [][3]int{g.In, g.Out, g.Kernel, g.Stride, g.Padding, g.Dilation} {
		for _, n := range sizes {
			numbers = append(numbers, int64(n))
		}
	}
	return numbers
}

func volumeOf(sizes [3]int) int { return sizes[0] * sizes[1] * sizes[2] }

// convolveOnDevice is convolve on a device.
func convolveOnDevice(g dense.Convolution, transposed bool, in, weight, bias, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	tensors := []*tensor.Tensor{out, contiguous(weight), contiguous(in)}
	if bias != nil {
		tensors = append(tensors, contiguous(bias))
	}
	ci, co, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, volumeOf(g.Kernel)
	if transposed {
		runTiles("transpose", ci, g.Batch*volumeOf(g.In), co*taps, g.Groups, tensors, convolutionNumbers(&g)...)
		return
	}
	runTiles("convolve", co, g.Batch*volumeOf(g.Out), ci*taps, g.Groups, tensors, convolutionNumbers(&g)...)
}

// weightGradientOnDevice writes the gradient of a convolution's weight.
func weightGradientOnDevice(g dense.Convolution, x, dy, out *tensor.Tensor) {
	if out.Numel() > 0 {
		ci, co := g.InChannels/g.Groups, g.OutChannels/g.Groups
		runTiles("weights", co, ci*volumeOf(g.Kernel), g.Batch*volumeOf(g.Out), g.Groups, []*tensor.Tensor{out, contiguous(dy), contiguous(x)}, convolutionNumbers(&g)...)
	}
}
