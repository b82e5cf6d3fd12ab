package exec_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/exec"
)

func TestFactsOfPlans(t *testing.T) {
	for text, want := range map[string]exec.Facts{
		"def f(x):\n    return x\n":                                            {Brief: true, Light: true},
		"def f(x, n: int):\n    return x, n + 1\n":                             {Brief: true, Light: true},
		"def f(x):\n    return x + 1\n":                                        {Brief: true},
		"def f(x):\n    for i in range(3):\n        x = x + i\n    return x\n": {},
		"def g(x):\n    return x + 1\ndef f(x):\n    return g(x)\n":            {},
	} {
		p, err := gojit.Compile("f.py", text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := exec.New(exec.Options{}).Function(p.Function("f")).Next(false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Facts != want {
			t.Errorf("%s: %+v, expected %+v", text, plan.Facts, want)
		}
	}
}
