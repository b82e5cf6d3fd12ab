package exec

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/plan"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Executed returns a copy of the optimized graph that the last call ran, nil before the first.
func (f *Function) Executed() *ir.Graph {
	p := f.last.Load()
	if p == nil {
		return nil
	}
	shown := p.Optimized.Twin()
	if p.notes != nil {
		p.notes.describe(shown)
	}
	return shown
}

// Explanation tells how calls of a function run.
type Explanation struct {
	Name    string `json:"name"`
	Graph   string `json:"graph"`             // the text of the graph that runs; functions that it calls are not looked at
	Drawing string `json:"drawing,omitempty"` // the graph as SVG; none of one that is too large
	// Groups are the regions of the graph whose operators run together, in their order.
	Groups []Group `json:"groups"`
	// Replays tell which calls with tensors on a device are one launch, and why others are not.
	Replays []string `json:"replays,omitempty"`
	// NodeByNode are the reasons for which calls did not run the graph, but its nodes one by one from Python: of the modules of exported programs.
	NodeByNode []string `json:"node_by_node,omitempty"`
	// Times are those of what ran in Calls calls, where calls were measured.
	Times []Time `json:"times,omitempty"`
	Calls int    `json:"calls,omitempty"`
}

// Group is a region: operators that run as one kernel or by one plan, unless there is a reason against that.
type Group struct {
	Place     string   `json:"place,omitempty"` // FILE:LINE
	Operators []string `json:"operators"`
	Planned   bool     `json:"planned"`
	plan.Report
}

// Time is how long the events of one name took: in all calls, and without those within them.
type Time struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Self  float64 `json:"self_us"`
	Total float64 `json:"total_us"`
}

// Explain tells how calls of a function run: the graph, and for each region in it whether calls had to run its nodes one by one, and why; for regions
// that run by plans the steps of the last one. While the settings let nothing be fused there are no regions.
// A call that is yet to come is one with some arguments, of which those at the end may be unknown.
func (e *Engine) Explain(f *ir.Function, args ...value.Value) (*Explanation, error) {
	p, err := e.lastPlan(f, args)
	if err != nil {
		return nil, err
	}
	fusing := e.settings.Load().Fusing
	g := p.shown(fusing)
	x := &Explanation{Name: f.ShortName(), Graph: g.String(), Groups: []Group{}}
	if d := draw.Graph(g); d.Count() <= draw.Most {
		x.Drawing = d.SVG()
	}
	if fusing {
		e.explain(x, p, p.Graph.Block())
	}
	x.Replays = p.replays.Report()
	return x, nil
}

// shown returns a copy of the graph of a plan in which differentiable graphs have what they run as their bodies; without regions where these are not run.
func (p *Plan) shown(fusing bool) *ir.Graph {
	g := p.Graph.Twin()
	var runs []*Plan
	p.Graph.Block().Walk(func(n *ir.Node) {
		if n.Kind() == passes.DifferentiableKind {
			runs = append(runs, p.ran(n))
		}
	})
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != passes.DifferentiableKind {
			return
		}
		if ran := runs[0]; ran != nil {
			n.SetAttr("Subgraph", ran.shown(fusing))
		}
		runs = runs[1:]
	})
	if !fusing {
		fuse.Split(g.Block())
	}
	return g
}

// ran returns how a differentiable graph of a plan ran last, nil where it has not, or no function of its own runs it.
func (p *Plan) ran(n *ir.Node) *Plan {
	if d := p.gradients[n]; d != nil {
		return d.forward.last.Load()
	}
	return nil
}

func (e *Engine) explain(x *Explanation, p *Plan, block *ir.Block) {
	for n := block.First(); n != nil; n = n.Next() {
		if body := n.GraphAttr("Subgraph"); body != nil { // of specialized code: its regions are in it
			if ran := p.ran(n); ran != nil {
				e.explain(x, ran, ran.Graph.Block())
			} else {
				e.explain(x, p, body.Block())
			}
			continue
		}
		if n.Kind() != interp.GroupKind {
			for _, inner := range n.Blocks() {
				e.explain(x, p, inner)
			}
			continue
		}
		g := Group{}
		if file, line, _, ok := n.Range.FileLineCol(); ok {
			g.Place = fmt.Sprintf("%s:%d", file, line)
		}
		for _, inner := range n.Blocks()[0].Nodes() {
			g.Operators = append(g.Operators, inner.Kind())
		}
		_, g.Planned = n.Attr(interp.PlannedAttr)
		if r := e.regionOf(n); r != nil {
			g.Report = r.Report()
		} else {
			g.Reasons = e.fuser.Reasons(n)
		}
		x.Groups = append(x.Groups, g)
	}
}

// String is the graph, the groups, and the times.
func (x *Explanation) String() string {
	var b strings.Builder
	b.WriteString(x.Graph)
	for i, g := range x.Groups {
		fmt.Fprintf(&b, "group %d%s\n", i+1, g.title())
		if g.Planned {
			b.WriteString(g.Text("    "))
			continue
		}
		for _, why := range g.Reasons {
			fmt.Fprintf(&b, "    ran one by one: %s\n", why)
		}
	}
	if len(x.Groups) == 0 {
		b.WriteString("no group of elementwise operators\n")
	}
	for _, line := range x.notes() {
		b.WriteString(line + "\n")
	}
	if len(x.Times) > 0 {
		fmt.Fprintf(&b, "microseconds of a call, the average of %d\n%10s %10s %7s\n", x.Calls, "self", "total", "count")
		for _, t := range x.perCall() {
			fmt.Fprintf(&b, "%10.1f %10.1f %7.4g  %s\n", t.self, t.total, t.count, t.name)
		}
	}
	return b.String()
}

