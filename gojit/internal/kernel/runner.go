package kernel

import (
	"errors"
	"fmt"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Runner runs kernels over tensors that are not in the processor's memory: what keeps the tensors of a device is one.
type Runner interface {
	// Run computes the outputs from the inputs: operands holds the outputs, then the inputs, and params the numbers, as for Program.Run.
	Run(k *Kernel, operands []*tensor.Tensor, params []tensor.Scalar) error
	// RunRoutine runs a routine over tensors of one device. Where it is checked and an element is not as it must be, the error is a *RoutineFailure.
	RunRoutine(r *Routine, tensors []*tensor.Tensor, numbers []int64) error
	// Multiply has a library of the device multiply matrices. done is false where there is none, or it has no form of these.
	Multiply(p *Product) (done bool, err error)
	// TensorCores reports whether routines may multiply numbers of a type by a device's tensor cores: it has them, and what programs chose allows it.
	TensorCores(d tensor.Device, of tensor.DType, convolution bool) (bool, error)
	// Convolve has a library of the device convolve, as Multiply.
	Convolve(c *Convolution) (done bool, err error)
	// Transform has a library of the device transform rows by Fourier, as Multiply.
	Transform(t *Transform) (done bool, err error)
	// Solve has a library of the device factorize matrices, or solve with factors, as Multiply. Where it did not, what it was to overwrite is as before.
	Solve(w *MatrixWork) (done bool, err error)
	// Draw returns what a routine draws n random numbers of a device with, whose stream of random numbers is moved on. A turn is how many numbers a thread
	// makes of what it draws at once; for numbers that take several turns these are how many.
	Draw(d tensor.Device, n, turn, turns int) (Draws, error)
}

// Draws says how random numbers are drawn: by how many threads, and from which place of the stream of a seed on. In a capture the device has the seed and the
// place where the work begins in State, which each replay is given, and Offset counts from there.
type Draws struct {
	Threads      int
	Seed, Offset uint64
	State        *tensor.Tensor // nil outside of captures
}

// Product is a product of matrices, or of as many pairs of them as there are in a batch, on a device: tensors of two dimensions, or three.
type Product struct {
	Out         *tensor.Tensor // by rows, in memory of its own; what it holds is overwritten
	Left, Right *tensor.Tensor
	Added       *tensor.Tensor // what is added, which expands to the result; nil for nothing
}

// Transform is a Fourier transform of rows on a device: of complex numbers, of real ones to the first half of their spectrum or to all of it, or of such a half
// to real numbers.
type Transform struct {
	Out, In   *tensor.Tensor // contiguous, a row along the last dimension
	Length    int            // of what is transformed
	Backwards bool
	Scale     float64 // what results are multiplied by
}

// MatrixWork is work with matrices on a device, which overwrites them. A matrix lies by columns: the last dimension of its tensor goes down a column. Tensors
// are contiguous, and all have a matrix, or a row of numbers, for each of those of A.
type MatrixWork struct {
	Of      MatrixResult
	A       *tensor.Tensor
	B       *tensor.Tensor // right sides, which become solutions; what reflections are applied to; left singular vectors
	V       *tensor.Tensor // right singular vectors; their adjoint by QR
	Numbers *tensor.Tensor // factors of reflections; eigenvalues; singular values
	Pivots  *tensor.Tensor // int32
	Info    *tensor.Tensor // what failed of each matrix, int32
	Form    MatrixForm     // of A, with which is solved or multiplied
	Upper   bool           // which triangle of A counts
	Unit    bool           // the diagonal of a triangle is of ones
	Right   bool           // reflections are applied from the right
	Vectors bool           // are wanted, too; eigenvectors overwrite A
	ByQR    bool           // singular values are found by the way that is slower and always ends
}

// MatrixResult says what is computed.
type MatrixResult uint8

// What there is to compute.
const (
	LU                   MatrixResult = iota // A becomes L and U, with the rows that were exchanged
	LUSolution                               // of systems, by the factors in A
	TriangleSolution                         // of systems whose matrix is a triangle of A
	Cholesky                                 // a triangle of A becomes the factor
	Reflections                              // A becomes R, and the normals of Householder's reflections
	ReflectionsProduct                       // A becomes the first columns of the product of the reflections that it has
	ReflectionsTimes                         // B is multiplied by that product
	SymmetricEigenvalues                     // of a triangle of A
	SingularValues
)

// MatrixForm is how a matrix is used.
type MatrixForm uint8

// The forms.
const (
	AsIs MatrixForm = iota
	Transposed
	Adjoint
)

// Convolution is a convolution on a device, or one of its gradients: that of its input, which is a transposed convolution, too, or that of its weight.
type Convolution struct {
	Shape        ConvolutionShape
	Of           ConvolutionResult
	Left, Right  *tensor.Tensor // input and weight; weight and result; input and result
	Out          *tensor.Tensor // result; input; weight
	ChannelsLast bool           // the channels of all three lie together, for two dimensions; else the places of a channel do
	Bias         *tensor.Tensor // an element to add to each channel of the result, contiguous; nil for none
	IsBiased     bool           // whether that was done: set by who convolves
}

// ConvolutionResult says what of a convolution is computed of the two others.
type ConvolutionResult uint8

// What there is to compute.
const (
	ConvolutionForward ConvolutionResult = iota
	ConvolutionOfInput
	ConvolutionOfWeight
)

// ConvolutionShape has the sizes of a convolution over three dimensions, of which those that are not there have size 1.
type ConvolutionShape struct {
	Batch, Groups           int
	InChannels, OutChannels int // of all groups
	In, Out, Kernel         [3]int
	Stride, Dilation        [3]int
	Padding                 [3]int // before; the output size tells what is read behind
}

// Routine is a program of a device that is no expression of elements: package kernel/cuda has its text.
type Routine struct {
	Text    string         // the name of the text
	Entry   string         // its entry point
	Types   []tensor.DType // what the text calls T0, T1 and so on
	Sizes   []int          // what the text calls SIZE0 and so on
	Combine ReduceOp       // how the text combines values of the first of them
	Walks   bool           // the tensors, broadcast, are walked element by element
	Checked bool           // an element that is not as it must be fails
	Threads int            // what there is to do at once
	Blocks  int            // or, where the threads of a block work together, by how many blocks
}

// RoutineFailure is the error of a routine that met an element which is not as it must be.
type RoutineFailure struct{ Which, Value int64 }

func (e *RoutineFailure) Error() string {
	return fmt.Sprintf("element %d of operand %d is out of range", e.Value, e.Which)
}

// ErrNoDeviceForm is wrapped by the error of a kernel that a Runner has no form of.
var ErrNoDeviceForm = source.Errorf(source.NotImplementedError, source.Range{}, "the kernel has no form for the device")

// CaptureError says that the work of a device is captured, and that a capture cannot hold what was asked for.
type CaptureError struct {
	err   *source.Error
	named bool
}

// NewCaptureError returns one.
func NewCaptureError(format string, args ...any) *CaptureError {
	return &CaptureError{err: source.Errorf(source.RuntimeError, source.Range{}, format, args...)}
}

func (e *CaptureError) Error() string { return e.err.Error() }
func (e *CaptureError) Unwrap() error { return e.err }

// NameCaptured says which operator asked for what an error says that a capture cannot hold; it does nothing to other errors. The first one counts.
func NameCaptured(err error, operator string) {
	var e *CaptureError
	if errors.As(err, &e) && !e.named {
		e.named, e.err.Text = true, e.err.Text+" (by '"+operator+"')"
	}
}

// Capturer is a Runner that puts down the work of a device, to be done again by one launch.
type Capturer interface {
	// Lane tells which queue of a device the calling goroutine gives work to; ok is false while that is captured.
	Lane(d tensor.Device) (lane uintptr, ok bool)
	// Settings tells what programs chose that work depends on: where it is another number, other work may be put down.
	Settings() uint64
	// Capture puts down what f has the device do, rather than have it done. Work that was captured for one queue shares memory: it is done for a caller from
	// Lock to Unlock. What cannot be put down fails in f, mostly with a CaptureError. Where the blocks of memory that f asks for are the same each time, f runs
	// again, and the blocks come to lie in one arena, where arrange places them: the work is that of the last run then, else that of the first.
	Capture(d tensor.Device, f func() error, arrange func(blocks []Life) (offsets []int, size int)) (Work, error)
}

// Life is a block of memory of some work, and when it is needed: from when it is asked for, which is told by how many blocks were before it, until
// behind some block that was asked for later.
type Life struct{ Bytes, From, Last int }

// Work is what a Capturer has put down.
type Work interface {
	sync.Locker
	// Launches tells of how many kernels it is made.
	Launches() int
	// Arena tells how many bytes the arena has that all memory of the work is in besides arguments and results of others; zero where there is none.
	Arena() int
	// Replay has the device do the work, at the addresses that it was captured with. It fails once the memory of the work was given up, as others had none.
	Replay() error
	// Reset gives the work up.
	Reset()
}
