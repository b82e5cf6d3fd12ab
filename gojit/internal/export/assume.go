package export

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// valueRange is the range of an unbacked symbol that the program checks, and the one that the runs take numbers from, which fits all its
// checks in all runs. An upper end of -1 stands for none.
type valueRange struct {
	lower, upper int
	low, high    int
}

var anyRange = valueRange{0, -1, 0, -1}

// narrowedRange is another range of an unbacked symbol: the capture begins anew.
type narrowedRange struct {
	symbol int
	to     valueRange
}

func (e *narrowedRange) Error() string { return fmt.Sprintf("symbol %d is in another range", e.symbol) }

// commonFactor is what unknown numbers are multiples of where a program refuses other ones: it divides them into equal parts, and the
// operator that does so says when that fails.
const commonFactor = 60

// maxNarrowings bounds how often a capture begins anew.
const maxNarrowings = 200

// captureRanges is captureRuns with the numbers for unbacked symbols that the program's checks allow.
func captureRanges(g *ir.Graph, o *Options) (*exportir.Program, error) {
	own := *o
	own.Ranges = maps.Clone(o.Ranges)
	for range maxNarrowings {
		p, err := captureRuns(g, &own, len(steps))
		if c := (*conflict)(nil); errors.As(err, &c) && c.unbacked && own.factor == 0 {
			own.factor = commonFactor
			if p, err := captureRuns(g, &own, len(steps)); err == nil {
				return p, nil
			}
			own.factor = 1
			return p, err
		}
		var n *narrowedRange
		if !errors.As(err, &n) {
			return p, err
		}
		if own.Ranges == nil {
			own.Ranges = map[int]valueRange{}
		}
		own.Ranges[n.symbol] = n.to
	}
	return nil, source.Errorf(source.RuntimeError, source.Range{}, "the program checks more than %d things of numbers that elements tell",
		maxNarrowings)
}

// rangeOf is the range of the unbacked symbol of a number.
func (c *capture) rangeOf(symbol int) valueRange {
	if r, ok := c.options.Ranges[symbol]; ok {
		return r
	}
	return anyRange
}

// relation is a comparison of two sizes.
type relation struct {
	op          string
	left, right symbolic.Size
}

