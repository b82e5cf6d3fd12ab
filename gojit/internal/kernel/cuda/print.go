package cuda

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/tensor"
)

//go:embed prelude.cu
var prelude string

// ErrUnsupported is wrapped by what Print returns for a kernel that has no text.
var ErrUnsupported = fmt.Errorf("CUDA: %w", kernel.ErrNoDeviceForm)

// MaxDims is how many dimensions a walk over operands has after those that lie end to end are joined.
const MaxDims = 8

// Source is a kernel as CUDA C. It has the entry point "elements" or, where outputs reduce, "reduce" and "join": a block of threads reduces
// parts of rows, and where a row has several parts they are joined afterwards.
type Source struct {
	Kernel *kernel.Kernel // expanded
	Text   string         // of the whole file
	Body   string         // without the functions that all kernels share

	Operands int   // outputs and inputs
	Numbers  int   // 64-bit words of the parameters
	Reduces  []int // outputs that reduce
	Lanes    int   // threads of a short row: as many as the processor has partial results, so that the bits are the same
	Vector   int   // elements side by side that a thread of "elements" can take at once, 1 where it takes one after another
	Divides  bool  // integers may be divided by zero
	Ordered  bool  // elements are counted in the order of the shape
}

// Print writes a kernel as CUDA C. The error of a kernel that has no such form wraps ErrUnsupported.
func Print(k *kernel.Kernel) (*Source, error) {
	if err := k.Verify(); err != nil {
		return nil, err
	}
	expanded := expand.For(k, expand.Primitives{})
	s := &Source{Kernel: expanded, Operands: len(expanded.Outputs) + len(expanded.Inputs)}
	p := &printer{source: s, kernel: expanded}
	for i, o := range expanded.Outputs {
		if o.Reduce != kernel.NoReduce {
			s.Reduces = append(s.Reduces, i)
		}
	}
	if err := p.chooseLanes(); err != nil {
		return nil, err
	}
	p.findNumbers()
	p.arguments()
	if len(s.Reduces) == 0 {
		p.elements()
	} else {
		p.reduction()
	}
	if p.err != nil {
		return nil, p.err
	}
	s.Body = p.text.String()
	s.Text = prelude + "\n" + s.Body
	return s, nil
}

// printer writes the text of a kernel.
type printer struct {
	source *Source
	kernel *kernel.Kernel
	text   strings.Builder
	indent int
	number []int // first word of each parameter
	err    error
}

func (p *printer) line(format string, args ...any) {
	for range p.indent {
		p.text.WriteByte('\t')
	}
	fmt.Fprintf(&p.text, format, args...)
	p.text.WriteByte('\n')
}

// open writes a line with a brace, close the brace that ends what it began.
func (p *printer) open(format string, args ...any) {
	p.line(format+" {", args...)
	p.indent++
}

func (p *printer) close() {
	p.indent--
	p.line("}")
}

// unsupported notes the first thing that has no text.
func (p *printer) unsupported(format string, args ...any) string {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
	}
	return "0"
}

// chooseLanes takes the number of lanes from the reductions whose bits depend on it: sums and products of floats.
func (p *printer) chooseLanes() error {
	s := p.source
	s.Lanes = kernel.ReduceLanes(tensor.Float32)
	found := 0
	for _, i := range s.Reduces {
		o := p.kernel.Outputs[i]
		t := p.kernel.TypeOf(o.Value)
		if !t.IsFloating() && !t.IsComplex() || o.Reduce == kernel.ReduceMin || o.Reduce == kernel.ReduceMax {
			continue
		}
		lanes := kernel.ReduceLanes(t)
		if found > 0 && found != lanes {
			return fmt.Errorf("%w: sums of different types", ErrUnsupported)
		}
		found, s.Lanes = lanes, lanes
	}
	return nil
}

func (p *printer) findNumbers() {
	s := p.source
	types := make([]tensor.DType, p.kernel.Params)
	for i := range p.kernel.Instrs {
		switch in := &p.kernel.Instrs[i]; in.Op {
		case kernel.Param:
			types[in.Imm] = in.Type
		case kernel.Iota:
			s.Ordered = true
		}
	}
	for _, t := range types {
		p.number = append(p.number, s.Numbers)
		s.Numbers += words(t)
	}
}

// words returns how many 64-bit words a number takes.
func words(t tensor.DType) int {
	if t.IsComplex() {
		return 2
	}
	return 1
}

