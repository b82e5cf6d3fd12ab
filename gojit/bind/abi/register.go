package abi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Function is a function that Python sees: an entry of one of the tables that functions() joins.
// Its schema reads like a Python signature with the type before each name:
//
//	arange(number start, int? step=None, str name="x") -> Tensor
//
// run gets the arguments in the order of the parameters, defaults filled in and kinds checked, and
// writes one value as the reply. It holds the GIL, which it gives up with call.WithoutGIL for work
// that takes longer than a few microseconds.
type Function struct {
	Schema string
	Run    func(c *Call) error
	// Doc and property are of members: see member.go.
	Doc      string
	Property bool

	Name   string
	params []param
}

// param is a parameter of a function. A type that ends in "?" takes None as well.
type param struct {
	name, kind   string
	optional     bool
	defaultWords []Word // the value of an argument that is not given; nil: it must be given
}

// functions returns all registered functions in the order of their tables.
var functions = sync.OnceValue(func() []*Function {
	var all []*Function
	for i := range registered {
		f := &registered[i]
		if err := f.parse(); err != nil {
			panic(fmt.Sprintf("%s: %v", f.Schema, err))
		}
		all = append(all, f)
	}
	return all
})

var functionsByName = sync.OnceValue(func() map[string]*Function {
	m := map[string]*Function{}
	for _, f := range functions() {
		m[f.Name] = f
	}
	return m
})

// CallableName implements Callable.
func (f *Function) CallableName() string { return f.Name }

// parse reads the schema.
func (f *Function) parse() error {
	name, rest, ok := strings.Cut(f.Schema, "(")
	end := strings.LastIndex(rest, ")")
	if !ok || end < 0 {
		return fmt.Errorf("expected NAME(PARAMETERS)")
	}
	f.Name = name
	for text := range strings.SplitSeq(rest[:end], ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := parseParam(text)
		if err != nil {
			return err
		}
		f.params = append(f.params, p)
	}
	return nil
}

func parseParam(text string) (param, error) {
	declaration, def, hasDefault := strings.Cut(text, "=")
	kind, name, ok := strings.Cut(declaration, " ")
	if !ok {
		return param{}, fmt.Errorf("expected TYPE NAME, found %q", declaration)
	}
	p := param{name: name, kind: strings.TrimSuffix(kind, "?"), optional: strings.HasSuffix(kind, "?")}
	if _, known := kindChecks[p.kind]; !known {
		return p, fmt.Errorf("unknown type %q", p.kind)
	}
	if hasDefault {
		var err error
		p.defaultWords, err = parseDefault(def)
		return p, err
	}
	return p, nil
}

func parseDefault(text string) ([]Word, error) {
	switch text {
	case "None":
		return []Word{{tag: int64(KindNone)}}, nil
	case "True":
		return []Word{{int64(KindBool), 1}}, nil
	case "False":
		return []Word{{int64(KindBool), 0}}, nil
	}
	if s, err := strconv.Unquote(text); err == nil {
		return []Word{{int64(KindString) | int64(len(s))<<8, uint64(uintptr(unsafe.Pointer(unsafe.StringData(s))))}}, nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return []Word{{int64(KindInt), uint64(i)}}, nil
	}
	return nil, fmt.Errorf("unknown default %q", text)
}

// kindChecks says which words a parameter of each type takes.
var kindChecks = map[string]func(*Word) bool{
	"any":       func(*Word) bool { return true },
	"bool":      func(w *Word) bool { return w.Kind() == KindBool },
	"int":       func(w *Word) bool { return w.Kind() == KindInt || w.Kind() == KindBool },
	"float":     func(w *Word) bool { return w.Kind() == KindFloat || w.Kind() == KindInt || w.Kind() == KindBool },
	"str":       func(w *Word) bool { return w.Kind() == KindString },
	"bytes":     func(w *Word) bool { return w.Kind() == KindBytes },
	"list":      func(w *Word) bool { return w.IsSequence() },
	"dict":      func(w *Word) bool { return w.Kind() == KindDict },
	"object":    func(w *Word) bool { return w.Kind() == KindObject },
	"dtype":     func(w *Word) bool { _, ok := w.dtype(); return ok },
	"device":    func(w *Word) bool { return w.Kind() == KindToken && TokenClass(w.Count()) == TokenDevice },
	"Tensor":    func(w *Word) bool { return w.Tensor() != nil },
	"Handle":    func(w *Word) bool { return w.Kind() == KindHandle },
	"Generator": func(w *Word) bool { _, ok := w.Content().(*rng.Generator); return ok },
	"tuple":     func(w *Word) bool { return w.IsSequence() },
	"complex":   func(w *Word) bool { return IsNumber(w) },
	"function":  func(w *Word) bool { return w.Kind() == KindCallable },
}

