// Package ops holds the record of an operator and the registry of all of them; the operators
// themselves live in packages below it.
//
// schemas.txt lists every operator that programs may name, in the order in which overloads are
// tried. An Operator with a Run can be executed; the others still compile, so that a program that
// names them can be loaded and printed. Register adds implementations to known schemas and new
// operators with schemas of their own, at any time.
//
// Everything that is known of an operator is in its record, a Def, which stands with the implementation. Tags of operators with and without
// one stand behind the schema, and behind these, where it is the first overload, what the operator computes, in one sentence:
// "aten::trunc(Tensor self) -> Tensor # method | Each element without its fraction.", or "| = trunc" of another name of it.
package ops

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Operation runs an operator. args are the actual arguments in the order of the schema, with
// defaults filled in; for an operator with variable arguments those beyond the schema follow. out
// has as many elements as the schema has returns. An Operation keeps neither slice.
type Operation func(args, out []value.Value) error

// Operator is one overload of an operator.
type Operator struct {
	// Name is "ns::name.overload" of a schema in schemas.txt, or the whole text of a schema that
	// is not there.
	Name string
	// Run executes the operator; nil: it can be compiled but not run.
	Run Operation
	// Make makes what Run would be from the node that calls the operator, once for each node; nil: Run does for all. An operator with Make has no Run.
	Make func(Node) (Operation, error)
	// Check fails where Run would refuse the arguments, without running; nil: Run alone knows. It is for those who run the operator as others.
	Check func(args []value.Value) error
	// Record is the operator's record, nil where nothing is to be said of it.
	Record *Def
	// Parts runs the operator as others, that it is made of, nil where it is made of none; PartsOnDevices, where a device has no form of the
	// operator but forms of these.
	Parts, PartsOnDevices Operation
	// CallsItself reports whether Parts calls the operator itself, with other arguments; it is set where Parts is.
	CallsItself func() bool
	// Alias says what calls do to the memory of their arguments.
	Alias AliasKind

	once     sync.Once
	text     string
	words    string // that stand behind the schema in the table
	tags     Tags   // those of them that are tags
	sentence string // that stands behind the words: what the operator computes, or "= NAME" of the one that computes the same
	parsed   *schema.FunctionSchema
}

// Node is a node that calls an operator, as far as operators may read it.
type Node interface {
	Kind() string
	// Attr returns the value of an attribute.
	Attr(name string) (v any, ok bool)
}

// For returns the operator for a node: one that Make made, or else the operator itself.
func (o *Operator) For(n Node) (*Operator, error) {
	if o.Make == nil {
		return o, nil
	}
	run, err := o.Make(n)
	if err != nil {
		return nil, err
	}
	return o.With(run), nil
}

// With returns an operator as o is that runs by an Operation.
func (o *Operator) With(run Operation) *Operator {
	return &Operator{Name: o.Name, Run: run, Record: o.Record, Alias: o.Alias, text: o.text, words: o.words, tags: o.tags}
}

// AliasKind is what is known of the memory that an operator reads, writes and returns.
type AliasKind uint8

// The alias kinds.
const (
	AliasFromSchema   AliasKind = iota // what the annotations of the schema say
	AliasPure                          // nothing is written, results are new memory
	AliasConservative                  // anything may happen: calls are neither removed nor moved
)

// Schema returns the operator's schema.
func (o *Operator) Schema() *schema.FunctionSchema {
	o.once.Do(func() { o.parsed = schema.MustParse(o.text) })
	return o.parsed
}

// BaseName returns the name without the overload.
func (o *Operator) BaseName() string { return o.Schema().Name }

// Def returns the operator's record, an empty one where there is none.
func (o *Operator) Def() *Def {
	if o == nil || o.Record == nil {
		return &unrecorded
	}
	return o.Record
}

var unrecorded Def

// HasSideEffects reports whether the operator does something besides computing its results and
// writing its arguments.
func (o *Operator) HasSideEffects() bool {
	return o.Alias == AliasConservative || o.Has(Effectful)
}

// AllTags returns the tags of the operator, those of its record and those beside its schema; none of nil.
func (o *Operator) AllTags() Tags {
	if o == nil {
		return 0
	}
	return o.tags | o.Def().Tags
}

