package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
)

// parseDefinition replies the Tree of the one function that a text defines.
func parseDefinition(c *call) error {
	def, err := syntax.ParseDef(source.NewText("", c.argString(0), 1), false)
	if err != nil {
		return err
	}
	c.tree(def.Tree)
	return nil
}

// parseTypeComment replies the declaration that a type comment is.
func parseTypeComment(c *call) error {
	decl, err := syntax.ParseTypeComment(source.NewText("", c.argString(0), 1))
	if err != nil {
		return err
	}
	c.tree(decl.Tree)
	return nil
}

// tree replies a Tree as nested lists: kind, start, end, text, children, as torchjit/frontend.py has them.
func (c *call) tree(t *syntax.Tree) {
	c.open(kindList, 5)
	c.string(t.Kind.String())
	c.int(t.Range.Start)
	c.int(t.Range.End)
	c.string(t.Text)
	c.open(kindList, len(t.Children))
	for _, child := range t.Children {
		c.tree(child)
	}
}
