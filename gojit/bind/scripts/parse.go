package scripts

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
)

// parseDefinition replies the Tree of the one function that a text defines.
func parseDefinition(c *abi.Call) error {
	def, err := syntax.ParseDef(source.NewText("", c.ArgString(0), 1), false)
	if err != nil {
		return err
	}
	tree(c, def.Tree)
	return nil
}

// parseTypeComment replies the declaration that a type comment is.
func parseTypeComment(c *abi.Call) error {
	decl, err := syntax.ParseTypeComment(source.NewText("", c.ArgString(0), 1))
	if err != nil {
		return err
	}
	tree(c, decl.Tree)
	return nil
}

// tree replies a Tree as nested lists: kind, start, end, text, children, as torchjit/frontend.py has them.
func tree(c *abi.Call, t *syntax.Tree) {
	c.Open(abi.KindList, 5)
	c.String(t.Kind.String())
	c.Int(t.Range.Start)
	c.Int(t.Range.End)
	c.String(t.Text)
	c.Open(abi.KindList, len(t.Children))
	for _, child := range t.Children {
		tree(c, child)
	}
}
