package amd64

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// targets are the instruction sets that run here.
func targets(t testing.TB) []asm.ISA {
	t.Helper()
	asmtest.MachineOnly(t)
	var sets []asm.ISA
	for isa := asm.Baseline; isa <= asm.Host(); isa++ {
		sets = append(sets, isa)
	}
	return sets
}

// runFunction runs a function over contiguous tensors, which hold the outputs, then the inputs.
// Inputs of one element beside larger ones are passed as numbers.
func runFunction(f *Function, k *kernel.Kernel, ts []*tensor.Tensor, uniform uint32, params []tensor.Scalar, n int) {
	var args Args
	scratch := make([]byte, f.Scratch+64)
	args.Scratch = unsafe.Add(unsafe.Pointer(&scratch[0]), int(-uintptr(unsafe.Pointer(&scratch[0]))&63))
	args.Count = int64(n)
	for i, operand := range f.Pointers {
		args.Ptr[i] = ts[operand].DataPtr()
	}
	types := make([]tensor.DType, len(k.Inputs))
	paramTypes := make([]tensor.DType, k.Params)
	for _, in := range k.Instrs {
		switch in.Op {
		case kernel.Load:
			types[in.Imm] = in.Type
		case kernel.Param:
			paramTypes[in.Imm] = in.Type
		}
	}
	at := 0
	for i := range k.Params {
		args.Uniform[at], _ = kernel.NumberBits(paramTypes[i], params[i])
		at++
	}
	for i := range k.Inputs {
		if uniform>>i&1 != 0 {
			args.Uniform[at], _ = kernel.NumberBits(types[i], ts[len(k.Outputs)+i].At())
			at++
		}
	}
	f.Code.Call(unsafe.Pointer(&args))
}

// specials are values at which floats behave in their own way.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, -1e-40, 5e-324, 1e300, -1e300, 3.4e38, 1 << 31, -1 << 31, 127, 128, 255, 256, -129, 65504, 1e-8}

// randomTensor fills a tensor of a type; every third float is special.
func randomTensor(rng *rand.Rand, d tensor.DType, n int) *tensor.Tensor {
	if d.IsComplex() {
		re, im := tensor.Data[float64](randomTensor(rng, tensor.Float64, n)), tensor.Data[float64](randomTensor(rng, tensor.Float64, n))
		pairs := make([]complex128, n)
		for i := range pairs {
			pairs[i] = complex(re[i], im[i])
		}
		x, _ := tensor.FromSlice(pairs, n)
		x, _ = x.To(d)
		return x
	}
	data := make([]float64, n)
	for i := range data {
		switch {
		case d == tensor.Bool:
			data[i] = float64(rng.IntN(2))
		case !d.IsFloating():
			data[i] = float64(int64(rng.Uint64()) >> rng.IntN(63))
		case rng.IntN(3) == 0:
			data[i] = specials[rng.IntN(len(specials))]
		default:
			data[i] = rng.NormFloat64() * math.Ldexp(1, rng.IntN(12)-6)
		}
	}
	if !d.IsFloating() && d != tensor.Bool {
		ints := make([]int64, n)
		for i := range ints {
			ints[i] = int64(rng.Uint64()) >> rng.IntN(63)
		}
		x, _ := tensor.FromSlice(ints, n)
		x, _ = x.To(d)
		return x
	}
	x, _ := tensor.FromSlice(data, n)
	x, _ = x.To(d)
	return x
}

// sameBits compares tensors; NaN equals NaN, and zeros of either sign are equal where loose is set.
func sameBits(a, b *tensor.Tensor, n int, loose bool) (int, bool) {
	for i := range n {
		x, y := a.At(i), b.At(i)
		if !a.DType().IsFloating() {
			if x.Int64() != y.Int64() {
				return i, false
			}
			continue
		}
		u, v := x.Float64(), y.Float64()
		if u != u && v != v || math.Float64bits(u) == math.Float64bits(v) || loose && u == v {
			continue
		}
		return i, false
	}
	return 0, true
}

