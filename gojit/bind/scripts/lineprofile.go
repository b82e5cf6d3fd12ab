package scripts

import (
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// lineProfileFunctions keep the profiles of torch.jit._ScriptProfile, by number.
var lineProfileFunctions = []abi.Function{
	{Schema: "line_profile_new() -> int", Run: lineProfileNew},
	{Schema: "line_profile_enable(int profile, bool on) -> None", Run: lineProfileEnable},
	{Schema: "line_profile_read(int profile) -> list", Run: lineProfileRead},
	{Schema: "line_profile_drop(int profile) -> None", Run: lineProfileDrop},
}

var (
	lineProfiles    = map[int]*interp.LineProfile{}
	lastLineProfile int
)

func lineProfileNew(c *abi.Call) error {
	lastLineProfile++
	lineProfiles[lastLineProfile] = &interp.LineProfile{}
	c.Int(lastLineProfile)
	return nil
}

func lineProfile(c *abi.Call) (*interp.LineProfile, error) {
	p := lineProfiles[int(c.Arg(0).Int())]
	if p == nil {
		return nil, abi.RuntimeErrorf("no profile has the number %d", c.Arg(0).Int())
	}
	return p, nil
}

func lineProfileEnable(c *abi.Call) error {
	p, err := lineProfile(c)
	if err != nil {
		return err
	}
	Engine.CountLines(p, c.ArgBool(1))
	c.None()
	return nil
}

// lineProfileRead replies for each text what it is, the number of its first line, and for each line that ran its number, how many nodes ran and
// the nanoseconds.
func lineProfileRead(c *abi.Call) error {
	p, err := lineProfile(c)
	if err != nil {
		return err
	}
	if Engine.CountsLines(p) {
		return abi.RuntimeErrorf("Only disabled profilers are allowed to dump stats.")
	}
	n := 0
	p.Each(func(*source.Text, map[int]*interp.LineCount) { n++ })
	c.Open(abi.KindList, n)
	p.Each(func(t *source.Text, lines map[int]*interp.LineCount) {
		c.Open(abi.KindTuple, 3)
		c.String(t.Body)
		c.Int(t.FirstLine)
		c.Open(abi.KindList, len(lines))
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			c.Open(abi.KindTuple, 3)
			c.Int(t.FirstLine + line)
			c.Int(lines[line].Hits)
			c.Int64(lines[line].Time.Nanoseconds())
		}
	})
	return nil
}

func lineProfileDrop(c *abi.Call) error {
	p, err := lineProfile(c)
	if err != nil {
		return err
	}
	Engine.CountLines(p, false)
	delete(lineProfiles, int(c.Arg(0).Int()))
	c.None()
	return nil
}
