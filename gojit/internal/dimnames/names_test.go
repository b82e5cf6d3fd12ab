package dimnames

import (
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

func TestUnify(t *testing.T) {
	for _, c := range []struct {
		a, b, want []string
		fails      bool
	}{
		{[]string{"N", "C"}, []string{"C"}, []string{"N", "C"}, false},
		{[]string{"N", ""}, []string{"", "C"}, []string{"N", "C"}, false},
		{[]string{"N", "C"}, []string{"C", "N"}, nil, true},
		{[]string{"N", "C"}, []string{"C", "", "", ""}, nil, true},
		{nil, []string{"N"}, []string{"N"}, false},
	} {
		var got []string
		err := func() (err error) {
			defer source.Catch(&err)
			got = unify(c.a, c.b, "broadcast")
			return nil
		}()
		if (err != nil) != c.fails || !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, got, err)
		}
	}
}

func TestNamesAreIdentifiers(t *testing.T) {
	for name, fails := range map[string]bool{"N": false, "_1": false, "1": true, "a b": true, "": true, "*": false} {
		err := func() (err error) {
			defer source.Catch(&err)
			named(name)
			return nil
		}()
		if (err != nil) != fails {
			t.Errorf("%q: %v", name, err)
		}
	}
}
