package fuse

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// reasons are why the nodes of regions ran one by one, by the place of the region.
type reasons struct {
	mu sync.Mutex
	of map[source.Range][]string
}

// Bounds of what is kept: places, and reasons for each.
const (
	mostPlaces  = 1024
	mostReasons = 8
)

// add notes a reason for a place.
func (r *reasons) add(place source.Range, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.of[place]
	if !ok && len(r.of) == mostPlaces || len(known) == mostReasons || slices.Contains(known, why) {
		return
	}
	if r.of == nil {
		r.of = map[source.Range][]string{}
	}
	r.of[place] = append(known, why)
}

// at returns the reasons of a place.
func (r *reasons) at(place source.Range) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[place]
}

// logging says whether GOJIT_LOG asks for what the fuser does.
var logging = slices.Contains(strings.Split(os.Getenv("GOJIT_LOG"), ","), "fuser")

// tell notes why the nodes run one by one, for Explain and the log.
func (r *runner) tell(why string) { r.fuser.Tell(r.node, why) }

// Tell notes why the nodes of a region ran one by one, for Explain and the log.
func (f *Fuser) Tell(n *ir.Node, why string) {
	f.reasons.add(n.Range, why)
	if logging {
		fmt.Fprintf(os.Stderr, "fuser: %s: the nodes run one by one: %s\n", n.Range, why)
	}
}

// Explain returns the text of a graph that runs, and for each region in it whether calls had to run its nodes one by one, and why; of those that run
// by plans also what planOf says. Functions that it calls are not looked at.
func (f *Fuser) Explain(g *ir.Graph, planOf func(*ir.Node) string) string {
	var b strings.Builder
	b.WriteString(g.String())
	count := 0
	f.explain(&b, g.Block(), planOf, &count)
	if count == 0 {
		b.WriteString("no group of elementwise operators\n")
	}
	return b.String()
}

func (f *Fuser) explain(b *strings.Builder, block *ir.Block, planOf func(*ir.Node) string, count *int) {
	for n := block.First(); n != nil; n = n.Next() {
		if n.Kind() != interp.GroupKind {
			for _, inner := range n.Blocks() {
				f.explain(b, inner, planOf, count)
			}
			continue
		}
		*count++
		how, plan := "as one kernel", ""
		if _, planned := n.Attr(interp.PlannedAttr); planned {
			how, plan = "by one plan", planOf(n)
		}
		fmt.Fprintf(b, "group %d%s: %d operators %s\n%s", *count, placeOf(n.Range), len(n.Blocks()[0].Nodes()), how, plan)
		if plan != "" {
			continue // it says why itself
		}
		for _, why := range f.reasons.at(n.Range) {
			fmt.Fprintf(b, "    ran one by one: %s\n", why)
		}
	}
}

// placeOf returns where a node is from, as words that follow its name.
func placeOf(r source.Range) string {
	if file, line, _, ok := r.FileLineCol(); ok {
		return fmt.Sprintf(" (%s:%d)", file, line)
	}
	return ""
}
