package interp

import (
	"context"
	"os"
	"strings"
	"testing"

	"torchjit/gojit/value"
)

func benchmark(b *testing.B, text string, args ...value.Value) {
	code := lower(b, readGraph(&testing.T{}, text, nil))
	out := make([]value.Value, code.NumOutputs())
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := code.Run(ctx, args, out); err != nil {
			b.Fatal(err)
		}
	}
}

func section(b *testing.B, file, name string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "-- "+name+" --\n")
	text, _, _ = strings.Cut(text, "\n-- ")
	return text + "\n"
}

// BenchmarkIdentity is the cost of a call from outside.
func BenchmarkIdentity(b *testing.B) {
	benchmark(b, "graph(%x : str):\n  return (%x)\n", value.Str("x"))
}

// BenchmarkWhile is a scalar loop of 1000 iterations.
func BenchmarkWhile(b *testing.B) {
	benchmark(b, section(b, "testdata/while.txtar", "in.ir"), value.Int(1000))
}

// BenchmarkOperator is 1000 calls of an operator with two arguments.
func BenchmarkOperator(b *testing.B) {
	benchmark(b, `
graph(%n : int, %x : str):
  %true : bool = prim::Constant[value=1]()
  %r : str = prim::Loop(%n, %true, %x)
    block0(%i : int, %y : str):
      %z : str = test::first(%y, %x)
      -> (%true, %z)
  return (%r)
`, value.Int(1000), value.Str("x"))
}