var flipped = map[string]string{"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

var signs = map[string]string{"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}

// check captures what the program says that holds: for unbacked symbols it narrows their ranges and is an assertion of the program, for
// others it is a decision.
func (c *capture) check(n *ir.Node) {
	is := c.known(n.Input(0))
	if c.scope.handles[is[0].Tensor()] != nil {
		c.fail(source.TypeError, "cond must be a bool, but got a tensor whose elements the program computes")
	}
	if !c.isUnbacked(n.Input(0), 0) {
		c.decide(n, "A check")
		return
	}
	rel, ok := c.relationOf(n.Input(0))
	if !ok {
		c.fail(source.RuntimeError, "This check cannot be exported: it compares no two sizes")
	}
	c.narrow(rel)
	name := c.comparison(rel).Name
	text := fmt.Sprintf("Runtime assertion failed for expression %s %s %s on node '%s'", rel.left, signs[rel.op], rel.right, name)
	assert := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name("_assert_scalar"), Target: assertScalar, Meta: c.place()}
	assert.Args = []exportir.Argument{exportir.Ref(name), {Kind: exportir.StringArgument, Text: text}}
	assert.Meta.Val = &exportir.Value{Kind: exportir.NoneValue}
	c.scope.add(assert)
}

// comparison adds the node that compares two sizes.
func (c *capture) comparison(rel relation) *exportir.Node {
	left, right := c.number(rel.left), c.number(rel.right)
	n := &exportir.Node{Op: exportir.CallFunction, Name: c.scope.names.name(rel.op), Target: "operator::" + rel.op, Args: []exportir.Argument{left, right}}
	n.Meta = c.place()
	n.Meta.Val = &exportir.Value{Kind: exportir.BoolValue}
	c.scope.add(n)
	return n
}

// isSettled reports whether a truth value is the same for all sizes.
func (c *capture) isSettled(v *ir.Value, is run) bool {
	for _, other := range is {
		if other.Bool() != is[0].Bool() {
			return false
		}
	}
	for _, at := range c.extremes() {
		if found, ok := c.evaluate(v, at, 0); ok && !value.EqualConstants(number(found), is[0]) {
			return false
		}
	}
	return true
}

// narrow makes the ranges of unbacked symbols those in which a relation holds.
func (c *capture) narrow(rel relation) {
	for _, side := range []relation{rel, {flipped[rel.op], rel.right, rel.left}} {
		name, m, k, ok := side.left.Affine()
		symbol, unbacked := c.unbackedSymbols[name]
		if !ok || !unbacked || m != 1 {
			continue
		}
		now := c.rangeOf(symbol)
		to := now
		for r := range c.runs {
			n := c.sizeIn(side.right, r) - k
			to.low, to.high = bounded(side.op, n, to.low, to.high)
		}
		if side.right.IsConstant() {
			to.lower, to.upper = bounded(side.op, side.right.Const-k, to.lower, to.upper)
		}
		if to.upper >= 0 && to.lower > to.upper {
			c.fail(source.RuntimeError, "The checks of %s contradict each other here: it would be at least %d and at most %d",
				name, to.lower, to.upper)
		}
		if to != now {
			source.Throw(&narrowedRange{symbol, to})
		}
		return
	}
}

// bounded is a range in which all numbers compare so with n.
func bounded(op string, n, low, high int) (int, int) {
	switch op {
	case "lt":
		n--
		fallthrough
	case "le":
		if high < 0 || high > n {
			high = max(n, 0)
		}
	case "gt":
		n++
		fallthrough
	case "ge":
		low = max(low, n)
	case "eq":
		low, high = max(n, 0), max(n, 0)
	}
	return low, high
}

// sizeIn is what a size is in a run.
func (c *capture) sizeIn(s symbolic.Size, r int) int {
	at := map[string]int{}
	for _, a := range c.fit.Atoms {
		if a.Size.Name != "" {
			at[a.Size.Name] = a.Profile[r]
		}
	}
	return source.Must(s.Eval(at))
}

// relationOf reads the comparison that a truth value is.
func (c *capture) relationOf(v *ir.Value) (relation, bool) {
	n := v.Node()
	for _, op := range slices.Sorted(maps.Keys(flipped)) {
		if !n.Is("aten::"+op, "aten::"+op+"_") || len(n.Inputs()) != 2 {
			continue
		}
		left, ok := c.sizeOf(n.Input(0), 0)
		if !ok {
			return relation{}, false
		}
		right, ok := c.sizeOf(n.Input(1), 0)
		if left.IsConstant() {
			return relation{flipped[op], right, left}, ok
		}
		return relation{op, left, right}, ok
	}
	return relation{}, false
}

// signOf returns the sign of the operator of numbers that a node is, "" where expressions of sizes have none.
func signOf(n *ir.Node) string {
	kind := n.Kind()
	if kind == aten.FloorDivide {
		kind = aten.Floordiv
	}
	if o := symbolic.OperationOf(func(o *symbolic.Operation) bool { return o.Operator == kind }); o != nil {
		return o.Sign
	}
	return ""
}

// sizeOf reads the expression that a number is.
func (c *capture) sizeOf(v *ir.Value, depth int) (symbolic.Size, bool) {
	if constant, ok := v.Constant(); ok {
		constant = number(constant)
		return symbolic.Constant(int(constant.Int())), constant.IsInt()
	}
	n := v.Node()
	if depth > symbolic.MaxDepth {
		return symbolic.Size{}, false
	}
	if n.Kind() == prim.NumToTensor {
		return c.sizeOf(n.Input(0), depth+1)
	}
	if n.Is(aten.Add, aten.Sub) && len(n.Inputs()) == 3 || signOf(n) != "" && n.Kind() != aten.Add && len(n.Inputs()) == 2 {
		return c.expressionOf(n, depth)
	}
	is, ok := c.env[v]
	if !ok {
		return symbolic.Size{}, false
	}
	p := make(symbolic.Profile, c.runs)
	for r := range p {
		x := number(is[r])
		if !x.IsInt() {
			return symbolic.Size{}, false
		}
		p[r] = int(x.Int())
	}
	return c.fit.Size(p), true
}

func (c *capture) expressionOf(n *ir.Node, depth int) (symbolic.Size, bool) {
	a, ok := c.sizeOf(n.Input(0), depth+1)
	if !ok {
		return symbolic.Size{}, false
	}
	b, ok := c.sizeOf(n.Input(1), depth+1)
	switch {
	case !ok:
		return symbolic.Size{}, false
	case n.Kind() == aten.Sub:
		if b = multiply(symbolic.Constant(-1), b); !b.IsConstant() {
			return symbolic.Size{Op: "+", Args: []symbolic.Size{a, b}}, true
		}
		return symbolic.Plus(a, b.Const), true
	case n.Kind() == aten.Mul:
		return multiply(a, b), true
	case n.Kind() != aten.Add:
		return symbolic.Size{Op: signOf(n), Args: []symbolic.Size{a, b}}, true
	case a.IsConstant():
		a, b = b, a
	}
	if b.IsConstant() {
		return symbolic.Plus(a, b.Const), true
	}
	return symbolic.Size{Op: "+", Args: []symbolic.Size{a, b}}, true
}

// isUnbacked reports whether a number comes from elements of tensors.
func (c *capture) isUnbacked(v *ir.Value, depth int) bool {
	n := v.Node()
	if depth > maxExpression || n.Kind() == prim.Param {
		return false
	}
	if is, ok := c.env[v]; ok && c.isElement(is) {
		return true
	}
	if is, ok := c.env[v]; ok && is[0].IsInt() {
		p := make(symbolic.Profile, c.runs)
		for r := range p {
			p[r] = int(is[r].Int())
		}
		found := false
		c.fit.Size(p).Symbols(func(name string) {
			_, unbacked := c.unbackedSymbols[name]
			found = found || unbacked
		})
		return found
	}
	return slices.ContainsFunc(n.Inputs(), func(in *ir.Value) bool { return c.isUnbacked(in, depth+1) })
}

// assertScalar is the operator of assertions of exported programs.
const assertScalar = aten.AssertScalar

func runAssertScalar(args, _ []value.Value) error {
	holds := args[0].Bits() != 0
	if args[0].IsFloat() {
		holds = args[0].Float() != 0
	}
	if !holds {
		return source.Errorf(source.RuntimeError, source.Range{}, "%s", args[1].Str())
	}
	return nil
}

// assert adds an assertion: a condition whose other side raises.
func (l *lowerer) assert(n *exportir.Node) {
	truth := l.value(n, n.Args[0], types.Any)
	branch := l.g.InsertNode(l.g.Create(prim.If, []*ir.Value{truth}, 0))
	after := l.g.InsertPoint()
	branch.AddBlock()
	l.g.SetInsertEnd(branch.AddBlock())
	message := l.g.Constant(value.Str(n.Args[1].Text), source.Range{})
	none := l.g.Constant(value.None, source.Range{})
	l.g.InsertNode(l.g.Create(prim.RaiseException, []*ir.Value{message, none}, 0))
	l.g.SetInsertPoint(after)
}
