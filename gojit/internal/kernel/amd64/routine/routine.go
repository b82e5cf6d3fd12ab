package routine

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Routine is a kernel.Function as machine code. It never changes: any number of goroutines may call it,
// each with a frame of its own.
type Routine struct {
	code  *asm.Code
	words int
}

// Frame is the state of a call: what machine code keeps while it lets Go look after other things. It holds no
// pointers that the collector needs to know.
type Frame []uint64

// Words of a frame. Arguments come first behind these, where results are left; then the registers of a
// call that pauses, and what registers have no room for.
const (
	frameResume = iota // where the call goes on, 0 at its beginning
	frameBudget
	frameStop
	frameCode  // of a trap, or the value that was to be made, or an operation and its type
	frameFirst // operands of an operation that Go does, whose result takes the place of the first
	frameSecond
	frameValues
)

// CompileFunction makes machine code of a function that Verify accepts. The error is ErrUnsupported where
// there is no machine code.
func CompileFunction(f *kernel.Function, isa asm.ISA) (r *Routine, err error) {
	defer amd64.CatchUnsupported(&err)
	if isa == asm.None {
		return nil, amd64.ErrUnsupported
	}
	w := &routineWriter{Assembler: asm.Assembler{ISA: min(isa, asm.AVX2)}, f: f}
	w.write()
	code, err := asm.Place(w.Code)
	if err != nil {
		return nil, err
	}
	return &Routine{code: code, words: w.words()}, nil
}

// Words returns the length of a frame.
func (r *Routine) Words() int { return r.words }

// Size returns the bytes of the code.
func (r *Routine) Size() int { return r.code.Size() }

// Start makes a frame, of Words words, one of a call that has yet to begin, and returns where its arguments
// go as bits of their types.
func (r *Routine) Start(frame Frame) []uint64 {
	frame[frameResume] = 0
	return frame[frameValues:]
}

// Run begins a call or goes on with it, until it ends or has gone back in its code budget times. Results, as
// bits of their types, are where the arguments were.
func (r *Routine) Run(frame Frame, budget int) (results []uint64, outcome kernel.Outcome) {
	_ = frame[r.words-1]
	frame[frameBudget] = uint64(budget)
	r.code.Call(unsafe.Pointer(&frame[0]))
	for kernel.Stop(frame[frameStop]) == kernel.Calling {
		op, t := kernel.Op(frame[frameCode]), tensor.DType(frame[frameCode]>>8)
		kernel.Apply(op, t, (*[2]uint64)(frame[frameFirst:]))
		r.code.Call(unsafe.Pointer(&frame[0]))
	}
	runtime.KeepAlive(frame)
	outcome.Stop = kernel.Stop(frame[frameStop])
	switch outcome.Stop {
	case kernel.Trapped:
		outcome.Code = int32(frame[frameCode])
	case kernel.DividedByZero:
		outcome.At = kernel.Value(frame[frameCode])
	}
	return frame[frameValues:], outcome
}

// Registers of routines. RAX, RCX and RDX are scratch, and what divisions and shifts work with.
const (
	frameReg      = asm.RDI
	budgetReg     = asm.R15
	scratchDouble = asm.Reg(15)
	otherDouble   = asm.Reg(14)
)

