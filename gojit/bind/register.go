package bind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// function is a function that Python sees: an entry of one of the tables that functions() joins.
// Its schema reads like a Python signature with the type before each name:
//
//	arange(number start, int? step=None, str name="x") -> Tensor
//
// run gets the arguments in the order of the parameters, defaults filled in and kinds checked, and
// writes one value as the reply. It holds the GIL, which it gives up with call.withoutGIL for work
// that takes longer than a few microseconds.
type function struct {
	schema string
	run    func(c *call) error
	// doc and property are of members: see member.go.
	doc      string
	property bool

	name   string
	params []param
}

// param is a parameter of a function. A type that ends in "?" takes None as well.
type param struct {
	name, kind   string
	optional     bool
	defaultWords []Word // the value of an argument that is not given; nil: it must be given
}

// functions returns all registered functions in the order of their tables.
var functions = sync.OnceValue(func() []*function {
	var all []*function
	for i := range registered {
		f := &registered[i]
		if err := f.parse(); err != nil {
			panic(fmt.Sprintf("%s: %v", f.schema, err))
		}
		all = append(all, f)
	}
	return all
})

var functionsByName = sync.OnceValue(func() map[string]*function {
	m := map[string]*function{}
	for _, f := range functions() {
		m[f.name] = f
	}
	return m
})

func (f *function) callableName() string { return f.name }

// parse reads the schema.
func (f *function) parse() error {
	name, rest, ok := strings.Cut(f.schema, "(")
	end := strings.LastIndex(rest, ")")
	if !ok || end < 0 {
		return fmt.Errorf("expected NAME(PARAMETERS)")
	}
	f.name = name
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
		return []Word{{tag: int64(kindNone)}}, nil
	case "True":
		return []Word{{int64(kindBool), 1}}, nil
	case "False":
		return []Word{{int64(kindBool), 0}}, nil
	}
	if s, err := strconv.Unquote(text); err == nil {
		return []Word{{int64(kindString) | int64(len(s))<<8, uint64(uintptr(unsafe.Pointer(unsafe.StringData(s))))}}, nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return []Word{{int64(kindInt), uint64(i)}}, nil
	}
	return nil, fmt.Errorf("unknown default %q", text)
}

// kindChecks says which words a parameter of each type takes.
var kindChecks = map[string]func(*Word) bool{
	"any":       func(*Word) bool { return true },
	"bool":      func(w *Word) bool { return w.kind() == kindBool },
	"int":       func(w *Word) bool { return w.kind() == kindInt || w.kind() == kindBool },
	"float":     func(w *Word) bool { return w.kind() == kindFloat || w.kind() == kindInt || w.kind() == kindBool },
	"str":       func(w *Word) bool { return w.kind() == kindString },
	"bytes":     func(w *Word) bool { return w.kind() == kindBytes },
	"list":      func(w *Word) bool { return w.isSequence() },
	"dict":      func(w *Word) bool { return w.kind() == kindDict },
	"object":    func(w *Word) bool { return w.kind() == kindObject },
	"dtype":     func(w *Word) bool { _, ok := w.dtype(); return ok },
	"device":    func(w *Word) bool { return w.kind() == kindToken && tokenClass(w.count()) == tokenDevice },
	"Tensor":    func(w *Word) bool { return w.tensor() != nil },
	"Handle":    func(w *Word) bool { return w.kind() == kindHandle },
	"Generator": func(w *Word) bool { _, ok := w.content().(*rng.Generator); return ok },
	"tuple":     func(w *Word) bool { return w.isSequence() },
	"complex":   func(w *Word) bool { return isNumber(w) },
	"function":  func(w *Word) bool { return w.kind() == kindCallable },
}

// kindName names what w is in messages.
func (w *Word) kindName() string {
	switch w.kind() {
	case kindHandle:
		if w.tensor() != nil {
			return "Tensor"
		}
		return contentName(w.content())
	case kindToken:
		return [...]string{"torch.dtype", "torch.device", "torch.layout", "torch.memory_format"}[w.count()]
	}
	return kindNames[w.kind()]
}

// call binds the arguments to the parameters and runs the function.
func (f *function) call(c *call) error {
	if err := f.bind(c); err != nil {
		return err
	}
	return f.run(c)
}

func (f *function) bind(c *call) error {
	if c.positional > len(f.params) {
		return typeErrorf("%s() takes %d positional arguments but %d were given", f.name, len(f.params), c.positional)
	}
	c.bound = slices.Grow(c.bound[:0], len(f.params))[:len(f.params)]
	clear(c.bound)
	x := c.args
	for i := range c.positional {
		c.bound[i] = x
		x = x.next()
	}
	for name, arg := range c.keywordPairs {
		i := slices.IndexFunc(f.params, func(p param) bool { return p.name == name.text() })
		if i < 0 {
			return typeErrorf("%s() got an unexpected keyword argument '%s'", f.name, name.text())
		}
		if c.bound[i] != nil {
			return typeErrorf("%s() got multiple values for argument '%s'", f.name, name.text())
		}
		c.bound[i] = arg
	}
	for i := range f.params {
		if err := f.check(c, i); err != nil {
			return err
		}
	}
	return nil
}

// check fills in the default of parameter i or checks the argument's kind.
func (f *function) check(c *call, i int) error {
	p := &f.params[i]
	if c.bound[i] == nil {
		if p.defaultWords == nil {
			return typeErrorf("%s() missing required argument: '%s' (pos %d)", f.name, p.name, i+1)
		}
		c.bound[i] = &p.defaultWords[0]
		return nil
	}
	w := c.bound[i]
	if p.optional && w.kind() == kindNone || kindChecks[p.kind](w) {
		return nil
	}
	return typeErrorf("%s(): argument '%s' (position %d) must be %s, not %s", f.name, p.name, i+1, p.kind, w.kindName())
}

// The accessors below return argument i of a registered function, whose kind is checked already.

func (c *call) arg(i int) *Word { return c.bound[i] }

func (c *call) isNone(i int) bool { return c.bound[i].kind() == kindNone }

func (c *call) argInt(i int) int { return int(c.bound[i].bits) }

func (c *call) argBool(i int) bool { return c.bound[i].bits != 0 }

func (c *call) argFloat(i int) float64 {
	if w := c.bound[i]; w.kind() != kindFloat {
		return float64(int64(w.bits))
	}
	return c.bound[i].float()
}

// argText returns a string that is valid until the call ends.
func (c *call) argText(i int) string { return c.bound[i].text() }

// argString returns a copy of a string.
func (c *call) argString(i int) string { return strings.Clone(c.bound[i].text()) }

func (c *call) argTensor(i int) *tensor.Tensor { return c.bound[i].tensor() }

func (c *call) argObject(i int) *object { return c.bound[i].object() }

func (c *call) argDType(i int) tensor.DType {
	d, _ := c.bound[i].dtype()
	return d
}
