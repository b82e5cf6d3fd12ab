package exec

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ir"
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

// Explain returns the text of the graph that calls of a function run, and for each region in it whether calls had to run its nodes one by one, and why;
// for regions that run by plans the steps of the last one.
func (e *Engine) Explain(f *ir.Function) (string, error) {
	p, err := e.lastPlan(f)
	if err != nil {
		return "", err
	}
	return e.fuser.Explain(p.Graph, func(n *ir.Node) string {
		if r := e.regionOf(n); r != nil {
			return r.Explain("    ")
		}
		return ""
	}), nil
}

// TimeSteps has calls of a function note how long the steps of its plans take, which Explain shows then, or no more.
func (e *Engine) TimeSteps(f *ir.Function, on bool) error {
	p, err := e.lastPlan(f)
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

// lastPlan returns how the last call of a function ran, or how the next one would.
func (e *Engine) lastPlan(f *ir.Function) (*Plan, error) {
	made, err := e.Prepare(f)
	if err != nil {
		return nil, err
	}
	if p := made.last.Load(); p != nil {
		return p, nil
	}
	return made.plan(e.usual())
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