// Has reports whether a tag is one of the operator's.
func (o *Operator) Has(t Tags) bool { return o.AllTags()&t != 0 }

// Fact returns what stands behind the schema by a key, "b" of "a=b"; ok is true for the key alone as well.
func (o *Operator) Fact(key string) (fact string, ok bool) {
	for rest := o.words; rest != ""; {
		var word string
		if word, rest, _ = strings.Cut(rest, " "); !strings.HasPrefix(word, key) {
			continue
		}
		if word = word[len(key):]; word == "" || word[0] == '=' {
			return strings.TrimPrefix(word, "="), true
		}
	}
	return "", false
}

// OutType is the type that the overload wants out= to have: what its record says, or the fact "out" of its schema.
func (o *Operator) OutType() OutType {
	if o.Record != nil && o.Record.Out != AnyOut {
		return o.Record.Out
	}
	word, _ := o.Fact("out")
	if outRefusals[word] != "" {
		return OutOfResult
	}
	return outTypes[word]
}

// OutRefusal is what is said where out= of result i has another type than that: see outRefusals for the names in braces.
func (o *Operator) OutRefusal(i int) string {
	word, _ := o.Fact("out")
	if outRefusals[word] == "" {
		word = "result"
	}
	texts := strings.Split(outRefusals[word], "|")
	return texts[min(i, len(texts)-1)]
}

// Node is what PyTorch calls the node of the tape, "" where that follows from the name: a fact of the operator, or of the one that does not write.
func (o *Operator) Node() string {
	node, ok := o.Fact("node")
	if ok || o.Record == nil {
		return node
	}
	if functional := Find("aten::" + o.Record.Name); functional != nil {
		node, _ = functional.Fact("node")
	}
	return node
}

// FactOf is Fact of the first overload of a name without overload.
func FactOf(base, key string) (fact string, ok bool) {
	if overloads := Overloads(base); len(overloads) > 0 {
		return overloads[0].Fact(key)
	}
	return "", false
}

// IsComposite reports whether PyTorch has no kernel of its own for an operator: what sees operators below autograd sees those that it
// is made of.
func (o *Operator) IsComposite() bool { return o.Has(Composite) }

// IsNondeterministic reports whether equal arguments may give different results.
func (o *Operator) IsNondeterministic() bool {
	return o.Has(Random) || slices.ContainsFunc(o.Schema().Arguments, func(a schema.Argument) bool {
		t := a.Type
		if opt, ok := t.(*types.Optional); ok {
			t = opt.Elem
		}
		return t.Kind() == types.KindGenerator
	})
}

// DependsOnElements reports whether the shapes or numbers that an operator gives follow from the elements of its
// arguments, so that they are not known where those are not. The name has no overload.
func DependsOnElements(base string) bool {
	overloads := Overloads(base)
	return len(overloads) > 0 && overloads[0].Has(ElementDependent)
}

// keyOfSchemaText returns "ns::name.overload" of a schema's text.
func keyOfSchemaText(text string) string {
	if i := strings.IndexByte(text, '('); i >= 0 {
		return text[:i]
	}
	return text
}

// BaseName returns a name without the overload.
func BaseName(key string) string {
	from := strings.Index(key, "::") + 2
	if dot := strings.LastIndexByte(key[from:], '.'); dot >= 0 {
		return key[:from+dot]
	}
	return key
}

// Placed returns the arguments of an operator that takes no tensors with its default values behind them and, where they say where its tensors are made, d.
// Those of other operators are made beside the tensors that they take, and are returned as they are.
func Placed(o *Operator, args []value.Value, d tensor.Device) []value.Value {
	all := o.Schema().Arguments
	place := slices.IndexFunc(all, func(a schema.Argument) bool { return a.Name == "device" })
	if place < len(args) || d.Type == tensor.CPU || slices.ContainsFunc(args, value.Value.IsTensor) {
		return args
	}
	args = slices.Clone(args)
	for i := len(args); i < place; i++ {
		args = append(args, all[i].Default)
	}
	return append(args, value.OfDevice(d))
}