var (
	wholeRegs   = []asm.Reg{asm.RBX, asm.RSI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14}
	doubleRegs  = []asm.Reg{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	savedDouble = len(wholeRegs) // the first word of the saved registers that is a double's
	savedWords  = len(wholeRegs) + len(doubleRegs)
)

// routineWriter encodes one function.
type routineWriter struct {
	asm.Assembler
	f      *kernel.Function
	order  []int // blocks as they follow each other
	at     []int // place of a block in order
	where  []location
	slots  int
	makers []*kernel.Step // of values that instructions make
	fused  []bool         // comparisons that are made where control depends on them
	labels []asm.Label    // of blocks
	pauses []pause
	fails  []failure
	save   asm.Label
	leave  asm.Label // to Go, which does an operation
	calls  bool
	inputs int // words of arguments and results
}

// pause is a way back in the code where a call may stop for a while.
type pause struct{ stub, resume asm.Label }

// failure is a division that may have failed.
type failure struct {
	label asm.Label
	value kernel.Value
}

func (w *routineWriter) words() int { return frameValues + w.inputs + savedWords + w.slots }

// word returns a word of the frame.
func (w *routineWriter) word(i int) asm.Mem { return asm.At(frameReg, int32(8*i)) }

func (w *routineWriter) write() {
	f := w.f
	w.inputs = max(len(f.Blocks[0].Params), len(f.Results))
	w.order = f.Order()
	w.at = make([]int, len(f.Blocks))
	for i, b := range w.order {
		w.at[b] = i
	}
	w.labels = make([]asm.Label, len(f.Blocks))
	for i := range w.labels {
		w.labels[i] = w.NewLabel()
	}
	w.save, w.leave = w.NewLabel(), w.NewLabel()
	w.prepare()
	w.assignLocations()
	w.enterRoutine()
	for i, b := range w.order {
		w.block(i, b)
	}
	w.writeStubs()
}

// prepare finds who makes the values, and the comparisons that only a branch behind them uses.
func (w *routineWriter) prepare() {
	f := w.f
	w.makers, w.fused = make([]*kernel.Step, len(f.Types)), make([]bool, len(f.Types))
	uses, home := make([]int, len(f.Types)), make([]int, len(f.Types))
	for i := range f.Blocks {
		b := &f.Blocks[i]
		for j := range b.Steps {
			s := &b.Steps[j]
			w.makers[s.Value], home[s.Value] = s, i
			for _, v := range s.Args[:s.Op.Operands()] {
				uses[v]++
			}
		}
		for _, v := range b.Uses() {
			uses[v]++
		}
	}
	for i := range f.Blocks {
		e := &f.Blocks[i].End
		if e.Kind != kernel.Branch || uses[e.Cond] != 1 || home[e.Cond] != i {
			continue
		}
		if s := w.makers[e.Cond]; s != nil && s.Op >= kernel.Eq && s.Op <= kernel.Ge {
			w.fused[e.Cond] = true
		}
	}
}

// enterRoutine goes on with a call that has paused, or loads the arguments.
func (w *routineWriter) enterRoutine() {
	begin := w.NewLabel()
	w.Load(budgetReg, w.word(frameBudget))
	w.Load(asm.RAX, w.word(frameResume))
	w.Test(asm.RAX, asm.RAX)
	w.JumpIf(asm.Equal, begin)
	for i, r := range wholeRegs {
		w.Load(r, w.saved(i))
	}
	for i, r := range doubleRegs {
		w.V(asm.MOVSD, asm.W128, r, 0, asm.M(w.saved(savedDouble+i)))
	}
	w.JumpTo(asm.RAX)
	w.Bind(begin)
	for i, v := range w.f.Blocks[0].Params {
		from := w.word(frameValues + i)
		switch to := w.where[v]; to.kind {
		case inWhole:
			w.Load(to.reg(), from)
		case inDouble:
			w.V(asm.MOVSD, asm.W128, to.reg(), 0, asm.M(from))
		case inSlot:
			w.Load(asm.RAX, from)
			w.Store(w.slot(to), asm.RAX)
		}
	}
	for v, s := range w.makers { // constants that have registers
		if s == nil || s.Op != kernel.Const {
			continue
		}
		switch to := w.where[v]; to.kind {
		case inWhole:
			w.MoveImm(to.reg(), int64(s.Imm))
		case inDouble:
			w.loadDouble(to.reg(), s.Imm)
		}
	}
}

// saved returns where a register is kept while a call pauses.
func (w *routineWriter) saved(i int) asm.Mem { return w.word(frameValues + w.inputs + i) }

// loadDouble emits d = the double with some bits.
func (w *routineWriter) loadDouble(d asm.Reg, bits uint64) {
	if bits == 0 {
		w.V(asm.XORPS, asm.W128, d, d, asm.R(d))
		return
	}
	w.MoveImm(asm.RAX, int64(bits))
	w.MoveToVector(d, asm.RAX, 8)
}

// writeStubs writes what lies off the way: failures and pauses.
func (w *routineWriter) writeStubs() {
	for _, x := range w.fails {
		w.Bind(x.label)
		w.stop(kernel.DividedByZero, int64(x.value))
	}
	for _, p := range w.pauses {
		w.Bind(p.stub)
		w.LeaLabel(asm.RAX, p.resume)
		w.Jump(w.save)
	}
	if len(w.pauses) > 0 {
		w.Bind(w.save)
		w.saveRegisters()
		w.stop(kernel.Paused, 0)
	}
	if w.calls {
		w.Bind(w.leave)
		w.Store(w.word(frameBudget), budgetReg)
		w.saveRegisters()
		w.stop(kernel.Calling, 0)
	}
}

// saveRegisters keeps what the call needs when it goes on at the address in RAX.
func (w *routineWriter) saveRegisters() {
	w.Store(w.word(frameResume), asm.RAX)
	for i, r := range wholeRegs {
		w.Store(w.saved(i), r)
	}
	for i, r := range doubleRegs {
		w.V(asm.MOVSDstore, asm.W128, r, 0, asm.M(w.saved(savedDouble+i)))
	}
}

// callStep leaves an operation to Go.
func (w *routineWriter) callStep(s *kernel.Step) {
	w.calls = true
	w.copyTo(w.word(frameFirst), s.Args[0])
	if s.Op.Operands() > 1 {
		w.copyTo(w.word(frameSecond), s.Args[1])
	}
	w.MoveImm(asm.RAX, int64(s.Op)|int64(w.f.Types[s.Args[0]])<<8)
	w.Store(w.word(frameCode), asm.RAX)
	resume := w.NewLabel()
	w.LeaLabel(asm.RAX, resume)
	w.Jump(w.leave)
	w.Bind(resume)
	if w.isDouble(s.Value) {
		d := w.target(s.Value, scratchDouble)
		w.V(asm.MOVSD, asm.W128, d, 0, asm.M(w.word(frameFirst)))
		w.made(s.Value, d)
		return
	}
	d := w.target(s.Value, asm.RAX)
	w.Load(d, w.word(frameFirst))
	w.made(s.Value, d)
}

// stop leaves the call.
func (w *routineWriter) stop(s kernel.Stop, code int64) {
	w.MoveImm(asm.RAX, int64(s))
	w.Store(w.word(frameStop), asm.RAX)
	if s == kernel.Trapped || s == kernel.DividedByZero {
		w.MoveImm(asm.RAX, code)
		w.Store(w.word(frameCode), asm.RAX)
	}
	w.Ret()
}

// isDouble reports whether a value is in a vector register, where it is in a register.
func (w *routineWriter) isDouble(v kernel.Value) bool { return w.f.Types[v] == tensor.Float64 }
