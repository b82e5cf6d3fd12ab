package routine

import (
	"fmt"
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// step writes one instruction.
func (w *routineWriter) step(s *kernel.Step) {
	switch {
	case w.where[s.Value].kind == nowhere && !s.DividesIntegers(): // nobody uses it
	case s.Op.Operands() > 0 && kernel.Called(s.Op, w.f.Types[s.Args[0]]):
		w.callStep(s)
	case s.Op >= kernel.Eq && s.Op <= kernel.Ge:
		w.compareStep(s)
	case s.Op == kernel.Select:
		w.selectStep(s)
	case s.Op == kernel.Convert || s.Op == kernel.Bits:
		w.convertStep(s)
	case w.isDouble(s.Value):
		w.doubleStep(s)
	case s.Op.Operands() == 1:
		w.wholeUnary(s)
	case s.DividesIntegers():
		w.divideStep(s)
	case s.Op == kernel.Shl || s.Op == kernel.Shr:
		w.shiftStep(s)
	case s.Op == kernel.Min || s.Op == kernel.Max:
		w.extremeStep(s)
	default:
		w.wholeBinary(s)
	}
}

// extremeStep writes the smaller or the larger of two integers.
func (w *routineWriter) extremeStep(s *kernel.Step) {
	x, y := w.whole(s.Args[0], asm.RAX), w.whole(s.Args[1], asm.RCX)
	w.Cmp(x, y)
	worse := asm.Greater
	if s.Op == kernel.Max {
		worse = asm.Less
	}
	if x != asm.RAX {
		w.Move(asm.RAX, x)
	}
	w.MoveIf(worse, asm.RAX, y)
	w.made(s.Value, asm.RAX)
}

// smallConstant returns the number of a constant that instructions hold in themselves.
func (w *routineWriter) smallConstant(v kernel.Value) (int32, bool) {
	if !w.inline(v) {
		return 0, false
	}
	return int32(w.makers[v].Imm), true
}

// wholeBinary writes arithmetic and logic of integers and truth values.
func (w *routineWriter) wholeBinary(s *kernel.Step) {
	x, y := s.Args[0], s.Args[1]
	commutes := s.Op != kernel.Sub
	if _, ok := w.smallConstant(x); ok && commutes {
		x, y = y, x
	}
	d := w.target(s.Value, asm.RAX)
	if n, ok := w.smallConstant(y); ok {
		w.withNumber(s, d, x, n)
		w.made(s.Value, d)
		return
	}
	right := w.whole(y, asm.RCX)
	if right == d {
		if commutes {
			right = w.whole(x, asm.RCX)
			w.combine(s.Op, d, right)
			w.made(s.Value, d)
			return
		}
		d = asm.RAX
	}
	if left := w.whole(x, d); left != d {
		w.Move(d, left)
	}
	w.combine(s.Op, d, right)
	w.made(s.Value, d)
}

// combine emits d = d op r.
func (w *routineWriter) combine(op kernel.Op, d, r asm.Reg) {
	switch op {
	case kernel.Add:
		w.Add(d, r)
	case kernel.Sub:
		w.Sub(d, r)
	case kernel.Mul:
		w.Mul(d, r)
	case kernel.And:
		w.And(d, r)
	case kernel.Or:
		w.Or(d, r)
	case kernel.Xor:
		w.Xor(d, r)
	default:
		panic(fmt.Sprintf("amd64: functions have no %s of integers", op))
	}
}

// withNumber emits d = x op n.
func (w *routineWriter) withNumber(s *kernel.Step, d asm.Reg, x kernel.Value, n int32) {
	left := w.whole(x, d)
	switch {
	case s.Op == kernel.Mul:
		w.MulImm(d, left, n)
		return
	case s.Op == kernel.Add && left != d:
		w.Lea(d, asm.At(left, n))
		return
	case left != d:
		w.Move(d, left)
	}
	switch s.Op {
	case kernel.Add:
		w.AddImm(d, n)
	case kernel.Sub:
		w.SubImm(d, n)
	case kernel.And:
		w.AndImm(d, n)
	case kernel.Or:
		w.OrImm(d, n)
	case kernel.Xor:
		w.XorImm(d, n)
	default:
		panic(fmt.Sprintf("amd64: functions have no %s of integers", s.Op))
	}
}

func (w *routineWriter) wholeUnary(s *kernel.Step) {
	from := w.whole(s.Args[0], asm.RCX)
	w.Move(asm.RAX, from)
	switch {
	case s.Op == kernel.Neg:
		w.Negate(asm.RAX)
	case s.Op == kernel.Abs:
		w.Negate(asm.RAX)
		w.MoveIf(asm.Sign, asm.RAX, from)
	case s.Op == kernel.Not && s.Type == tensor.Bool:
		w.XorImm(asm.RAX, 1)
	case s.Op == kernel.Not:
		w.Invert(asm.RAX)
	default:
		panic(fmt.Sprintf("amd64: functions have no %s of integers", s.Op))
	}
	w.made(s.Value, asm.RAX)
}

// shiftStep shifts by counts of any size: what goes beyond the ends gives zero to the left and the
// sign to the right.
func (w *routineWriter) shiftStep(s *kernel.Step) {
	left := s.Op == kernel.Shl
	if n, ok := w.smallConstant(s.Args[1]); ok {
		d := w.target(s.Value, asm.RAX)
		from := w.whole(s.Args[0], d)
		outside := n < 0 || n > 63
		switch {
		case outside && left:
			w.MoveImm(d, 0)
			w.made(s.Value, d)
			return
		case outside:
			n = 63
		}
		if from != d {
			w.Move(d, from)
		}
		if left {
			w.ShiftLeft(d, uint8(n))
		} else {
			w.ShiftArithmetic(d, uint8(n))
		}
		w.made(s.Value, d)
		return
	}
	if from := w.whole(s.Args[0], asm.RAX); from != asm.RAX {
		w.Move(asm.RAX, from)
	}
	if count := w.whole(s.Args[1], asm.RCX); count != asm.RCX {
		w.Move(asm.RCX, count)
	}
	if left {
		w.ShiftLeftBy(asm.RAX)
		w.MoveImm(asm.RDX, 0)
		w.CmpImm(asm.RCX, 63)
		w.MoveIf(asm.Above, asm.RAX, asm.RDX)
	} else {
		w.MoveImm(asm.RDX, 63)
		w.CmpImm(asm.RCX, 63)
		w.MoveIf(asm.Above, asm.RCX, asm.RDX)
		w.ShiftArithmeticBy(asm.RAX)
	}
	w.made(s.Value, asm.RAX)
}

// divideStep divides integers. A divisor of zero ends the call, and -1, for which the smallest integer
// makes the processor fault, is a case of its own.
func (w *routineWriter) divideStep(s *kernel.Step) {
	remainder := s.Op == kernel.Rem || s.Op == kernel.Mod
	if n, ok := w.smallConstant(s.Args[1]); ok && n > 0 && n&(n-1) == 0 && (s.Op == kernel.FloorDiv || s.Op == kernel.Mod) {
		d := w.target(s.Value, asm.RAX)
		if from := w.whole(s.Args[0], d); from != d {
			w.Move(d, from)
		}
		if remainder {
			w.AndImm(d, n-1)
		} else {
			w.ShiftArithmetic(d, uint8(bits.TrailingZeros32(uint32(n))))
		}
		w.made(s.Value, d)
		return
	}
	by := w.whole(s.Args[1], asm.RCX)
	if from := w.whole(s.Args[0], asm.RAX); from != asm.RAX {
		w.Move(asm.RAX, from)
	}
	minus, done := w.NewLabel(), w.NewLabel()
	n, known := w.smallConstant(s.Args[1])
	if !known || n == 0 {
		fail := failure{w.NewLabel(), s.Value}
		w.fails = append(w.fails, fail)
		w.Test(by, by)
		w.JumpIf(asm.Equal, fail.label)
	}
	if !known || n == -1 {
		w.CmpImm(by, -1)
		w.JumpIf(asm.Equal, minus)
	}
	w.ExtendSign()
	w.Divide(by)
	if s.Op == kernel.FloorDiv || s.Op == kernel.Mod {
		// A remainder of another sign than the divisor's is a divisor short, and the quotient one too large.
		whole := w.NewLabel()
		w.Test(asm.RDX, asm.RDX)
		w.JumpIf(asm.Equal, whole)
		if remainder {
			w.Move(asm.RAX, asm.RDX)
			w.Xor(asm.RAX, by)
			w.JumpIf(asm.NotSign, whole)
			w.Add(asm.RDX, by)
		} else {
			w.Xor(asm.RDX, by)
			w.JumpIf(asm.NotSign, whole)
			w.SubImm(asm.RAX, 1)
		}
		w.Bind(whole)
	}
	if remainder {
		w.Move(asm.RAX, asm.RDX)
	}
	if !known || n == -1 {
		w.Jump(done)
		w.Bind(minus)
		if remainder {
			w.MoveImm(asm.RAX, 0)
		} else {
			w.Negate(asm.RAX)
		}
		w.Bind(done)
	}
	w.made(s.Value, asm.RAX)
}

// binaryDouble emits d = x op y for instructions that, before AVX, write over x.
func (w *routineWriter) binaryDouble(op asm.Op, d, x, y asm.Reg) {
	if w.ISA >= asm.AVX2 || d == x {
		w.V(op, asm.W128, d, x, asm.R(y))
		return
	}
	if d == y {
		w.V(asm.MOVAPS, asm.W128, otherDouble, 0, asm.R(y))
		y = otherDouble
	}
	w.V(asm.MOVAPS, asm.W128, d, 0, asm.R(x))
	w.V(op, asm.W128, d, d, asm.R(y))
}

var doubleOps = map[kernel.Op]asm.Op{kernel.Add: asm.ADDSD, kernel.Sub: asm.SUBSD, kernel.Mul: asm.MULSD, kernel.Div: asm.DIVSD}

// rounding is the immediate of ROUNDSD.
var rounding = map[kernel.Op]uint8{kernel.Round: 8, kernel.Floor: 9, kernel.Ceil: 10, kernel.Trunc: 11}

func (w *routineWriter) doubleStep(s *kernel.Step) {
	d := w.target(s.Value, scratchDouble)
	if op, ok := doubleOps[s.Op]; ok {
		x, y := w.double(s.Args[0], scratchDouble), w.double(s.Args[1], otherDouble)
		w.binaryDouble(op, d, x, y)
		w.made(s.Value, d)
		return
	}
	x := w.double(s.Args[0], otherDouble)
	mode, rounds := rounding[s.Op]
	switch {
	case rounds && w.ISA >= asm.AVX2:
		w.VImm(asm.ROUNDSD, asm.W128, d, x, asm.R(x), mode)
	case rounds:
		w.V(asm.MOVAPS, asm.W128, scratchDouble, 0, asm.R(x))
		w.VImm(asm.ROUNDSD, asm.W128, scratchDouble, scratchDouble, asm.R(x), mode)
		d = scratchDouble
	case s.Op == kernel.Sqrt && w.ISA >= asm.AVX2:
		w.V(asm.SQRTSD, asm.W128, d, x, asm.R(x))
	case s.Op == kernel.Sqrt:
		w.V(asm.SQRTSD, asm.W128, scratchDouble, scratchDouble, asm.R(x))
		d = scratchDouble
	case s.Op == kernel.Neg:
		w.loadDouble(scratchDouble, 1<<63)
		w.V(asm.XORPS, asm.W128, scratchDouble, scratchDouble, asm.R(x))
		d = scratchDouble
	case s.Op == kernel.Abs:
		w.loadDouble(scratchDouble, 1<<63-1)
		w.V(asm.ANDPS, asm.W128, scratchDouble, scratchDouble, asm.R(x))
		d = scratchDouble
	default:
		panic(fmt.Sprintf("amd64: functions have no %s of floats", s.Op))
	}
	w.made(s.Value, d)
}

func (w *routineWriter) convertStep(s *kernel.Step) {
	x := s.Args[0]
	switch from := w.f.Types[x]; {
	case s.Op == kernel.Bits && w.isDouble(s.Value):
		d := w.target(s.Value, scratchDouble)
		w.MoveToVector(d, w.whole(x, asm.RAX), 8)
		w.made(s.Value, d)
	case s.Op == kernel.Bits || from == tensor.Bool && s.Type == tensor.Int64 || from == s.Type && !w.isDouble(x):
		d := w.target(s.Value, asm.RAX)
		r := w.whole(x, d)
		w.made(s.Value, r)
	case from == s.Type:
		w.made(s.Value, w.double(x, scratchDouble))
	case w.isDouble(s.Value):
		d := w.target(s.Value, scratchDouble)
		w.IntToDouble(d, w.whole(x, asm.RAX))
		w.made(s.Value, d)
	case from == tensor.Float64 && s.Type == tensor.Int64:
		d := w.target(s.Value, asm.RAX)
		w.DoubleToInt(d, w.double(x, scratchDouble))
		w.made(s.Value, d)
	case from == tensor.Float64: // unequal to zero, or NaN
		w.V(asm.XORPS, asm.W128, otherDouble, otherDouble, asm.R(otherDouble))
		w.V(asm.UCOMISD, asm.W128, w.double(x, scratchDouble), 0, asm.R(otherDouble))
		w.SetIf(asm.NotEqual, asm.RAX)
		w.SetIf(asm.Parity, asm.RCX)
		w.Or(asm.RAX, asm.RCX)
		w.made(s.Value, asm.RAX)
	default:
		r := w.whole(x, asm.RAX)
		w.Test(r, r)
		w.SetIf(asm.NotEqual, asm.RAX)
		w.made(s.Value, asm.RAX)
	}
}

// selectStep chooses one of two values.
func (w *routineWriter) selectStep(s *kernel.Step) {
	c, x, y := s.Args[0], s.Args[1], s.Args[2]
	if !w.isDouble(s.Value) {
		yes, test := w.whole(x, asm.RCX), w.whole(c, asm.RDX)
		if no := w.whole(y, asm.RAX); no != asm.RAX {
			w.Move(asm.RAX, no)
		}
		w.Test(test, test)
		w.MoveIf(asm.NotEqual, asm.RAX, yes)
		w.made(s.Value, asm.RAX)
		return
	}
	test := w.whole(c, asm.RDX)
	if no := w.double(y, scratchDouble); no != scratchDouble {
		w.V(asm.MOVAPS, asm.W128, scratchDouble, 0, asm.R(no))
	}
	yes := w.double(x, otherDouble)
	skip := w.NewLabel()
	w.Test(test, test)
	w.JumpIf(asm.Equal, skip)
	w.V(asm.MOVAPS, asm.W128, scratchDouble, 0, asm.R(yes))
	w.Bind(skip)
	w.made(s.Value, scratchDouble)
}

// wholeConditions are the conditions of comparisons of integers, from Eq on.
var wholeConditions = [...]asm.Cond{asm.Equal, asm.NotEqual, asm.Less, asm.LessEqual, asm.Greater, asm.GreaterEqual}

// compare sets the flags for a comparison. It returns the condition under which it holds; of floats that
// are equal or not the parity, which tells of NaN, has to be looked at as well.
func (w *routineWriter) compare(s *kernel.Step) (c asm.Cond, parity bool) {
	x, y := s.Args[0], s.Args[1]
	if !w.isDouble(x) {
		if n, ok := w.smallConstant(y); ok {
			w.CmpImm(w.whole(x, asm.RAX), n)
		} else {
			w.Cmp(w.whole(x, asm.RAX), w.whole(y, asm.RCX))
		}
		return wholeConditions[s.Op-kernel.Eq], false
	}
	left, right := w.double(x, scratchDouble), w.double(y, otherDouble)
	switch s.Op {
	case kernel.Lt, kernel.Le: // with NaN neither is above the other
		left, right = right, left
	}
	w.V(asm.UCOMISD, asm.W128, left, 0, asm.R(right))
	switch s.Op {
	case kernel.Lt, kernel.Gt:
		return asm.Above, false
	case kernel.Le, kernel.Ge:
		return asm.AboveEqual, false
	}
	return wholeConditions[s.Op-kernel.Eq], true
}

func (w *routineWriter) compareStep(s *kernel.Step) {
	c, parity := w.compare(s)
	w.SetIf(c, asm.RAX)
	if parity && c == asm.Equal {
		w.SetIf(asm.NotParity, asm.RCX)
		w.And(asm.RAX, asm.RCX)
	} else if parity {
		w.SetIf(asm.Parity, asm.RCX)
		w.Or(asm.RAX, asm.RCX)
	}
	w.made(s.Value, asm.RAX)
}

// jumpUnless goes to a label where a condition does not hold.
func (w *routineWriter) jumpUnless(v kernel.Value, no asm.Label) {
	if !w.fused[v] {
		r := w.whole(v, asm.RAX)
		w.Test(r, r)
		w.JumpIf(asm.Equal, no)
		return
	}
	c, parity := w.compare(w.makers[v])
	switch {
	case parity && c == asm.Equal:
		w.JumpIf(asm.NotEqual, no)
		w.JumpIf(asm.Parity, no)
	case parity:
		yes := w.NewLabel()
		w.JumpIf(asm.Parity, yes)
		w.JumpIf(asm.Equal, no)
		w.Bind(yes)
	default:
		w.JumpIf(c^1, no)
	}
}
