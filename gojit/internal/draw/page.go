package draw

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Column is a text of a page: a graph as a pass has left it.
type Column struct {
	Title, Text string
	Dim         bool // the text is that of the column before
}

// pageStyle is how pages look. Nothing is loaded from elsewhere.
const pageStyle = `body { font: 13px/1.5 system-ui, sans-serif; margin: 1em; color: #222; background: #fff; }
h1 { font-size: 1.2em; } h2 { font-size: 1em; margin: 1em 0 .3em; }
pre { font: 12px/1.45 ui-monospace, Menlo, Consolas, monospace; margin: 0; }
table { border-collapse: collapse; } td, th { padding: .1em .8em; text-align: right; border-bottom: 1px solid #eee; }
td:first-child, th:first-child { text-align: left; font-family: ui-monospace, Menlo, Consolas, monospace; }
.columns { display: flex; gap: 1em; align-items: flex-start; overflow-x: auto; }
.columns > section { flex: none; border: 1px solid #ddd; padding: .5em; max-height: 90vh; overflow: auto; }
.dim { opacity: .5; } .v { cursor: pointer; } .v.on { background: #ffe08a; } :target { background: #d8ecff; }
.drawing { overflow: auto; border: 1px solid #ddd; }
a { color: inherit; text-decoration-color: #bbb; }
`

// pageScript marks a value in all columns when it is clicked.
const pageScript = `document.addEventListener("click", function (event) {
  var v = event.target.closest(".v");
  if (!v) return;
  var on = !v.classList.contains("on");
  document.querySelectorAll(".v").forEach(function (other) { if (other.textContent === v.textContent) other.classList.toggle("on", on); });
});
`

// Document returns a page of HTML with a title.
func Document(title, body string) string {
	return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + html.EscapeString(title) + "</title>\n<style>\n" + pageStyle +
		"</style>\n</head>\n<body>\n<h1>" + html.EscapeString(title) + "</h1>\n" + body + "<script>\n" + pageScript + "</script>\n</body>\n</html>\n"
}

// Columns returns the source texts that graphs come from and some texts of graphs, side by side. Places in the graphs are links to lines of the sources;
// a click on a value marks it in all columns.
func Columns(sources []*source.Text, columns []Column) string {
	p := &page{}
	var b strings.Builder
	b.WriteString("<div class=\"columns\">\n")
	if len(sources) > 0 {
		b.WriteString("<section><h2>source</h2>\n<pre>")
		for _, t := range sources {
			p.source(&b, t)
		}
		b.WriteString("</pre></section>\n")
	}
	for _, c := range columns {
		class := ""
		if c.Dim {
			class = ` class="dim"`
		}
		fmt.Fprintf(&b, "<section%s><h2>%s</h2>\n<pre>%s</pre></section>\n", class, html.EscapeString(c.Title), p.graph(c.Text))
	}
	b.WriteString("</div>\n")
	return b.String()
}

// page knows which lines of which files are on it.
type page struct {
	files []string
	lines map[string]bool // anchors
}

func (p *page) anchor(file string, line int) string {
	i := slices.Index(p.files, file)
	if i < 0 {
		return ""
	}
	return "s" + strconv.Itoa(i) + "-" + strconv.Itoa(line)
}

// source writes the lines of a text that are not on the page yet.
func (p *page) source(b *strings.Builder, t *source.Text) {
	if !slices.Contains(p.files, t.Name) {
		p.files = append(p.files, t.Name)
		fmt.Fprintf(b, "<b>%s</b>\n", html.EscapeString(t.Name))
	}
	if p.lines == nil {
		p.lines = map[string]bool{}
	}
	for i := range t.NumLines() {
		line := t.FirstLine + i
		anchor := p.anchor(t.Name, line)
		if p.lines[anchor] {
			continue
		}
		p.lines[anchor] = true
		fmt.Fprintf(b, "<span id=\"%s\">%4d  %s</span>\n", anchor, line, html.EscapeString(strings.TrimRight(t.Line(i), "\n")))
	}
}

var (
	valueOfText = regexp.MustCompile(`%[\w.]+`)
	placeOfLine = regexp.MustCompile(`# (\S.*):(\d+):\d+$`)
)

// graph returns the text of a graph with its values and places marked.
func (p *page) graph(text string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		body, end := strings.TrimSuffix(line, "\n"), ""
		if m := placeOfLine.FindStringSubmatchIndex(body); m != nil {
			number, _ := strconv.Atoi(body[m[4]:m[5]])
			if anchor := p.anchor(body[m[2]:m[3]], number); p.lines[anchor] {
				body, end = body[:m[0]], fmt.Sprintf("<a href=\"#%s\">%s</a>", anchor, html.EscapeString(body[m[0]:]))
			}
		}
		b.WriteString(valueOfText.ReplaceAllString(html.EscapeString(body), `<span class="v">$0</span>`) + end)
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Sources returns the texts that the nodes of a graph come from, in the order in which they are met; those of a file in the order of their lines.
func Sources(graphs ...*ir.Graph) []*source.Text {
	var found []*source.Text
	for _, g := range graphs {
		g.Block().Walk(func(n *ir.Node) {
			if r := n.Range; r.IsValid() && r.Text.Name != "" && !slices.Contains(found, r.Text) {
				found = append(found, r.Text)
			}
		})
	}
	first := map[string]int{}
	for i, t := range found {
		if _, ok := first[t.Name]; !ok {
			first[t.Name] = i
		}
	}
	slices.SortStableFunc(found, func(a, b *source.Text) int {
		if a.Name != b.Name {
			return first[a.Name] - first[b.Name]
		}
		return a.FirstLine - b.FirstLine
	})
	return found
}
