package mistake

import "testing"

func TestKindsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range All() {
		if k.Title == "" || k.Cure == "" || len(k.phrases) == 0 {
			t.Errorf("%s has no title, cure or phrase", k.Code)
		}
		if seen[k.Code] {
			t.Errorf("%s is there twice", k.Code)
		}
		seen[k.Code] = true
	}
	if len(seen) < 60 {
		t.Errorf("%d kinds", len(seen))
	}
}

func TestPartsFollowEachOther(t *testing.T) {
	for _, c := range []struct{ message, code string }{
		{"'Optional[Tensor]' object has no attribute or method 'float'.", "TJ101"},
		{"'Tensor' object has no attribute or method 'flaot'. 'Optional[", "TJ405"},
		{"y is not defined in the false branch", "TJ103"},
		{"in the false branch y is not defined", ""},
		{"", ""},
	} {
		got := ""
		if k := Of(c.message); k != nil {
			got = k.Code
		}
		if got != c.code {
			t.Errorf("%q: %q, not %q", c.message, got, c.code)
		}
	}
}
