// Package source holds program text, ranges in it and the errors that point at them.
//
// A Range is a half-open span of bytes of one Text. Every node of the tree, the graph and the
// compiled code carries one, so that a failure anywhere can show the user's own line. The package
// knows nothing of the compiler: it takes text and positions and prints them.
package source

import (
	"fmt"
	"strings"
)

// Text is one piece of program text and where it came from.
type Text struct {
	Name      string // file name, or "" for text that has none
	Body      string // the text itself
	FirstLine int    // line number in the file of the first line of Body, counted from 1
	Indent    int    // leading columns that were cut off every line of Body

	lines   []int    // byte offset of each line's start, made on first use by newText
	origins *origins // nil for text that was not printed from another
}

// NewText returns a Text over body. firstLine is 1 for a whole file.
func NewText(name, body string, firstLine int) *Text {
	t := &Text{Name: name, Body: body, FirstLine: firstLine}
	t.lines = append(t.lines, 0)
	for i := 0; i < len(body); i++ {
		if body[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// blanks are what a line may be indented by.
const blanks = " \t"

// NewIndentedText returns a Text over body without the indentation that its lines have in common.
func NewIndentedText(name, body string) *Text {
	common := -1
	lines := strings.SplitAfter(body, "\n")
	for _, line := range lines {
		if rest := strings.TrimLeft(line, blanks); strings.TrimSpace(rest) != "" {
			if n := len(line) - len(rest); common < 0 || n < common {
				common = n
			}
		}
	}
	for i, line := range lines {
		lines[i] = line[min(max(common, 0), len(line)-len(strings.TrimLeft(line, blanks))):]
	}
	t := NewText(name, strings.Join(lines, ""), 1)
	t.Indent = max(common, 0)
	return t
}

// LineOf returns the zero-based index in Body of the line that holds the byte at offset.
func (t *Text) LineOf(offset int) int {
	lo, hi := 0, len(t.lines)
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if t.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// LineStart returns the byte offset at which the zero-based line begins.
func (t *Text) LineStart(line int) int {
	if line >= len(t.lines) {
		return len(t.Body)
	}
	return t.lines[line]
}

// Line returns the zero-based line without its newline.
func (t *Text) Line(line int) string {
	if line < 0 || line >= len(t.lines) {
		return ""
	}
	end := t.LineStart(line + 1)
	return strings.TrimSuffix(t.Body[t.lines[line]:end], "\n")
}

// NumLines returns the number of lines of Body.
func (t *Text) NumLines() int { return len(t.lines) }

// Range is the span [Start, End) of bytes of Text. The zero Range points nowhere.
type Range struct {
	Text       *Text
	Start, End int
}

// IsValid reports whether the range points at text.
func (r Range) IsValid() bool { return r.Text != nil && r.Text != Nowhere }

// Extend returns the smallest range that covers r and other, which lie in one Text.
func (r Range) Extend(other Range) Range {
	if !r.IsValid() {
		return other
	}
	if !other.IsValid() || other.Text != r.Text {
		return r
	}
	return Range{r.Text, min(r.Start, other.Start), max(r.End, other.End)}
}

// String returns the text that the range covers.
func (r Range) String() string {
	if !r.IsValid() {
		return ""
	}
	return r.Text.Body[r.Start:min(r.End, len(r.Text.Body))]
}

// FileLineCol returns the file name, the line counted from 1 and the column counted from 0, as
// they stand in the file. ok is false where the text has no file name.
func (r Range) FileLineCol() (file string, line, col int, ok bool) {
	if !r.IsValid() || r.Text.Name == "" {
		return "", 0, 0, r.Text == Nowhere
	}
	l := r.Text.LineOf(r.Start)
	return r.Text.Name, r.Text.FirstLine + l, r.Start - r.Text.LineStart(l) + r.Text.Indent, true
}

// contextLines is how many lines are shown before and after a highlighted range.
const contextLines = 2

// Highlight returns the lines around the range with the range underlined by tildes and an arrow,
// headed by the file and line, in the layout that PyTorch's messages have:
//
//	  File "f.py", line 7
//	def f(x):
//	    return foo(x)
//	           ~~~ <--- HERE
//
// A range that covers its whole text, as the frames of a trace do, is that text alone. Before text that was
// printed for what stands elsewhere comes that.
func (r Range) Highlight() string {
	if original, ok := r.Original(); ok {
		return original.HighlightIn("") + "Serialized " + r.HighlightIn("")
	}
	return r.HighlightIn("")
}

// HighlightIn is Highlight with ", in function" in its first line where function is not empty.
func (r Range) HighlightIn(function string) string {
	if !r.IsValid() {
		return ""
	}
	t := r.Text
	if r.Start == 0 && r.End == len(t.Body) {
		return t.Body
	}
	var b strings.Builder
	first := t.LineOf(r.Start)
	if t.Name != "" {
		fmt.Fprintf(&b, "  File \"%s\", line %d", t.Name, t.FirstLine+first)
		if function != "" {
			fmt.Fprintf(&b, ", in %s", function)
		}
		b.WriteByte('\n')
	}
	last := t.LineOf(max(r.End, r.Start))
	indent := strings.Repeat(" ", t.Indent)
	for l := max(0, first-contextLines); l < first; l++ {
		writeLine(&b, indent, t.Line(l))
	}
	for l := first; l <= last; l++ {
		if l > first && l == t.NumLines()-1 && t.Line(l) == "" {
			return b.String()
		}
		writeLine(&b, indent, t.Line(l))
		r.underline(&b, indent, l, first, last)
	}
	for l := last + 1; l <= last+contextLines && l < t.NumLines(); l++ {
		if l == t.NumLines()-1 && t.Line(l) == "" {
			break
		}
		writeLine(&b, indent, t.Line(l))
	}
	return b.String()
}

// underline writes tildes under the part of a line that the range covers, and the arrow under its
// last line. An empty part has neither.
func (r Range) underline(b *strings.Builder, indent string, line, first, last int) {
	text, start := r.Text.Line(line), r.Text.LineStart(line)
	lo := max(r.Start-start, 0)
	if line > first {
		lo = len(text) - len(strings.TrimLeft(text, " "))
	}
	hi := min(r.End-start, len(text))
	if hi <= lo {
		return
	}
	b.WriteString(indent)
	b.WriteString(strings.Repeat(" ", lo))
	b.WriteString(strings.Repeat("~", hi-lo))
	if line == last {
		b.WriteString(" <--- HERE")
	}
	b.WriteByte('\n')
}

func writeLine(b *strings.Builder, indent, line string) {
	if line != "" {
		b.WriteString(indent)
	}
	b.WriteString(line)
	b.WriteByte('\n')
}