// notes are lines about the calls as a whole.
func (x *Explanation) notes() []string {
	notes := slices.Clone(x.Replays)
	for _, why := range x.NodeByNode {
		notes = append(notes, "ran node by node: "+why)
	}
	return notes
}

func (g *Group) title() string {
	how, place := "as one kernel", ""
	if g.Planned {
		how = "by one plan"
	}
	if g.Place != "" {
		place = " (" + g.Place + ")"
	}
	return fmt.Sprintf("%s: %d operators %s", place, len(g.Operators), how)
}

// timeOfCall is a Time for one of the calls.
type timeOfCall struct {
	name               string
	self, total, count float64
}

func (x *Explanation) perCall() []timeOfCall {
	calls := float64(max(x.Calls, 1))
	times := make([]timeOfCall, len(x.Times))
	for i, t := range x.Times {
		times[i] = timeOfCall{t.Name, t.Self / calls, t.Total / calls, float64(t.Count) / calls}
	}
	return times
}

// HTML is a page that shows the same.
func (x *Explanation) HTML() string { return draw.Document(x.Name, x.Body()) }

// Body is what the page shows, to be put into another one.
func (x *Explanation) Body() string {
	var b strings.Builder
	if len(x.Times) > 0 {
		fmt.Fprintf(&b, "<h2>microseconds of a call, the average of %d</h2>\n<table>\n<tr><th>what</th><th>self</th><th>total</th><th>count</th></tr>\n", x.Calls)
		for _, t := range x.perCall() {
			fmt.Fprintf(&b, "<tr><td>%s</td><td>%.1f</td><td>%.1f</td><td>%.4g</td></tr>\n", html.EscapeString(t.name), t.self, t.total, t.count)
		}
		b.WriteString("</table>\n")
	}
	for i, g := range x.Groups {
		fmt.Fprintf(&b, "<h2>group %d%s</h2>\n<p>%s</p>\n", i+1, html.EscapeString(g.title()), html.EscapeString(strings.Join(g.Operators, ", ")))
		if text := g.Text(""); g.Planned {
			fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(text))
			continue
		}
		for _, why := range g.Reasons {
			fmt.Fprintf(&b, "<p>ran one by one: %s</p>\n", html.EscapeString(why))
		}
	}
	for _, line := range x.notes() {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(line))
	}
	if x.Drawing != "" {
		b.WriteString("<h2>graph</h2>\n<div class=\"drawing\">" + x.Drawing + "</div>\n")
	}
	b.WriteString("<details><summary>text of the graph</summary>\n" + draw.Columns(nil, []draw.Column{{Title: x.Name, Text: x.Graph}}) + "</details>\n")
	return b.String()
}

// Sum adds up events by their names, those with the most time of their own first.
func Sum(events []autograd.Event) []Time {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b autograd.Event) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	index := map[string]int{}
	var times []Time
	var open []autograd.Event // one within the other
	for _, e := range events {
		for n := len(open); n > 0 && (open[n-1].Thread != e.Thread || open[n-1].End < e.End); n = len(open) {
			open = open[:n-1]
		}
		took := float64(e.End-e.Start) / 1e3
		if n := len(open); n > 0 {
			times[index[open[n-1].Name]].Self -= took
		}
		if _, known := index[e.Name]; !known {
			index[e.Name] = len(times)
			times = append(times, Time{Name: e.Name})
		}
		t := &times[index[e.Name]]
		t.Count, t.Self, t.Total = t.Count+1, t.Self+took, t.Total+took
		open = append(open, e)
	}
	slices.SortStableFunc(times, func(a, b Time) int { return cmp.Compare(b.Self, a.Self) })
	return times
}

// TimeSteps has calls of a function note how long the steps of its plans take, which Explain shows then, or no more.
func (e *Engine) TimeSteps(f *ir.Function, on bool) error {
	p, err := e.lastPlan(f, nil)
	if err != nil {
		return err
	}
	p.Graph.Block().Walk(func(n *ir.Node) {
		if r := e.regionOf(n); r != nil {
			r.TimeSteps(on)
		}
	})
	return nil
}

// lastPlan returns how the last call of a function ran, or how the next one, with some arguments, would.
func (e *Engine) lastPlan(f *ir.Function, args []value.Value) (*Plan, error) {
	made := e.Function(f)
	if p := made.last.Load(); p != nil {
		return p, nil
	}
	return made.fresh(e.usual(), args)
}

// DumpTo returns what prints the graphs of functions to a writer before the first step and after each step that changes it; nil where no function is
// named. names are short or qualified names with commas between, * for all.
func DumpTo(w io.Writer, names string) func(f *ir.Function, step string, g *ir.Graph) {
	if names == "" {
		return nil
	}
	wanted := strings.Split(names, ",")
	var mu sync.Mutex
	last := map[*ir.Function]string{}
	return func(f *ir.Function, step string, g *ir.Graph) {
		if !slices.Contains(wanted, "*") && !slices.Contains(wanted, f.Name) && !slices.Contains(wanted, f.ShortName()) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		text := g.Text(false)
		switch {
		case step == "":
			fmt.Fprintf(w, "%s, as it is defined:\n%s", f.Name, text)
		case text != last[f]:
			fmt.Fprintf(w, "%s, after %s:\n%s", f.Name, step, text)
		}
		if last[f] = text; step == Pipeline[len(Pipeline)-1].Name {
			delete(last, f)
		}
	}
}
