package routine

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// routineSets are the instruction sets with routines of their own that this machine has.
func routineSets() (sets []asm.ISA) {
	for isa := asm.Baseline; isa <= min(asm.Host(), asm.AVX2); isa++ {
		sets = append(sets, isa)
	}
	return sets
}

// call runs a routine to its end, with pauses, and returns a copy of the results.
func (r *Routine) call(args []uint64, results, budget int) ([]uint64, kernel.Outcome) {
	frame := make(Frame, r.Words())
	copy(r.Start(frame), args)
	for {
		got, outcome := r.Run(frame, budget)
		if outcome.Stop == kernel.Paused {
			continue
		}
		if outcome.Stop != kernel.Finished {
			return nil, outcome
		}
		return append([]uint64(nil), got[:results]...), outcome
	}
}

// argumentOf returns one of the numbers at which operations change what they do.
func argumentOf(r *rand.Rand, t tensor.DType) uint64 {
	switch {
	case t == tensor.Bool:
		return r.Uint64() & 1
	case t == tensor.Int64:
		return []uint64{0, 1, 2, 7, math.MaxUint64, 1 << 63, 1<<63 - 1, 64, 63, r.Uint64(), uint64(r.IntN(200) - 100)}[r.IntN(11)]
	}
	return math.Float64bits([]float64{0, math.Copysign(0, -1), 1, -1.5, 2.5, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1e19, r.NormFloat64()}[r.IntN(11)])
}

// sameResult compares numbers as bits; one NaN is as good as another.
func sameResult(t tensor.DType, a, b uint64) bool {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	return a == b || t == tensor.Float64 && x != x && y != y
}

// checkRoutine compares a function as machine code with its evaluation.
func checkRoutine(t *testing.T, f *kernel.Function, r *rand.Rand) {
	t.Helper()
	for _, isa := range routineSets() {
		made, err := CompileFunction(f, isa)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		for range 4 {
			var args []uint64
			for _, v := range f.Blocks[0].Params {
				args = append(args, argumentOf(r, f.Types[v]))
			}
			want, ends := f.Evaluate(args, 1<<20)
			got, outcome := made.call(args, len(f.Results), 1+r.IntN(4))
			if outcome != ends {
				t.Fatalf("%s, arguments %x: ends with %+v, want %+v\n%s", isa, args, outcome, ends, f)
			}
			for i := range want {
				if !sameResult(f.Results[i], got[i], want[i]) {
					t.Fatalf("%s, arguments %x: result %d is %x, want %x\n%s", isa, args, i, got[i], want[i], f)
				}
			}
		}
	}
}

func TestRandomRoutines(t *testing.T) {
	asmtest.MachineOnly(t)
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		g := kernel.FunctionGenerator{Rand: r, Steps: 4 + int(seed%90), Depth: 3}
		checkRoutine(t, g.Function(), r)
	}
}

// FuzzRoutines compares random functions.
func FuzzRoutines(f *testing.F) {
	if asm.Host() == asm.None {
		f.Skip("no machine code here")
	}
	f.Add(uint64(1), uint64(2), uint16(40), uint8(3))
	f.Add(uint64(7), uint64(9), uint16(200), uint8(4))
	f.Fuzz(func(t *testing.T, a, b uint64, steps uint16, depth uint8) {
		r := rand.New(rand.NewPCG(a, b))
		g := kernel.FunctionGenerator{Rand: r, Steps: int(steps % 400), Depth: int(depth % 5)}
		checkRoutine(t, g.Function(), r)
	})
}

// Every operation that functions have, with values in registers and in memory.
func TestEveryOperationOfFunctions(t *testing.T) {
	asmtest.MachineOnly(t)
	types := []tensor.DType{tensor.Int64, tensor.Float64, tensor.Bool}
	for op := kernel.Neg; op <= kernel.Convert; op++ {
		for _, operand := range types {
			if !kernel.FunctionHas(op, operand) || op == kernel.Bits && operand == tensor.Float64 {
				continue
			}
			for _, pressure := range []int{0, 20} {
				r := rand.New(rand.NewPCG(uint64(op), uint64(operand)))
				for range 12 {
					checkRoutine(t, oneOperation(op, operand, pressure, r), r)
				}
			}
		}
	}
}

