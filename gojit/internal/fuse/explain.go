package fuse

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

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

// tell notes why the nodes run one by one, for Reasons and the log.
func (r *runner) tell(why string) { r.fuser.Tell(r.node, why) }

// Tell notes why the nodes of a region ran one by one, for Reasons and the log.
func (f *Fuser) Tell(n *ir.Node, why string) {
	f.reasons.add(n.Range, why)
	if logging {
		fmt.Fprintf(os.Stderr, "fuser: %s: the nodes run one by one: %s\n", n.Range, why)
	}
}

// Reasons returns why calls ran the nodes of a region one by one so far.
func (f *Fuser) Reasons(n *ir.Node) []string { return f.reasons.at(n.Range) }
