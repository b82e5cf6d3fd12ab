package command

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func kernelVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "kernel FILE [ELEMENTS]", Short: "Compile a kernel from its text, check it and time it", GroupID: groupInside, Args: cobra.RangeArgs(1, 2), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return measureKernel(s.Out, args) },
	}
}

func cudaVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "cuda FILE", Short: "Print a kernel as CUDA C", GroupID: groupInside, Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return printCUDA(s.Out, args) },
	}
}

// measureKernel compiles a kernel from its text form, compares it with the evaluator on n random
// elements, and tells the time of a run on one thread, the best of many.
func measureKernel(w io.Writer, args []string) error {
	k, err := readKernel(args[0])
	if err != nil {
		return err
	}
	n := 1 << 20
	if len(args) > 1 {
		if n, err = strconv.Atoi(args[1]); err != nil || n < 1 {
			return usagef("%q is not a number of elements", args[1])
		}
	}
	begin := time.Now()
	f, err := amd64.Compile(launch.Expand(k), 0, asm.Target())
	if err != nil && !amd64.IsUnsupported(err) {
		return err
	}
	if err != nil {
		fmt.Fprintf(w, "evaluated: %v\n", err)
	} else {
		fmt.Fprintf(w, "%s: %d bytes made in %.1f us\n", asm.Target(), f.Code.Size(), float64(time.Since(begin).Nanoseconds())/1e3)
	}
	return timeKernel(w, k, n)
}

// readKernel parses a file.
func readKernel(path string) (*kernel.Kernel, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError{err}
	}
	k, err := kernel.Parse(string(text))
	if err != nil {
		return nil, &errs.FileError{Path: path, Err: named(path, err)}
	}
	return k, nil
}

// printCUDA prints a kernel, from its text form, as CUDA C.
func printCUDA(w io.Writer, args []string) error {
	k, err := readKernel(args[0])
	if err != nil {
		return err
	}
	s, err := cuda.Print(k)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, s.Text)
	return err
}

func timeKernel(w io.Writer, k *kernel.Kernel, n int) error {
	compiled, err := launch.NewProgram(k)
	if err != nil {
		return err
	}
	evaluated, err := kernel.NewProgram(k)
	if err != nil {
		return err
	}
	operands, params, err := operandsFor(k, n)
	if err != nil {
		return err
	}
	parallel.SetNumThreads(1)
	evaluated.Run(operands, params)
	want := make([]*tensor.Tensor, len(k.Outputs))
	for i := range want {
		if want[i], err = operands[i].Clone(tensor.PreserveFormat); err != nil {
			return err
		}
	}
	compiled.Run(operands, params)
	fmt.Fprintf(w, "largest difference from the evaluator: %g\n", largestDifference(want, operands))
	best := time.Duration(math.MaxInt64)
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		begin := time.Now()
		compiled.Run(operands, params)
		best = min(best, time.Since(begin))
	}
	fmt.Fprintf(w, "%d elements in %d ns\n", n, best.Nanoseconds())
	return nil
}

// operandsFor makes tensors of n elements for a kernel without reductions, and its numbers.
func operandsFor(k *kernel.Kernel, n int) ([]*tensor.Tensor, []tensor.Scalar, error) {
	var operands []*tensor.Tensor
	for _, o := range k.Outputs {
		if o.Reduce != kernel.NoReduce {
			return nil, nil, fmt.Errorf("kernels that reduce are not measured")
		}
		x, err := tensor.Empty([]int{n}, o.DType)
		if err != nil {
			return nil, nil, err
		}
		operands = append(operands, x)
	}
	source := rng.New(1)
	for _, d := range k.Inputs {
		x, err := tensor.Empty([]int{n}, tensor.Float32)
		if err != nil {
			return nil, nil, err
		}
		source.Draw(func(stream rng.Draws) {
			for i := range tensor.Data[float32](x) {
				tensor.Data[float32](x)[i] = float32(stream.Normal())
			}
		})
		if x, err = x.To(d); err != nil {
			return nil, nil, err
		}
		operands = append(operands, x)
	}
	params := make([]tensor.Scalar, k.Params)
	for i := range params {
		params[i] = tensor.Float(0.5)
	}
	return operands, params, nil
}

func largestDifference(want, got []*tensor.Tensor) float64 {
	largest := 0.0
	for i := range want {
		for j := range want[i].Numel() {
			if a, b := want[i].At(j).Float64(), got[i].At(j).Float64(); a != b && !(a != a && b != b) {
				largest = max(largest, math.Abs(a-b))
			}
		}
	}
	return largest
}
