package interp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func init() {
	if err := ops.Register(prim.Families()...); err != nil {
		panic(err)
	}
}

// numeric adds an operator of numbers. Divisors are made odd, so that no division fails.
func (r *randomGraph) numeric(b *ir.Block) {
	name := r.numbers[r.rand.IntN(len(r.numbers))]
	var inputs []*ir.Value
	for _, c := range numericOperators()[name].operands {
		if c == '+' {
			inputs = append(inputs, r.scope[len(r.g.Inputs())]) // the constant 1
			continue
		}
		inputs = append(inputs, r.any(map[rune]types.Type{'i': types.Int, 'f': types.Float, 'b': types.Bool}[c]))
	}
	if name == "aten::floordiv.int" || name == "aten::remainder.int" {
		r.add(b, "aten::__or__", types.Int, inputs[1], r.scope[len(r.g.Inputs())]) // the constant 1
		inputs[1] = r.scope[len(r.scope)-1]
	}
	if strings.HasPrefix(name, "aten::pow.") { // zero has no negative powers
		constants := r.scope[len(r.g.Inputs()):]
		inputs[1] = map[rune]*ir.Value{'i': constants[1], 'f': constants[2]}[rune(numericOperators()[name].operands[1])]
	}
	o := ops.Find(name)
	base, _, _ := strings.Cut(name, ".")
	n := b.Append(r.g.Create(base, inputs, 1))
	n.Output().SetType(o.Schema().Returns[0].Type)
	if of := n.Operator(); of != nil { // of two ints there are two powers
		n.Output().SetType(of.Schema().Returns[0].Type)
	}
	if name == "aten::div" {
		n.Output().SetType(types.Float)
	}
	if numericOperators()[n.Operator().Name].make == nil {
		panic(name + " is another operator: " + n.Operator().Name)
	}
	r.scope = append(r.scope, n.Output())
}

// TestRandomNativeLoops runs graphs of numbers as instructions and as machine code.
func TestRandomNativeLoops(t *testing.T) {
	names := slices.Sorted(maps.Keys(numericOperators()))
	native := 0
	for seed := range uint64(600) {
		r := &randomGraph{rand: rand.New(rand.NewPCG(seed, 3)), g: ir.NewGraph(), numbers: names}
		args := []value.Value{value.Int(3), value.Int(int64(seed%5) - 2), value.Float(0.5), value.Float(-3), value.Bool(seed%2 == 0)}
		for _, a := range args {
			in := r.g.AddInput("")
			in.SetType(value.TypeOf(a))
			r.scope = append(r.scope, in)
		}
		for _, c := range []value.Value{value.Int(1), value.Int(2), value.Float(1.5), value.Bool(true), value.Bool(false)} {
			r.scope = append(r.scope, r.g.Constant(c, source.Range{}))
		}
		r.block(r.g.Block(), 3)
		for range 4 {
			r.g.AddOutput(r.any([]types.Type{types.Int, types.Float, types.Bool}[r.rand.IntN(3)]))
		}
		r.check(t, &Options{}, seed, args)
		r.check(t, &Options{Native: true}, seed, args)
		if code, _ := Lower("f", r.g, &Options{Native: true}); strings.Contains(code.String(), "native") {
			native++
		}
	}
	if asm.Target() != asm.None && native < 200 {
		t.Errorf("%d graphs have machine code", native)
	}
}

