package launch

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Row is where an operand of a run over rows lies: its elements in row 0, side by side, and the
// bytes from one row to the next. An output that reduces has one element for each row, and so has
// an input with Single set.
type Row struct {
	Ptr    unsafe.Pointer
	Step   int
	Single bool
}

// RowOf returns the rows of n elements of a contiguous tensor.
func RowOf(t *tensor.Tensor, n int) Row {
	return Row{Ptr: t.DataPtr(), Step: n * t.DType().Size()}
}

// SingleOf returns the elements of a contiguous tensor as one for each row.
func SingleOf(t *tensor.Tensor) Row {
	return Row{Ptr: t.DataPtr(), Step: t.DType().Size(), Single: true}
}

// From returns the operand from a row on.
func (r Row) From(row int) Row {
	r.Ptr = unsafe.Add(r.Ptr, row*r.Step)
	return r
}

// reduction is what is known of an output that reduces.
type reduction struct {
	output int
	join   func(a, b uint64) uint64
	store  tensor.Converter // from the lane's type to the output's
	size   int              // of the lane
	direct bool             // the output has the lane's type
}

// reductions returns the outputs that reduce.
func (p *Program) reductions() []reduction {
	var all []reduction
	for i, o := range p.kernel.Outputs {
		if o.Reduce == kernel.NoReduce {
			continue
		}
		value := p.kernel.TypeOf(o.Value)
		t := laneType(value)
		all = append(all, reduction{output: i, join: joinOf(o.Reduce, t, value == tensor.Bool), store: tensor.ConverterOf(t, o.DType),
			size: t.Size(), direct: t == o.DType && value != tensor.Bool})
	}
	return all
}

// laneType returns the type that values of a type have in the lanes of a vector.
func laneType(t tensor.DType) tensor.DType {
	if t.Size() < 4 {
		return tensor.Int32
	}
	return t
}

// Rows runs the kernel over rows of n elements each, one after another. operands holds the outputs,
// then the inputs.
func (p *Program) Rows(rows, n int, operands []Row, params []tensor.Scalar) {
	if rows == 0 {
		return
	}
	uniform := singles(operands[p.outputs:])
	f := p.function(uniform)
	if f == nil {
		p.evaluateRows(rows, n, operands, params)
		return
	}
	f = p.forRows(f, uniform, operands, rows, n)
	s := takeScratch(f.Scratch)
	defer s.release()
	p.setParams(&s.args, params)
	if n <= p.block && rows > 1 && p.walksRows(operands) {
		p.runRows(f, s, rows, n, operands)
		return
	}
	var watch parallel.Watch
	for row := range rows {
		p.runRow(f, s, &watch, row, 0, n, operands)
		p.storeRow(row, operands, &s.results)
	}
}

// walksRows reports whether one call can go from row to row: the numbers that inputs have for a row are read as they lie, and
// elements that are not reduced are not counted.
func (p *Program) walksRows(operands []Row) bool {
	if p.ordered && len(p.reduces) == 0 {
		return false
	}
	for i := p.outputs; i < p.operands; i++ {
		if operands[i].Single && operands[i].Step != 0 && !p.readsAsItLies(i) {
			return false
		}
	}
	return true
}

// readsAsItLies reports whether machine code reads the number that an input has for a row from memory.
func (p *Program) readsAsItLies(operand int) bool {
	return p.computed[operand] == p.memory[operand] && p.size[operand] >= 4 && !p.computed[operand].IsComplex()
}

// setSingles puts the numbers that inputs have for a row among the arguments, and where those of the rows after it are.
func (p *Program) setSingles(args *amd64.Args, operands []Row, row int) {
	at, n := p.numbers, 0
	for i := p.outputs; i < p.operands; i++ {
		o := &operands[i]
		if !o.Single {
			continue
		}
		from := unsafe.Add(o.Ptr, row*o.Step)
		args.Single[n], args.SingleSkip[n] = from, int64(o.Step)
		if o.Step == 0 {
			args.Single[n] = unsafe.Pointer(&args.Uniform[at])
		}
		at = p.setNumber(args, at, i, from)
		n++
	}
	args.StartRows()
}

