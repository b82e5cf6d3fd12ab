package gojit

import (
	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/archive/safetensors"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/pyfile"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Types of internal packages that programs meet in arguments and results.
type (
	// Value is a value of a program: a tensor, a number, a text, a container or an object.
	Value = value.Value
	// Device is where a tensor is: the processor, or a CUDA device.
	Device = tensor.Device
	// Function is a compiled function.
	Function = ir.Function
	// LoadOptions says what of an archive is read and what is refused.
	LoadOptions = archive.Options
	// LiteOptions says what an archive for the lite interpreter has besides.
	LiteOptions = archive.LiteOptions
	// Progress hears how far a save is.
	Progress = archive.Progress
	// Report is what Inspect finds in an archive.
	Report = archive.Report
	// Skipped is a statement of a file of Python that did not become part of a program.
	Skipped = pyfile.Skipped
	// SafeTensors is what a safetensors file holds.
	SafeTensors = safetensors.SafeTensors
)

// CUDA returns the CUDA device of a number, 0 for the first: x.ToDevice(gojit.CUDA(0)) copies a tensor there. Programs that keep tensors on such devices import
// gojit/cuda; in others, and where there is no such device, ToDevice fails.
func CUDA(i int) Device { return tensor.NewDevice(tensor.CUDA, i) }

// LoadSafeTensors reads a safetensors file into memory. It fails on a file that is not whole, or not of the format.
func LoadSafeTensors(path string) (*SafeTensors, error) { return safetensors.Load(path) }

// RegisterOperator adds an operator that programs call as torch.ops.my.scale: schema is its text, "my::scale(Tensor x, float k) -> Tensor", and run
// computes its results, which are as many as the schema says. It fails on a text that is no schema, and on an operator that is there already.
func RegisterOperator(schema string, run func(args []Value) ([]Value, error)) error {
	LinkOperators()
	return ops.Register([]ops.Operator{{Name: schema, Run: func(args, out []value.Value) error {
		results, err := run(args)
		if err == nil && len(results) != len(out) {
			err = source.Errorf(source.RuntimeError, source.Range{}, "%s gave %d results", schema, len(results))
		}
		copy(out, results)
		return err
	}}})
}
