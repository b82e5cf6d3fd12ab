package gojit_test

import (
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
)

// TestLexerInjectsBlocks: JIT overview (old), "Lexer": indent, dedent and newline stand in the stream of tokens, but not inside of brackets; the kind of
// an operator or keyword is its spelling, as that of the trees that it makes ("Tokens").
func TestLexerInjectsBlocks(t *testing.T) {
	lexer, err := gojit.NewLexer("text", "if (a +\n    3.5):\n    b\n    c\nd")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for lexer.Cur().Kind != "eof" {
		kinds = append(kinds, lexer.Next().Kind)
	}
	want := "if ( ident + number ) : newline indent ident newline ident newline dedent ident newline"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
	if lexer.Next().Kind != "eof" || lexer.Lookahead().Kind != "eof" {
		t.Error("the last token is not the last")
	}
	if _, err := gojit.NewLexer("text", "f("); err == nil || !strings.Contains(err.Error(), "expected )") {
		t.Error(err)
	}
}

func ExampleNewLexer() {
	lexer, err := gojit.NewLexer("sum.py", "total + 1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lexer.Cur().Text, lexer.Lookahead().Kind)
	name, err := lexer.Expect("ident")
	fmt.Println(name.Text, lexer.NextIf("+"), lexer.NextIf("+"), lexer.Cur().Kind, err)
	_, err = lexer.Expect("ident")
	fmt.Println(err)
	// Output:
	// total +
	// total true false number <nil>
	// expected ident but found 'number' here:
	//   File "sum.py", line 1
	// total + 1
	//         ~ <--- HERE
}

// TestSymbolsAreInterned: source-code read note (2018), "Symbol": symbols have a namespace, and are equal where their texts are.
func TestSymbolsAreInterned(t *testing.T) {
	add, err := gojit.NewSymbol("aten::add")
	if err != nil {
		t.Fatal(err)
	}
	program := compiled("def f(x):\n    return x + 1\n")
	found := map[gojit.Symbol]int{}
	for _, n := range program.Function("f").Graph().Block().Nodes() {
		found[n.Symbol()]++
	}
	if found[add] != 1 || len(found) != 2 {
		t.Error(found)
	}
	for _, text := range []string{"add", "::add", "aten::", ""} {
		if _, err := gojit.NewSymbol(text); err == nil {
			t.Errorf("%q is a symbol", text)
		}
	}
}

func ExampleNewSymbol() {
	symbol, err := gojit.NewSymbol("aten::add")
	fmt.Println(symbol.Namespace(), symbol.Name(), symbol, err)
	// Output: aten add aten::add <nil>
}

// constants is a namespace of numbers: what the compiler sees where a program names it.
type constants struct {
	gojit.NotFirstClass
	numbers map[string]float64
}

func (c constants) Attr(e *gojit.Emitter, at gojit.Range, name string) gojit.SugaredValue {
	number, ok := c.numbers[name]
	if !ok {
		e.Fail(at, "there is no constant %s", name)
	}
	v, err := gojit.ValueOf(number)
	if err != nil {
		e.Fail(at, "%v", err)
	}
	return gojit.SugaredConstant(v)
}

// scaled is a function that is a node with an attribute.
type scaled struct{ gojit.NotFirstClass }

func (scaled) Call(e *gojit.Emitter, at gojit.Range, args, _ []gojit.Argument, _ int) gojit.SugaredValue {
	if len(args) != 1 {
		e.Fail(at, "expected 1 argument but got %d", len(args))
	}
	product := e.Insert(at, "extend_test::scaled", args[0].Value(e.Graph()))
	product.Node().SetAttr("multiplier", 2.5)
	return gojit.SugaredGraphValue(product)
}

func resolve(name string, _ gojit.Range) (gojit.SugaredValue, error) {
	switch name {
	case "physics":
		return constants{"namespace", map[string]float64{"c": 299792458}}, nil
	case "scaled":
		return scaled{"function"}, nil
	case "relu":
		return gojit.SugaredOperator("aten::relu"), nil
	}
	return nil, nil
}

func multiplied(n *gojit.Node) (gojit.Operation, error) {
	attribute, ok := n.Attr("multiplier")
	if !ok {
		return nil, fmt.Errorf("%s has no multiplier", n.Symbol())
	}
	multiplier := attribute.(float64)
	return func(stack *gojit.Stack) error {
		product, err := gojit.ValueOf(stack.Pop().Float() * multiplier)
		stack.Push(product)
		return err
	}, nil
}

func init() {
	if err := gojit.RegisterOperation("extend_test::scaled(float x) -> float", multiplied); err != nil {
		panic(err)
	}
}

// TestSugaredValuesOfOutside: JIT overview (old), "SugaredValue" and "Resolver": values of a type of the program's own stand for names of the text, give
// attributes and make nodes where they are called; what they cannot do is an error at its place.
func TestSugaredValuesOfOutside(t *testing.T) {
	p, err := gojit.CompileWith("own.py", "def f(x: float) -> float:\n    return scaled(x) + physics.c\n", resolve)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Call(ctx, "f", 4.0); err != nil || out.Float() != 299792468 {
		t.Error(out, err)
	}
	for text, want := range map[string]string{
		"physics.h":   "there is no constant h",
		"physics()":   "cannot call a namespace",
		"physics + x": "namespace cannot be used as a value",
		"scaled(x,x)": "expected 1 argument but got 2",
		"chemistry.x": "undefined value chemistry",
	} {
		_, err := gojit.CompileWith("own.py", "def f(x: float):\n    return "+text+"\n", resolve)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "own.py\", line 2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func ExampleCompileWith() {
	p, err := gojit.CompileWith("own.py", "def f(x):\n    return relu(x)\n", func(name string, _ gojit.Range) (gojit.SugaredValue, error) {
		if name == "relu" {
			return gojit.SugaredOperator("aten::relu"), nil
		}
		return nil, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := p.Call(ctx, "f", []float32{-1, 2})
	fmt.Println(out.Tensor(), err)
	// Output: tensor([0., 2.]) <nil>
}

type pair struct{ Sum, Product int }

// TestOperationsReadTheirNode: IR document (2018), "Operator registration": what runs is made once for each node, which it reads, and takes its arguments
// off a stack.
func TestOperationsReadTheirNode(t *testing.T) {
	made := 0
	err := gojit.RegisterOperation("extend_test::sums(int a, int b) -> (int, int)", func(n *gojit.Node) (gojit.Operation, error) {
		made++
		multiplier, _ := n.Attr("multiplier")
		return func(stack *gojit.Stack) error {
			if stack.Len() != 2 || stack.Peek(1).Int() != 3 {
				t.Error("the stack has not the arguments")
			}
			args := stack.PopN(2)
			for _, sum := range []int64{args[0].Int() + args[1].Int(), multiplier.(int64) * args[1].Int()} {
				v, err := gojit.ValueOf(sum)
				if err != nil {
					return err
				}
				stack.Push(v)
			}
			return nil
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := gojit.ParseGraph("graph(%a : int, %b : int):\n  %c : int, %d : int = extend_test::sums[multiplier=7](%a, %b)\n  return (%c, %d)")
	if err != nil {
		t.Fatal(err)
	}
	f, err := gojit.FunctionOfGraph("sums", graph)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := gojit.Call(ctx, f, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		if sums, err := gojit.As[pair](out); err != nil || sums != (pair{7, 28}) {
			t.Error(sums, err)
		}
	}
	if made != 1 {
		t.Errorf("the operation was made %d times", made)
	}
}

// TestOperationsThatFail: an operation that is not made, one that leaves another number of values than it has results, and one that is there already.
func TestOperationsThatFail(t *testing.T) {
	p := compiled("def f(x: float) -> float:\n    return torch.ops.extend_test.scaled(x)\n")
	if _, err := p.Call(ctx, "f", 1.0); err == nil || !strings.Contains(err.Error(), "extend_test::scaled has no multiplier") {
		t.Error(err)
	}
	err := gojit.RegisterOperation("extend_test::kept(int x) -> ()", func(*gojit.Node) (gojit.Operation, error) {
		return func(*gojit.Stack) error { return nil }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p = compiled("def f(x: int):\n    torch.ops.extend_test.kept(x)\n")
	if _, err := p.Call(ctx, "f", 1); err == nil || !strings.Contains(err.Error(), "left 1 values on the stack, and has 0 results") {
		t.Error(err)
	}
	if err := gojit.RegisterOperation("extend_test::scaled(float x) -> float", multiplied); err == nil {
		t.Error("an operator is registered twice")
	}
}

func ExampleRegisterOperation() {
	err := gojit.RegisterOperation("example::power(int x) -> int", func(n *gojit.Node) (gojit.Operation, error) {
		exponent, _ := n.Attr("exponent")
		return func(stack *gojit.Stack) error {
			x, power := stack.Pop().Int(), int64(1)
			for range exponent.(int64) {
				power *= x
			}
			v, err := gojit.ValueOf(power)
			stack.Push(v)
			return err
		}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	graph, err := gojit.ParseGraph("graph(%x : int):\n  %y : int = example::power[exponent=3](%x)\n  return (%y)")
	if err != nil {
		log.Fatal(err)
	}
	f, err := gojit.FunctionOfGraph("cube", graph)
	if err != nil {
		log.Fatal(err)
	}
	out, err := gojit.Call(ctx, f, 5)
	fmt.Println(out.Int(), err)
	// Output: 125 <nil>
}

// TestGraphsOwnTheirValues: IR document (2018), "Graph": a value belongs to one graph, and no other takes it.
func TestGraphsOwnTheirValues(t *testing.T) {
	graph, err := gojit.ParseGraph("graph(%a : int):\n  return (%a)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "another graph") {
			t.Errorf("a graph returns another graph's value: %s", text)
		}
	}()
	graph.Copy().AddOutput(graph.Inputs()[0])
}
