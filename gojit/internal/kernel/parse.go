package kernel

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Parse reads the text form that String writes. It fails with a source.Error that points at the line or
// word that is wrong, and where Verify fails.
func Parse(text string) (*Kernel, error) {
	p := &Parser{Text: source.NewText("", text, 1), k: &Kernel{}}
	for line := range p.Text.NumLines() {
		p.ReadLine(line)
		if len(p.Words) == 0 {
			continue
		}
		if err := p.statement(); err != nil {
			return nil, err
		}
	}
	if err := p.k.verifyOperands(); err != nil {
		return nil, source.Errorf(source.ValueError, source.Range{Text: p.Text, End: len(text)}, "%s", err.Error())
	}
	return p.k, nil
}

// Parser holds the words of a line that are not read yet.
type Parser struct {
	Text  *source.Text
	k     *Kernel
	Words []source.Range
	line  source.Range
}

func (p *Parser) ReadLine(line int) {
	start := p.Text.LineStart(line)
	text := p.Text.Line(line)
	p.Words = p.Words[:0]
	for at := 0; at < len(text); {
		if text[at] == ' ' {
			at++
			continue
		}
		end := at
		for end < len(text) && text[end] != ' ' {
			end++
		}
		p.Words = append(p.Words, source.Range{Text: p.Text, Start: start + at, End: start + end})
		at = end
	}
	p.line = source.Range{Text: p.Text, Start: start, End: start + len(text)}
}

func (p *Parser) Fail(at source.Range, format string, args ...any) error {
	return source.Errorf(source.ValueError, at, format, args...)
}

// Word takes the next word; at the end of the line it is empty.
func (p *Parser) Word() source.Range {
	if len(p.Words) == 0 {
		return source.Range{Text: p.Text, Start: p.line.End, End: p.line.End}
	}
	w := p.Words[0]
	p.Words = p.Words[1:]
	return w
}

func (p *Parser) Expect(text string) error {
	if w := p.Word(); w.String() != text {
		return p.Fail(p.OrLine(w), "expected '%s' but found '%s'", text, w)
	}
	return nil
}

// OrLine is the range of a word, or of its line where it is missing.
func (p *Parser) OrLine(w source.Range) source.Range {
	if w.Start == w.End {
		return p.line
	}
	return w
}

