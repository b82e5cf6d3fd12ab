package prim

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func init() {
	if err := ops.Register(Families()...); err != nil {
		panic(err)
	}
}

// TestNoOperatorIsRegisteredTwice links the operators on tensors beside these.
func TestNoOperatorIsRegisteredTwice(t *testing.T) {
	tensorOperators := aten.Operators()
	for i := range tensorOperators {
		if err := ops.Register(tensorOperators[i : i+1]); err != nil {
			t.Error(err)
		}
	}
}

// literals reads Python literals: numbers, strings, True, None, lists, tuples, float("x").
type literals struct {
	t    *testing.T
	rest string
}

func (l *literals) accept(text string) bool {
	l.rest = strings.TrimLeft(l.rest, " ")
	if strings.HasPrefix(l.rest, text) {
		l.rest = l.rest[len(text):]
		return true
	}
	return false
}

func (l *literals) sequence(end string) (vs []value.Value) {
	for !l.accept(end) {
		vs = append(vs, l.value())
		l.accept(",")
	}
	return vs
}

func (l *literals) value() value.Value {
	switch {
	case l.accept("None"):
		return value.None
	case l.accept("True"):
		return value.Bool(true)
	case l.accept("False"):
		return value.Bool(false)
	case l.accept("float("):
		s := l.value().Str()
		l.accept(")")
		f, _ := strconv.ParseFloat(s, 64)
		return value.Float(f)
	case l.accept("complex("):
		parts := l.sequence(")")
		return value.Complex(complex(asFloat(parts[0]), asFloat(parts[1])))
	case l.accept("["):
		items := l.sequence("]")
		elem := types.Int
		if len(items) > 0 {
			elem = value.TypeOf(items[0])
		}
		return value.OfList(value.NewList(elem, items...))
	case l.accept("("):
		items := l.sequence(")")
		if len(items) == 1 {
			return items[0]
		}
		return value.OfTuple(value.NewTuple(items...))
	}
	if l.rest[0] == '"' || l.rest[0] == '\'' {
		return l.text()
	}
	return l.number()
}

func (l *literals) text() value.Value {
	quote := l.rest[:1]
	end := 1 + strings.Index(l.rest[1:], quote)
	s := l.rest[1:end]
	l.rest = l.rest[end+1:]
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		l.t.Fatal(err)
	}
	return value.Str(s)
}

func (l *literals) number() value.Value {
	end := strings.IndexAny(l.rest, ",)] ")
	if end < 0 {
		end = len(l.rest)
	}
	s := l.rest[:end]
	l.rest = l.rest[end:]
	if a, b, ok := strings.Cut(s, "/"); ok {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return value.Float(x / y)
	}
	if strings.HasSuffix(s, "j") {
		if c, err := strconv.ParseComplex(strings.TrimSuffix(s, "j")+"i", 128); err == nil {
			return value.Complex(c)
		}
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value.Int(i)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		l.t.Fatalf("%q is no literal", s)
	}
	return value.Float(f)
}

// operatorFor finds the overload that a recorded call means: the named one, else the first that
// takes the arguments.
func operatorFor(name string, args []value.Value) *ops.Operator {
	if o := ops.Find(name); o != nil && o.Run != nil && len(o.Schema().Arguments) > 0 && o.Schema().Arguments[0].Type != types.Tensor {
		return o
	}
	for _, o := range ops.Overloads(name) {
		s := o.Schema()
		fits := len(s.Arguments) >= len(args)
		for i := range args {
			fits = fits && (types.HasVars(s.Arguments[i].Type) || value.Conforms(args[i], s.Arguments[i].Type))
		}
		if fits && o.Run != nil {
			return o
		}
	}
	return nil
}

func call(o *ops.Operator, args []value.Value) (value.Value, error) {
	for _, a := range o.Schema().Arguments[min(len(args), len(o.Schema().Arguments)):] {
		args = append(args, a.Default)
	}
	out := make([]value.Value, len(o.Schema().Returns))
	if err := o.Run(args, out); err != nil {
		return value.None, err
	}
	switch len(out) {
	case 0:
		return value.None, nil
	case 1:
		return out[0], nil
	}
	return value.OfTuple(value.NewTuple(out...)), nil
}

