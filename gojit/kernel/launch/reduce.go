package launch

import (
	"slices"
	"unsafe"

	"torchjit/gojit/kernel"
	"torchjit/gojit/tensor"
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
	fold   func(lanes unsafe.Pointer, n int) uint64
	join   func(a, b uint64) uint64
	store  tensor.Converter // from the lane's type to the output's
}

// reductions returns the outputs that reduce.
func (p *Program) reductions() []reduction {
	var all []reduction
	for i, o := range p.kernel.Outputs {
		if o.Reduce == kernel.NoReduce {
			continue
		}
		t := laneType(p.kernel.TypeOf(o.Value))
		r := reduction{output: i, store: tensor.ConverterOf(t, o.DType)}
		r.fold, r.join = foldsOf(o.Reduce, t, p.kernel.TypeOf(o.Value) == tensor.Bool)
		all = append(all, r)
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
	f := p.function(singles(operands[p.outputs:]))
	if f == nil {
		p.evaluateRows(rows, n, operands, params)
		return
	}
	s := takeScratch(f.Scratch)
	defer s.release()
	p.setParams(&s.args, params)
	for row := range rows {
		p.runRow(f, s, row, 0, n, operands)
		p.storeRow(row, operands, &s.results)
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
	for row := range rows {
		for i := range operands {
			at[i] = unsafe.Add(operands[i].Ptr, row*operands[i].Step)
		}
		e.RunRow(at, steps, n, params)
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

// runRow runs over the elements of a row from one on, block by block.
func (p *Program) runRow(f *function, s *scratch, row, first, end int, operands []Row) {
	args := &s.args
	at := p.numbers
	for i := p.outputs; i < p.operands; i++ {
		if o := &operands[i]; o.Single {
			at = p.setNumber(args, at, i, unsafe.Add(o.Ptr, row*o.Step))
		}
	}
	for from := first; ; from += kernel.ReduceBlock {
		reduced := 0
		for i, operand := range f.Pointers {
			if reduced < len(p.reduces) && p.reduces[reduced].output == operand {
				args.Ptr[i] = unsafe.Pointer(&s.lanes[reduced])
				reduced++
				continue
			}
			o := &operands[operand]
			args.Ptr[i] = unsafe.Add(o.Ptr, row*o.Step+from*p.size[operand])
		}
		args.Count, args.First = int64(min(kernel.ReduceBlock, end-from)), int64(from)
		f.Code.Call(unsafe.Pointer(args))
		for i := range p.reduces {
			r := &p.reduces[i]
			block := r.fold(unsafe.Pointer(&s.lanes[i]), f.Lanes[r.output])
			if from > first {
				block = r.join(s.results[i], block)
			}
			s.results[i] = block
		}
		if from+kernel.ReduceBlock >= end {
			return
		}
	}
}

// storeRow writes the results of a row's reductions.
func (p *Program) storeRow(row int, operands []Row, results *[maxReductions]uint64) {
	for i := range p.reduces {
		r := &p.reduces[i]
		o := &operands[r.output]
		r.store(unsafe.Add(o.Ptr, row*o.Step), 0, unsafe.Pointer(&results[i]), 0, 1)
	}
}

// rowWork is how many elements are worth another thread.
const rowWork = 1 << 15

// ParallelRows is Rows with several rows at once or, where there are few long ones and every output
// reduces, several blocks of a row.
func (p *Program) ParallelRows(rows, n int, operands []Row, params []tensor.Scalar) {
	blocks := tensor.NumChunks(n, kernel.ReduceBlock)
	if rows*n <= rowWork || tensor.NumThreads() == 1 {
		p.Rows(rows, n, operands, params)
		return
	}
	all, numbers := slices.Clone(operands), slices.Clone(params) // the caller's may be on its stack
	if rows >= 4 || blocks < 4 || len(p.reduces) < p.outputs || p.function(singles(operands[p.outputs:])) == nil {
		tensor.Parallel(rows, max(1, rowWork/max(n, 1)), func(lo, hi int) {
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
	tensor.Chunks(n, kernel.ReduceBlock, func(block, lo, hi int) {
		s := takeScratch(f.Scratch)
		p.setParams(&s.args, params)
		p.runRow(f, s, row, lo, hi, operands)
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
