package gojit

import (
	"context"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Keyword is an argument of a call that is given by the name of its parameter.
type Keyword struct {
	Name  string
	Value any
}

// CallOption changes how one call runs. Options stand among the arguments.
type CallOption struct{ set func(*callOptions) }

type callOptions struct {
	threads    int
	records    bool
	containers bool
}

// WithThreads has the operations of a call use n goroutines each, whatever tensor.SetNumThreads was given. A program that forks may use more.
func WithThreads(n int) CallOption { return CallOption{func(o *callOptions) { o.threads = n }} }

// WithGradients has a call record what Gradients needs. A result that is kept then keeps what it was computed from.
func WithGradients() CallOption { return CallOption{func(o *callOptions) { o.records = true }} }

// WithContainers has a call of an exported program take and give the containers that the captured module took and gave: slices for tuples and lists, maps
// or structs for dictionaries and named tuples. Without it the tensors and numbers in them are given one by one, and given as one tuple. Calls of modules
// always have containers.
func WithContainers() CallOption { return CallOption{func(o *callOptions) { o.containers = true }} }

// Call calls a compiled function with Go values; see Module.Call.
func (e *Engine) Call(ctx context.Context, f *ir.Function, args ...any) (out value.Value, err error) {
	defer guard(&err)
	if err := f.EnsureDefined(); err != nil {
		return value.None, err
	}
	return e.callBound(ctx, f, nil, args)
}

// callBound calls a function whose first arguments are known.
func (e *Engine) callBound(ctx context.Context, f *ir.Function, bound []value.Value, args []any) (out value.Value, err error) {
	c := &binding{function: f, bound: bound, values: slices.Clone(bound)}
	if err := c.bind(args); err != nil {
		return value.None, err
	}
	mode := autograd.ModeOf(ctx)
	mode.SetGradEnabled(c.options.records)
	ctx = autograd.WithMode(ctx, &mode)
	span := mode.BeginEvent(f.ShortName())
	defer span.End()
	parallel.LimitThreads(c.options.threads, func() { out, err = e.Run(ctx, f, c.values...) })
	return out, err
}

// Arguments returns the values that a call of a method with these arguments passes, in the order of its parameters; see Call.
func (m *Module) Arguments(method string, args ...any) (values []value.Value, err error) {
	defer guard(&err)
	f, err := m.Method(method)
	if err != nil {
		return nil, err
	}
	return m.bind(f, args)
}

// bind returns the arguments of a call of a method, without the module.
func (m *Module) bind(f *ir.Function, args []any) ([]value.Value, error) {
	self := value.OfObject(m.Object)
	c := &binding{function: f, bound: []value.Value{self}, values: []value.Value{self}}
	if err := c.bind(args); err != nil {
		return nil, err
	}
	return c.values[1:], nil
}

// binding gives the parameters of a function what a call passes.
type binding struct {
	function *ir.Function
	bound    []value.Value
	values   []value.Value
	options  callOptions
}

// bind fills values, in the order of the parameters.
func (c *binding) bind(args []any) error {
	formals := c.function.Schema.Arguments
	keywords := map[string]any{}
	for _, arg := range args {
		switch a := arg.(type) {
		case CallOption:
			a.set(&c.options)
		case Keyword:
			if _, twice := keywords[a.Name]; twice {
				return c.errorf(a.Name, "%s is given the argument '%s' twice: %s", c.name(), a.Name, c.function.Schema)
			}
			keywords[a.Name] = a.Value
		default:
			if len(c.values) == c.function.Schema.NumPositional() {
				return c.errorf("", "%s takes %d positional arguments, %d are given: %s", c.name(), len(c.values)-len(c.bound), countPositional(args), c.function.Schema)
			}
			if err := c.add(arg); err != nil {
				return err
			}
		}
	}
	for len(c.values) < len(formals) {
		formal := &formals[len(c.values)]
		given, ok := keywords[formal.Name]
		switch {
		case ok:
			delete(keywords, formal.Name)
			if err := c.add(given); err != nil {
				return err
			}
		case formal.HasDefault:
			c.values = append(c.values, formal.NewDefault())
		default:
			return c.errorf(formal.Name, "%s is missing a value for the argument '%s': %s", c.name(), formal.Name, c.function.Schema)
		}
	}
	for name := range keywords {
		if c.function.Schema.ArgumentIndex(name) >= len(c.bound) {
			return c.errorf(name, "%s is given the argument '%s' by its place and by its name: %s", c.name(), name, c.function.Schema)
		}
		return c.errorf(name, "%s has no argument '%s': %s", c.name(), name, c.function.Schema)
	}
	return nil
}

func countPositional(args []any) (n int) {
	for _, a := range args {
		switch a.(type) {
		case CallOption, Keyword:
		default:
			n++
		}
	}
	return n
}

// add gives the next parameter a Go value.
func (c *binding) add(x any) error {
	formal := &c.function.Schema.Arguments[len(c.values)]
	v, err := valueFor(x, formal.Type)
	if err != nil {
		return c.errorf(formal.Name, "%s expects a value of type %s for the argument '%s': %s: %s", c.name(), formal.Type.Annotation(nil), formal.Name, err, c.function.Schema)
	}
	c.values = append(c.values, v)
	return nil
}

func (c *binding) name() string { return c.function.ShortName() }

func (c *binding) errorf(argument, format string, args ...any) error {
	return callErrorf(source.TypeError, c.name(), argument, format, args...)
}

// Gradients returns the gradients of a result of one element with respect to tensors that require gradients and went into it, in a call with
// the option WithGradients. It fails where one of them did not.
func Gradients(result *tensor.Tensor, of ...*tensor.Tensor) (gradients []*tensor.Tensor, err error) {
	defer guard(&err)
	LinkOperators()
	return new(autograd.Mode).Gradients([]*tensor.Tensor{result}, of, nil, autograd.Options{})
}

// Parameter is a parameter of a method.
type Parameter struct {
	Name string `json:"name"`
	// Type is the type as programs write it: "Tensor", "List[int]".
	Type string `json:"type"`
	// Optional says that calls may leave the parameter out.
	Optional bool `json:"optional,omitempty"`
}

// Signature says what a method takes and gives.
type Signature struct {
	Parameters []Parameter `json:"parameters"`
	Result     string      `json:"result"`
	// Outputs names the parts of the result: the fields of a named tuple, output_0 and so on for a tuple, "output" for one value.
	Outputs []string `json:"outputs"`
}

// String returns the form in messages: "(Tensor x, int n=) -> Tensor".
func (s Signature) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, p := range s.Parameters {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name + ": " + p.Type)
		if p.Optional {
			b.WriteString(" = ...")
		}
	}
	b.WriteString(") -> " + s.Result)
	return b.String()
}

// SignatureOf returns the signature of a compiled function. It fails where the function does not compile.
func SignatureOf(f *ir.Function) (s Signature, err error) {
	defer guard(&err)
	if err := f.EnsureDefined(); err != nil {
		return s, err
	}
	arguments := f.Schema.Arguments
	if f.IsMethod && len(arguments) > 0 {
		arguments = arguments[1:]
	}
	s.Parameters = make([]Parameter, len(arguments))
	for i, a := range arguments {
		s.Parameters[i] = Parameter{a.Name, a.Type.Annotation(nil), a.HasDefault}
	}
	result := f.Schema.ReturnType()
	s.Result, s.Outputs = result.Annotation(nil), outputNames(result)
	return s, nil
}

// Signature returns the signature of a method. It fails where there is none of that name, and where it does not compile.
func (m *Module) Signature(method string) (s Signature, err error) {
	f, err := m.Method(method)
	if err != nil {
		return s, err
	}
	return SignatureOf(f)
}