// arguments writes the type of the one argument of all entry points; walk.argument fills it in.
func (p *printer) arguments() {
	s := p.source
	p.open("typedef struct")
	p.line("i64 n, rows, parts, part, lanes, across, vectors, dims;")
	p.line("i64 size[%d];", MaxDims)
	p.line("i64 step[%d][%d];", s.Operands, MaxDims)
	p.line("i64 run[%d];", s.Operands)
	p.line("char *at[%d];", s.Operands)
	p.line("char *partial[%d];", max(1, len(s.Reduces)))
	p.line("i32 *failed;")
	p.line("u64 number[%d];", max(1, s.Numbers))
	p.indent--
	p.line("} Args;")
	for i, table := range p.kernel.Tables {
		values := make([]string, len(table))
		for j, v := range table {
			values[j] = float32Text(v)
		}
		p.line("static __device__ const float table%d[16] = {%s};", i, strings.Join(values, ", "))
	}
	p.line("")
	p.open("DEVICE void place(const Args *a, i64 i, char **at)")
	p.open("for (int k = 0; k < %d; k++)", s.Operands)
	p.line("at[k] = a->at[k];")
	p.close()
	p.open("for (int d = 0; d < a->dims; d++)")
	p.line("const i64 own = d + 1 < a->dims ? place_in(&i, a->size[d]) : i;")
	p.open("for (int k = 0; k < %d; k++)", s.Operands)
	p.line("at[k] += own * a->step[k][d];")
	p.close()
	p.close()
	p.close()
	p.line("")
}

// elements writes the entry point of a kernel without reductions: a thread computes elements that lie STEP apart, or vectors of them.
func (p *printer) elements() {
	s := p.source
	s.Vector = p.vector()
	if s.Vector > 1 {
		for k := range s.Operands {
			d := p.operand(k)
			p.line("typedef struct ALIGN(%d) { %s element[%d]; } Vector%d;", s.Vector*d.Size(), typeName(d), s.Vector, k)
		}
		p.line("")
	}
	p.open("KERNEL(elements)")
	if s.Vector > 1 {
		p.vectors()
	}
	p.open("for (i64 i = a.vectors * %d + FIRST; i < a.n; i += STEP)", s.Vector)
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, i, at);")
	p.body("i", "at[%d]")
	p.close()
	p.close()
}

// operand returns the type in memory of an operand.
func (p *printer) operand(k int) tensor.DType {
	if outputs := p.kernel.Outputs; k < len(outputs) {
		return outputs[k].DType
	}
	return p.kernel.Inputs[k-len(p.kernel.Outputs)]
}

// A vector has as many elements as 16 bytes hold of the largest, but not more than vectorElements; a thread of a long kernel takes one element, as it
// has registers for no more.
const (
	vectorBytes, vectorElements = 16, 4
	vectorInstructions          = 64
)

// vector returns how many elements a thread can take at once.
func (p *printer) vector() int {
	largest := 1
	for k := range p.source.Operands {
		largest = max(largest, p.operand(k).Size())
	}
	if len(p.kernel.Instrs) > vectorInstructions {
		return 1
	}
	return max(1, min(vectorElements, vectorBytes/largest))
}

// vectors writes a loop over vectors: operands lie side by side, or have one element for a whole vector.
func (p *printer) vectors() {
	s := p.source
	outputs := len(p.kernel.Outputs)
	p.open("for (i64 t = FIRST; t < a.vectors; t += STEP)")
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, t * %d, at);", s.Vector)
	for k := range s.Operands {
		p.line("Vector%d x%d;", k, k)
		if k < outputs {
			continue
		}
		p.open("if (a.step[%d][0] != 0)", k)
		p.line("x%d = *(const Vector%d *)at[%d];", k, k, k)
		p.close()
		p.open("else")
		p.line("UNROLL for (int e = 0; e < %d; e++)", s.Vector)
		p.line("\tx%d.element[e] = *(const %s *)at[%d];", k, typeName(p.operand(k)), k)
		p.close()
	}
	p.open("UNROLL for (int e = 0; e < %d; e++)", s.Vector)
	p.body(fmt.Sprintf("(t * %d + e)", s.Vector), "(x%d.element + e)")
	p.close()
	for k := range outputs {
		p.line("*(Vector%d *)at[%d] = x%d;", k, k, k)
	}
	p.close()
}

// body writes the instructions for the element that index counts, and the stores of outputs that do not reduce. at is the address of
// an operand.
func (p *printer) body(index, at string) {
	k := p.kernel
	used := make([]bool, len(k.Instrs))
	for _, o := range k.Outputs {
		used[o.Value] = true
	}
	texts := make([]string, len(k.Instrs))
	for i := range k.Instrs {
		in := &k.Instrs[i]
		texts[i] = p.expression(in, index, at)
		for _, x := range in.Args[:in.Op.Operands()] {
			used[x] = used[x] || names(texts[i], int(x)) // an integer is no NaN, whichever it is
		}
	}
	for i := range k.Instrs {
		in := &k.Instrs[i]
		p.line("const %s v%d = %s;", typeName(in.Type), i, texts[i])
		if !used[i] {
			p.line("(void)v%d;", i) // NVRTC warns of what nothing uses
		}
	}
	for i, o := range k.Outputs {
		if o.Reduce == kernel.NoReduce {
			p.store(o.DType, fmt.Sprintf(at, i), fmt.Sprintf("v%d", o.Value), k.TypeOf(o.Value))
		}
	}
}

// unrolledInstructions is how long a kernel may be whose loop over elements of a row is written out several times.
const unrolledInstructions = 16

