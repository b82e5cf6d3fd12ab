package ir

import "fmt"

// Verify checks the invariants of the graph: uses and inputs agree, every value is defined before
// it is used and visible where it is used, outputs know their node, and names are unique. It
// returns the first violation.
func Verify(g *Graph) error {
	v := &verifier{g: g, inScope: map[*Value]bool{}, names: map[string]*Value{}}
	return v.block(g.block)
}

type verifier struct {
	g       *Graph
	inScope map[*Value]bool
	names   map[string]*Value
}

func (v *verifier) block(b *Block) error {
	var defined []*Value
	define := func(vs []*Value) error {
		for _, x := range vs {
			if other := v.names[x.Name()]; other != nil && other != x {
				return fmt.Errorf("two values are called %%%s", x.Name())
			}
			v.names[x.Name()] = x
			v.inScope[x] = true
			defined = append(defined, x)
		}
		return nil
	}
	if err := define(b.Inputs()); err != nil {
		return err
	}
	last := int64(0)
	for n := b.First(); n != nil; n = n.Next() {
		if n.block != b || n.graph != v.g {
			return fmt.Errorf("%s is linked into a block that it does not know", n.kind)
		}
		if n.position <= last {
			return fmt.Errorf("the position of %s is not behind its predecessor's", n.kind)
		}
		last = n.position
		if err := v.node(n); err != nil {
			return err
		}
		for _, inner := range n.blocks {
			if inner.owner != n {
				return fmt.Errorf("a block of %s does not know its owner", n.kind)
			}
			if err := v.block(inner); err != nil {
				return err
			}
		}
		if err := define(n.outputs); err != nil {
			return err
		}
	}
	if err := v.node(b.ret); err != nil {
		return err
	}
	for _, x := range defined {
		delete(v.inScope, x)
	}
	return nil
}

func (v *verifier) node(n *Node) error {
	for i, in := range n.inputs {
		if !v.inScope[in] {
			return fmt.Errorf("%s uses %%%s, which is not defined there", n.kind, in.Name())
		}
		count := 0
		for _, u := range in.uses {
			if u.User == n && u.Index == i {
				count++
			}
		}
		if count != 1 {
			return fmt.Errorf("input %d of %s, %%%s, has %d uses for it", i, n.kind, in.Name(), count)
		}
	}
	for i, out := range n.outputs {
		if out.node != n || out.offset != i {
			return fmt.Errorf("output %d of %s does not know its producer", i, n.kind)
		}
		for _, u := range out.uses {
			if u.User.graph != v.g || u.Index >= len(u.User.inputs) || u.User.inputs[u.Index] != out {
				return fmt.Errorf("%%%s has a use that is none", out.Name())
			}
		}
	}
	return nil
}