// Numbered takes a word that is a prefix and a number.
func (p *Parser) Numbered(prefix string) (int, source.Range, error) {
	w := p.Word()
	digits, ok := strings.CutPrefix(w.String(), prefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > math.MaxInt32 || strconv.Itoa(n) != digits {
		return 0, w, p.Fail(p.OrLine(w), "expected '%s' and a number but found '%s'", prefix, w)
	}
	return n, w, nil
}

// Dtype takes ": type".
func (p *Parser) Dtype() (tensor.DType, error) {
	if err := p.Expect(":"); err != nil {
		return 0, err
	}
	w := p.Word()
	t, ok := tensor.ParseDType(w.String())
	if !ok || t.String() != w.String() {
		return 0, p.Fail(p.OrLine(w), "expected a type but found '%s'", w)
	}
	return t, nil
}

func (p *Parser) statement() error {
	var err error
	switch first := p.Words[0].String(); {
	case strings.HasPrefix(first, "out"):
		err = p.output()
	case strings.HasPrefix(first, "table"):
		err = p.table()
	default:
		err = p.instruction()
	}
	if err == nil && len(p.Words) > 0 {
		return p.Fail(p.Words[0], "expected the end of the line but found '%s'", p.Words[0])
	}
	return err
}

// target takes "%0 : type =" or "out0 : type =", whose number must be n.
func (p *Parser) target(prefix string, n int) (tensor.DType, error) {
	at, w, err := p.Numbered(prefix)
	if err != nil {
		return 0, err
	}
	if at != n {
		return 0, p.Fail(w, "expected '%s%d' but found '%s'", prefix, n, w)
	}
	t, err := p.Dtype()
	if err != nil {
		return 0, err
	}
	return t, p.Expect("=")
}

// table reads "table0 =" and sixteen numbers.
func (p *Parser) table() error {
	at, w, err := p.Numbered("table")
	if err != nil {
		return err
	}
	if at != len(p.k.Tables) {
		return p.Fail(w, "expected 'table%d' but found '%s'", len(p.k.Tables), w)
	}
	if err := p.Expect("="); err != nil {
		return err
	}
	var table Table
	for i := range table {
		w := p.Word()
		bits, _, ok := parseNumber(tensor.Float32, w.String())
		if !ok {
			return p.Fail(p.OrLine(w), "expected a number of type float32 but found '%s'", w)
		}
		table[i] = math.Float32frombits(uint32(bits))
	}
	p.k.Tables = append(p.k.Tables, table)
	return nil
}

func (p *Parser) output() error {
	t, err := p.target("out", len(p.k.Outputs))
	if err != nil {
		return err
	}
	o := Output{DType: t}
	if len(p.Words) > 1 {
		w := p.Word()
		op := slices.Index(reduceNames[:], w.String())
		if op < 0 {
			return p.Fail(w, "expected a reduction but found '%s'", w)
		}
		o.Reduce = ReduceOp(op)
	}
	v, _, err := p.Numbered("%")
	if err != nil {
		return err
	}
	o.Value = Value(v)
	p.k.Outputs = append(p.k.Outputs, o)
	return p.verified(p.k.verifyOutput(len(p.k.Outputs) - 1))
}

func (p *Parser) verified(err error) error {
	if err != nil {
		return p.Fail(p.line, "%s", err.Error())
	}
	return nil
}

func (p *Parser) instruction() error {
	t, err := p.target("%", len(p.k.Instrs))
	if err != nil {
		return err
	}
	w := p.Word()
	op := slices.Index(OpNames[:], w.String())
	if op < 0 {
		return p.Fail(p.OrLine(w), "expected an operation but found '%s'", w)
	}
	in := Instr{Op: Op(op), Type: t}
	switch in.Op {
	case Load:
		err = p.load(&in)
	case Param:
		err = p.param(&in)
	case Const:
		err = p.Constant(&in)
	case Lookup:
		var at int
		at, _, err = p.Numbered("table")
		in.Imm = uint64(at)
	}
	for j := 0; err == nil && j < in.Op.Operands(); j++ {
		var v int
		v, _, err = p.Numbered("%")
		in.Args[j] = Value(v)
	}
	if err != nil {
		return err
	}
	p.k.Instrs = append(p.k.Instrs, in)
	return p.verified(p.k.verifyInstr(len(p.k.Instrs) - 1))
}

// load takes "in0 : type". Inputs may come in any order; verifyOperands finds gaps.
func (p *Parser) load(in *Instr) error {
	n, w, err := p.Numbered("in")
	if err != nil {
		return err
	}
	t, err := p.Dtype()
	if err != nil {
		return err
	}
	if n >= maxNumbers {
		return p.Fail(w, "there are at most %d inputs", maxNumbers)
	}
	for len(p.k.Inputs) <= n {
		p.k.Inputs = append(p.k.Inputs, tensor.NoDType)
	}
	if p.k.Inputs[n] != tensor.NoDType {
		return p.Fail(w, "%s is loaded twice", w)
	}
	p.k.Inputs[n], in.Imm = t, uint64(n)
	return nil
}

// maxNumbers bounds the inputs and the parameters of a text.
const maxNumbers = 1 << 10

func (p *Parser) param(in *Instr) error {
	n, w, err := p.Numbered("p")
	if err == nil && n >= maxNumbers {
		return p.Fail(w, "there are at most %d parameters", maxNumbers)
	}
	p.k.Params, in.Imm = max(p.k.Params, n+1), uint64(n)
	return err
}

func (p *Parser) Constant(in *Instr) error {
	w := p.Word()
	if w.String() == "bits" {
		err := p.bits(&in.Imm)
		if err == nil && len(p.Words) > 0 {
			err = p.bits(&in.Imm2)
		}
		return err
	}
	re, im, ok := parseNumber(in.Type, w.String())
	if !ok {
		return p.Fail(p.OrLine(w), "expected a number of type %s but found '%s'", in.Type, w)
	}
	in.Imm, in.Imm2 = re, im
	return nil
}

func (p *Parser) bits(to *uint64) error {
	w := p.Word()
	bits, err := strconv.ParseUint(w.String(), 0, 64)
	if err != nil {
		return p.Fail(p.OrLine(w), "expected the bits of a number but found '%s'", w)
	}
	*to = bits
	return nil
}

// parseNumber reads a number as the bits of a type.
func parseNumber(t tensor.DType, text string) (re, im uint64, ok bool) {
	var err error
	switch t {
	case tensor.Bool:
		return map[string]uint64{"true": 1}[text], 0, text == "true" || text == "false"
	case tensor.Float32:
		var f float64
		f, err = strconv.ParseFloat(text, 32)
		re = uint64(math.Float32bits(float32(f)))
	case tensor.Float64:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		re = math.Float64bits(f)
	case tensor.Complex64:
		var c complex128
		c, err = strconv.ParseComplex(text, 64)
		re, im = uint64(math.Float32bits(float32(real(c)))), uint64(math.Float32bits(float32(imag(c))))
	case tensor.Complex128:
		var c complex128
		c, err = strconv.ParseComplex(text, 128)
		re, im = math.Float64bits(real(c)), math.Float64bits(imag(c))
	default:
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		re = uint64(i)
	}
	return re, im, err == nil
}
