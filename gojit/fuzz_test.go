package gojit_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"

	"golang.org/x/tools/txtar"
)

// languagePrograms returns the functions of testdata/language, accepted and rejected ones.
func languagePrograms(tb testing.TB) []string {
	data, err := os.ReadFile("testdata/language/rejected.py")
	if err != nil {
		tb.Fatal(err)
	}
	programs := strings.Split(string(data), "\n\n\n")
	paths, err := filepath.Glob("testdata/language/*.txtar")
	if err != nil || len(paths) == 0 {
		tb.Fatal("no programs: ", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		programs = append(programs, strings.Split(string(archive.Files[0].Data), "\n\n")...)
	}
	return programs
}

// compileAny compiles a text that may be no program: it must not panic; what compiles must verify and
// lower, what does not must say where and why.
func compileAny(t *testing.T, text string) {
	p, err := gojit.Compile("fuzz.py", text)
	if err != nil {
		var e *source.Error
		if !errors.As(err, &e) || strings.TrimSpace(e.Text) == "" {
			t.Fatalf("%T without a message: %v in\n%s", err, err, text)
		}
		_ = err.Error()
		return
	}
	engine := exec.New(exec.Options{Watch: func(f *ir.Function, step string, g *ir.Graph) {
		if err := ir.Verify(g); err != nil {
			t.Fatalf("after %q: %v in\n%s\nof\n%s", step, err, g, text)
		}
	}})
	for _, f := range p.Unit.Functions() {
		if err := ir.Verify(f.Graph()); err != nil {
			t.Fatalf("%v in\n%s\nof\n%s", err, f.Graph(), text)
		}
		if _, err := engine.Code(f, nil); err != nil {
			t.Fatalf("%v in\n%s\nof\n%s", err, f.Graph(), text)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, program := range languagePrograms(f) {
		f.Add(program)
	}
	f.Fuzz(compileAny)
}

var tokenPattern = regexp.MustCompile(`"[^"\n]*"|\w+|\n *|[-+*/<>=!]=|\*\*|//|<<|>>|->|[^\w\s]| +`)

// mutate exchanges, drops, doubles and moves tokens of a program for those of others.
func mutate(r *rand.Rand, programs [][]string) string {
	tokens := append([]string(nil), programs[r.IntN(len(programs))]...)
	for range 1 + r.IntN(6) {
		other := programs[r.IntN(len(programs))]
		if len(tokens) == 0 || len(other) == 0 {
			break
		}
		i, j := r.IntN(len(tokens)), r.IntN(len(other))
		switch r.IntN(5) {
		case 0:
			tokens[i] = other[j]
		case 1:
			tokens = append(tokens[:i], tokens[i+1:]...)
		case 2: // a run of tokens
			end := min(len(other), j+1+r.IntN(12))
			tokens = append(tokens[:i:i], append(append([]string(nil), other[j:end]...), tokens[i:]...)...)
		case 3:
			k := r.IntN(len(tokens))
			tokens[i], tokens[k] = tokens[k], tokens[i]
		case 4:
			tokens[i] += tokens[i]
		}
	}
	return strings.Join(tokens, "")
}

func FuzzMutatedPrograms(f *testing.F) {
	var programs [][]string
	for _, program := range languagePrograms(f) {
		programs = append(programs, tokenPattern.FindAllString(program, -1))
	}
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range 50 {
			compileAny(t, mutate(r, programs))
		}
	})
}
