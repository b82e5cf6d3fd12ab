package bind

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/filecheck"
)

// fileCheckMembers serve torch.testing.FileCheck.
var fileCheckMembers = []function{
	{schema: "_C._filecheck_run(list checks, str text) -> None", doc: "Fails with the first check (kind, text, count) that does not hold for a text.", run: runFileCheck},
	{schema: "_C._filecheck_parse(str text) -> list", doc: "The checks in a text's comments.", run: parseFileCheck},
	{schema: "_C._filecheck_count(str text, int count, bool exactly) -> list", doc: "The checks that a text occurs a number of times.", run: countFileCheck},
}

func runFileCheck(c *call) error {
	var checks []filecheck.Check
	for w := range c.arg(0).items {
		f := w.fields()
		checks = append(checks, filecheck.Check{Kind: filecheck.Kind(strings.Clone(f[0].text())), Text: strings.Clone(f[1].text()), Count: int(f[2].int())})
	}
	if err := filecheck.Run(checks, c.argText(1)); err != nil {
		return runtimeErrorf("%s", err)
	}
	c.none()
	return nil
}

func parseFileCheck(c *call) error { return c.fileChecks(filecheck.Parse(c.argString(0))) }

func countFileCheck(c *call) error {
	return c.fileChecks(filecheck.CountChecks(c.argString(0), c.argInt(1), c.argBool(2)))
}

func (c *call) fileChecks(checks []filecheck.Check, err error) error {
	if err != nil {
		return runtimeErrorf("%s", err)
	}
	c.open(kindList, len(checks))
	for _, x := range checks {
		c.open(kindTuple, 3)
		c.string(string(x.Kind))
		c.string(x.Text)
		c.int(x.Count)
	}
	return nil
}