// agree checks that every target gives what the evaluator gives, for lengths that fill vectors and do not.
func agree(t *testing.T, name string, k *kernel.Kernel, loose bool, must bool) {
	t.Helper()
	p, err := kernel.NewProgram(k)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, k)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, isa := range targets(t) {
		f, err := Compile(k, 0, isa)
		if err != nil {
			if !IsUnsupported(err) || must && isa >= asm.AVX2 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, n := range []int{0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 67, 130, 200} {
			want, got := make([]*tensor.Tensor, 0, 4), make([]*tensor.Tensor, 0, 4)
			for _, o := range k.Outputs {
				a, _ := tensor.Empty([]int{n}, o.DType)
				b, _ := tensor.Empty([]int{n + 70}, o.DType)
				want, got = append(want, a), append(got, b)
			}
			for _, d := range k.Inputs {
				x := randomTensor(rng, d, n)
				want, got = append(want, x), append(got, x)
			}
			params := make([]tensor.Scalar, k.Params)
			for i := range params {
				params[i] = tensor.Float(3)
			}
			before := must1(got[0].Clone(tensor.PreserveFormat))
			runFunction(f, k, got, 0, params, n)
			p.Run(want, params)
			for i := range k.Outputs {
				if at, ok := sameBits(want[i], got[i], n, loose); !ok {
					text := ""
					for _, x := range want[len(k.Outputs):] {
						text += fmt.Sprint(" ", x.At(at))
					}
					t.Errorf("%s on %s, %d elements: element %d of output %d is %v, want %v, from%s", name, isa, n, at, i, got[i].At(at), want[i].At(at), text)
					return
				}
			}
			for i := n; i < n+70; i++ {
				if _, ok := sameBits(must1(before.Narrow(0, i, 1)), must1(got[0].Narrow(0, i, 1)), 1, false); !ok {
					t.Fatalf("%s on %s wrote behind its %d elements", name, isa, n)
				}
			}
		}
	}
}

func must1(t *tensor.Tensor, err error) *tensor.Tensor {
	if err != nil {
		panic(err)
	}
	return t
}

var computedTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Int64, tensor.Int8, tensor.Int16, tensor.Uint8, tensor.Bool}

// Every primitive of every type gives the evaluator's bits.
func TestPrimitives(t *testing.T) {
	exact := map[kernel.Op]bool{kernel.Min: true, kernel.Max: true} // but for the sign of zero
	for _, d := range computedTypes {
		for _, op := range []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Min, kernel.Max, kernel.And, kernel.Or, kernel.Xor, kernel.CopySign,
			kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge} {
			if op == kernel.Div && !d.IsFloating() {
				continue
			}
			b := kernel.NewBuilder()
			v := b.Binary(op, b.Input(d, d), b.Input(d, d))
			b.Output(v, b.Type(v))
			if b.Kernel().Verify() != nil {
				continue
			}
			agree(t, fmt.Sprintf("%s of %s", op, d), b.Kernel(), exact[op], true)
		}
		for _, op := range []kernel.Op{kernel.Neg, kernel.Abs, kernel.Not, kernel.Sqrt, kernel.Floor, kernel.Ceil, kernel.Round, kernel.Trunc, kernel.IsNaN, kernel.Exponent, kernel.Mantissa} {
			b := kernel.NewBuilder()
			v := b.Unary(op, b.Input(d, d))
			b.Output(v, b.Type(v))
			if b.Kernel().Verify() != nil {
				continue
			}
			agree(t, fmt.Sprintf("%s of %s", op, d), b.Kernel(), false, op != kernel.Exponent && op != kernel.Mantissa)
		}
		b := kernel.NewBuilder()
		c := b.Binary(kernel.Lt, b.Input(d, d), b.Input(d, d))
		b.Output(b.Select(c, b.Input(d, d), b.Input(d, d)), d)
		b.Output(b.Unary(kernel.Not, c), tensor.Bool)
		agree(t, fmt.Sprintf("select of %s", d), b.Kernel(), false, true)
	}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		b := kernel.NewBuilder()
		b.Output(b.Scale(b.Input(d, d), b.Unary(kernel.Floor, b.Input(tensor.Int8, d))), d)
		agree(t, fmt.Sprintf("scale of %s", d), b.Kernel(), false, true)
	}
}

