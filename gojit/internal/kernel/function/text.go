package function

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// String returns the function as text: a line for each block, its instructions and its end.
func (f *Function) String() string {
	var b strings.Builder
	if len(f.Results) > 0 {
		b.WriteString("results")
		for _, t := range f.Results {
			fmt.Fprintf(&b, " %s", t)
		}
		b.WriteByte('\n')
	}
	for i := range f.Blocks {
		block := &f.Blocks[i]
		fmt.Fprintf(&b, "b%d", i)
		for _, v := range block.Params {
			fmt.Fprintf(&b, " %%%d : %s", v, f.Types[v])
		}
		b.WriteByte('\n')
		for j := range block.Steps {
			s := &block.Steps[j]
			fmt.Fprintf(&b, "  %%%d : %s = %s", s.Value, s.Type, s.Op)
			if s.Op == kernel.Const {
				b.WriteString(" " + s.ConstText())
			}
			writeValues(&b, s.Args[:s.Op.Operands()])
			b.WriteByte('\n')
		}
		block.End.write(&b)
	}
	return b.String()
}

func writeValues(b *strings.Builder, values []kernel.Value) {
	for _, v := range values {
		fmt.Fprintf(b, " %%%d", v)
	}
}

func (e *End) write(b *strings.Builder) {
	b.WriteString("  " + endNames[e.Kind])
	switch e.Kind {
	case Branch:
		fmt.Fprintf(b, " %%%d", e.Cond)
	case Return:
		writeValues(b, e.Values)
	case Trap:
		fmt.Fprintf(b, " %d", e.Code)
	}
	for _, to := range e.edges() {
		fmt.Fprintf(b, " b%d", to.Block)
		writeValues(b, to.Args)
	}
	b.WriteByte('\n')
}

// maxValues bounds the values of a text.
const maxValues = 1 << 16

// ParseFunction reads the text form that String writes. It fails with a source.Error that points at the
// line or word that is wrong, and where Verify fails.
func ParseFunction(text string) (*Function, error) {
	p := &functionParser{Parser: kernel.Parser{Text: source.NewText("", text, 1)}, f: &Function{}}
	for line := range p.Text.NumLines() {
		p.ReadLine(line)
		if len(p.Words) == 0 {
			continue
		}
		if err := p.statement(); err != nil {
			return nil, err
		}
		if len(p.Words) > 0 {
			return nil, p.Fail(p.Words[0], "expected the end of the line but found '%s'", p.Words[0])
		}
	}
	if err := p.f.Verify(); err != nil {
		return nil, source.Errorf(source.ValueError, source.Range{Text: p.Text, End: len(text)}, "%s", err.Error())
	}
	return p.f, nil
}

type functionParser struct {
	kernel.Parser
	f *Function
}

func (p *functionParser) statement() error {
	first := p.Words[0].String()
	switch {
	case first == "results" && len(p.f.Blocks) == 0 && p.f.Results == nil:
		return p.results()
	case strings.HasPrefix(first, "b") && first != "branch":
		return p.block()
	case len(p.f.Blocks) == 0:
		return p.Fail(p.Words[0], "expected 'b0' but found '%s'", first)
	}
	block := &p.f.Blocks[len(p.f.Blocks)-1]
	if block.End.Kind != Unfinished {
		return p.Fail(p.Words[0], "expected 'b%d' but found '%s'", len(p.f.Blocks), first)
	}
	if kind := slices.Index(endNames[1:], first) + 1; kind > 0 {
		p.Word()
		block.End.Kind = EndKind(kind)
		return p.end(&block.End)
	}
	return p.step(block)
}

func (p *functionParser) results() error {
	p.Word()
	for len(p.Words) > 0 {
		w := p.Word()
		t, ok := tensor.ParseDType(w.String())
		if !ok || t.String() != w.String() {
			return p.Fail(w, "expected a type but found '%s'", w)
		}
		p.f.Results = append(p.f.Results, t)
	}
	return nil
}

// made takes "%0 : type" and notes the value.
func (p *functionParser) made() (kernel.Value, tensor.DType, error) {
	n, w, err := p.Numbered("%")
	if err != nil {
		return 0, 0, err
	}
	t, err := p.Dtype()
	if err != nil {
		return 0, 0, err
	}
	if n >= maxValues {
		return 0, 0, p.Fail(w, "there are at most %d values", maxValues)
	}
	for len(p.f.Types) <= n {
		p.f.Types = append(p.f.Types, tensor.NoDType)
	}
	if p.f.Types[n] != tensor.NoDType {
		return 0, 0, p.Fail(w, "%s is made twice", w)
	}
	p.f.Types[n] = t
	return kernel.Value(n), t, nil
}

func (p *functionParser) block() error {
	n, w, err := p.Numbered("b")
	if err != nil {
		return err
	}
	if n != len(p.f.Blocks) {
		return p.Fail(w, "expected 'b%d' but found '%s'", len(p.f.Blocks), w)
	}
	var b Block
	for len(p.Words) > 0 {
		v, _, err := p.made()
		if err != nil {
			return err
		}
		b.Params = append(b.Params, v)
	}
	p.f.Blocks = append(p.f.Blocks, b)
	return nil
}

func (p *functionParser) step(b *Block) error {
	v, t, err := p.made()
	if err != nil {
		return err
	}
	if err := p.Expect("="); err != nil {
		return err
	}
	w := p.Word()
	op := slices.Index(kernel.OpNames[:], w.String())
	if op < 0 {
		return p.Fail(p.OrLine(w), "expected an operation but found '%s'", w)
	}
	s := Step{v, kernel.Instr{Op: kernel.Op(op), Type: t}}
	if s.Op == kernel.Const {
		if err := p.Constant(&s.Instr); err != nil {
			return err
		}
	}
	for i := range s.Op.Operands() {
		if s.Args[i], err = p.use(); err != nil {
			return err
		}
	}
	b.Steps = append(b.Steps, s)
	return nil
}

func (p *functionParser) use() (kernel.Value, error) {
	n, _, err := p.Numbered("%")
	return kernel.Value(n), err
}

// values takes values up to the next word that is none.
func (p *functionParser) values() (values []kernel.Value, err error) {
	for len(p.Words) > 0 && strings.HasPrefix(p.Words[0].String(), "%") && err == nil {
		var v kernel.Value
		v, err = p.use()
		values = append(values, v)
	}
	return values, err
}

func (p *functionParser) end(e *End) (err error) {
	switch e.Kind {
	case Branch:
		if e.Cond, err = p.use(); err != nil {
			return err
		}
	case Return:
		e.Values, err = p.values()
		return err
	case Trap:
		w := p.Word()
		code, err := strconv.ParseInt(w.String(), 10, 32)
		if err != nil {
			return p.Fail(p.OrLine(w), "expected a number but found '%s'", w)
		}
		e.Code = int32(code)
	}
	for i := range e.edges() {
		to := &e.To[i]
		if to.Block, _, err = p.Numbered("b"); err != nil {
			return err
		}
		if to.Args, err = p.values(); err != nil {
			return err
		}
	}
	return nil
}
