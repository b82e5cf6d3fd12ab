package bind

import (
	"cmp"
	"slices"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/mistake"
)

// adviceFunctions tell what people should know about errors that Python raises.
var adviceFunctions = []abi.Function{
	{Schema: "mistakes() -> list", Doc: "The kinds of common mistakes by their codes: code, title, cure, and more about it as Markdown.", Run: mistakes},
	{Schema: "advice(str message) -> str?", Doc: "The code and the cure of the common mistake that a message tells of, None where it is none.", Run: advice},
}

func advice(c *abi.Call) error {
	if k := mistake.Of(c.ArgString(0)); k != nil {
		c.String(k.Note())
		return nil
	}
	c.None()
	return nil
}

func mistakes(c *abi.Call) error {
	kinds := slices.SortedFunc(slices.Values(mistake.All()), func(a, b *mistake.Kind) int { return cmp.Compare(a.Code, b.Code) })
	c.Open(abi.KindList, len(kinds))
	for _, k := range kinds {
		c.Open(abi.KindTuple, 4)
		for _, text := range []string{k.Code, k.Title, k.Cure, k.Page} {
			c.String(text)
		}
	}
	return nil
}