// Fused multiplications give the evaluator's bits in all their forms, where there are any.
func TestFusedMultiplication(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		for form := range 8 {
			b := kernel.NewBuilder()
			x, y, z := b.Input(d, d), b.Input(d, d), b.Input(d, d)
			two := b.Number(x, 2.5)
			var v kernel.Value
			switch form {
			case 0:
				v = b.Fma(x, y, z)
			case 1:
				v = b.Add(b.Fma(x, y, z), z)
			case 2:
				v = b.Add(b.Fma(x, y, z), x)
			case 3:
				v = b.Add(b.Add(b.Fma(x, y, z), x), b.Add(y, z))
			case 4:
				v = b.Fma(x, two, z)
			case 5:
				v = b.Fma(two, y, two)
			case 6:
				v = b.Fma(x, x, b.Fma(y, two, x))
			case 7:
				v = b.Fma(x, y, b.Fma(x, y, two))
			}
			b.Output(v, d)
			p, _ := kernel.NewProgram(b.Kernel())
			rng := rand.New(rand.NewPCG(3, 4))
			for _, isa := range targets(t) {
				f, err := Compile(b.Kernel(), 0, isa)
				if err != nil && isa == asm.Baseline && d == tensor.Float64 {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				n := 77
				out, _ := tensor.Empty([]int{n}, d)
				want, _ := tensor.Empty([]int{n}, d)
				in := []*tensor.Tensor{out, randomTensor(rng, d, n), randomTensor(rng, d, n), randomTensor(rng, d, n)}
				runFunction(f, b.Kernel(), in, 0, nil, n)
				in[0] = want
				p.Run(in, nil)
				if at, ok := sameBits(want, out, n, false); !ok {
					t.Errorf("form %d of %s on %s: %v, want %v", form, d, isa, out.At(at), want.At(at))
				}
			}
		}
	}
}

// Conversions between memory types and the types computed with agree with the evaluator's.
func TestConversions(t *testing.T) {
	memory := append([]tensor.DType{tensor.Float16, tensor.BFloat16}, computedTypes...)
	for _, from := range memory {
		for _, computed := range computedTypes {
			for _, to := range memory {
				if !from.IsFloating() || computed.IsFloating() && (to.IsFloating() || to == tensor.Bool) || computed == tensor.Bool {
					b := kernel.NewBuilder()
					b.Output(b.Input(from, computed), to)
					agree(t, fmt.Sprintf("%s as %s to %s", from, computed, to), b.Kernel(), false, false)
				}
			}
		}
	}
}

// A choice of the larger or smaller of two floats, which is one instruction, gives the second where one is NaN or both are zeros; so does
// what only looks like one.
func TestChoicesByComparison(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32} {
		for _, op := range []kernel.Op{kernel.Gt, kernel.Lt, kernel.Ge, kernel.Le} {
			b := kernel.NewBuilder()
			x := b.Input(d, d)
			for _, y := range []kernel.Value{b.Input(d, d), b.Neg(x), b.Param(d)} {
				c := b.Binary(op, x, y)
				b.Output(b.Select(c, x, y), d)
				b.Output(b.Select(c, y, x), d)
			}
			agree(t, fmt.Sprintf("choices by %s of %s", op, d), b.Kernel(), false, true)
		}
	}
}

// A kernel with more values than registers keeps some in scratch memory.
func TestSpilling(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Int64} {
		b := kernel.NewBuilder()
		x, y := b.Input(d, d), b.Input(d, d)
		p := b.Param(d)
		var vs []kernel.Value
		for i := range 40 {
			vs = append(vs, b.Add(b.Mul(x, b.Const(d, tensor.Int(int64(i)))), p))
		}
		sum := y
		for i := range vs {
			sum = b.Sub(b.Mul(sum, vs[len(vs)-1-i]), vs[i])
		}
		b.Output(sum, d)
		agree(t, "spilling of "+d.String(), b.Kernel(), false, true)
	}
}

// Long bodies take four, two, and one vector at a time, and what is left.
func TestLongBodies(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32} {
		b := kernel.NewBuilder()
		x, y := b.Input(d, d), b.Input(d, d)
		for i := range 60 {
			x = b.Sub(b.Mul(x, b.Const(d, tensor.Int(int64(i%3)))), y)
		}
		b.Output(x, d)
		agree(t, "a long body of "+d.String(), b.Kernel(), false, true)
	}
}

