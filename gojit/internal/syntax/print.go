package syntax

import (
	"fmt"
	"strconv"
	"strings"
)

// printWidth is the column at which a printed tree is broken over lines.
const printWidth = 80

// String prints the tree as an s-expression: (kind child ...), one line where it fits.
func (t *Tree) String() string {
	var b strings.Builder
	printer{out: &b}.tree(t, 0)
	return b.String()
}

// StringWithRanges prints the tree with [start:end] byte offsets after the kind of every node that
// has a range of its own, that is, all but lists and options.
func (t *Tree) StringWithRanges() string {
	var b strings.Builder
	printer{out: &b, ranges: true}.tree(t, 0)
	return b.String()
}

type printer struct {
	out    *strings.Builder
	ranges bool
}

// head returns the kind and the text of a node.
func (p printer) head(t *Tree) string {
	s := t.Kind.String()
	if p.ranges && !isGroup(t) {
		s += fmt.Sprintf("[%d:%d]", t.Range.Start, t.Range.End)
	}
	switch {
	case t.Kind == KindStringLiteral:
		s += " " + strconv.Quote(t.Text)
	case kinds[t.Kind].hasText:
		s += " " + t.Text
	}
	return s
}

// oneLine prints t without breaks, or gives up with ok false once it exceeds limit.
func (p printer) oneLine(t *Tree, limit int) (s string, ok bool) {
	var b strings.Builder
	if !p.flat(&b, t, limit) {
		return "", false
	}
	return b.String(), true
}

func (p printer) flat(b *strings.Builder, t *Tree, limit int) bool {
	b.WriteString("(" + p.head(t))
	for _, c := range t.Children {
		b.WriteByte(' ')
		if b.Len() > limit || !p.flat(b, c, limit) {
			return false
		}
	}
	b.WriteByte(')')
	return b.Len() <= limit
}

func (p printer) tree(t *Tree, indent int) {
	if s, ok := p.oneLine(t, printWidth-indent); ok {
		p.out.WriteString(s)
		return
	}
	p.out.WriteString("(" + p.head(t))
	for _, c := range t.Children {
		p.out.WriteByte('\n')
		p.out.WriteString(strings.Repeat(" ", indent+2))
		p.tree(c, indent+2)
	}
	p.out.WriteByte(')')
}
