package function

import (
	"math"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Stop is how a call of a function ends.
type Stop uint8

// The ends of a call.
const (
	Finished Stop = iota
	Paused        // the budget is used up; the call can go on
	Trapped       // at a Trap
	DividedByZero
	Calling // machine code wants an operation done; nobody but Routine.Run sees it
)

// Outcome says how a call ended.
type Outcome struct {
	Stop Stop
	Code int32        // of the trap
	At   kernel.Value // what the division by zero was to make
}

// Evaluate calls the function, which Verify accepts, with arguments as bits of their types. It stops, for
// good, after so many steps from block to block: the evaluator is what tests compare machine code with.
func (f *Function) Evaluate(args []uint64, budget int) (results []uint64, outcome Outcome) {
	values := make([]uint64, len(f.Types))
	block := &f.Blocks[0]
	for i, v := range block.Params {
		values[v] = args[i]
	}
	for ; budget > 0; budget-- {
		for i := range block.Steps {
			s := &block.Steps[i]
			if s.DividesIntegers() && values[s.Args[1]] == 0 {
				return nil, Outcome{Stop: DividedByZero, At: s.Value}
			}
			values[s.Value] = f.apply(s, values)
		}
		e := &block.End
		switch e.Kind {
		case Return:
			for _, v := range e.Values {
				results = append(results, values[v])
			}
			return results, Outcome{}
		case Trap:
			return nil, Outcome{Stop: Trapped, Code: e.Code}
		}
		to := e.To[0]
		if e.Kind == Branch && values[e.Cond] == 0 {
			to = e.To[1]
		}
		given := make([]uint64, len(to.Args))
		for i, v := range to.Args {
			given[i] = values[v]
		}
		block = &f.Blocks[to.Block]
		for i, v := range block.Params {
			values[v] = given[i]
		}
	}
	return nil, Outcome{Stop: Paused}
}

// DividesIntegers reports whether a step fails where its second operand is zero.
func (s *Step) DividesIntegers() bool {
	return (s.Op == kernel.Div || s.Op == kernel.FloorDiv || s.Op == kernel.Rem || s.Op == kernel.Mod) && s.Type == tensor.Int64
}

// apply computes a step by the loops that define kernels.
func (f *Function) apply(s *Step, values []uint64) (result uint64) {
	if s.Op == kernel.Const {
		return s.Imm
	}
	a := values[s.Args[0]]
	first := f.Types[s.Args[0]]
	at := [3]unsafe.Pointer{}
	for i := range at {
		at[i] = unsafe.Pointer(&values[s.Args[min(i, s.Op.Operands()-1)]])
	}
	d := unsafe.Pointer(&result)
	switch {
	case s.Op == kernel.Convert && first == tensor.Float64 && s.Type == tensor.Int64:
		return uint64(truncate(math.Float64frombits(a)))
	case s.Op == kernel.Convert:
		tensor.ConverterOf(first, s.Type)(d, 0, at[0], 0, 1)
	case s.Op == kernel.Select:
		kernel.Loops[kernel.Select][s.Type](d, at[0], at[1], at[2], 1)
	default:
		kernel.Loops[s.Op][first](d, at[0], at[1], at[2], 1)
	}
	return result
}

// Apply computes an operation that Called names on values of a type as bits. The result takes the place of the first one; an
// operation of one operand has no use for the second.
func Apply(op kernel.Op, t tensor.DType, operands *[2]uint64) {
	first, second := unsafe.Pointer(&operands[0]), unsafe.Pointer(&operands[1])
	kernel.Loops[op][t](first, first, second, second, 1)
}

// Power is a**b, right for denormals too.
func Power(a, b float64) float64 { return kernel.PowFloat64(a, b) }

// truncate converts to an integer towards zero; what does not fit gives the smallest integer.
func truncate(f float64) int64 {
	if f >= math.MinInt64 && f < math.MaxInt64 {
		return int64(f)
	}
	return math.MinInt64
}
