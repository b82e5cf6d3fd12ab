package freeze

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// check fails where a method of the class that stays uses what is left.
func (l Left) check(class *types.Class) error {
	for _, name := range class.MethodNames() {
		m, ok := class.FindMethod(name).(*ir.Function)
		if !ok || slices.Contains(l.Methods, name) {
			continue
		}
		if err := m.EnsureDefined(); err != nil {
			return err
		}
		if used := usedOf(m.Graph(), prim.CallMethod, l.Methods); used != "" {
			return source.Errorf(source.RuntimeError, source.Range{}, "Preserved method '%s' references ignored method(s) '%s'. This is not permitted.", name, used)
		}
		if used := usedOf(m.Graph(), prim.GetAttr, l.Attributes); used != "" {
			return source.Errorf(source.RuntimeError, source.Range{}, "Preserved method '%s' references ignored attribute(s) '%s'. This is not permitted.", name, used)
		}
	}
	return nil
}

// usedOf lists, in order, which of names the nodes of a kind have of the graph's first parameter: "self.a, self.b".
func usedOf(g *ir.Graph, kind string, names []string) string {
	var used []string
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != kind || len(g.Inputs()) == 0 || n.Input(0) != g.Inputs()[0] {
			return
		}
		if name := n.StringAttr("name"); slices.Contains(names, name) && !slices.Contains(used, "self."+name) {
			used = append(used, "self."+name)
		}
	})
	slices.Sort(used)
	return strings.Join(used, ", ")
}

// leaveAttributes takes the attributes that are left out of the class of the root and out of its objects.
func (c *ClonedModule) leaveAttributes() {
	class := c.Root.Class
	var kept []types.Attribute
	var slots []int
	for i, a := range class.Attributes {
		if !slices.Contains(c.options.Left.Attributes, a.Name) {
			kept, slots = append(kept, a), append(slots, i)
		}
	}
	class.Attributes = kept
	for _, o := range c.Modules {
		if o.Class == class {
			o.Slots = pick(o.Slots, slots)
		}
	}
}

func pick(from []value.Value, indices []int) []value.Value {
	picked := make([]value.Value, len(indices))
	for i, k := range indices {
		picked[i] = from[k]
	}
	return picked
}
