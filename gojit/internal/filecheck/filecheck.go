// Package filecheck checks that texts occur in a text in an order: what tests say of printed
// graphs. Its Checks are PyTorch's FileCheck's, and its messages begin like that one's.
package filecheck

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Kind says where a check's text must occur.
type Kind string

// The kinds of checks.
const (
	Find        Kind = "CHECK"                    // behind the last match
	Next        Kind = "CHECK-NEXT"               // in the line after the last match
	Same        Kind = "CHECK-SAME"               // in the line of the last match
	Not         Kind = "CHECK-NOT"                // nowhere between the matches around it
	Count       Kind = "CHECK-COUNT"              // several times
	DAG         Kind = "CHECK-DAG"                // like its neighbours of this kind, in any order
	Highlighted Kind = "CHECK-SOURCE-HIGHLIGHTED" // with ~ below it
	Regex       Kind = "CHECK-REGEX"              // a match of the regular expression
)

// Check is one condition.
type Check struct {
	Kind  Kind
	Text  string
	Count int // of Kind Count
}

func (c *Check) label() string {
	if c.Kind == Count {
		return fmt.Sprintf("%s-%d: %s", c.Kind, c.Count, c.Text)
	}
	return string(c.Kind) + ": " + c.Text
}

// CountChecks returns the checks that text occurs count times, and, with exactly, not more often.
// It fails where they would say nothing.
func CountChecks(text string, count int, exactly bool) ([]Check, error) {
	if count < 0 || count == 0 && !exactly {
		return nil, fmt.Errorf("check_count(%q, %d) doesn't do anything: give a count of 1 or more, or exactly=True", text, count)
	}
	var checks []Check
	if count > 0 {
		checks = append(checks, Check{Count, text, count})
	}
	if exactly {
		checks = append(checks, Check{Kind: Not, Text: text})
	}
	return checks, nil
}

var (
	checkLine  = regexp.MustCompile(`^\s*#\s*(CHECK.*)$`)
	checkParts = regexp.MustCompile(`^(CHECK(?:-(?:NEXT|SAME|NOT|DAG|REGEX|SOURCE-HIGHLIGHTED))?|CHECK-COUNT-(EXACTLY-)?(\d+)): (.*)$`)
)

// Parse reads checks from the comments of a text: `# CHECK: add`, `# CHECK-COUNT-2: mul`. It fails
// on a comment that begins like a check and is none.
func Parse(text string) ([]Check, error) {
	var checks []Check
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := checkLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		parts := checkParts.FindStringSubmatch(m[1])
		if parts == nil {
			return nil, fmt.Errorf("Could not parse check at:\n%s\nCheck for bad input.", line)
		}
		if parts[3] == "" {
			checks = append(checks, Check{Kind: Kind(parts[1]), Text: parts[4]})
			continue
		}
		var n int
		if _, err := fmt.Sscan(parts[3], &n); err != nil {
			return nil, fmt.Errorf("Could not parse check at:\n%s\nCheck for bad input.", line)
		}
		counted, err := CountChecks(parts[4], n, parts[2] != "")
		if err != nil {
			return nil, err
		}
		checks = append(checks, counted...)
	}
	return checks, nil
}

// Run fails with the first check that does not hold for text.
func Run(checks []Check, text string) error {
	if len(checks) == 0 {
		return fmt.Errorf("No checks have been added to this instance ofFilecheck! Check for bad input.")
	}
	r := &run{text: source.NewText("", text, 1), body: text}
	last := span{}
	for i := 0; i < len(checks); {
		nots, rest := leading(checks[i:], Not)
		i += len(nots)
		if len(rest) == 0 {
			return r.nots(nots, span{last.end, len(text)})
		}
		group, _ := leading(rest, DAG)
		if len(group) == 0 {
			group = rest[:1]
		}
		i += len(group)
		found, err := r.group(group, last.end)
		if err != nil {
			return err
		}
		if err := r.nots(nots, span{last.end, found.start}); err != nil {
			return err
		}
		last = found
	}
	return nil
}

// leading splits off the checks of a kind at the beginning.
func leading(checks []Check, kind Kind) (group, rest []Check) {
	n := 0
	for n < len(checks) && checks[n].Kind == kind {
		n++
	}
	return checks[:n], checks[n:]
}

// span is a part of the text.
type span struct{ start, end int }

type run struct {
	text *source.Text
	body string
}

