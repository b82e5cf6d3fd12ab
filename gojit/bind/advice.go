package bind

import (
	"cmp"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/mistake"
)

// adviceFunctions tell what people should know about errors that Python raises.
var adviceFunctions = []function{
	{schema: "mistakes() -> list", doc: "The kinds of common mistakes by their codes: code, title, cure, and more about it as Markdown.", run: mistakes},
	{schema: "advice(str message) -> str?", doc: "The code and the cure of the common mistake that a message tells of, None where it is none.", run: advice},
}

func advice(c *call) error {
	if k := mistake.Of(c.argString(0)); k != nil {
		c.string(k.Note())
		return nil
	}
	c.none()
	return nil
}

func mistakes(c *call) error {
	kinds := slices.SortedFunc(slices.Values(mistake.All()), func(a, b *mistake.Kind) int { return cmp.Compare(a.Code, b.Code) })
	c.open(kindList, len(kinds))
	for _, k := range kinds {
		c.open(kindTuple, 4)
		for _, text := range []string{k.Code, k.Title, k.Cure, k.Page} {
			c.string(text)
		}
	}
	return nil
}
