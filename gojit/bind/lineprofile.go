package bind

import (
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// lineProfileFunctions keep the profiles of torch.jit._ScriptProfile, by number.
var lineProfileFunctions = []function{
	{schema: "line_profile_new() -> int", run: lineProfileNew},
	{schema: "line_profile_enable(int profile, bool on) -> None", run: lineProfileEnable},
	{schema: "line_profile_read(int profile) -> list", run: lineProfileRead},
	{schema: "line_profile_drop(int profile) -> None", run: lineProfileDrop},
}

var (
	lineProfiles    = map[int]*interp.LineProfile{}
	lastLineProfile int
)

func lineProfileNew(c *call) error {
	lastLineProfile++
	lineProfiles[lastLineProfile] = &interp.LineProfile{}
	c.int(lastLineProfile)
	return nil
}

func (c *call) lineProfile() (*interp.LineProfile, error) {
	p := lineProfiles[int(c.arg(0).int())]
	if p == nil {
		return nil, runtimeErrorf("no profile has the number %d", c.arg(0).int())
	}
	return p, nil
}

func lineProfileEnable(c *call) error {
	p, err := c.lineProfile()
	if err != nil {
		return err
	}
	engine.CountLines(p, c.argBool(1))
	c.none()
	return nil
}

// lineProfileRead replies for each text what it is, the number of its first line, and for each line that ran its number, how many nodes ran and
// the nanoseconds.
func lineProfileRead(c *call) error {
	p, err := c.lineProfile()
	if err != nil {
		return err
	}
	if engine.CountsLines(p) {
		return runtimeErrorf("Only disabled profilers are allowed to dump stats.")
	}
	n := 0
	p.Each(func(*source.Text, map[int]*interp.LineCount) { n++ })
	c.open(kindList, n)
	p.Each(func(t *source.Text, lines map[int]*interp.LineCount) {
		c.open(kindTuple, 3)
		c.string(t.Body)
		c.int(t.FirstLine)
		c.open(kindList, len(lines))
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			c.open(kindTuple, 3)
			c.int(t.FirstLine + line)
			c.int(lines[line].Hits)
			c.int64(lines[line].Time.Nanoseconds())
		}
	})
	return nil
}

func lineProfileDrop(c *call) error {
	p, err := c.lineProfile()
	if err != nil {
		return err
	}
	engine.CountLines(p, false)
	delete(lineProfiles, int(c.arg(0).int()))
	c.none()
	return nil
}
