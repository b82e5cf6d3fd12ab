package elementwise

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// RunKernel runs a program over tensors that are on one device; numbers among them that are the processor's are copied there.
func RunKernel(p *launch.Program, tensors []*tensor.Tensor, params []tensor.Scalar) {
	bringTogether(tensors)
	source.Throw(RunThere(p, tensors, params))
}

// bringTogether copies numbers of the processor among tensors to the device of the first. It refuses all else that is not there.
func bringTogether(tensors []*tensor.Tensor) {
	device := tensors[0].Device()
	for i, t := range tensors {
		if t.Device() != device {
			CheckBeside(t, device)
			tensors[i] = source.Must(t.ToDevice(device))
		}
	}
}

// RunnerOf returns what runs kernels on a device.
func RunnerOf(d tensor.Device) (kernel.Runner, error) {
	b, err := tensor.BackendOf(d)
	if err != nil {
		return nil, err
	}
	runner, ok := b.(kernel.Runner)
	if !ok {
		return nil, source.Errorf(source.NotImplementedError, source.Range{}, "the device %s runs no kernels", d)
	}
	return runner, nil
}

// RunThere runs a program over tensors of one device.
func RunThere(p *launch.Program, tensors []*tensor.Tensor, params []tensor.Scalar) error {
	return RunOn(p.Kernel(), tensors, params)
}

// RunOn runs a kernel over tensors of one device.
func RunOn(k *kernel.Kernel, tensors []*tensor.Tensor, params []tensor.Scalar) error {
	runner, err := RunnerOf(tensors[0].Device())
	if err != nil {
		return err
	}
	if err := runner.Run(k, tensors, params); err != nil {
		return err
	}
	for i := range k.Outputs {
		tensors[i].NoteDeviceWrite()
	}
	return nil
}

// LaunchRoutine runs a routine over tensors of a device, the first of which it writes. All must be on that device.
func LaunchRoutine(r kernel.Routine, tensors []*tensor.Tensor, numbers ...int64) error {
	bringTogether(tensors)
	runner := source.Must(RunnerOf(tensors[0].Device()))
	tensors[0].NoteDeviceWrite()
	return runner.RunRoutine(&r, tensors, numbers)
}

// Multiply has a library of a device multiply matrices that are on it. It reports whether there is one that takes them.
func Multiply(p *kernel.Product) bool {
	runner := libraryOf(p.Out, p.Left, p.Right, p.Added)
	done, err := runner.Multiply(p)
	source.Throw(err)
	return done
}

// UsesTensorCores reports whether a routine may multiply numbers of the type of t by tensor cores of its device.
func UsesTensorCores(t *tensor.Tensor, convolution bool) bool {
	has, err := source.Must(RunnerOf(t.Device())).TensorCores(t.Device(), t.DType(), convolution)
	source.Throw(err)
	return has
}

// Convolve has a library of a device convolve tensors that are on it. It reports whether there is one that does.
func Convolve(c *kernel.Convolution) bool {
	runner := libraryOf(c.Out, c.Left, c.Right, c.Bias)
	done, err := runner.Convolve(c)
	source.Throw(err)
	return done
}

// Transform has a library of a device transform rows by Fourier. It reports whether there is one that does.
func Transform(t *kernel.Transform) bool {
	runner := libraryOf(t.Out, t.In, t.In, nil)
	done, err := runner.Transform(t)
	source.Throw(err)
	return done
}

// Solve has a library of a device work with matrices. It reports whether there is one that does.
func Solve(w *kernel.MatrixWork) bool {
	for _, t := range []*tensor.Tensor{w.B, w.V, w.Numbers, w.Pivots, w.Info} {
		if t != nil {
			CheckBeside(t, w.A.Device())
		}
	}
	runner := source.Must(RunnerOf(w.A.Device()))
	switch w.Of {
	case kernel.LUSolution, kernel.TriangleSolution, kernel.ReflectionsTimes:
		w.B.NoteDeviceWrite()
	default:
		w.A.NoteDeviceWrite()
	}
	done, err := runner.Solve(w)
	source.Throw(err)
	return done
}

// libraryOf returns what runs libraries on the device of a result, which is written. It refuses operands that are not there.
func libraryOf(out, left, right, added *tensor.Tensor) kernel.Runner {
	CheckBeside(left, out.Device())
	CheckBeside(right, out.Device())
	if added != nil {
		CheckBeside(added, out.Device())
	}
	runner := source.Must(RunnerOf(out.Device()))
	out.NoteDeviceWrite()
	return runner
}

// OnDeviceOf copies a list of integers to the device of t.
func OnDeviceOf(t *tensor.Tensor, list []int, shape ...int) *tensor.Tensor {
	wide := make([]int64, len(list))
	for i, n := range list {
		wide[i] = int64(n)
	}
	return source.Must(source.Must(tensor.FromSlice(wide, shape...)).ToDevice(t.Device()))
}