// TestRecorded compares with testdata/recorded.txt: calls and what PyTorch 1.13.1 answered.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		text, want, _ := strings.Cut(line, " -> ")
		open := strings.IndexByte(text, '(')
		l := &literals{t, text[open+1:]}
		args := l.sequence(")")
		o := operatorFor(text[:open], args)
		if o == nil || o.Run == nil {
			t.Errorf("%s: no operator", text)
			continue
		}
		got, err := call(o, args)
		if message, fails := strings.CutPrefix(want, "! "); fails {
			if err == nil || err.Error() != message {
				t.Errorf("%s: got %s, %v; want the error %s", text, Display(got), err, message)
			}
			continue
		}
		if err != nil || !same(got, (&literals{t, want}).value()) {
			t.Errorf("%s: got %s, %v; want %s", text, value.Repr(got, nil), err, want)
		}
	}
}

// same is Equal with NaN equal to itself and floats equal up to a rounding.
func same(a, b value.Value) bool {
	if a.IsFloat() && b.IsFloat() {
		x, y := a.Float(), b.Float()
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-15*math.Abs(y)
	}
	if a.Kind() == value.KindList && b.Kind() == value.KindList {
		return sameItems(a.List().Items, b.List().Items)
	}
	if a.Kind() == value.KindTuple && b.Kind() == value.KindTuple {
		return sameItems(a.Tuple().Items, b.Tuple().Items)
	}
	return a.Kind() == b.Kind() && Equal(a, b)
}

