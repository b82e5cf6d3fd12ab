package reduce

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// columns shows a contiguous tensor as blocks of rows of n elements each. What is combined lies n
// elements apart, and the elements of a row are handled side by side.
type columns struct {
	tensor          *tensor.Tensor
	blocks, rows, n int
}

// MinColumns is how many elements side by side are worth walking without bringing those of a result
// together.
const MinColumns = 16

// Columns are handled some at a time, which stay in the cache.
const ColumnsAtOnce = 2048

// columnsOf shows t around the dimensions from lo to hi; ok is false where t is not contiguous or rows
// are short.
func columnsOf(t *tensor.Tensor, lo, hi int) (c columns, ok bool) {
	if t.Dim() == 0 || t.Numel() == 0 || !t.IsContiguous() || t.OnDevice() {
		return c, false
	}
	c = columns{t, define.NumelOf(t.Shape()[:lo]), define.NumelOf(t.Shape()[lo:hi]), define.NumelOf(t.Shape()[hi:])}
	return c, c.n >= MinColumns
}

// cachedWidth is how many columns stay in the cache from one pass over their rows to the next.
func (c columns) cachedWidth() int {
	const cached = 1 << 18
	width := cached / (c.rows * c.tensor.DType().Size())
	return min(max(width, 128), ColumnsAtOnce)
}

// each calls f for parts of m columns, the first of which is number at among those of all blocks and
// from of its block.
func (c columns) each(width int, f func(block, from, at, m int)) {
	parts := parallel.NumChunks(c.n, width)
	parallel.For(c.blocks*parts, define.RowGrain/(c.rows*min(width, c.n))+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			block, from := i/parts, i%parts*width
			f(block, from, block*c.n+from, min(width, c.n-from))
		}
	})
}

// rowsFrom are the elements of a tensor of c's shape from a column of a block on, each row apart.
func (c columns) rowsFrom(t *tensor.Tensor, block, from int) launch.Row {
	size := t.DType().Size()
	return launch.Row{Ptr: unsafe.Add(t.DataPtr(), (block*c.rows*c.n+from)*size), Step: c.n * size}
}

// SameRow is a row that every step uses, as it is left by the one before.
func SameRow(t *tensor.Tensor, at int) launch.Row {
	return launch.Row{Ptr: unsafe.Add(t.DataPtr(), at*t.DType().Size())}
}

// every takes a row of some.
func every(r launch.Row, some int) launch.Row {
	r.Step *= some
	return r
}

// columnProgram returns the program that combines some rows of elements with the results so far.
func (q *Reducer) columnProgram(in, computed, held tensor.DType, rows, singles int) *launch.Program {
	key := launch.Key(rows<<2 | singles).With(in).With(computed).With(held)
	if p := q.columns.Get(key); p != nil {
		return p
	}
	return source.Must(q.columns.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		total := b.Input(held, held)
		x := make([]kernel.Value, rows)
		for i := range x {
			x[i] = b.Input(in, computed)
		}
		var extra []kernel.Value
		for range singles {
			extra = append(extra, b.Input(computed, computed))
		}
		var number kernel.Value
		if q.numbered {
			number = b.Input(tensor.Int64, tensor.Int64)
		}
		var parts []kernel.Value
		for i := range x {
			of := append([]kernel.Value{x[i]}, extra...)
			if q.numbered {
				of = append(of, b.Add(number, b.Const(tensor.Int64, tensor.Int(int64(i)))))
			}
			parts = append(parts, q.apply(b, of))
		}
		b.Output(b.Binary(q.Op.Op(), total, b.Convert(combined(b, q.Op.Op(), parts), held)), held)
		return launch.ProgramOf(b.Kernel())
	}))
}

// reduceColumns combines the rows of each block. singles hold a number for each column of all blocks.
// Sums of float32 are held in float64 from every rowsHeld rows to the next, those of complex64 in complex128, and products from step to
// step; those of 16-bit floats are held in float32.
func (q *Reducer) reduceColumns(c columns, computed, result tensor.DType, singles ...*tensor.Tensor) *tensor.Tensor {
	if c.tensor.IsHollow() {
		return define.EmptyBeside(c.tensor, []int{c.blocks * c.n}, result)
	}
	if c.rows < tensor.MaxOperands && c.blocks >= fewBlocks && len(singles) == 0 && !q.numbered {
		return q.reduceFew(c, computed, result)
	}
	value := q.valueType(computed)
	held := value
	if (q.Op == kernel.ReduceProduct || q.Op == kernel.ReduceSum && c.rows > rowsHeld) && c.tensor.DType().Size() > 2 {
		held = widened(value)
	}
	totals := source.Must(tensor.Full([]int{c.blocks * c.n}, q.Op.Identity(held), held))
	if held == value || q.Op == kernel.ReduceProduct {
		w := q.columnWalk(c, computed, held, singles)
		c.each(ColumnsAtOnce, func(block, from, at, _ int) {
			w.run(SameRow(totals, at), c.rowsFrom(c.tensor, block, from), 0, c.rows, at)
		})
		return turnedTo(totals, result)
	}
	w, add := q.columnWalk(c, computed, value, singles), plainReducer(q.Op).columnProgram(value, value, held, 1, 0)
	c.each(ColumnsAtOnce, func(block, from, at, m int) {
		sums := define.Empty([]int{m}, value)
		total, part, x := SameRow(totals, at), SameRow(sums, 0), c.rowsFrom(c.tensor, block, from)
		for first := 0; first < c.rows; first += rowsHeld {
			clear(define.BytesOf(sums))
			w.run(part, x, first, min(rowsHeld, c.rows-first), at)
			add.Rows(1, m, []launch.Row{total, total, part}, nil)
		}
		sums.Release()
	})
	return turnedTo(totals, result)
}

