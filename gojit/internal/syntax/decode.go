package syntax

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// The bytes of the Python door, all numbers little-endian uint32:
//
//	"TJT1" isMethod numTexts numNodes numStrings
//	for each text: length of name, length of body, first line, indent; name; body
//	for each node, parents first: kind (a string), text, start, end, string + 1 or 0, children
//	for each string its length; the strings
const (
	wireMagic     = "TJT1"
	wireNodeWords = 6
)

// Decode rebuilds the Tree of a function or class from the bytes that the Python package made, and
// merges the type comments of its text. Bytes that are not such a Tree give an error.
func Decode(data []byte) (*Tree, error) {
	d := decoder{rest: data}
	t := d.decode()
	if d.err != nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "malformed syntax tree: %v", d.err)
	}
	if t.Kind != KindDef && t.Kind != KindClassDef {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "malformed syntax tree: %s at the top", t.Kind)
	}
	return withTypeComments(t, d.isMethod)
}

type decoder struct {
	rest     []byte
	isMethod bool
	texts    []*source.Text
	strings  []string
	nodes    []byte
	count    int // nodes left
	depth    int
	err      error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) bytes(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.rest) {
		d.fail("%d bytes are missing", n-len(d.rest))
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) word() int {
	b := d.bytes(4)
	if b == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b))
}

func (d *decoder) decode() *Tree {
	if string(d.bytes(len(wireMagic))) != wireMagic {
		d.fail("it does not begin with %s", wireMagic)
	}
	d.isMethod = d.word() != 0
	numTexts, numNodes, numStrings := d.word(), d.word(), d.word()
	for i := 0; i < numTexts && d.err == nil; i++ {
		d.text()
	}
	d.nodes = d.bytes(numNodes * wireNodeWords * 4)
	d.count = numNodes
	lengths := d.bytes(numStrings * 4)
	for len(lengths) > 0 && d.err == nil {
		n := int(binary.LittleEndian.Uint32(lengths))
		lengths = lengths[4:]
		d.strings = append(d.strings, string(d.bytes(n)))
	}
	if d.err != nil {
		return nil
	}
	t := d.node()
	if d.err == nil && (d.count != 0 || len(d.rest) != 0) {
		d.fail("%d nodes and %d bytes are left over", d.count, len(d.rest))
	}
	return t
}

func (d *decoder) text() {
	nameLen, bodyLen, firstLine, indent := d.word(), d.word(), d.word(), d.word()
	name, body := d.bytes(nameLen), d.bytes(bodyLen)
	if indent > 1<<16 {
		d.fail("indentation of %d", indent)
		return
	}
	t := source.NewText(string(name), string(body), firstLine)
	t.Indent = indent
	d.texts = append(d.texts, t)
}

// node reads a node and its children and checks them by the table of kinds.
func (d *decoder) node() *Tree {
	if d.depth++; d.depth > 4*maxDepth || d.count == 0 {
		d.fail("nodes are missing or nested too deep")
		return nil
	}
	defer func() { d.depth-- }()
	var w [wireNodeWords]int
	for i := range w {
		w[i] = int(binary.LittleEndian.Uint32(d.nodes[4*i:]))
	}
	d.nodes = d.nodes[4*wireNodeWords:]
	d.count--
	t := d.leaf(w)
	for i := 0; i < w[5] && d.err == nil; i++ {
		t.Children = append(t.Children, d.node())
	}
	if d.err != nil {
		return nil
	}
	if isGroup(t) {
		t.setGroupRange()
	}
	if problem := checkShape(t); problem != "" {
		d.fail("%s: %s", t.Kind, problem)
		return nil
	}
	return t
}

func (d *decoder) leaf(w [wireNodeWords]int) *Tree {
	kind, text, start, end, str, children := w[0], w[1], w[2], w[3], w[4], w[5]
	if kind >= len(d.strings) || text >= len(d.texts) || start > end || str > len(d.strings) || children > d.count {
		d.fail("node out of range")
		return nil
	}
	k, ok := kindOfName[d.strings[kind]]
	if !ok {
		d.fail("unknown kind %q", d.strings[kind])
		return nil
	}
	if kinds[k].hasText != (str > 0) {
		d.fail("%s with or without text", k)
		return nil
	}
	t := &Tree{Kind: k, Range: span(d.texts[text], start, end)}
	if str > 0 {
		t.Text = d.strings[str-1]
	}
	if k == KindConst && !validConst(t.Text) {
		d.fail("number %q", t.Text)
	}
	return t
}

// validConst reports whether s is a number as Python's repr spells it.
func validConst(s string) bool {
	switch s {
	case "inf", "nan", "infj", "nanj":
		return true
	}
	text, ok := numberText(s)
	return ok && utf8.ValidString(s) && text == s
}

// withTypeComments merges the type comments in the text of a definition or of the methods of a
// class.
func withTypeComments(t *Tree, isMethod bool) (*Tree, error) {
	switch t.Kind {
	case KindDef:
		return defWithTypeComments(t, isMethod)
	case KindClassDef, KindList, KindProperty, KindOption:
		for i, c := range t.Children {
			merged, err := withTypeComments(c, true)
			if err != nil {
				return nil, err
			}
			t.Children[i] = merged
		}
	}
	return t, nil
}

func defWithTypeComments(t *Tree, isMethod bool) (*Tree, error) {
	text := t.Range.Text
	if !anyTypeComment.MatchString(text.Body) {
		return t, nil
	}
	_, comments, err := scan(text)
	if err != nil {
		return nil, err
	}
	own := commentsIn(comments, t.Range.Start, endOfDef(t))
	if err := checkPrefixes(text, own, text.LineOf(t.Range.Start)); err != nil {
		return nil, err
	}
	d, err := mergeTypeComments(Def{t}, own, isMethod)
	return d.Tree, err
}

var (
	// anyTypeComment finds comments that give types, or were meant to.
	anyTypeComment = regexp.MustCompile("#[\t ]*type[\t ]*:")
	// ignoredLine finds those that are for other tools.
	ignoredLine = regexp.MustCompile("#[\t ]*type: ignore(\\[.*\\])?$")
)

// checkPrefixes fails where comments that look like type comments begin otherwise and none begins right. Lines are counted from the first one
// of the definition.
func checkPrefixes(text *source.Text, comments []comment, first int) error {
	var wrong []int
	for _, c := range comments {
		line := text.Body[c.start:c.end]
		if strings.Contains(line, typeComment) && !ignoredLine.MatchString(line) {
			return nil
		}
		if anyTypeComment.MatchString(line) && !ignoredLine.MatchString(line) {
			wrong = append(wrong, text.LineOf(c.start)-first)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "The annotation prefix in line %d is probably invalid.\nIt must be '%s'", wrong[0], typeComment)
}

// endOfDef returns the offset at which the last line of a definition ends.
func endOfDef(t *Tree) int {
	text := t.Range.Text
	return text.LineStart(text.LineOf(t.Range.End) + 1)
}
