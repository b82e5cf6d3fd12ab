package amd64

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// primitives are what Compile is given after expand.Expand.
var primitives = []kernel.Op{kernel.Const, kernel.Neg, kernel.Abs, kernel.Not, kernel.Floor, kernel.Ceil, kernel.Round, kernel.Trunc, kernel.Sqrt, kernel.IsNaN,
	kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Min, kernel.Max, kernel.CopySign, kernel.And, kernel.Or, kernel.Xor, kernel.Shl, kernel.Shr,
	kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge, kernel.Fma, kernel.Select, kernel.Convert, kernel.Iota,
	kernel.FloorDiv, kernel.Rem, kernel.Mod}

// pairOperations are what expand.Expand writes for the parts of complex numbers.
var pairOperations = []kernel.Op{kernel.Const, kernel.Neg, kernel.Conj, kernel.Real, kernel.Imag, kernel.MakeComplex, kernel.IsNaN,
	kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Eq, kernel.Ne, kernel.Select, kernel.Convert, kernel.Sign, kernel.Abs,
	kernel.Exp, kernel.Sqrt, kernel.Log, kernel.Sin, kernel.Cosh, kernel.Tan, kernel.Asin, kernel.Acosh, kernel.Atan, kernel.Pow}

// functions are what expand.Expand replaces.
var functions = []kernel.Op{kernel.Exp, kernel.Expm1, kernel.Log, kernel.Log1p, kernel.Sin, kernel.Cos, kernel.Tanh,
	kernel.Erf, kernel.Erfc, kernel.Erfinv, kernel.Lgamma, kernel.Digamma, kernel.Add, kernel.Mul, kernel.Sub,
	kernel.Gt, kernel.Le, kernel.Ne, kernel.Select}

// FuzzKernels compares random kernels on every target with the evaluator, on operands that end where
// no memory follows.
func FuzzKernels(f *testing.F) {
	for seed := range uint64(150) {
		f.Add(seed)
	}
	f.Add(uint64(1643))  // complex elements beside a reduction: masks of several rounds
	f.Add(uint64(5920))  // an unsigned number shifted by more bits than it has
	f.Add(uint64(13075)) // a branch by a number: its register became that of the side's result
	f.Fuzz(func(t *testing.T, seed uint64) { compareKernel(t, seed) })
}

// generated makes the kernel of a seed.
func generated(rng *rand.Rand) *kernel.Kernel {
	g := kernel.Generator{Rand: rng, Instructions: 1 + rng.IntN(24), Ops: primitives, Reduce: rng.IntN(3) == 0}
	switch rng.IntN(8) {
	case 0:
		g.Types, g.Ops = []tensor.DType{tensor.Float32, tensor.Bool}, functions
	case 1:
		g.Types, g.Ops = []tensor.DType{tensor.Float64, tensor.Bool}, functions
	case 2:
		g.Types = []tensor.DType{tensor.Int32, tensor.Int8, tensor.Bool, tensor.Int16, tensor.Uint8}
	case 3:
		g.Types, g.Memory = []tensor.DType{tensor.Float32, tensor.Int32, tensor.Bool}, []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Uint8}
	case 4:
		g.Types, g.Memory = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int32, tensor.Bool}, []tensor.DType{tensor.Int16}
	case 6:
		g.Ops, g.Types, g.Memory = pairOperations, []tensor.DType{tensor.Complex64, tensor.Float32, tensor.Bool}, []tensor.DType{tensor.Int16}
	case 7:
		g.Ops, g.Types, g.Memory = pairOperations, []tensor.DType{tensor.Complex128, tensor.Float64, tensor.Bool}, []tensor.DType{tensor.Complex64, tensor.Float32}
	case 5:
		g.Types = []tensor.DType{tensor.Int64, tensor.Bool}
	}
	return g.Kernel()
}

func has(k *kernel.Kernel, ops ...kernel.Op) bool {
	for _, in := range k.Instrs {
		for _, op := range ops {
			if in.Op == op && in.Type.IsFloating() {
				return true
			}
		}
	}
	return false
}

