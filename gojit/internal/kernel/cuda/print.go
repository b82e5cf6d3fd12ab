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

// Source is a kernel as CUDA C. It has the entry point "elements" or, where outputs reduce, "lanes", "fold" and "join", which run one
// after another.
type Source struct {
	Kernel *kernel.Kernel // expanded
	Text   string         // of the whole file
	Body   string         // without the functions that all kernels share

	Operands int   // outputs and inputs
	Numbers  int   // 64-bit words of the parameters
	Reduces  []int // outputs that reduce
	Lanes    int   // partial results of a block
	Block    int   // elements of a run that one set of lanes takes
	Divides  bool  // integers may be divided by zero
	Ordered  bool  // elements are counted in the order of the shape
}

// Print writes a kernel as CUDA C. The error of a kernel that has no such form wraps ErrUnsupported.
func Print(k *kernel.Kernel) (*Source, error) {
	if err := k.Verify(); err != nil {
		return nil, err
	}
	expanded := expand.For(k, expand.Primitives{})
	s := &Source{Kernel: expanded, Operands: len(expanded.Outputs) + len(expanded.Inputs), Block: k.ReduceBlock()}
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

// arguments writes the type of the one argument of all entry points; Program.arguments fills it in.
func (p *printer) arguments() {
	s := p.source
	p.open("typedef struct")
	p.line("i64 n, first, rows, blocks, dims;")
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
	p.line("i64 own = i;")
	p.open("if (d + 1 < a->dims)")
	p.line("own = i %% a->size[d];")
	p.line("i /= a->size[d];")
	p.close()
	p.open("for (int k = 0; k < %d; k++)", s.Operands)
	p.line("at[k] += own * a->step[k][d];")
	p.close()
	p.close()
	p.close()
	p.line("")
}

// elements writes the entry point of a kernel without reductions: a thread computes elements that lie STEP apart.
func (p *printer) elements() {
	p.open("KERNEL(elements)")
	p.open("for (i64 i = FIRST; i < a.n; i += STEP)")
	p.line("char *at[%d];", p.source.Operands)
	p.line("place(&a, i, at);")
	p.body("i", "at[%d]")
	p.close()
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

// reduction writes the entry points of a kernel that reduces. "lanes" has a thread for each lane of each block of each row and leaves
// its partial results in memory, "fold" one for each block, which adds the upper half of the lanes to the lower until one is left,
// "join" one for each row, which combines the blocks from the first to the last. "rows" does all that at once for rows of one block.
func (p *printer) reduction() {
	s := p.source
	p.rows()
	p.open("KERNEL(lanes)")
	p.open("for (i64 t = FIRST; t < a.rows * a.blocks * %d; t += STEP)", s.Lanes)
	p.line("const i64 lane = t %% %d, block = t / %d %% a.blocks, end = (block + 1) * %d;", s.Lanes, s.Lanes, s.Block)
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, a.first + t / %d / a.blocks, at);", s.Lanes)
	for r := range s.Reduces {
		o, t := p.reduced(r)
		p.line("%s r%d = %s;", typeName(t), r, constant(t, o.Reduce.Identity(t)))
	}
	p.open("for (i64 i = block * %d + lane; i < a.n && i < end; i += %d)", s.Block, s.Lanes)
	p.accumulate("r")
	for r := range s.Reduces {
		_, t := p.reduced(r)
		p.line("((%s *)a.partial[%d])[t] = r%d;", typeName(t), r, r)
	}
	p.close()
	p.close()
	p.line("")
	p.open("KERNEL(fold)")
	p.open("for (i64 t = FIRST; t < a.rows * a.blocks; t += STEP)")
	for r := range s.Reduces {
		o, t := p.reduced(r)
		p.line("%s *r%d = (%s *)a.partial[%d] + t * %d;", typeName(t), r, typeName(t), r, s.Lanes)
		p.open("for (int n = %d; n > 0; n /= 2)", s.Lanes/2)
		p.open("for (int j = 0; j < n; j++)")
		p.line("r%d[j] = %s;", r, p.binary(o.Reduce.Op(), t, fmt.Sprintf("r%d[j]", r), fmt.Sprintf("r%d[j + n]", r)))
		p.close()
		p.close()
	}
	p.close()
	p.close()
	p.line("")
	p.open("KERNEL(join)")
	p.open("for (i64 t = FIRST; t < a.rows; t += STEP)")
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, a.first + t, at);")
	for r, i := range s.Reduces {
		o, t := p.reduced(r)
		p.line("const %s *r%d = (const %s *)a.partial[%d] + t * a.blocks * %d;", typeName(t), r, typeName(t), r, s.Lanes)
		p.line("%s v%d = r%d[0];", typeName(t), r, r)
		p.open("for (i64 block = 1; block < a.blocks; block++)")
		p.line("v%d = %s;", r, p.binary(o.Reduce.Op(), t, fmt.Sprintf("v%d", r), fmt.Sprintf("r%d[block * %d]", r, s.Lanes)))
		p.close()
		p.store(o.DType, fmt.Sprintf("at[%d]", i), fmt.Sprintf("v%d", r), t)
	}
	p.close()
	p.close()
}