// runRows runs over rows of one block each, many in one call. Results that have another type than the output wait for their
// conversion.
func (p *Program) runRows(f *function, s *scratch, rows, n int, operands []Row) {
	args := &s.args
	args.Count, args.First = int64(n), 0
	most := max(1, f.most/max(n, shortestRow))
	var watch parallel.Watch
	for row := 0; row < rows; row += most {
		together := min(most, rows-row)
		waits, reduced := false, 0
		for i, operand := range f.Pointers {
			o := &operands[operand]
			args.Ptr[i], args.Skip[i] = unsafe.Add(o.Ptr, row*o.Step), int64(o.Step)
			if reduced < len(p.reduces) && p.reduces[reduced].output == operand {
				if !p.reduces[reduced].direct {
					together, waits = min(together, waitingRows), true
					args.Ptr[i], args.Skip[i] = unsafe.Pointer(&s.waiting[reduced]), 8
				}
				reduced++
			}
		}
		p.setSingles(args, operands, row)
		args.Rows = int64(together)
		run(f.Function, args)
		if waits {
			p.storeWaiting(s, row, together, operands)
		}
		watch.Did(together * max(n, shortestRow))
		row += together - most
	}
	args.Rows, args.Single = 0, [amd64.MaxPointers]unsafe.Pointer{}
}

// shortestRow is the number of elements that a shorter row takes as long as.
const shortestRow = 32

// waitingRows is how many results wait for their conversion at most.
const waitingRows = 64

// storeWaiting converts results of rows.
func (p *Program) storeWaiting(s *scratch, row, rows int, operands []Row) {
	for i := range p.reduces {
		if r := &p.reduces[i]; !r.direct {
			o := &operands[r.output]
			r.store(unsafe.Add(o.Ptr, row*o.Step), o.Step, unsafe.Pointer(&s.waiting[i]), 8, rows)
		}
	}
}

// evaluateRows is Rows without machine code.
func (p *Program) evaluateRows(rows, n int, operands []Row, params []tensor.Scalar) {
	at, steps := make([]unsafe.Pointer, p.operands), make([]int, p.operands)
	for i := range operands {
		if !operands[i].Single {
			steps[i] = p.size[i]
		}
	}
	for i := range p.reduces {
		steps[p.reduces[i].output] = 0
	}
	e := p.evaluated()
	var watch parallel.Watch
	for row := range rows {
		for i := range operands {
			at[i] = unsafe.Add(operands[i].Ptr, row*operands[i].Step)
		}
		e.RunRow(at, steps, n, params)
		watch.Did(max(n, shortestRow))
	}
}

// singles returns the set of inputs that have one element for a row.
func singles(inputs []Row) uint32 {
	set := uint32(0)
	for i := range inputs {
		if inputs[i].Single {
			set |= 1 << i
		}
	}
	return set
}

// maxReductions bounds the outputs of a kernel that reduce.
const maxReductions = 2

// runRow runs over the elements of a row from one on, several blocks in one call.
func (p *Program) runRow(f *function, s *scratch, watch *parallel.Watch, row, first, end int, operands []Row) {
	args, single := &s.args, 0
	at := p.numbers
	for i := p.outputs; i < p.operands; i++ {
		if o := &operands[i]; o.Single {
			args.Single[single], args.SingleSkip[single] = unsafe.Pointer(&args.Uniform[at]), 0
			single++
			at = p.setNumber(args, at, i, unsafe.Add(o.Ptr, row*o.Step))
		}
	}
	args.StartRows()
	together := max(blocksTogether*kernel.ReduceBlock, f.most) / p.block
	for from := first; ; {
		count, blocks := min(p.block, end-from), 1
		if !p.ordered { // the elements of each block are counted from the same number
			blocks = max(1, min(together, (end-from)/p.block))
		}
		reduced := 0
		for i, operand := range f.Pointers {
			if reduced < len(p.reduces) && p.reduces[reduced].output == operand {
				clear(s.waiting[reduced][:blocks])
				args.Ptr[i], args.Skip[i] = unsafe.Pointer(&s.waiting[reduced]), 8
				reduced++
				continue
			}
			o := &operands[operand]
			args.Ptr[i], args.Skip[i] = unsafe.Add(o.Ptr, row*o.Step+from*p.size[operand]), int64(p.block*p.size[operand])
		}
		args.Count, args.First, args.Rows = int64(count), int64(from), int64(blocks)
		run(f.Function, args)
		for i := range p.reduces {
			r := &p.reduces[i]
			for block, result := range s.waiting[i][:blocks] {
				if from > first || block > 0 {
					result = r.join(s.results[i], result)
				}
				s.results[i] = result
			}
		}
		watch.Did(max(count*blocks, shortestRow))
		if from += (blocks-1)*p.block + count; from >= end {
			break
		}
	}
	args.Rows, args.Single = 0, [amd64.MaxPointers]unsafe.Pointer{}
}

