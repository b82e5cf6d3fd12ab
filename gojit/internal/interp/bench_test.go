package interp

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
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

// BenchmarkCall is 1000 calls of a compiled function with one argument.
func BenchmarkCall(b *testing.B) {
	_, identity := functionOf("identity", readGraph(&testing.T{}, "graph(%x : int):\n  return (%x)\n", nil))
	g := readGraph(&testing.T{}, `
graph(%n : int, %x : int):
  %true : bool = prim::Constant[value=1]()
  %r : int = prim::Loop(%n, %true, %x)
    block0(%i : int, %y : int):
      %z : int = aten::add(%y, %i)
      -> (%true, %z)
  return (%r)
`, nil)
	body := g.Block().First().Next().Blocks()[0]
	f := g.Create("prim::Constant", nil, 1).SetAttr("name", "identity")
	f.Output().SetType(identity)
	f.InsertBefore(g.Block().First())
	call := g.Create("prim::CallFunction", []*ir.Value{f.Output(), body.Outputs()[1]}, 1)
	body.Append(call)
	body.ReplaceOutput(1, call.Output().SetType(types.Int))
	code := lower(b, g)
	args, out := []value.Value{value.Int(1000), value.Int(0)}, make([]value.Value, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := code.Run(context.Background(), args, out); err != nil {
			b.Fatal(err)
		}
	}
}
