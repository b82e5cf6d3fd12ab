package filecheck

import (
	"strings"
	"testing"
)

const text = "alpha beta\ngamma delta\nalpha epsilon\nzeta\n"

func TestRun(t *testing.T) {
	for _, c := range []struct {
		checks string
		want   string // beginning of the error, "" for none
	}{
		{"# CHECK: alpha\n#CHECK-SAME: beta\n # CHECK-NEXT: gamma\n", ""},
		{"# CHECK: nope", `Expected to find "nope" but did not find it` + "\nSearched string:\nalpha beta\n~~~~ <--- HERE\n"},
		{"# CHECK: gamma\n# CHECK: beta", `Expected to find "beta" but did not find it`},
		{"# CHECK: alpha\n# CHECK-NEXT: zeta", `Expected to not find "\n" but found it`},
		{"# CHECK: alpha\n# CHECK-NEXT: beta", `Expected to find "beta"`},
		{"# CHECK: alpha\n# CHECK-SAME: gamma", `Expected to not find "\n" but found it`},
		{"# CHECK: alpha\n# CHECK-NOT: delta\n# CHECK: epsilon", `Expected to not find "delta" but found it`},
		{"# CHECK-NOT: gamma\n# CHECK: alpha", ""},
		{"# CHECK: zeta\n# CHECK-NOT: alpha", ""},
		{"# CHECK-NOT: zeta", `Expected to not find "zeta" but found it`},
		{"# CHECK-COUNT-2: alpha\n# CHECK: epsilon", ""},
		{"# CHECK-COUNT-3: alpha", `Expected to find "alpha" but did not find it`},
		{"# CHECK-COUNT-EXACTLY-2: alpha", ""},
		{"# CHECK-COUNT-EXACTLY-1: alpha\n# CHECK: zeta", `Expected to not find "alpha" but found it`},
		{"# CHECK-COUNT-EXACTLY-0: alpha", `Expected to not find "alpha" but found it`},
		{"# CHECK-DAG: zeta\n# CHECK-DAG: alpha\n# CHECK-DAG: gamma", ""},
		{"# CHECK-DAG: alpha\n# CHECK-NOT: gamma\n# CHECK-DAG: zeta", `Expected to not find "gamma" but found it`},
		{"# CHECK-DAG: zeta\n# CHECK-DAG: alpha\n# CHECK: alpha", `Expected to find "alpha"`},
		{`# CHECK-REGEX: g\w+a d`, ""},
		{`# CHECK-REGEX: ^x`, "Expected to find a match of"},
		{"nothing", "No checks have been added"},
	} {
		checks, err := Parse(c.checks)
		if err == nil {
			err = Run(checks, text)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.checks, err, c.want)
		}
	}
}

func TestHighlighted(t *testing.T) {
	const marked = "def f():\n    x = foo(bar)\n        ~~~~~~~~ <--- HERE\n"
	for sub, ok := range map[string]bool{"foo(bar)": true, "foo": false, "def": false, "zzz": false, "x = foo(bar)": false, "HERE": false} {
		if err := Run([]Check{{Kind: Highlighted, Text: sub}}, marked); (err == nil) != ok {
			t.Errorf("%q: %v", sub, err)
		}
	}
}

func TestChecksThatCannotBeRead(t *testing.T) {
	for _, bad := range []string{"# CHECK-FOO: a", "# CHECK a", "# CHECK-COUNT: a", "# CHECK-COUNT-x: a", "# CHECK-COUNT-0: a", "# CHECK:a"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