// group returns what the checks of a group match behind from.
func (r *run) group(checks []Check, from int) (span, error) {
	var all span
	for i := range checks {
		found, err := r.check(&checks[i], from)
		if err != nil {
			return span{}, err
		}
		if i == 0 {
			all = found
		}
		all.start, all.end = min(all.start, found.start), max(all.end, found.end)
	}
	return all, nil
}

func (r *run) check(c *Check, from int) (span, error) {
	switch c.Kind {
	case Same:
		found, err := r.find(c, c.Text, from)
		if err == nil {
			err = r.absent(c, "\n", span{from, found.start})
		}
		return found, err
	case Next:
		line, err := r.find(c, "\n", from)
		if err != nil {
			return span{}, err
		}
		found, err := r.find(c, c.Text, line.end)
		if err == nil {
			err = r.absent(c, "\n", span{line.end, found.start})
		}
		return found, err
	case Count:
		first, err := r.find(c, c.Text, from)
		last := first
		for n := 1; n < c.Count && err == nil; n++ {
			last, err = r.find(c, c.Text, last.end)
		}
		return span{first.start, last.end}, err
	case Highlighted:
		return span{from, from}, r.highlighted(c, from)
	case Regex:
		return r.match(c, from)
	}
	return r.find(c, c.Text, from)
}

func (r *run) find(c *Check, text string, from int) (span, error) {
	at := strings.Index(r.body[from:], text)
	if at < 0 {
		shown := span{from, from}
		if from == 0 {
			shown.end = min(len(text), len(r.body))
		}
		return span{}, fmt.Errorf("Expected to find %s but did not find it\nSearched string:\n%sFrom %s\n",
			quoted(text), r.show(shown), c.label())
	}
	return span{from + at, from + at + len(text)}, nil
}

func (r *run) match(c *Check, from int) (span, error) {
	pattern, err := regexp.Compile(c.Text)
	if err != nil {
		return span{}, fmt.Errorf("%s is no regular expression: %w", quoted(c.Text), err)
	}
	at := pattern.FindStringIndex(r.body[from:])
	if at == nil {
		return span{}, fmt.Errorf("Expected to find a match of %s but did not find it\nSearched string:\n%sFrom %s\n",
			quoted(c.Text), r.show(span{from, from}), c.label())
	}
	return span{from + at[0], from + at[1]}, nil
}

// absent fails where text occurs in s.
func (r *run) absent(c *Check, text string, s span) error {
	at := strings.Index(r.body[s.start:s.end], text)
	if at < 0 {
		return nil
	}
	return fmt.Errorf("Expected to not find %s but found it\n%sFrom %s\n",
		quoted(text), r.show(span{s.start + at, s.start + at + len(text)}), c.label())
}

func (r *run) nots(checks []Check, s span) error {
	for i := range checks {
		if s.start > s.end {
			return nil
		}
		if err := r.absent(&checks[i], checks[i].Text, s); err != nil {
			return err
		}
	}
	return nil
}

// highlighted fails where no occurrence behind from has exactly its own length of ~ below it.
func (r *run) highlighted(c *Check, from int) error {
	if _, err := r.find(c, c.Text, from); err != nil {
		return err
	}
	for at := from; ; at++ {
		next := strings.Index(r.body[at:], c.Text)
		if next < 0 {
			break
		}
		at += next
		start := strings.LastIndexByte(r.body[:at], '\n') + 1
		end := strings.IndexByte(r.body[at:], '\n')
		if end < 0 {
			break
		}
		below, _, _ := strings.Cut(r.body[at+end+1:], "\n")
		if isMarked(below, at-start, len(c.Text)) {
			return nil
		}
	}
	return fmt.Errorf("Expected to find %shighlighted but it is not.\n%sFrom %s\n", quoted(c.Text), r.show(span{from, from}), c.label())
}

// isMarked reports whether a line has a run of ~ that begins at a column and has a length.
func isMarked(line string, column, length int) bool {
	if len(line) < column+length || strings.Trim(line[column:column+length], "~") != "" {
		return false
	}
	before := column > 0 && line[column-1] == '~'
	after := len(line) > column+length && line[column+length] == '~'
	return !before && !after
}

// show prints the lines around a part of the text.
func (r *run) show(s span) string {
	if r.body == "" {
		return "\n"
	}
	start := min(s.start, len(r.body)-1)
	return source.Range{Text: r.text, Start: start, End: max(start, s.end)}.Highlight()
}

// quoted prints a text in quotation marks on one line.
func quoted(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`).Replace(text) + `"`
}