func lowerNative(t testing.TB, text string) *Code {
	t.Helper()
	if asm.Target() == asm.None {
		t.Skip("no machine code here")
	}
	code, err := Lower("f", readGraph(&testing.T{}, text, nil), &Options{Native: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(code.String(), "native") {
		t.Fatalf("no machine code in\n%s", code)
	}
	return code
}

const divisions = `
graph(%n : int):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %r : int = prim::Loop(%n, %true, %zero)
    block0(%i : int, %sum : int):
      %left : int = aten::sub(%n, %i)
      %less : int = aten::sub(%left, %true_int)
      %q : int = aten::floordiv(%n, %less)
      %next : int = aten::add(%sum, %q)
      -> (%true, %next)
  return (%r)
`

const powers = `
graph(%n : int, %x : float):
  %true : bool = prim::Constant[value=1]()
  %zero : float = prim::Constant[value=0.0]()
  %half : float = prim::Constant[value=0.5]()
  %r : float = prim::Loop(%n, %true, %zero)
    block0(%i : int, %sum : float):
      %fraction : float = aten::mul(%i, %half)
      %shifted : float = aten::add(%fraction, %x)
      %power : float = aten::pow(%shifted, %x)
      %sine : float = aten::sin(%power)
      %next : float = aten::add(%sum, %sine)
      -> (%true, %next)
  return (%r)
`

// Functions in a loop give what the operators give, bit for bit, and zero has no negative power there either.
func TestNativeFunctions(t *testing.T) {
	native := lowerNative(t, powers)
	plain, err := Lower("f", readGraph(t, powers, nil), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{0.75, 2.5, -1, -0.5, 1e-310} {
		var outcomes [2]string
		for i, code := range []*Code{plain, native} {
			var out [1]value.Value
			err := code.Run(context.Background(), []value.Value{value.Int(1000), value.Float(x)}, out[:])
			outcomes[i] = fmt.Sprint(math.Float64bits(out[0].Float()), err)
			if err != nil {
				outcomes[i] = err.Error()
			}
		}
		if outcomes[0] != outcomes[1] {
			t.Errorf("%v: %s as instructions, %s as machine code", x, outcomes[0], outcomes[1])
		}
		if failed := strings.Contains(outcomes[1], "negative power"); failed != (x == -1 || x == -0.5) {
			t.Errorf("%v: %s", x, outcomes[1])
		}
	}
}

// An error in machine code has the place of its line.
func TestNativeDivisionByZero(t *testing.T) {
	text := strings.Replace(divisions, "%true_int", "%one", 1)
	text = strings.Replace(text, "  %zero", "  %one : int = prim::Constant[value=1]()\n  %zero", 1)
	var messages [2]string
	for i, native := range []bool{false, true} {
		code, err := Lower("f", readGraph(t, text, nil), &Options{Native: native})
		if err != nil {
			t.Fatal(err)
		}
		var out [1]value.Value
		err = code.Run(context.Background(), []value.Value{value.Int(4)}, out[:])
		if err == nil {
			t.Fatal("a division by zero has a result")
		}
		messages[i] = err.Error()
	}
	if messages[0] != messages[1] || !strings.Contains(messages[1], "aten::floordiv(%n, %less)\n") {
		t.Errorf("%s\nnot\n%s", messages[1], messages[0])
	}
}

// A raise statement in machine code is that of the instructions.
func TestNativeRaise(t *testing.T) {
	text := `
graph(%n : int):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %three : int = prim::Constant[value=3]()
  %text : str = prim::Constant[value="three"]()
  %class : str = prim::Constant[value="builtins.ValueError"]()
  %r : int = prim::Loop(%n, %true, %zero)
    block0(%i : int, %sum : int):
      %is : bool = aten::eq(%i, %three)
      %y : int = prim::If(%is)
        block0():
           = prim::RaiseException(%text, %class)
          %none : int = prim::Uninitialized()
          -> (%none)
        block1():
          %next : int = aten::add(%sum, %i)
          -> (%next)
      -> (%true, %y)
  return (%r)
`
	native := lowerNative(t, text)
	plain, err := Lower("f", readGraph(t, text, nil), &Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(6) {
		var got, want [1]value.Value
		err := native.Run(context.Background(), []value.Value{value.Int(n)}, got[:])
		expected := plain.Run(context.Background(), []value.Value{value.Int(n)}, want[:])
		if (err == nil) != (expected == nil) || err != nil && err.Error() != expected.Error() || err == nil && got[0].Int() != want[0].Int() {
			t.Errorf("%d: %v, %v, want %v, %v", n, got[0], err, want[0], expected)
		}
	}
}

// A loop in machine code that does not end stops when its context is cancelled.
func TestNativeLoopIsCancelled(t *testing.T) {
	code := lowerNative(t, `
graph(%x : int):
  %max : int = prim::Constant[value=9223372036854775807]()
  %one : int = prim::Constant[value=1]()
  %start : bool = aten::ne(%x, %one)
  %r : int = prim::Loop(%max, %start, %x)
    block0(%i : int, %y : int):
      %z : int = aten::sub(%one, %y)
      %again : bool = aten::ne(%z, %i)
      %more : bool = aten::__or__(%again, %start)
      -> (%more, %z)
  return (%r)
`)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var out [1]value.Value
	if err := code.Run(ctx, []value.Value{value.Int(0)}, out[:]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// BenchmarkWhileNative is BenchmarkWhile as machine code.
func BenchmarkWhileNative(b *testing.B) {
	code := lowerNative(b, section(b, "testdata/while.txtar", "in.ir"))
	args, out := []value.Value{value.Int(1000)}, make([]value.Value, 1)
	for b.Loop() {
		if err := code.Run(context.Background(), args, out); err != nil {
			b.Fatal(err)
		}
	}
}