// accumulate writes the body of a loop over elements i of a run, which combines what they give with results of a name, and closes it.
func (p *printer) accumulate(name string) {
	p.body("i", "(at[%[1]d] + i * a.run[%[1]d])")
	for r := range p.source.Reduces {
		o, t := p.reduced(r)
		p.line("%s%d = %s;", name, r, p.binary(o.Reduce.Op(), t, fmt.Sprintf("%s%d", name, r), fmt.Sprintf("v%d", o.Value)))
	}
	p.close()
}

// rows writes the entry point for rows of one block: as many of them as there are threads for are reduced together.
func (p *printer) rows() {
	s := p.source
	p.line("#define WIDTH %d", Width)
	p.open("BLOCKS(rows)")
	for r := range s.Reduces {
		_, t := p.reduced(r)
		p.line("SHARED %s r%d[WIDTH];", typeName(t), r)
	}
	p.open("THREADS")
	p.line("const i64 row = a.first + BLOCK * %d + thread / %d;", Width/s.Lanes, s.Lanes)
	for r := range s.Reduces {
		o, t := p.reduced(r)
		p.line("%s own%d = %s;", typeName(t), r, constant(t, o.Reduce.Identity(t)))
	}
	p.open("if (row < a.rows)")
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, row, at);")
	p.open("for (i64 i = thread %% %d; i < a.n; i += %d)", s.Lanes, s.Lanes)
	p.accumulate("own")
	p.close()
	for r := range s.Reduces {
		p.line("r%d[thread] = own%d;", r, r)
	}
	p.close()
	p.line("for (int n = %d; n > 0; n /= 2)", s.Lanes/2)
	p.indent++
	p.open("THREADS if (thread %% %d < n)", s.Lanes)
	for r := range s.Reduces {
		o, t := p.reduced(r)
		p.line("r%d[thread] = %s;", r, p.binary(o.Reduce.Op(), t, fmt.Sprintf("r%d[thread]", r), fmt.Sprintf("r%d[thread + n]", r)))
	}
	p.close()
	p.indent--
	p.open("THREADS if (thread %% %d == 0 && a.first + BLOCK * %d + thread / %d < a.rows)", s.Lanes, Width/s.Lanes, s.Lanes)
	p.line("char *at[%d];", s.Operands)
	p.line("place(&a, a.first + BLOCK * %d + thread / %d, at);", Width/s.Lanes, s.Lanes)
	for r, i := range s.Reduces {
		o, t := p.reduced(r)
		p.line("const %s v%d = r%d[thread];", typeName(t), r, r)
		p.store(o.DType, fmt.Sprintf("at[%d]", i), fmt.Sprintf("v%d", r), t)
	}
	p.close()
	p.close()
	p.line("")
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
