package fuse

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// reasons are why the nodes of groups ran one by one, by the place of the group.
var reasons = struct {
	mu sync.Mutex
	of map[source.Range][]string
}{of: map[source.Range][]string{}}

// Bounds of what is kept: places, and reasons for each.
const (
	mostPlaces  = 1024
	mostReasons = 8
)

// keep notes a reason for Explain.
func keep(place source.Range, why string) {
	reasons.mu.Lock()
	defer reasons.mu.Unlock()
	known, ok := reasons.of[place]
	if !ok && len(reasons.of) == mostPlaces || len(known) == mostReasons || slices.Contains(known, why) {
		return
	}
	reasons.of[place] = append(known, why)
}

// Explain returns the graph that runs for a function, and for each group of elementwise nodes in it whether calls had to run its nodes
// one by one, and why. Functions that it calls are not looked at.
func Explain(f *ir.Function) (string, error) {
	g, err := Graph(f)
	if err != nil || g == nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(g.String())
	count := 0
	explainBlock(&b, g.Block(), &count)
	if count == 0 {
		b.WriteString("no group of elementwise operators\n")
	}
	return b.String(), nil
}

func explainBlock(b *strings.Builder, block *ir.Block, count *int) {
	for n := block.First(); n != nil; n = n.Next() {
		if n.Kind() != interp.GroupKind {
			for _, inner := range n.Blocks() {
				explainBlock(b, inner, count)
			}
			continue
		}
		*count++
		fmt.Fprintf(b, "group %d%s: %d operators as one kernel\n", *count, placeOf(n.Range), len(n.Blocks()[0].Nodes()))
		reasons.mu.Lock()
		for _, why := range reasons.of[n.Range] {
			fmt.Fprintf(b, "    ran one by one: %s\n", why)
		}
		reasons.mu.Unlock()
	}
}

// placeOf returns where a node is from, as words that follow its name.
func placeOf(r source.Range) string {
	if file, line, _, ok := r.FileLineCol(); ok {
		return fmt.Sprintf(" (%s:%d)", file, line)
	}
	return ""
}