// Integers of 64 bits become the floats that are nearest to them, and floats lose their fractions; what is out of range, and NaN, is the smallest
// integer on every target.
func TestConversionsOfLongs(t *testing.T) {
	var longs []int64
	for _, shift := range []int{0, 23, 24, 31, 32, 52, 53, 54, 62, 63} {
		for _, near := range []int64{0, 1, 2, 1 << 10, 1<<10 + 1, 1 << 38, 1<<38 + 1, 1<<39 - 1} {
			longs = append(longs, 1<<shift+near, 1<<shift-near, -(1<<shift + near), near-1<<shift)
		}
	}
	integers, _ := tensor.FromSlice(longs, len(longs))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		floats, _ := tensor.FromSlice(append([]float64{0.5, -0.5, 1.99, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -9.3e18, 1 << 63, -1 << 63}, scaled(longs)...), 10+len(longs))
		floats, _ = floats.To(d)
		for _, x := range []*tensor.Tensor{integers, floats} {
			to := d
			if x == floats {
				to = tensor.Int64
			}
			b := kernel.NewBuilder()
			b.Output(b.Convert(b.Input(x.DType(), x.DType()), to), to)
			for _, isa := range targets(t) {
				f, err := Compile(b.Kernel(), 0, isa)
				if err != nil {
					t.Fatalf("%s to %s: %v", x.DType(), to, err)
				}
				out, _ := tensor.Empty(x.Shape(), to)
				runFunction(f, b.Kernel(), []*tensor.Tensor{out, x}, 0, nil, x.Numel())
				for i := range x.Numel() {
					if got, want := out.At(i), x.At(i); to == tensor.Int64 && got.Int64() != truncated(want.Float64()) ||
						to == tensor.Float32 && got.Float64() != float64(float32(want.Int64())) || to == tensor.Float64 && got.Float64() != float64(want.Int64()) {
						t.Errorf("%s %v to %s on %s is %v", x.DType(), want, to, isa, got)
					}
				}
			}
		}
	}
}

// scaled returns integers with a fraction that most of them have.
func scaled(longs []int64) []float64 {
	floats := make([]float64, len(longs))
	for i, n := range longs {
		floats[i] = float64(n) * 1.25
	}
	return floats
}

// truncated is the integer of a float towards zero, and the smallest one where there is none.
func truncated(f float64) int64 {
	if !(f >= -1<<63 && f < 1<<63) {
		return math.MinInt64
	}
	return int64(f)
}

// TestTables looks numbers up with every index, alone and beside values of 64 bits: vectors of float32 then hold half as many.
func TestTables(t *testing.T) {
	var table kernel.Table
	for i := range table {
		table[i] = float32(i)*1.37 - 9
	}
	index := must1(tensor.Empty([]int{37}, tensor.Int32))
	for i := range index.Numel() {
		*(*int32)(unsafe.Add(index.DataPtr(), 4*i)) = int32(5*i - 40)
	}
	for _, beside := range []tensor.DType{tensor.Float32, tensor.Float64} {
		b := kernel.NewBuilder()
		i := b.Input(tensor.Int32, tensor.Int32)
		v := b.Lookup(i, table)
		b.Output(v, tensor.Float32)
		b.Output(b.Convert(v, beside), beside)
		k := b.Kernel()
		program, err := kernel.NewProgram(k)
		if err != nil {
			t.Fatal(err)
		}
		want := evaluated(program, k, []*tensor.Tensor{index}, 0, nil, index.Numel())
		for _, isa := range targets(t) {
			f, err := Compile(k, 0, isa)
			if err != nil {
				t.Fatalf("%s beside %s: %v", isa, beside, err)
			}
			got := runGuarded(t, rand.New(rand.NewPCG(1, 1)), false, f, k, []*tensor.Tensor{index}, 0, nil, index.Numel())
			for o := range want {
				if !bytes.Equal(got[o], want[o]) {
					t.Errorf("%s beside %s: output %d is % x, want % x", isa, beside, o, got[o], want[o])
				}
			}
		}
	}
}
