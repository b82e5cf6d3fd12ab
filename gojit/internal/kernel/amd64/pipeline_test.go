package amd64

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pipelined returns the generator of a kernel, after it has made code; nil where it has no pipeline.
func pipelined(k *kernel.Kernel, uniform uint32) (g *Generator) {
	var err error
	defer CatchUnsupported(&err)
	made := &Generator{Lowerer: Lowerer{ISA: asm.AVX512, Kernel: k, least: dearSide}}
	if made.generate(uniform); made.pipeline != nil {
		g = made
	}
	return g
}

// TestPipelines compares random kernels that are pipelines with the evaluator: rows with one vector less than the loop asks for, with as many, with more, on
// operands that end where no memory follows, and in place.
func TestPipelines(t *testing.T) {
	if asm.Host() != asm.AVX512 {
		t.Skip("pipelines are made for AVX-512")
	}
	count, most := 0, 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 2))
		types := []tensor.DType{tensor.Float32, tensor.Bool}
		if seed%3 == 0 {
			types[0] = tensor.Float64
		}
		gen := kernel.Generator{Rand: rng, Instructions: 2 + rng.IntN(10), Ops: functions, Types: types}
		k := expand.For(gen.Kernel(), PrimitivesOf(asm.AVX512))
		uniform := uint32(0)
		if len(k.Inputs) > 1 && rng.IntN(2) == 0 {
			uniform = 2
		}
		g := pipelined(k, uniform)
		if g == nil {
			continue
		}
		count, most = count+1, max(most, g.pipeline.stages)
		p, err := kernel.NewProgram(k)
		if err != nil {
			t.Fatal(err)
		}
		least := 4 * g.pipeline.stages * g.Lanes
		for _, n := range []int{least - 1, least, least + rng.IntN(4*g.Lanes), 2*least + rng.IntN(1000)} {
			in := make([]*tensor.Tensor, len(k.Inputs))
			for i, d := range k.Inputs {
				in[i] = randomTensor(rng, d, n)
			}
			params := make([]tensor.Scalar, k.Params)
			for i := range params {
				params[i] = tensor.Float(float64(rng.IntN(7) - 3))
			}
			want := evaluated(p, k, in, uniform, params, n)
			streams := rng.IntN(4) == 0
			f, err := compile(k, uniform, asm.AVX512, dearSide, streams)
			if err != nil {
				t.Fatal(err)
			}
			got := runGuarded(t, rng, streams, f, k, in, uniform, params, n)
			for i, o := range k.Outputs {
				if at, ok := sameElements(o.DType, want[i], got[i], n); !ok {
					t.Fatalf("seed %d, %d stages, %d elements: output %d differs at %d\n%s", seed, g.pipeline.stages, n, i, at, k)
				}
			}
			f.Code.Free()
		}
	}
	if count < 50 || most < 4 {
		t.Errorf("only %d kernels are pipelines, of at most %d stages", count, most)
	}
}

// TestPipelineInPlace runs a pipeline over its input, several rows of it, and looks at what lies between the rows.
func TestPipelineInPlace(t *testing.T) {
	if asm.Host() != asm.AVX512 {
		t.Skip("pipelines are made for AVX-512")
	}
	b := kernel.NewBuilder()
	b.Output(twoFunctions(b, b.Input(tensor.Float32, tensor.Float32)), tensor.Float32)
	k := expand.For(b.Kernel(), PrimitivesOf(asm.AVX512))
	if pipelined(k, 0) == nil {
		t.Fatal("two functions are no pipeline")
	}
	f, err := Compile(k, 0, asm.AVX512)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Code.Free()
	const rows, n, skip = 3, 777, 800
	rng := rand.New(rand.NewPCG(1, 2))
	in := make([]float32, rows*skip)
	for i := range in {
		in[i] = float32(rng.NormFloat64())
	}
	out := make([]float32, len(in))
	run := func(to []float32) {
		var args Args
		scratch := make([]byte, f.Scratch+64)
		args.Scratch = unsafe.Add(unsafe.Pointer(&scratch[0]), int(-uintptr(unsafe.Pointer(&scratch[0]))&63))
		args.Count, args.Rows = n, rows
		args.Ptr[0], args.Ptr[1] = unsafe.Pointer(&to[0]), unsafe.Pointer(&in[0])
		args.Skip[0], args.Skip[1] = 4*skip, 4*skip
		args.StartRows()
		f.Code.Call(unsafe.Pointer(&args))
	}
	run(out)
	for r := range rows {
		copy(out[r*skip+n:(r+1)*skip], in[r*skip+n:(r+1)*skip]) // stays where the input is the output
	}
	run(in)
	asBytes := func(f []float32) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), 4*len(f)) }
	if !bytes.Equal(asBytes(in), asBytes(out)) {
		t.Error("in place there are other results")
	}
}