func sameItems(a, b []value.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func ints(xs ...int64) value.Value {
	l := value.NewList(types.Int)
	for _, x := range xs {
		l.Items = append(l.Items, value.Int(x))
	}
	return value.OfList(l)
}

func strInts(pairs ...any) value.Value {
	d := value.NewDict(types.Str, types.Int)
	for i := 0; i < len(pairs); i += 2 {
		d.Set(value.Str(pairs[i].(string)), value.Int(int64(pairs[i+1].(int))))
	}
	return value.OfDict(d)
}

// TestContainers has for each call what it gives and what its first argument is afterwards.
func TestContainers(t *testing.T) {
	i, s, none := value.Int, value.Str, value.None
	for _, c := range []struct {
		operator    string
		args        []value.Value
		want, after string // want may be "! error"
	}{
		{"aten::append.t", []value.Value{ints(3), i(7)}, "[3, 7]", "[3, 7]"},
		{"aten::insert.t", []value.Value{ints(3, 1), i(-1), i(9)}, "None", "[3, 9, 1]"},
		{"aten::insert.t", []value.Value{ints(3), i(-100), i(9)}, "None", "[9, 3]"},
		{"aten::insert.t", []value.Value{ints(3), i(100), i(9)}, "None", "[3, 9]"},
		{"aten::pop.t", []value.Value{ints(3, 1, 2), i(-2)}, "1", "[3, 2]"},
		{"aten::pop.t", []value.Value{ints(3), i(10)}, "! list index out of range", "[3]"},
		{"aten::pop.t", []value.Value{ints(), i(-1)}, "! pop from empty list", "[]"},
		{"aten::remove.int", []value.Value{ints(3, 2, 2), i(2)}, "None", "[3, 2]"},
		{"aten::reverse.t", []value.Value{ints(3, 1, 2)}, "None", "[2, 1, 3]"},
		{"aten::sort.int", []value.Value{ints(3, 1, 2), value.Bool(true)}, "None", "[3, 2, 1]"},
		{"aten::extend.t", []value.Value{ints(3), ints(8, 9)}, "None", "[3, 8, 9]"},
		{"aten::Delete.t", []value.Value{ints(3, 1, 2), i(-1)}, "None", "[3, 1]"},
		{"aten::_set_item.t", []value.Value{ints(3, 1), i(-1), i(5)}, "[3, 5]", "[3, 5]"},
		{"aten::_set_item.t", []value.Value{ints(3), i(9), i(5)}, "! list index out of range", "[3]"},
		{"aten::__getitem__.t", []value.Value{ints(3, 1), i(-3)}, "! list index out of range", "[3, 1]"},
		{"aten::slice.t", []value.Value{ints(1, 2, 3, 4), none, none, i(-1)}, "[4, 3, 2, 1]", "[1, 2, 3, 4]"},
		{"aten::slice.t", []value.Value{ints(1, 2, 3, 4), i(3), i(1), i(-1)}, "[4, 3]", "[1, 2, 3, 4]"},
		{"aten::slice.t", []value.Value{ints(1, 2, 3, 4), i(-10), i(2), i(1)}, "[1, 2]", "[1, 2, 3, 4]"},
		{"aten::slice.t", []value.Value{ints(1, 2, 3), i(math.MinInt64), i(math.MaxInt64), i(math.MaxInt64)}, "[1]", "[1, 2, 3]"},
		{"aten::slice.t", []value.Value{ints(1), none, none, i(0)}, "! List slice should have non-zero step", "[1]"},
		{"aten::mul.left_t", []value.Value{ints(1, 2), i(2)}, "[1, 2, 1, 2]", "[1, 2]"},
		{"aten::mul.left_t", []value.Value{ints(1, 2), i(math.MaxInt64)}, fmt.Sprintf("! the list would have more than %d elements", maxItems), "[1, 2]"},
		{"aten::add_.t", []value.Value{ints(1), ints(2)}, "[1, 2]", "[1, 2]"},
		{"aten::__getitem__.Dict_str", []value.Value{strInts("a", 1), s("z")}, "! KeyError: z", "{a: 1}"},
		{"aten::get.default_str", []value.Value{strInts("a", 1), s("z"), i(5)}, "5", "{a: 1}"},
		{"aten::pop.Dict_str", []value.Value{strInts("a", 1, "b", 2), s("a")}, "1", "{b: 2}"},
		{"aten::pop.Dict_default_str", []value.Value{strInts("a", 1), s("z"), i(9)}, "9", "{a: 1}"},
		{"aten::popitem.str", []value.Value{strInts("a", 1, "b", 2)}, "(a, 1)", "{b: 2}"},
		{"aten::popitem.str", []value.Value{strInts()}, "! popitem(): dictionary is empty", "{}"},
		{"aten::setdefault.str", []value.Value{strInts("a", 1), s("z"), i(4)}, "4", "{a: 1, z: 4}"},
		{"aten::update.str", []value.Value{strInts("a", 1, "b", 2), strInts("c", 3, "a", 9)}, "None", "{a: 9, b: 2, c: 3}"},
		{"aten::Delete.Dict_str", []value.Value{strInts("a", 1), s("q")}, "! KeyError: q", "{a: 1}"},
		{"aten::items.str", []value.Value{strInts("a", 1, "b", 2)}, "[(a, 1), (b, 2)]", "{a: 1, b: 2}"},
		{"aten::keys.str", []value.Value{strInts("a", 1)}, "[a]", "{a: 1}"},
		{"aten::format", []value.Value{s("{{}} {}"), i(1)}, "! Too few arguments for format string: {{}} {}", "{{}} {}"},
		{"aten::format", []value.Value{s("{} {0}"), value.Float(2.5), i(1)}, "2.5 {0}", "{} {0}"},
		{"aten::percentFormat", []value.Value{s("%d %s%%"), value.Float(2.5), ints(65)}, "2 [65]%", "%d %s%%"},
		{"aten::percentFormat", []value.Value{s("%d"), s("q")}, "! %d requires a number for formatting, but got String", "%d"},
		{"aten::percentFormat", []value.Value{s("%5d"), i(1)}, "! The specifier %5 is not supported in TorchScript format strings", "%5d"},
		{"aten::percentFormat", []value.Value{s("%"), i(1)}, "! Incomplete format specifier", "%"},
		{"aten::percentFormat", []value.Value{s("%s"), i(1), i(2)}, "! Too many arguments for format string", "%s"},
		{"aten::splitlines", []value.Value{s("a\nb\r\n\nc"), value.Bool(true)}, "[a\n, b\r\n, \n, c]", "a\nb\r\n\nc"},
		{"aten::replace", []value.Value{s("abc"), s(""), s("-"), i(-1)}, "-a-b-c-", "abc"},
		{"aten::zfill", []value.Value{s("1"), i(1 << 40)}, "! the string would have more than 1073741824 bytes", "1"},
		{"aten::remainder.float", []value.Value{value.Float(-4), value.Float(2)}, "0.", "-4."},
		{"aten::remainder.float", []value.Value{value.Float(4), value.Float(-2)}, "0.", "4."},
		{"aten::remainder.float", []value.Value{value.Float(-1e-20), value.Float(3)}, "0.", "-9.9999999999999995e-21"},
		{"aten::gcd.int", []value.Value{i(-12), i(18)}, "6", "-12"},
		{"aten::remainder.int", []value.Value{i(1), i(0)}, "! division by 0", "1"},
	} {
		got, err := call(ops.Find(c.operator), c.args)
		text := Display(got)
		if err != nil {
			text = "! " + err.Error()
		}
		if after := Display(c.args[0]); text != c.want || after != c.after {
			t.Errorf("%s: got %q, then %q; want %q, then %q", c.operator, text, after, c.want, c.after)
		}
	}
}

func TestDisplay(t *testing.T) {
	for _, c := range []struct {
		v    value.Value
		want string
	}{
		{value.Float(2), "2."}, {value.Float(0.1), "0.10000000000000001"}, {value.Float(1e16), "10000000000000000."},
		{value.Float(1e20), "1e+20"}, {value.Float(1e-7), "9.9999999999999995e-08"}, {value.Float(math.Inf(-1)), "-inf"},
		{value.Complex(1.5 - 2i), "1.5-2.j"}, {value.Complex(1i), "0.+1.j"}, {value.None, "None"},
		{value.OfTuple(value.NewTuple(value.Int(1))), "(1,)"},
		{value.OfTuple(value.NewTuple(value.Str("a"), value.Bool(true))), "(a, True)"},
		{value.OfList(value.NewList(types.Str, value.Str("q'\n"))), "[q'\n]"},
	} {
		if got := Display(c.v); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestToList(t *testing.T) {
	scalar := value.OfTensor(tensor.FromScalar(tensor.Float(2.5), tensor.Float32))
	tolist := ops.Find("prim::tolist")
	for _, c := range []struct {
		dims, code int64
		want       string
	}{
		{0, 1, "2.5"},
		{0, 0, "! Output annotation element type and runtime tensor element type must match for tolist()"},
		{1, 1, "! Output annotation list dimension and runtime tensor dimension must match for tolist()"},
		{0, 9, "! 9 is not the number of an element type for tolist()"},
	} {
		var out [1]value.Value
		got := ""
		if err := tolist.Run([]value.Value{scalar, value.Int(c.dims), value.Int(c.code)}, out[:]); err != nil {
			got = "! " + err.Error()
		} else {
			got = Display(out[0])
		}
		if got != c.want {
			t.Errorf("dims %d, type %d: got %s, want %s", c.dims, c.code, got, c.want)
		}
	}
}

func TestPrintAndWarn(t *testing.T) {
	var printed, warned string
	before := *printer.Load()
	defer OnPrint(before)
	OnPrint(func(text string) error { printed += text; return nil })
	source.OnWarn(func(message string, at source.Range) error { warned = message; return nil })
	if _, err := call(ops.Find("prim::Print"), []value.Value{value.Int(1), value.Str("a")}); err != nil || printed != "1 a\n" {
		t.Errorf("printed %q, %v", printed, err)
	}
	if _, err := call(ops.Find("aten::warn"), []value.Value{value.Str("beware")}); err != nil || warned != "beware" {
		t.Errorf("warned %q, %v", warned, err)
	}
}

// TestSizesAreBounded looks for the errors of programs that ask for more than there is.
func TestSizesAreBounded(t *testing.T) {
	s := func(c string, n int) value.Value { return value.Str(strings.Repeat(c, n)) }
	long := value.NewList(types.Str)
	part := s("a", 1<<20)
	for range 2000 {
		long.Items = append(long.Items, part)
	}
	ints := func() value.Value { return value.OfList(value.NewList(types.Int, value.Int(1), value.Int(2))) }
	for _, c := range []struct {
		operator string
		args     []value.Value
	}{
		{"aten::replace", []value.Value{s("a", 1<<16), s("a", 1), s("b", 1<<16), value.Int(-1)}},
		{"aten::replace", []value.Value{s("a", 1<<16), s("", 0), s("b", 1<<16), value.Int(1 << 15)}},
		{"aten::join", []value.Value{s(",", 1), value.OfList(long)}},
		{"aten::expandtabs", []value.Value{s("\t", 4), value.Int(1 << 31)}},
		{"aten::mul.left_t", []value.Value{ints(), value.Int(1 << 50)}},
		{"aten::mul_.t", []value.Value{ints(), value.Int(1 << 62)}},
		{"prim::rangelist", []value.Value{value.Int(1 << 50)}},
	} {
		if _, err := call(ops.Find(c.operator), c.args); err == nil || !strings.Contains(err.Error(), "would have more than") {
			t.Errorf("%s gives %v", c.operator, err)
		}
	}
	defer func(n int64) { maxItems = n }(maxItems)
	maxItems = 3
	for _, c := range []struct {
		operator string
		args     []value.Value
	}{
		{"aten::add.t", []value.Value{ints(), ints()}}, {"aten::add_.t", []value.Value{ints(), ints()}}, {"aten::extend.t", []value.Value{ints(), ints()}},
	} {
		if _, err := call(ops.Find(c.operator), c.args); err == nil {
			t.Errorf("%s makes a list of 4 elements, where 3 are allowed", c.operator)
		}
	}
}
