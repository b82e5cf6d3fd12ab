package function_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/function"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// collatz counts the steps from a number to 1.
const collatz = `results int64
b0 %0 : int64
  %1 : int64 = const 0
  jump b1 %0 %1
b1 %2 : int64 %3 : int64
  %4 : int64 = const 1
  %5 : bool = ne %2 %4
  branch %5 b2 b5
b2
  %6 : int64 = const 2
  %7 : int64 = mod %2 %6
  %8 : bool = eq %7 %4
  %9 : int64 = add %3 %4
  branch %8 b3 b4
b3
  %10 : int64 = const 3
  %11 : int64 = mul %2 %10
  %12 : int64 = add %11 %4
  jump b1 %12 %9
b4
  %13 : int64 = floordiv %2 %6
  jump b1 %13 %9
b5
  return %3
`

func TestEvaluateFunction(t *testing.T) {
	f, err := function.ParseFunction(collatz)
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != collatz {
		t.Errorf("printed as\n%s", f)
	}
	for n, want := range map[uint64]uint64{1: 0, 6: 8, 27: 111} {
		if got, outcome := f.Evaluate([]uint64{n}, 1000); len(got) != 1 || got[0] != want {
			t.Errorf("%d: %d, %+v, want %d", n, got, outcome, want)
		}
	}
	if _, outcome := f.Evaluate([]uint64{0}, 100); outcome.Stop != function.Paused {
		t.Errorf("an endless loop: %+v", outcome)
	}
}

func TestFunctionsThatFail(t *testing.T) {
	f, err := function.ParseFunction(`results int64
b0 %0 : int64 %1 : int64
  %2 : int64 = floordiv %0 %1
  %3 : bool = lt %2 %0
  branch %3 b1 b2 %2
b1
  trap 7
b2 %4 : int64
  return %4
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b uint64
		want function.Outcome
	}{
		{5, 0, function.Outcome{Stop: function.DividedByZero, At: 2}},
		{5, 2, function.Outcome{Stop: function.Trapped, Code: 7}},
		{1 << 63, math.MaxUint64, function.Outcome{}},
	} {
		if got, outcome := f.Evaluate([]uint64{c.a, c.b}, 10); outcome != c.want || outcome.Stop == function.Finished && got[0] != 1<<63 {
			t.Errorf("%d, %d: %v, %+v, want %+v", int64(c.a), int64(c.b), got, outcome, c.want)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "a function has no block"},
		{"b1\n return", "expected 'b0'"},
		{"b0", "b0 does not end"},
		{"b0\n jump b0", "b0 goes to b0, which cannot be"},
		{"b0\n jump b2", "b0 goes to b2, which cannot be"},
		{"b0\n return\nb1\n return", "b1 is not reached"},
		{"b0\n return\n return", "expected 'b1' but found 'return'"},
		{"b0 %0 : float32\n return", "which functions do not compute with"},
		{"b0 %0 : int64 %0 : int64\n return", "%0 is made twice"},
		{"b0 %1 : int64\n return", "%0 has type"},
		{"b0 %0 : int64\n return %0", "returns"},
		{"b0 %0 : int64\n branch %0 b1 b1\nb1\n return", "b0 depends on a int64"},
		{"b0 %0 : bool\n branch %0 b1 b2\nb1\n %1 : bool = not %0\n jump b2\nb2\n %2 : bool = not %1\n return", "b2 uses %1, which is not made before it"},
		{"b0\n %0 : bool = not %1\n %1 : bool = not %0\n return", "which is not made before it"},
		{"b0 %0 : int64\n jump b1\nb1 %1 : int64\n return", "which takes"},
		{"b0 %0 : float64\n %1 : float64 = sign %0\n return", "functions have no sign of float64"},
		{"b0 %0 : float64\n %1 : float64 = add %0 %7\n return", "%7, which does not exist"},
		{"b0 %0 : float64 %1 : int64\n %2 : float64 = add %0 %1\n return", "operands of types"},
		{"b0\n trap x", "expected a number"},
		{"b0\n trap -1", "negative trap"},
	} {
		if _, err := function.ParseFunction(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestRandomFunctionsVerifyAndParse(t *testing.T) {
	ended := map[function.Stop]int{}
	for seed := range uint64(600) {
		g := function.FunctionGenerator{Rand: rand.New(rand.NewPCG(seed, 1)), Steps: 5 + int(seed%60), Depth: 3}
		f := g.Function()
		if err := f.Verify(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		again, err := function.ParseFunction(f.String())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		if again.String() != f.String() || !reflect.DeepEqual(again.Types, f.Types) {
			t.Fatalf("seed %d: read back as\n%s\nwant\n%s", seed, again, f)
		}
		_, outcome := f.Evaluate(randomArguments(g.Rand, f), 1<<20)
		ended[outcome.Stop]++
	}
	if ended[function.Finished] < 300 || ended[function.Trapped] == 0 || ended[function.DividedByZero] == 0 || ended[function.Paused] != 0 {
		t.Errorf("ends: %v", ended)
	}
}

// randomArguments returns arguments for a function.
func randomArguments(r *rand.Rand, f *function.Function) (args []uint64) {
	for _, v := range f.Blocks[0].Params {
		bits := uint64(r.IntN(9) - 4)
		switch {
		case f.Types[v] == tensor.Bool:
			bits &= 1
		case f.Types[v] == tensor.Float64:
			bits = math.Float64bits(float64(int64(bits)) / 2)
		}
		args = append(args, bits)
	}
	return args
}

// FuzzParseFunction reads any text: what is accepted prints as text that is accepted, and evaluates.
func FuzzParseFunction(f *testing.F) {
	f.Add(collatz)
	f.Add("b0 %0 : bool\n  branch %0 b1 b2\nb1\n  trap 3\nb2\n  return")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := function.ParseFunction(text)
		if err != nil {
			return
		}
		again, err := function.ParseFunction(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%v\n%s", err, p)
		}
		p.Evaluate(make([]uint64, len(p.Blocks[0].Params)), 100)
	})
}