// blocksTogether is how many blocks of a row one call handles at most, unless it has few instructions: the collector waits for it.
const blocksTogether = 16

// storeRow writes the results of a row's reductions.
func (p *Program) storeRow(row int, operands []Row, results *[maxReductions]uint64) {
	for i := range p.reduces {
		r := &p.reduces[i]
		o := &operands[r.output]
		r.store(unsafe.Add(o.Ptr, row*o.Step), 0, unsafe.Pointer(&results[i]), 0, 1)
	}
}

// CombineRows runs a kernel of one output and two inputs over rows of n elements: the output and the first input lie at the offsets, in
// elements, behind to, the second one behind from, row after row.
func (p *Program) CombineRows(n int, to unsafe.Pointer, offsets []int, from unsafe.Pointer) {
	f, out, in := p.function(0), p.size[0], n*p.size[2]
	if f == nil || n > p.block || len(p.reduces) > 0 {
		for i, at := range offsets {
			row := Row{Ptr: unsafe.Add(to, at*out)}
			p.Rows(1, n, []Row{row, row, {Ptr: unsafe.Add(from, i*in)}}, nil)
		}
		return
	}
	s := takeScratch(f.Scratch)
	defer s.release()
	args := &s.args
	args.Count, args.First, args.Rows = int64(n), 0, 1
	for i, at := range offsets {
		row := [...]unsafe.Pointer{unsafe.Add(to, at*out), unsafe.Add(to, at*out), unsafe.Add(from, i*in)}
		for j, operand := range f.Pointers {
			args.Ptr[j] = row[operand]
		}
		run(f.Function, args)
	}
	args.Rows = 0
}

// rowWork is how many elements are worth another thread.
const rowWork = 1 << 15

// ParallelRows is Rows with several rows at once or, where there are few long ones and every output
// reduces, several blocks of a row.
func (p *Program) ParallelRows(rows, n int, operands []Row, params []tensor.Scalar) {
	blocks := parallel.NumChunks(n, p.block)
	if rows*n <= rowWork || parallel.NumThreads() == 1 {
		p.Rows(rows, n, operands, params)
		return
	}
	all, numbers := slices.Clone(operands), slices.Clone(params) // the caller's may be on its stack
	if rows >= 4 || blocks < 4 || len(p.reduces) < p.outputs || p.function(singles(operands[p.outputs:])) == nil {
		parallel.For(rows, max(1, rowWork/max(n, 1)), func(lo, hi int) {
			var part [maxOperands]Row
			for i, o := range all {
				part[i] = o.From(lo)
			}
			p.Rows(hi-lo, n, part[:len(all)], numbers)
		})
		return
	}
	for row := range rows {
		p.splitRow(row, n, blocks, all, numbers)
	}
}

// splitRow reduces the blocks of a row at once and joins their results in order.
func (p *Program) splitRow(row, n, blocks int, operands []Row, params []tensor.Scalar) {
	f := p.function(singles(operands[p.outputs:]))
	partial := make([][maxReductions]uint64, blocks)
	parallel.Chunks(n, p.block, func(block, lo, hi int) {
		s := takeScratch(f.Scratch)
		p.setParams(&s.args, params)
		var watch parallel.Watch
		p.runRow(f, s, &watch, row, lo, hi, operands)
		partial[block] = s.results
		s.release()
	})
	for i := range p.reduces {
		for block := 1; block < blocks; block++ {
			partial[0][i] = p.reduces[i].join(partial[0][i], partial[block][i])
		}
	}
	p.storeRow(row, operands, &partial[0])
}