func compareKernel(t *testing.T, seed uint64) {
	if asm.Target() == asm.None {
		t.Skip("no machine code here")
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	k := expand.Expand(generated(rng))
	p, err := kernel.NewProgram(k)
	if err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	if has(k, kernel.Min, kernel.Max) && has(k, kernel.Div, kernel.CopySign) {
		return // these tell zeros apart
	}
	n := rng.IntN(40)
	if rng.IntN(4) == 0 {
		n = rng.IntN(1000)
	}
	in := make([]*tensor.Tensor, len(k.Inputs))
	uniform := uint32(0)
	for i, d := range k.Inputs {
		in[i] = randomTensor(rng, d, max(n, 1))
		if rng.IntN(4) == 0 {
			uniform |= 1 << i
		}
	}
	params := make([]tensor.Scalar, k.Params)
	for i := range params {
		params[i] = tensor.Float(float64(rng.IntN(7) - 3))
	}
	want := evaluated(p, k, in, uniform, params, n)
	for isa := asm.Baseline; isa <= asm.Host(); isa++ {
		if isa == asm.Baseline && has(k, kernel.Fma) || isa < asm.AVX512 && has(k, kernel.Scale) {
			continue // rounds twice there
		}
		streams := rng.IntN(4) == 0
		f, err := compile(k, uniform, isa, []int{dearSide, 2}[seed&1], streams) // branches where they pay, or many
		if err != nil {
			if !IsUnsupported(err) {
				t.Fatal(err)
			}
			continue
		}
		got := runGuarded(t, rng, streams, f, k, in, uniform, params, n)
		for i := range want {
			if k.Outputs[i].Reduce != kernel.NoReduce {
				continue // its lanes are combined by package launch, which compares them
			}
			if at, ok := sameElements(k.Outputs[i].DType, want[i], got[i], n); !ok {
				t.Fatalf("seed %d on %s, %d elements, numbers %b: output %d differs at %d: % x, want % x\n%s", seed, isa, n, uniform, i, at,
					got[i][at*k.Outputs[i].DType.Size():][:k.Outputs[i].DType.Size()], want[i][at*k.Outputs[i].DType.Size():][:k.Outputs[i].DType.Size()], k)
			}
		}
		f.Code.Free()
	}
}

// evaluated returns the outputs as the evaluator computes them.
func evaluated(p *kernel.Program, k *kernel.Kernel, in []*tensor.Tensor, uniform uint32, params []tensor.Scalar, n int) [][]byte {
	var out [][]byte
	var at []unsafe.Pointer
	var steps []int
	for _, o := range k.Outputs {
		b := make([]byte, max(n, 1)*o.DType.Size())
		out = append(out, b)
		at = append(at, unsafe.Pointer(&b[0]))
		if o.Reduce != kernel.NoReduce {
			steps = append(steps, 0)
		} else {
			steps = append(steps, o.DType.Size())
		}
	}
	for i, x := range in {
		at = append(at, x.DataPtr())
		step := x.DType().Size()
		if uniform>>i&1 != 0 {
			step = 0
		}
		steps = append(steps, step)
	}
	if n > 0 {
		p.RunRow(at, steps, n, params)
	}
	return out
}

// runGuarded runs a function on operands that end at the end of their memory, or, as all do where aligned, begin at its start.
func runGuarded(t *testing.T, rng *rand.Rand, aligned bool, f *Function, k *kernel.Kernel, in []*tensor.Tensor, uniform uint32, params []tensor.Scalar, n int) [][]byte {
	var args Args
	scratch := make([]byte, f.Scratch+64)
	args.Scratch = unsafe.Add(unsafe.Pointer(&scratch[0]), int(-uintptr(unsafe.Pointer(&scratch[0]))&63))
	args.Count = int64(n)
	out := make([][]byte, len(k.Outputs))
	for i, operand := range f.Pointers {
		size := 64
		if operand >= len(k.Outputs) {
			size = n * in[operand-len(k.Outputs)].DType().Size()
		} else if k.Outputs[operand].Reduce == kernel.NoReduce {
			size = n * k.Outputs[operand].DType.Size()
		}
		b := asmtest.Guarded[byte](t, size, aligned || rng.IntN(2) == 0)
		if operand < len(k.Outputs) {
			out[operand] = b
		} else if size > 0 {
			copy(b, unsafe.Slice((*byte)(in[operand-len(k.Outputs)].DataPtr()), size))
		}
		args.Ptr[i] = unsafe.Pointer(unsafe.SliceData(b))
	}
	fillUniforms(&args, k, in, uniform, params)
	f.Code.Call(unsafe.Pointer(&args))
	return out
}

// fillUniforms puts parameters and inputs of one element among the arguments.
func fillUniforms(args *Args, k *kernel.Kernel, in []*tensor.Tensor, uniform uint32, params []tensor.Scalar) {
	put := func(place int, d tensor.DType, s tensor.Scalar) {
		re, im := kernel.NumberBits(d, s)
		args.Uniform[place] = LaneBits(d, re)
		if d.IsComplex() {
			args.Uniform[place+1] = im
		}
	}
	places := &Lowerer{Kernel: k}
	paramAt, inputAt := places.placeNumbers(uniform)
	for _, instr := range k.Instrs {
		switch {
		case instr.Op == kernel.Param:
			put(paramAt[instr.Imm], instr.Type, params[instr.Imm])
		case instr.Op == kernel.Load && uniform>>instr.Imm&1 != 0:
			x, err := in[instr.Imm].To(instr.Type)
			if err != nil {
				panic(err)
			}
			put(inputAt[instr.Imm], instr.Type, x.At(0))
		}
	}
}

// sameElements compares elements by their bits; one NaN equals another, and zeros of both signs.
func sameElements(d tensor.DType, a, b []byte, n int) (int, bool) {
	for i := range n {
		x, y := a[i*d.Size():][:d.Size()], b[i*d.Size():][:d.Size()]
		if string(x) == string(y) {
			continue
		}
		if d.IsComplex() {
			part, n := d.ToReal(), d.Size()/2
			if _, ok := sameElements(part, x[:n], y[:n], 1); !ok {
				return i, false
			}
			if _, ok := sameElements(part, x[n:], y[n:], 1); !ok {
				return i, false
			}
			continue
		}
		if !d.IsFloating() {
			return i, false
		}
		var u, v float64
		tensor.ConverterOf(d, tensor.Float64)(unsafe.Pointer(&u), 8, unsafe.Pointer(&x[0]), 0, 1)
		tensor.ConverterOf(d, tensor.Float64)(unsafe.Pointer(&v), 8, unsafe.Pointer(&y[0]), 0, 1)
		if !(math.IsNaN(u) && math.IsNaN(v) || u == 0 && v == 0) {
			return i, false
		}
	}
	return 0, true
}
