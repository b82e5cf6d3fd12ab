package ir

// NodePool is memory for the nodes and values of graphs that are made one after the other. More than half of the nodes
// of a function are loads and stores, which are gone when its graph is finished; the next graph is made of them.
type NodePool struct {
	slabs  slabs // what is left of the last graph's
	nodes  []*Node
	values []*Value

	// Those of the graph that uses the memory. They keep what they say about themselves until it gives them back.
	deadNodes  []*Node
	deadValues []*Value
}

// NewGraphFrom is NewGraph of a graph that takes memory from s, nil for none, until Recycle.
func NewGraphFrom(s *NodePool) *Graph {
	g := &Graph{names: make(map[string]*nameSet, 16), spare: s}
	if s != nil {
		g.slabs, s.slabs = s.slabs, slabs{}
	}
	g.block = g.newBlock(nil)
	g.insertPoint = g.block.ret
	return g
}

// Recycle ends the use of the memory that the graph was made from and returns it, with that of the nodes and values
// that have been destroyed meanwhile. Nothing may refer to those any more.
func (g *Graph) Recycle() *NodePool {
	s := g.spare
	g.spare = nil
	s.slabs, g.slabs = g.slabs, slabs{}
	for _, n := range s.deadNodes {
		clear(n.inputs[:cap(n.inputs)])
		clear(n.outputs[:cap(n.outputs)])
		*n = Node{inputs: n.inputs[:0], outputs: n.outputs[:0]}
	}
	for _, v := range s.deadValues {
		clear(v.uses[:cap(v.uses)])
		*v = Value{uses: v.uses[:0]}
	}
	s.nodes, s.values = append(s.nodes, s.deadNodes...), append(s.values, s.deadValues...)
	clear(s.deadNodes)
	clear(s.deadValues)
	s.deadNodes, s.deadValues = s.deadNodes[:0], s.deadValues[:0]
	return s
}

func (s *NodePool) node() *Node {
	if s == nil {
		return nil
	}
	return pop(&s.nodes)
}

func (s *NodePool) value() *Value {
	if s == nil {
		return nil
	}
	return pop(&s.values)
}

func pop[T any](from *[]*T) *T {
	last := len(*from) - 1
	if last < 0 {
		return nil
	}
	x := (*from)[last]
	(*from)[last] = nil
	*from = (*from)[:last]
	return x
}

func (s *NodePool) destroyed(n *Node) {
	if s != nil {
		s.deadNodes = append(s.deadNodes, n)
	}
}

func (s *NodePool) erased(v *Value) {
	if s != nil {
		s.deadValues = append(s.deadValues, v)
	}
}

// room returns an empty slice with room for n values: the one that a node has from before where it is long enough.
func (g *Graph) room(had []*Value, n int) []*Value {
	if cap(had) >= n {
		return had[:0]
	}
	return g.slabs.refs.many(n)
}
