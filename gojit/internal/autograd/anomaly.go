package autograd

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Anomaly is what happens while nodes are looked at for anomalies.
type Anomaly struct {
	CheckNaN bool          // a derivative that gives NaN fails
	Place    func() string // where the program is; kept with every node
	// Report tells which node's derivative failed. created is its place, "" where it is not known; induced says that
	// the node before was made while this one was differentiated.
	Report func(node, created string, induced bool)
}

// anomaly is nil where nothing is looked for.
var anomaly atomic.Pointer[Anomaly]

// SetAnomaly begins to look for anomalies, in all threads, or ends it: nil.
func SetAnomaly(a *Anomaly) { anomaly.Store(a) }

// CurrentAnomaly returns what SetAnomaly set.
func CurrentAnomaly() *Anomaly { return anomaly.Load() }

// origin is where a node was made, and while which other one was differentiated.
type origin struct {
	place  string
	parent *Node
}

// remember keeps where the node was made.
func (n *Node) remember(m *Mode) {
	if a := anomaly.Load(); a != nil {
		n.rarely().origin = &origin{a.Place(), m.differentiated}
	}
}

// watch runs the derivative of a node; where it fails, the node is reported with those that it was made by.
func (p *pass) watch(n *Node, run func()) {
	a := anomaly.Load()
	if a == nil {
		run()
		return
	}
	m := p.emitter.mode
	before := m.differentiated
	m.differentiated = n
	defer func() {
		m.differentiated = before
		failure := recover()
		if failure == nil {
			return
		}
		for at, induced := n, false; at != nil; induced = true {
			o := at.rarely().origin
			if o == nil {
				a.Report(at.name, "", induced)
				break
			}
			a.Report(at.name, o.place, induced)
			at = o.parent
		}
		panic(failure)
	}()
	run()
}

// checkNaN fails where a gradient that a node gave has a NaN in it.
func (n *Node) checkNaN(given [][]*tensor.Tensor) {
	if a := anomaly.Load(); a == nil || !a.CheckNaN {
		return
	}
	for i, g := range given {
		if g == nil || g[0] == nil || !g[0].DType().IsDifferentiable() {
			continue
		}
		if nan := do(unrecorded(), "any", do(unrecorded(), "isnan", g[0])); must(nan.Item()).Bool() {
			fail("Function '%s' returned nan values in its %dth output.", n.name, i)
		}
	}
}
