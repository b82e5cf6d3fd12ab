package parity

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// DedupModuleUses gives each call of a submodule in a module's methods a submodule of its own: from the second call on, the submodule is a copy,
// an attribute beside the first. The class of the module that holds it is changed.
//
//	%a = prim::GetAttr[name="relu"](%self)     -- the second one
//	%a = prim::GetAttr[name="relu_0"](%self)   -- afterwards
//
// duplicate copies a submodule.
func DedupModuleUses(module *value.Object, graphs []*ir.Graph, duplicate func(*value.Object) (*value.Object, error)) error {
	d := &useDeduper{module: module, seen: map[*value.Object]bool{}}
	for _, g := range graphs {
		if err := d.find(g); err != nil {
			return err
		}
	}
	for _, use := range d.again {
		if err := d.rewrite(use, duplicate); err != nil {
			return err
		}
	}
	return nil
}

type moduleUse struct {
	value *ir.Value
	path  []string
}

type useDeduper struct {
	module *value.Object
	seen   map[*value.Object]bool
	again  []moduleUse // of submodules that have been called before
}

func (d *useDeduper) find(g *ir.Graph) error {
	blocks := []*ir.Block{g.Block()}
	for len(blocks) > 0 {
		b := blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		for n := b.First(); n != nil; n = n.Next() {
			blocks = append(blocks, n.Blocks()...)
			if n.Kind() != prim.CallMethod {
				continue
			}
			path := attributePath(n.Input(0), g.Inputs()[0])
			if len(path) == 0 {
				continue
			}
			o, err := submodule(d.module, path)
			if err != nil {
				return err
			}
			if d.seen[o] {
				d.again = append(d.again, moduleUse{n.Input(0), path})
			}
			d.seen[o] = true
		}
	}
	return nil
}

// attributePath returns the names of the attributes that lead from self to v, none where v is reached in another way.
func attributePath(v, self *ir.Value) []string {
	var path []string
	for ; v != self; v = v.Node().Input(0) {
		if v.Node().Kind() != prim.GetAttr {
			return nil
		}
		path = append(path, v.Node().StringAttr("name"))
	}
	slices.Reverse(path)
	return path
}

func submodule(o *value.Object, path []string) (*value.Object, error) {
	for _, name := range path {
		v, ok := o.Attr(name)
		if !ok || v.Kind() != value.KindObject {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "'%s' object has no submodule '%s'", o.Class.Name, name)
		}
		o = v.Object()
	}
	return o, nil
}

func (d *useDeduper) rewrite(use moduleUse, duplicate func(*value.Object) (*value.Object, error)) error {
	last := len(use.path) - 1
	holder, err := submodule(d.module, use.path[:last])
	if err != nil {
		return err
	}
	original, err := submodule(holder, use.path[last:])
	if err != nil {
		return err
	}
	copied, err := duplicate(original)
	if err != nil {
		return err
	}
	name := use.path[last]
	for i := 0; holder.Class.AttributeIndex(name) >= 0; i++ {
		name = fmt.Sprintf("%s_%d", use.path[last], i)
	}
	holder.Complete()
	holder.Class.AddAttribute(types.Attribute{Name: name, Type: copied.Class})
	holder.Slots = append(holder.Slots, value.OfObject(copied))
	use.value.Node().SetAttr("name", name)
	return nil
}
