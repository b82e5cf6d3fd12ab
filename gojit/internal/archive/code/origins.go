package code

import (
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// A record code/NAME.py has a record code/NAME.py.debug_pkl beside it, which says for which ranges in the
// program's own text it was printed:
//
//	("FORMAT_WITH_STRING_TABLE", strings, ((offset, ((lines, file, first line), start, end), tag), ...))
//
// where lines and file are numbers of strings. Older archives have no table but the text itself, and no tag.
const OriginsFormat = "FORMAT_WITH_STRING_TABLE"

// The bytes around text that was printed for a range: placeStart, its number, placeText, the text, placeEnd.
// The printer writes no such bytes otherwise: value.Quote escapes them.
const (
	placeStart = '\x01'
	placeText  = '\x02'
	placeEnd   = '\x03'
)

// places marks printed text with the ranges that it was printed for. A nil places marks nothing.
type places struct{ ranges []source.Range }

// open begins text that is printed for r; placeEnd ends it.
func (p *places) open(r source.Range) string {
	p.ranges = append(p.ranges, r)
	return string(placeStart) + strconv.Itoa(len(p.ranges)-1) + string(placeText)
}

func (p *places) mark(r source.Range, text string) string {
	if p == nil {
		return text
	}
	return p.open(r) + text + string(placeEnd)
}

// plain returns text without marks.
func (p *places) plain(text string) string {
	if p == nil || strings.IndexByte(text, placeStart) < 0 {
		return text
	}
	plain, _ := p.Unmark(text)
	return plain
}

func (p *places) length(text string) int { return len(p.plain(text)) }

// Unmark returns text without marks, and what it was printed for.
func (p *places) Unmark(text string) (string, []source.Origin) {
	var b strings.Builder
	b.Grow(len(text))
	origins := []source.Origin{{}}
	open := []source.Range{{}}
	for text != "" {
		i := strings.IndexAny(text, "\x01\x03")
		if i != 0 {
			if i < 0 {
				i = len(text)
			}
			if last := &origins[len(origins)-1]; last.Range != open[len(open)-1] {
				origins = append(origins, source.Origin{Offset: b.Len(), Range: open[len(open)-1]})
			}
			b.WriteString(text[:i])
			text = text[i:]
			continue
		}
		if text[0] == placeEnd {
			open, text = open[:len(open)-1], text[1:]
			continue
		}
		number, rest, _ := strings.Cut(text[1:], string(placeText))
		n, _ := strconv.Atoi(number)
		open, text = append(open, p.ranges[n]), rest
	}
	return b.String(), origins
}

// originsWriter writes a record of origins.
type originsWriter struct {
	strings []string
	ids     map[string]int
	texts   map[*source.Text]*writtenText
}

// writtenText is a text as it stands in the record: every line as in its file.
type writtenText struct {
	lines []int // numbers of strings
	file  int
	first int
	memo  int // under which the pickle has it; -1 before
	text  *source.Text
}

func WriteOrigins(origins []source.Origin, tags map[source.Range]int) []byte {
	w := &originsWriter{ids: map[string]int{}, texts: map[*source.Text]*writtenText{}}
	w.text(nil)
	for _, o := range origins {
		w.text(o.Range.Text)
	}
	e := pickle.NewEncoder()
	e.Mark()
	e.String(OriginsFormat)
	e.Mark()
	for _, s := range w.strings {
		e.String(s)
	}
	e.Tuple()
	e.Mark()
	for _, o := range origins {
		w.origin(e, o, tags)
	}
	e.Tuple()
	e.Tuple()
	return e.Finish()
}

func (w *originsWriter) id(s string) int {
	id, ok := w.ids[s]
	if !ok {
		id = len(w.strings)
		w.ids[s] = id
		w.strings = append(w.strings, s)
	}
	return id
}

func (w *originsWriter) text(t *source.Text) *writtenText {
	if t == source.Nowhere {
		t = nil
	}
	if known := w.texts[t]; known != nil {
		return known
	}
	out := &writtenText{text: t, memo: -1}
	if t == nil {
		out.file = w.id("")
	} else {
		indent := strings.Repeat(" ", t.Indent)
		for _, line := range strings.SplitAfter(t.Body, "\n") {
			if t.Indent > 0 && strings.TrimSuffix(line, "\n") != "" {
				line = indent + line
			}
			out.lines = append(out.lines, w.id(line))
		}
		out.file, out.first = w.id(t.Name), t.FirstLine
	}
	w.texts[t] = out
	return out
}

// offset returns where a byte of the text stands in the text with its indentation.
func (t *writtenText) offset(at int) int {
	if t.text == nil {
		return 0
	}
	if t.text.Indent == 0 {
		return at
	}
	line := t.text.LineOf(at)
	for l := 0; l <= line; l++ {
		if t.text.Line(l) != "" {
			at += t.text.Indent
		}
	}
	return at
}

// write pushes (lines, file, first line).
func (t *writtenText) write(e *pickle.Encoder) {
	if t.memo >= 0 {
		e.Recall(t.memo)
		return
	}
	e.Mark()
	e.Global("torch.jit._pickle", "build_intlist")
	e.Mark()
	e.EmptyList()
	e.Mark()
	for _, id := range t.lines {
		e.Int(int64(id))
	}
	e.Append()
	e.Tuple()
	e.Reduce()
	e.Int(int64(t.file))
	e.Int(int64(t.first))
	e.Tuple()
	t.memo = e.Remember()
}

func (w *originsWriter) origin(e *pickle.Encoder, o source.Origin, tags map[source.Range]int) {
	tag := 0
	if o.Range.IsValid() {
		if tags[o.Range] == 0 {
			tags[o.Range] = len(tags) + 1
		}
		tag = tags[o.Range]
	}
	t := w.text(o.Range.Text)
	e.Mark()
	e.Int(int64(o.Offset))
	e.Mark()
	t.write(e)
	e.Int(int64(t.offset(o.Range.Start)))
	e.Int(int64(t.offset(o.Range.End)))
	e.Tuple()
	e.Int(int64(tag))
	e.Tuple()
}
