package syntax

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

func printTrees(trees []*Tree) string {
	var b strings.Builder
	for _, t := range trees {
		b.WriteString(t.String() + "\n")
	}
	return b.String()
}

// TestTrees prints the Trees of testdata/trees; in.py is Python, archive.py the code of an archive.
func TestTrees(t *testing.T) {
	golden.Run(t, "testdata/trees/*.txtar", func(t *testing.T, c *golden.Case) {
		name, parse := "in.py", ParseFile
		if c.Has("archive.py") {
			name, parse = "archive.py", ParseArchive
		}
		trees, err := parse(source.NewText(name, c.Input(name), 1))
		if err != nil {
			t.Fatal(err)
		}
		c.Check("out/tree", printTrees(trees))
	})
}

// TestRejected parses the functions of testdata/rejected.py one by one: each must fail on the line
// that says so.
func TestRejected(t *testing.T) {
	data, err := os.ReadFile("testdata/rejected.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range strings.Split(string(data), "\n\n\n") {
		want := golden.Expectations(t, program)
		if len(want) != 1 {
			t.Errorf("%d expectations in:\n%s", len(want), program)
			continue
		}
		_, err := ParseFile(source.NewText("rejected.py", program, 1))
		e, ok := err.(*source.Error)
		if !ok {
			t.Errorf("accepted:\n%s", program)
			continue
		}
		_, line, _, _ := e.Range.FileLineCol()
		if !want[0].Pattern.MatchString(e.Text) || line != want[0].Line {
			t.Errorf("got %q at line %d, want %s in:\n%s", e.Text, line, want[0].Pattern, program)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ literal, want string }{
		{"0", "0"}, {"007", ""}, {"00", "0"}, {"0x_FF", "255"}, {"0b101", "5"}, {"0o17", "15"},
		{"1_000", "1000"}, {"1__0", ""}, {"1_", ""}, {"0x", ""}, {"0b2", ""}, {"08.5", "8.5"},
		{"1.", "1.0"}, {".5", "0.5"}, {"1e16", "1e+16"}, {"1e15", "1000000000000000.0"},
		{"1e-4", "0.0001"}, {"1e-5", "1e-05"}, {"1e400", "inf"}, {"2J", "2j"}, {"1.50j", "1.5j"},
		{"123456789012345678901234567890", "123456789012345678901234567890"},
	} {
		got, ok := numberText(c.literal)
		if ok != (c.want != "") || got != c.want {
			t.Errorf("numberText(%q) = %q, %v; want %q", c.literal, got, ok, c.want)
		}
	}
}

func TestConst(t *testing.T) {
	number := func(s string) Const { return NewConst(source.Range{}, s) }
	if n, err := number("-9223372036854775808").Int(); err != nil || n != -1<<63 {
		t.Errorf("smallest int: %d, %v", n, err)
	}
	if _, err := number("9223372036854775808").Int(); err == nil {
		t.Error("2^63 fits an int")
	}
	for _, c := range []struct {
		text               string
		isInt, isF, isCmpl bool
	}{{"3", true, false, false}, {"3.0", false, true, false}, {"1e+16", false, true, false},
		{"inf", false, true, false}, {"2j", false, false, true}, {"infj", false, false, true}} {
		n := number(c.text)
		if n.IsInt() != c.isInt || n.IsFloat() != c.isF || n.IsComplex() != c.isCmpl {
			t.Errorf("%s: int %v, float %v, complex %v", c.text, n.IsInt(), n.IsFloat(), n.IsComplex())
		}
	}
	if z, err := number("1e+20j").Complex(); err != nil || z != complex(0, 1e20) {
		t.Errorf("1e+20j is %v, %v", z, err)
	}
}

func TestByteEscapes(t *testing.T) {
	text := source.NewText("", `x = "\303\251\x41"`+"\n", 1)
	for _, c := range []struct {
		parse func(*source.Text) ([]*Tree, error)
		want  string
	}{{ParseFile, "Ã©A"}, {ParseArchive, "éA"}} {
		trees, err := c.parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := AsStringLiteral(AsAssign(trees[0]).RHS()).Value(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestDeepNestingIsAnError(t *testing.T) {
	for _, program := range []string{
		strings.Repeat("(", 5000) + "x" + strings.Repeat(")", 5000),
		strings.Repeat("-", 5000) + "x",
		"x" + strings.Repeat(" if x else x", 5000),
		"if x: pass\n" + strings.Repeat("elif x: pass\n", 5000),
	} {
		_, err := ParseFile(source.NewText("", program, 1))
		if err == nil || !strings.Contains(err.Error(), "levels deep") {
			t.Errorf("%.20s...: %v", program, err)
		}
	}
}

func TestDecodeRejectsDamage(t *testing.T) {
	records := pythonDoor(t, "testdata/doors.py")
	data := decodeHex(t, records[len(records)-1].Data)
	if _, err := Decode(data); err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := Decode(data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes decode", n, len(data))
		}
	}
	for i := range data {
		damaged := append([]byte(nil), data...)
		damaged[i] ^= 0x81
		_, _ = Decode(damaged) // must not panic; a changed range or letter is no mistake
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/doors.py", "testdata/rejected.py"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, program := range strings.Split(string(data), "\n\n\n") {
			f.Add(program)
		}
	}
	f.Fuzz(func(t *testing.T, program string) {
		text := source.NewText("f.py", program, 1)
		trees, err := ParseFile(text)
		if err != nil {
			_ = err.Error()
			return
		}
		for _, tree := range trees {
			checkTree(t, tree)
		}
	})
}

// checkTree fails unless a Tree and all below it keep the package's invariant.
func checkTree(t *testing.T, tree *Tree) {
	t.Helper()
	if problem := checkShape(tree); problem != "" {
		t.Fatalf("%s: %s", tree.Kind, problem)
	}
	if r := tree.Range; r.Start < 0 || r.Start > r.End || r.End > len(r.Text.Body) {
		t.Fatalf("%s has the range [%d:%d)", tree.Kind, r.Start, r.End)
	}
	for _, c := range tree.Children {
		checkTree(t, c)
	}
}

// TestLongFiles compares what files give that are parsed in halves with what their parts give.
func TestLongFiles(t *testing.T) {
	part := "@decorated\n@twice\ndef f%d(x: Tensor, n: int = %d) -> Tensor:\n    # type: ignore\n    if n > %d:\n        return x + [1, 2][n]\n    return x\n\n\nclass C%d:\n    def g(self):\n        pass\n\nimport torch\n"
	var text strings.Builder
	var want []string
	for i := range 100 {
		one := fmt.Sprintf(part, i, i, i, i)
		text.WriteString(one)
		trees, err := ParseFile(source.NewText("part.py", one, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, tree := range trees {
			want = append(want, tree.String())
		}
	}
	trees, err := ParseFile(source.NewText("all.py", text.String(), 1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tree := range trees {
		got = append(got, tree.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d trees, want %d like those of the parts", len(got), len(want))
	}
	for _, where := range []int{3, 97} {
		bad := strings.Replace(text.String(), fmt.Sprintf("def f%d(", where), fmt.Sprintf("def + f%d(", where), 1)
		if _, err := ParseFile(source.NewText("bad.py", bad, 1)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("def + f%d(", where)) {
			t.Errorf("the error about f%d: %v", where, err)
		}
	}
}

// TestMistakesInTexts reads texts with one mistake each. The first one counts, be it one of the tokens, of brackets or of the statements.
func TestMistakesInTexts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"def f(x)\n  return x\n", "expected : but found 'indent' here"},
		{"def f(x):\nreturn x\n", "expected ident but found 'newline' here"},
		{"def f(x):\n  if x:\n  return x\n", "expected indent but found 'newline' here"},
		{"def f", "expected ( but found 'eof' here"},
		{"def f(x:\n  return x\n", "expected ident but found 'return' here"},
		{"def f(x):\n  return (x]\n", "expected ) but found ']' here"},
		{"def f(x):\n  return x)\n", "expected newline but found ')' here"},
		{"def f(x):\n  return (1 2\n  'a\n", "expected ) but found 'number' here"},
		{"def f(x):\n  return (1,\n  'a\n", "expected a valid token but found ' ' here"},
		{"def f(x):\n  return lambda y: y\n", "expected newline but found 'ident' here"},
		{"def f(x):\n  x //= 2\n", "expected ident but found '=' here"},
		{"def f(x):\n  return 1 ** // 2\n", "expected ident but found 'floordiv' here"},
		{"def f(x):\n  return 1__0\n", "expected newline but found 'ident' here"},
		{"def f(x):\n  global y, z\n", "Unrecognized statement kind global"},
		{"def f(*x):\n  return x\n", "expected ) but found 'ident' here"},
		{"def f(x=1):\n  return x\n", "Keyword arguments with defaults need to be type-hinted (TorchScript C++ frontend)"},
		{"@g\ndef f(x):\n  return x\n", "expected def but found '@' here"},
		{"def f(x):\n  return x\nx = 1\n", "expected def but found 'ident' here"},
		{"def f(x):\n  pass\ndef f(x):\n  pass\n", "method 'f' already defined."},
	} {
		_, err := ParseProgram(source.NewIndentedText("<string>", c.text))
		var e *source.Error
		if !errors.As(err, &e) || e.Text != c.want || e.Class != source.RuntimeError {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// TestNamesInTexts reads words of Python that are names in texts, and an indentation by tabs.
func TestNamesInTexts(t *testing.T) {
	defs, err := ParseProgram(source.NewIndentedText("<string>", "\tdef f(lambda):\n\t\ttry = lambda + 1\n\t\treturn try\n"))
	if err != nil || len(defs) != 1 {
		t.Fatalf("%d definitions, %v", len(defs), err)
	}
	if name := defs[0].Decl().Params()[0].Ident().Name(); name != "lambda" {
		t.Errorf("the parameter is %q", name)
	}
}
