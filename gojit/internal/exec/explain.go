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
	return p.Optimized.Copy()
}

// Explain returns the text of the graph that calls of a function run, and for each region in it whether calls had to run its nodes one by one, and why.
func (e *Engine) Explain(f *ir.Function) (string, error) {
	made, err := e.Prepare(f)
	if err != nil {
		return "", err
	}
	p := made.last.Load()
	if p == nil {
		if p, err = made.plan(e.usual()); err != nil {
			return "", err
		}
	}
	return e.fuser.Explain(p.Graph), nil
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
