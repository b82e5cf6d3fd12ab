package mistake

import (
	"slices"
	"strings"
	"testing"
)

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

// What is found is the first kind of the table, wherever its phrase stands in the message.
func TestTheFirstKindOfTheTableIsFound(t *testing.T) {
	firstOf := func(message string) *Kind {
		i := slices.IndexFunc(All(), func(k *Kind) bool {
			return slices.ContainsFunc(k.phrases, func(parts []string) bool { return follow(message, parts) })
		})
		return All()[i]
	}
	for _, k := range All() {
		for _, parts := range k.phrases {
			message := strings.Join(parts, " x ")
			for _, text := range []string{message, "é" + message + "é", "builtins. " + message, message + " builtins."} {
				if got, want := Of(text), firstOf(text); got != want {
					t.Errorf("%q: %v, expected %v", text, got, want)
				}
			}
		}
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		if Of("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)").Code != "TJ501" {
			b.Fatal()
		}
	}
}