// oneOperation is a function of one operation, while so many other values of each kind are needed later.
func oneOperation(op kernel.Op, operand tensor.DType, pressure int, r *rand.Rand) *kernel.Function {
	params := []tensor.DType{operand, operand, tensor.Int64, tensor.Float64}
	if op == kernel.Select {
		params[1] = []tensor.DType{tensor.Int64, tensor.Float64, tensor.Bool}[r.IntN(3)]
		params = append(params, params[1])
	}
	b := kernel.NewFunction(params...)
	var kept []kernel.Value
	for i := range pressure {
		kept = append(kept, b.Binary(kernel.Add, b.Param(0, 2), b.Const(tensor.Int64, tensor.Int(int64(i)<<30))))
		kept = append(kept, b.Binary(kernel.Add, b.Param(0, 3), b.Const(tensor.Float64, tensor.Float(float64(i)))))
	}
	x, y := b.Param(0, 0), b.Param(0, 1)
	if r.IntN(3) == 0 && op != kernel.Select {
		y = b.Const(operand, tensor.Int([]int64{0, 1, -1, 8, 63, 64, 5, -5, 1 << 40}[r.IntN(9)]))
	}
	if r.IntN(4) == 0 {
		x, y = y, x
	}
	if op == kernel.Select {
		x, y = b.Param(0, 0), b.Param(0, 1)
	}
	var z kernel.Value
	switch {
	case op == kernel.Select:
		z = b.Select(x, y, b.Param(0, 4))
	case op == kernel.Convert:
		z = b.Convert(x, []tensor.DType{tensor.Int64, tensor.Float64, tensor.Bool}[r.IntN(3)])
	case op.Operands() == 1:
		z = b.Unary(op, x)
	default:
		z = b.Binary(op, x, y)
	}
	b.Return(append([]kernel.Value{z, x, y}, kept...)...)
	return b.Function()
}

// A long loop stops when its budget is used up and goes on where it was.
func TestRoutinesPause(t *testing.T) {
	asmtest.MachineOnly(t)
	f := sumOfSquares()
	r, err := CompileFunction(f, asm.Host())
	if err != nil {
		t.Fatal(err)
	}
	frame := make(Frame, r.Words())
	r.Start(frame)[0] = 1000
	pauses := 0
	for {
		results, outcome := r.Run(frame, 100)
		if outcome.Stop == kernel.Finished {
			if results[0] != 332833500 || pauses < 9 {
				t.Fatalf("%d after %d pauses", results[0], pauses)
			}
			return
		}
		if pauses++; outcome.Stop != kernel.Paused || pauses > 11 {
			t.Fatalf("%+v after %d pauses", outcome, pauses)
		}
	}
}

// sumOfSquares adds i*i for all i less than its argument.
func sumOfSquares() *kernel.Function {
	b := kernel.NewFunction(tensor.Int64)
	head := b.Block(tensor.Int64, tensor.Int64)
	body, exit := b.Block(), b.Block()
	zero, one := b.Const(tensor.Int64, tensor.Int(0)), b.Const(tensor.Int64, tensor.Int(1))
	b.Jump(head, zero, zero)
	b.Enter(head)
	i, sum := b.Param(head, 0), b.Param(head, 1)
	b.Branch(b.Binary(kernel.Lt, i, b.Param(0, 0)), kernel.Edge{Block: body}, kernel.Edge{Block: exit})
	b.Enter(body)
	b.Jump(head, b.Binary(kernel.Add, i, one), b.Binary(kernel.Add, sum, b.Binary(kernel.Mul, i, i)))
	b.Enter(exit)
	b.Return(sum)
	return b.Function()
}

func TestNoRoutineWithoutMachineCode(t *testing.T) {
	if _, err := CompileFunction(sumOfSquares(), asm.None); !errors.Is(err, amd64.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

func BenchmarkRoutine(b *testing.B) {
	if asm.Host() == asm.None {
		b.Skip("no machine code here")
	}
	f := sumOfSquares()
	r, err := CompileFunction(f, asm.Host())
	if err != nil {
		b.Fatal(err)
	}
	frame := make(Frame, r.Words())
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			r.Start(frame)[0] = 10000
			r.Run(frame, 1<<20)
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/10000, "ns/round")
	})
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			made, err := CompileFunction(f, asm.Host())
			if err != nil {
				b.Fatal(err)
			}
			made.code.Free()
		}
	})
}
