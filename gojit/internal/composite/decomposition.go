package composite

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
)

//go:embed decompositions.py
var decompositionText string

// decompositions are the graphs that stand for operators, by overload.
type decompositions struct {
	sync.Mutex
	graphs map[string]*ir.Graph
}

var registered = sync.OnceValue(func() *decompositions {
	d := &decompositions{graphs: map[string]*ir.Graph{}}
	trees, err := syntax.ParseFile(source.NewText("<string>", decompositionText, 1))
	if err != nil {
		panic(fmt.Sprintf("composite: %v", err))
	}
	for name, tree := range map[string]*syntax.Tree{"aten::var.correction": trees[0], aten.Var: trees[1]} {
		def := syntax.AsDef(tree)
		f := ir.NewFunction(def.Name().Name(), nil, nil)
		if err := frontend.Compile(f, def, frontend.Options{Resolver: resolver{nil}, Unit: ir.NewUnit()}); err != nil {
			panic(fmt.Sprintf("composite: %v", err))
		}
		passes.ConstantPooling(f.Graph())
		passes.DCE(f.Graph())
		d.graphs[name] = f.Graph()
	}
	return d
})

// RegisterDecomposition has a graph stand for an operator, given by its name and overload, from now on.
func RegisterDecomposition(overload string, g *ir.Graph) {
	d := registered()
	d.Lock()
	defer d.Unlock()
	d.graphs[overload] = g.Copy()
}

// Decomposition returns the graph that stands for a node's operator, nil where there is none.
func Decomposition(n *ir.Node) *ir.Graph {
	o := n.Operator()
	if o == nil {
		return nil
	}
	d := registered()
	d.Lock()
	defer d.Unlock()
	return d.graphs[o.Schema().QualifiedName()]
}

// RunDecompositions replaces the nodes of a graph that have a decomposition, and simplifies the graph.
func RunDecompositions(g *ir.Graph) {
	decompose(g, g.Block())
	passes.ConstantPropagationWithResults(g)
	passes.Peephole(g)
	passes.ConstantPropagationWithResults(g)
	passes.DCE(g)
}

func decompose(g *ir.Graph, b *ir.Block) {
	for n, next := b.First(), (*ir.Node)(nil); n != nil; n = next {
		next = n.Next()
		for _, inner := range n.Blocks() {
			decompose(g, inner)
		}
		body := Decomposition(n)
		if body == nil {
			continue
		}
		g.SetInsertPoint(n)
		for i, out := range g.InsertGraph(body, n.Inputs()) {
			n.Outputs()[i].ReplaceAllUsesWith(out)
		}
		n.Destroy()
	}
	g.SetInsertEnd(g.Block())
}
