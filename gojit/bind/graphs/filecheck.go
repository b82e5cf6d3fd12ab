package graphs

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/filecheck"
)

// fileCheckMembers serve torch.testing.FileCheck.
var fileCheckMembers = []abi.Function{
	{Schema: "_C._filecheck_run(list checks, str text) -> None", Doc: "Fails with the first check (kind, text, count) that does not hold for a text.", Run: runFileCheck},
	{Schema: "_C._filecheck_parse(str text) -> list", Doc: "The checks in a text's comments.", Run: parseFileCheck},
	{Schema: "_C._filecheck_count(str text, int count, bool exactly) -> list", Doc: "The checks that a text occurs a number of times.", Run: countFileCheck},
}

func runFileCheck(c *abi.Call) error {
	var checks []filecheck.Check
	for w := range c.Arg(0).Items {
		f := w.Fields()
		checks = append(checks, filecheck.Check{Kind: filecheck.Kind(strings.Clone(f[0].Text())), Text: strings.Clone(f[1].Text()), Count: int(f[2].Int())})
	}
	if err := filecheck.Run(checks, c.ArgText(1)); err != nil {
		return abi.RuntimeErrorf("%s", err)
	}
	c.None()
	return nil
}

func parseFileCheck(c *abi.Call) error {
	checks, err := filecheck.Parse(c.ArgString(0))
	return writeFileChecks(c, checks, err)
}

func countFileCheck(c *abi.Call) error {
	checks, err := filecheck.CountChecks(c.ArgString(0), c.ArgInt(1), c.ArgBool(2))
	return writeFileChecks(c, checks, err)
}

func writeFileChecks(c *abi.Call, checks []filecheck.Check, err error) error {
	if err != nil {
		return abi.RuntimeErrorf("%s", err)
	}
	c.Open(abi.KindList, len(checks))
	for _, x := range checks {
		c.Open(abi.KindTuple, 3)
		c.String(string(x.Kind))
		c.String(x.Text)
		c.Int(x.Count)
	}
	return nil
}