// turnedTo gives t in a type and releases it.
func turnedTo(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if t.DType() == d {
		return t
	}
	defer t.Release()
	return elementwise.To(t, d)
}

// rowsHeld is how many rows of float32 are added before their sum is added to one of float64.
const rowsHeld = 144

// columnWalk is what combining rows of columns needs.
type columnWalk struct {
	columns
	several, one *launch.Program // for some rows in a step, and for each of those left
	some         int
	singles      []*tensor.Tensor
	numbers      *tensor.Tensor // of the rows, where they are asked for
}

func (q *Reducer) columnWalk(c columns, computed, held tensor.DType, singles []*tensor.Tensor) *columnWalk {
	w := &columnWalk{columns: c, some: tensor.MaxOperands - 2 - len(singles), singles: singles}
	if q.numbered {
		w.numbers = elementwise.Sequence(c.rows)
		w.some--
	}
	in := c.tensor.DType()
	w.several, w.one = q.columnProgram(in, computed, held, w.some, len(singles)), q.columnProgram(in, computed, held, 1, len(singles))
	return w
}

// run combines n rows from one on with total; x is row 0, and the first column is number at among those of all blocks.
func (w *columnWalk) run(total, x launch.Row, first, n, at int) {
	w.steps(w.several, w.some, total, x, first, n/w.some, at)
	w.steps(w.one, 1, total, x, first+n/w.some*w.some, n%w.some, at)
}

func (w *columnWalk) steps(p *launch.Program, some int, total, x launch.Row, first, steps, at int) {
	if steps == 0 {
		return // a pointer past the last row would name another object to the collector
	}
	var room [tensor.MaxOperands]launch.Row
	rows := append(room[:0], total, total)
	for i := range some {
		rows = append(rows, every(x.From(first+i), some))
	}
	for _, s := range w.singles {
		rows = append(rows, SameRow(s, at))
	}
	if w.numbers != nil {
		rows = append(rows, every(launch.SingleOf(w.numbers).From(first), some))
	}
	p.Rows(steps, min(ColumnsAtOnce, w.n-at%w.n), rows, nil)
}

// combined joins values in pairs until one is left.
func combined(b elementwise.Builder, op kernel.Op, x []elementwise.Element) elementwise.Element {
	for len(x) > 1 {
		x = append(x[2:], b.Binary(op, x[0], x[1]))
	}
	return x[0]
}

// widened returns the type that sums and products of elements of a type are held in from row to row.
func widened(d tensor.DType) tensor.DType {
	switch d {
	case tensor.Float32:
		return tensor.Float64
	case tensor.Complex64:
		return tensor.Complex128
	}
	return d
}

// fewBlocks is the number of blocks from which those of few rows are combined all at once.
const fewBlocks = 64

// reduceFew combines the rows of all blocks by one kernel, which has an input for each of them.
func (q *Reducer) reduceFew(c columns, computed, result tensor.DType) *tensor.Tensor {
	in := c.tensor.DType()
	key := launch.Key(c.rows).With(in).With(computed).With(result)
	p := q.few.Get(key)
	if p == nil {
		p = source.Must(q.few.Make(key, func() (*launch.Program, error) {
			b := kernel.NewBuilder()
			x := make([]kernel.Value, c.rows)
			for i := range x {
				x[i] = b.Input(in, computed)
			}
			for i := range x {
				x[i] = q.apply(b, x[i:i+1])
			}
			b.Output(b.Convert(combined(b, q.Op.Op(), x), kernel.ComputeType(result)), result)
			return launch.ProgramOf(b.Kernel())
		}))
	}
	blocks := source.Must(c.tensor.View(c.blocks, c.rows, c.n))
	out := define.Empty([]int{c.blocks, c.n}, result)
	operands := []*tensor.Tensor{out}
	for i := range c.rows {
		operands = append(operands, source.Must(blocks.Select(1, i)))
	}
	p.Run(operands, nil)
	return source.Must(out.View(-1))
}