// reduction writes the entry points of a kernel that reduces. A block of "reduce" computes a part of each of TOGETHER rows, and leaves its results in
// memory where a row has several parts. "join" combines those.
func (p *printer) reduction() {
	s := p.source
	p.line("#define WIDTH %d", Width)
	p.line("#define TOGETHER (WIDTH / (int)a.lanes)")
	p.block("reduce", "BLOCK / a.parts", func() {
		p.line("const i64 begin = BLOCK %% a.parts * a.part, end = MIN(begin + a.part, a.n);")
		p.line("char *at[%d];", s.Operands)
		p.line("place(&a, row, at);")
		if len(p.kernel.Instrs) <= unrolledInstructions {
			p.line("UNROLL_FOUR") // so that several loads are under way
		}
		p.open("for (i64 i = begin + lane; i < end; i += a.lanes)")
		p.body("i", "(at[%[1]d] + i * a.run[%[1]d])")
		p.combine("own%d", "own%d", func(r int) string { return fmt.Sprintf("v%d", p.kernel.Outputs[s.Reduces[r]].Value) })
		p.close()
	}, func() {
		p.open("if (a.parts > 1)")
		for r := range s.Reduces {
			p.line("%s[row * a.parts + BLOCK %% a.parts] = r%d[thread];", p.partial(r), r)
		}
		p.line("continue;")
		p.close()
	})
	p.line("")
	p.block("join", "BLOCK", func() {
		p.open("for (i64 i = lane; i < a.parts; i += a.lanes)")
		p.combine("own%d", "own%d", func(r int) string { return fmt.Sprintf("%s[row * a.parts + i]", p.partial(r)) })
		p.close()
	}, func() {})
}

// partial returns the memory of the results of parts.
func (p *printer) partial(r int) string {
	_, t := p.reduced(r)
	return fmt.Sprintf("((%s *)a.partial[%d])", typeName(t), r)
}

// combine writes, for each output that reduces, how two values are combined.
func (p *printer) combine(to, x string, y func(r int) string) {
	for r := range p.source.Reduces {
		o, t := p.reduced(r)
		p.line("%s = %s;", fmt.Sprintf(to, r), p.binary(o.Reduce.Op(), t, fmt.Sprintf(x, r), y(r)))
	}
}

// block writes an entry point whose blocks reduce TOGETHER rows, of which first counts those of the block: a.lanes threads for each, which lie side by
// side or, where a.across is set, as many apart as there are rows. accumulate writes what a lane does; the upper half of the lanes is combined with the
// lower until one is left; keep writes what is done with results that are none of a row yet, which ends with "continue".
func (p *printer) block(entry, first string, accumulate, keep func()) {
	s := p.source
	p.open("BLOCKS(%s)", entry)
	for r := range s.Reduces {
		_, t := p.reduced(r)
		p.line("SHARED %s r%d[WIDTH];", typeName(t), r)
	}
	p.open("THREADS")
	p.line("const int lane = a.across ? thread / TOGETHER : thread %% (int)a.lanes, own = a.across ? thread %% TOGETHER : thread / (int)a.lanes;")
	p.line("const i64 row = %s * TOGETHER + own;", first)
	for r := range s.Reduces {
		o, t := p.reduced(r)
		p.line("%s own%d = %s;", typeName(t), r, constant(t, o.Reduce.Identity(t)))
	}
	p.open("if (row < a.rows)")
	accumulate()
	p.close()
	for r := range s.Reduces {
		p.line("r%d[lane * TOGETHER + own] = own%d;", r, r)
	}
	p.close()
	p.line("for (int n = (int)a.lanes / 2; n > 0; n /= 2)")
	p.indent++
	p.open("THREADS if (thread < n * TOGETHER)")
	p.combine("r%d[thread]", "r%d[thread]", func(r int) string { return fmt.Sprintf("r%d[thread + n * TOGETHER]", r) })
	p.close()
	p.indent--
	p.open("THREADS if (thread < TOGETHER && %s * TOGETHER + thread < a.rows)", first)
	p.line("const i64 row = %s * TOGETHER + thread;", first)
	keep()
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, row, at);")
	for r, i := range s.Reduces {
		o, t := p.reduced(r)
		divided := ""
		if o.Mean {
			divided = fmt.Sprintf(" / (%s)a.n", typeName(t))
		}
		p.line("const %s v%d = r%d[thread]%s;", typeName(t), r, r, divided)
		p.store(o.DType, fmt.Sprintf("at[%d]", i), fmt.Sprintf("v%d", r), t)
	}
	p.close()
	p.close()
}

// reduced returns an output that reduces and the type of its value.
func (p *printer) reduced(r int) (kernel.Output, tensor.DType) {
	o := p.kernel.Outputs[p.source.Reduces[r]]
	return o, p.kernel.TypeOf(o.Value)
}

// names reports whether a text has the name of a value.
func names(text string, value int) bool {
	name := fmt.Sprintf("v%d", value)
	isPart := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		if end := i + len(name); (i == 0 || !isPart(text[i-1])) && (end == len(text) || !isPart(text[end])) {
			return true
		}
		at = i + 1
	}
}

// IsReduction reports whether outputs reduce.
func (s *Source) IsReduction() bool { return len(s.Reduces) > 0 }
