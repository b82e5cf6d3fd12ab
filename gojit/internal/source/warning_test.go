package source

import "testing"

func TestWarnOnce(t *testing.T) {
	before := *warner.Load()
	defer OnWarn(before)
	var seen []string
	OnWarn(func(message string, at Range) error {
		seen = append(seen, message)
		return nil
	})
	for range 2 {
		if err := WarnOnce("a test warns"); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 1 {
		t.Errorf("warned of %q", seen)
	}
	SetWarnAlways(true)
	defer SetWarnAlways(false)
	if err := WarnOnce("a test warns"); err != nil || len(seen) != 2 {
		t.Errorf("%v: warned of %q", err, seen)
	}
}
