package golden

import "testing"

func TestExpectations(t *testing.T) {
	got := Expectations(t, "a\nb = 1  # ERROR \"expected .* \\\"x\\\"\"\n")
	if len(got) != 1 || got[0].Line != 2 || !got[0].Pattern.MatchString(`expected an "x"`) {
		t.Errorf("got %v", got)
	}
}

func TestRun(t *testing.T) {
	Run(t, "testdata/*.txtar", func(t *testing.T, c *Case) {
		c.Check("out/same", c.Input("in.py"))
		if c.Has("out/missing") {
			t.Error("a section that is not there is found")
		}
	})
}