// KindName names what w is in messages.
func (w *Word) KindName() string {
	switch w.Kind() {
	case KindHandle:
		if w.Tensor() != nil {
			return "Tensor"
		}
		return contentName(w.Content())
	case KindToken:
		return [...]string{"torch.dtype", "torch.device", "torch.layout", "torch.memory_format"}[w.Count()]
	case KindSize:
		return "torch.Size"
	case KindObject:
		return Describe(w).ArgumentName
	}
	return kindNames[w.Kind()]
}

// Call binds the arguments to the parameters and runs the function.
func (f *Function) Call(c *Call) error {
	if err := f.bind(c); err != nil {
		return err
	}
	return f.Run(c)
}

func (f *Function) bind(c *Call) error {
	if c.Positional > len(f.params) {
		return TypeErrorf("%s() takes %d positional arguments but %d were given", f.Name, len(f.params), c.Positional)
	}
	c.Bound = slices.Grow(c.Bound[:0], len(f.params))[:len(f.params)]
	clear(c.Bound)
	x := c.Args
	for i := range c.Positional {
		c.Bound[i] = x
		x = x.Next()
	}
	for name, arg := range c.KeywordPairs {
		i := slices.IndexFunc(f.params, func(p param) bool { return p.name == name.Text() })
		if i < 0 {
			return TypeErrorf("%s() got an unexpected keyword argument '%s'", f.Name, name.Text())
		}
		if c.Bound[i] != nil {
			return TypeErrorf("%s() got multiple values for argument '%s'", f.Name, name.Text())
		}
		c.Bound[i] = arg
	}
	for i := range f.params {
		if err := f.check(c, i); err != nil {
			return err
		}
	}
	return nil
}

// check fills in the default of parameter i or checks the argument's kind.
func (f *Function) check(c *Call, i int) error {
	p := &f.params[i]
	if c.Bound[i] == nil {
		if p.defaultWords == nil {
			return TypeErrorf("%s() missing required argument: '%s' (pos %d)", f.Name, p.name, i+1)
		}
		c.Bound[i] = &p.defaultWords[0]
		return nil
	}
	w := c.Bound[i]
	if p.optional && w.Kind() == KindNone || kindChecks[p.kind](w) {
		return nil
	}
	return TypeErrorf("%s(): argument '%s' (position %d) must be %s, not %s", f.Name, p.name, i+1, p.kind, w.KindName())
}

// The accessors below return argument i of a registered function, whose kind is checked already.

// Arg returns the words of an argument.
func (c *Call) Arg(i int) *Word { return c.Bound[i] }

// IsNone reports whether an argument is None.
func (c *Call) IsNone(i int) bool { return c.Bound[i].Kind() == KindNone }

// ArgInt returns an int.
func (c *Call) ArgInt(i int) int { return int(c.Bound[i].Bits) }

// ArgBool returns a bool.
func (c *Call) ArgBool(i int) bool { return c.Bound[i].Bits != 0 }

// ArgFloat returns a number as a float.
func (c *Call) ArgFloat(i int) float64 {
	if w := c.Bound[i]; w.Kind() != KindFloat {
		return float64(int64(w.Bits))
	}
	return c.Bound[i].Float()
}

// ArgText returns a string that is valid until the call ends.
func (c *Call) ArgText(i int) string { return c.Bound[i].Text() }

// ArgString returns a copy of a string.
func (c *Call) ArgString(i int) string { return strings.Clone(c.Bound[i].Text()) }

// ArgTensor returns a tensor.
func (c *Call) ArgTensor(i int) *tensor.Tensor { return c.Bound[i].Tensor() }

// ArgObject returns a Python object with a reference of its own.
func (c *Call) ArgObject(i int) *Object { return c.Bound[i].Object() }

// ArgDType returns the type of elements.
func (c *Call) ArgDType(i int) tensor.DType {
	d, _ := c.Bound[i].dtype()
	return d
}

// ArgTensors returns the tensors in a list.
func (c *Call) ArgTensors(i int) ([]*tensor.Tensor, error) {
	var found []*tensor.Tensor
	for w := range c.Arg(i).Items {
		t := w.Tensor()
		if t == nil {
			return nil, TypeErrorf("expected tensors, not %s", w.KindName())
		}
		w.Keep()
		found = append(found, t)
	}
	return found, nil
}

// ArgStrings returns copies of the strings of a list.
func (c *Call) ArgStrings(i int) []string {
	var out []string
	for w := range c.Arg(i).Items {
		out = append(out, strings.Clone(w.Text()))
	}
	return out
}

// ArgValues returns the elements of a list by what they are themselves.
func (c *Call) ArgValues(i int) ([]value.Value, error) {
	v, err := plainSequence(c.Arg(i))
	if err != nil {
		return nil, err
	}
	if v.Kind() == value.KindTuple {
		return v.Tuple().Items, nil
	}
	return v.List().Items, nil
}

// ArgGenerator returns a random generator.
func (c *Call) ArgGenerator(i int) *rng.Generator { return c.Arg(i).Content().(*rng.Generator) }
