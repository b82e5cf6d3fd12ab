package ops

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Def is the record of an operator: what every part of the system wants to know of it. All but the name is optional. The overloads that
// write in place or into out= share the record of the one that computes the same without writing.
type Def struct {
	// Name has no namespace. It carries an overload, "add.Tensor", where the record is that of one overload.
	Name string
	// Aliases are other names of the same operator. Those of one of Overloads have their own overloads with them.
	Aliases []string
	// Overloads are the records of overloads: their names are those of the overloads, and what they leave out is as it is here. Without
	// them there is one, without a name.
	Overloads []Def
	Tags      Tags

	// Scalar is what an elementwise operator computes from one element of each operand, Operands of them and then Numbers numbers, in the
	// type that Promote finds. Refuses fails for types that the operator is not defined for.
	Scalar            Expression
	Promote           Promotion
	Operands, Numbers int
	Refuses           func(common tensor.DType)

	// Into runs an elementwise operator of more than one expression: it writes into dst where that is not nil.
	Into func(args []value.Value, dst *tensor.Tensor) *tensor.Tensor

	// CheckInPlace fails where the form that writes in place would refuse the arguments, and others not.
	CheckInPlace func(args []value.Value) error
	// Sparse runs the operator with a sparse tensor among its arguments.
	Sparse func(args, out []value.Value)
	// Quantized says how results are quantized for the first quantized argument, nil for not at all; without it quantized tensors are refused.
	Quantized func(x *tensor.Tensor) *tensor.Quantizer
	// Grad computes the gradients of the arguments from those of the results.
	Grad func(g Gradient)
	// Reads are the arguments and results whose elements Grad reads, where the record says so: others need not be kept for it.
	Reads Slots
	// WithoutGrad are the positions of results that have no gradient though others have one.
	WithoutGrad []int
	// Reduce is how a reduction combines elements, for those that a kernel of elementwise operators may end with.
	Reduce kernel.ReduceOp
	// Out is the type that a tensor of out= must have.
	Out OutType
	// Decomp runs the operator as others; it is for operators without Grad.
	Decomp Decomposition
	// Parts are what an operator with a gradient of its own is made of, where that is to be seen: in exported programs, and for a composite operator by modes
	// below autograd. It knows sizes by Sizer alone and passes on numbers that it does not ask for.
	Parts Decomposition
	// Saving names the operator that a graph runs instead where gradients are wanted: it gives the same, and what Grad reads besides.
	Saving string
	// Groups says when the operator is part of groups of the profiling executor.
	Groups Grouping
	// Doc says what the operator computes, where its schema is not in the table, which says it of others.
	Doc string
	// Sample has arguments for the tests of all records, as a Python expression of a tuple.
	Sample string
}

// Slots is a set of arguments and results of an operator. The zero value says nothing of any.
type Slots uint32

// Sets of slots, whose arguments and results And and AndResult add to.
const (
	ReadsNothing  Slots = 1 << 31
	ReadsSelf           = ReadsNothing | 1
	ReadsOperands       = ReadsSelf | 2 // the first two arguments
	ReadsResult         = ReadsNothing | 1<<firstResult
)

// firstResult is the bit of the first result; arguments from there on are in no set.
const firstResult = 20

// And returns the set with an argument.
func (s Slots) And(argument int) Slots { return s | ReadsNothing | 1<<argument }

// AndResult returns the set with a result.
func (s Slots) AndResult(i int) Slots { return s | ReadsNothing | 1<<(firstResult+i) }

// Spares reports whether an argument is known not to be in the set.
func (s Slots) Spares(argument int) bool {
	return s != 0 && argument < firstResult && s>>argument&1 == 0
}

// SparesResult reports whether a result is known not to be in the set.
func (s Slots) SparesResult(i int) bool {
	return s != 0 && firstResult+i < 31 && s>>(firstResult+i)&1 == 0
}

// Tags are facts of an operator that are true or not.
type Tags uint64

// The tags.
const (
	Elementwise          Tags = 1 << iota // applies one expression to each element, though the record has no single one
	Random                                // draws random numbers without taking a generator
	Effectful                             // does something besides computing its results and writing its arguments
	ElementDependent                      // the shapes or numbers that it gives follow from elements of its arguments
	NotDifferentiable                     // its results have no gradient
	Constant                              // its results do not move with its arguments: gradients are zero
	ShapeOnly                             // arguments after the first only give a shape or a type
	IgnoresSelf                           // the gradients do without the elements of the first argument
	SelfIgnoresSelf                       // so does that of the first argument, but not that of the second
	SavesOperand                          // the gradient of one argument needs another
	AsWritten                             // Grad takes and gives complex gradients as they are; other formulas are those of real numbers
	Broadcasts                            // its tensors are broadcast against each other
	Grouped                               // is part of differentiable graphs
	Symbolic                              // graphs of it are differentiated though it is not Grouped
	Activation                            // is an activation, which passes run in place or not
	Unfused                               // has a Scalar and is not taken into kernels with others
	ChangesType                           // of an Activation: the result may have another element type
	Composite                             // PyTorch has no kernel of its own for it
	RankAlone                             // PyTorch's complete shape analysis tells the number of dimensions of its result, and no sizes
	SameGradient                          // that analysis tells that its result requires gradients as the first argument does
	SameGradientOfNumber                  // so it does, where it knows the sizes
	WrapsNumbers                          // Python calls it with a tensor where a number is given
	GivesArgument                         // gives back its first argument where there is nothing to do
	Reshapes                              // gives a view with the same elements in their order
	ReshapesInPlace                       // changes the shape of its first argument, not the elements
	WritesStatistics                      // writes running statistics, which its schema does not say
	AnyLayout                             // does with sparse tensors what it does with others
	AnySizes                              // Decomp knows sizes by Sizer alone, and passes on numbers that it does not ask for
	Implicit                              // converts a tensor where programs do not say so
	ToNumber                              // gives the number that its argument is or holds
	NeutralZero                           // gives its first argument where the second is 0
	NeutralOne                            // gives its first argument where the second is 1
	Resizes                               // changes the size of its first argument's memory, or gives it other memory
	AsksMode                              // tells the mode of a call, which a program does not know
	SizeArithmetic                        // gives new memory in any case: traces compute sizes by it
	Profiled                              // the profiling executor knows its tensors, though it is not part of groups
	PlainWrite                            // arithmetic or filling in place, which graphs of values do without
	ByFunction                            // Python's arithmetic reaches it through a function of Python
	Property                              // computes an attribute of its argument
	NumbersFirst                          // Python took its keyword numbers before what they scale
	ThroughNumbers                        // has a quantized form, which computes with the numbers that integers stand for
	MovesDevice                           // takes tensors of several devices, and gives one where its arguments say
	SameElementType                       // PyTorch's analysis of element types gives its result that of its tensors
	Analyzed                              // PyTorch's complete shape analysis tells the sizes of its result, and nothing of gradients
	KeepsRank                             // that analysis gives its result the number of dimensions of its first argument, whatever the sizes are
	BorrowsItems                          // leaves the items of a list as they are, and keeps none of them
)

// tagNames are the names of the tags, in their order.
var tagNames = [...]string{"elementwise", "random", "effectful", "element_dependent", "not_differentiable", "constant", "shape_only", "ignores_self",
	"self_ignores_self", "saves_operand", "as_written", "broadcasts", "grouped", "symbolic", "activation", "unfused", "changes_type", "composite",
	"rank_alone", "same_gradient", "same_gradient_of_number", "wraps_numbers", "gives_argument", "reshapes", "reshapes_in_place", "writes_statistics", "any_layout", "any_sizes",
	"implicit", "to_number", "neutral_zero", "neutral_one", "resizes", "asks_mode", "size_arithmetic", "profiled", "plain_write", "by_function", "property", "numbers_first", "through_numbers", "moves_device", "same_element_type", "analyzed", "keeps_rank", "borrows_items"}

// String names the tags.
func (t Tags) String() string {
	var names []string
	for i, name := range tagNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// Grouping says when an operator is part of groups of the profiling executor. PyTorch's groups take the same ones.
type Grouping uint8

// The groupings. Other names of an operator than the first one are no part of groups, but for those of Python's own operators where these are said.
const (
	NoGroups              Grouping = iota // never
	Groups                                // wherever all is known of its tensors
	GroupsFractions                       // where no input is a whole number or has such elements
	GroupsFractionTensors                 // where no tensor has whole numbers as elements
	GroupsReducing                        // where a program asks for reductions in groups
	GroupsByPython                        // under the name of Python's operator, __and__
	GroupsWholeByPython                   // so, where no number and no element is a fraction
)

// Expression states what an operator computes from one element of each operand.
type Expression func(b *kernel.Builder, x ...kernel.Value) kernel.Value

// Promotion says how the types of an elementwise operator follow from its operands'.
type Promotion uint8

// The promotions.
const (
	SameType    Promotion = iota // computes and gives the promoted type
	FloatType                    // like SameType, but integers become the default float type
	BoolResult                   // computes with the promoted type and gives Bool
	LogicType                    // reads every operand as Bool and gives Bool
	RealResult                   // computes with the promoted type and gives its real type
	RealOfFloat                  // like RealResult, but integers become the default float type
	NumberType                   // like SameType, but Bool becomes Int64
	OwnTypes                     // reads every operand as it is: the expression converts
)

// String says what the promotion gives.
func (p Promotion) String() string {
	return [...]string{"the promoted type", "a floating type", "Bool", "Bool of Bool", "the real type", "a real floating type", "a number", "types of its own"}[p]
}

// OutType says which type a tensor of out= must have.
type OutType uint8

// The types of out=.
const (
	AnyOut              OutType = iota // any that the result can be cast to
	OutOfInput                         // that of the first argument
	OutOfResult                        // that of the result
	OutInt64                           // Int64
	OutComputed                        // any: the operator computes in it, unless its dtype says otherwise
	OutComputedFloating                // that, for a floating or complex type
	OutOfKernel                        // that of the result, which the kernel says
	OutOfScalars                       // that, which the accessor of elements says
	OutCopied                          // any: the result is copied, whatever that loses
)

// outTypes are the words of the fact "out" of overloads that write out=.
var outTypes = map[string]OutType{"kernel": OutOfKernel, "scalars": OutOfScalars, "copied": OutCopied}

// outRefusals are further words of that fact, of overloads whose out= must have the types of the results: what is said where it has not, with | between what
// is said of several results. In braces stand names of the operator (op), with a dot behind its module (module), and of the result's type and that of out: in C++
// (result, out), as PyTorch's type (Result, Out) as that of a tensor (Tensor, OutTensor), and whether the
// result is Int32 (small).
var outRefusals = map[string]string{
	"result":      "Expected out tensor to have dtype {result}, but got {out} instead",
	"bool":        "{op} does not support non-boolean outputs.",
	"ranked":      "output values must be of same type as input|output indices must be of scalar type {Result}",
	"running":     "expected scalar_type {Result} but found {Out}",
	"quoted":      "expected scalar type '{Result}' but got '{Out}' for values output|expected scalar type '{Result}' but got '{Out}' for indices output",
	"middle":      "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type {OutTensor} does not equal {Tensor} (while checking arguments for median)|Expected tensor for argument #1 'indices' to have scalar type {Result}; but got {OutTensor} instead (while checking arguments for median)",
	"parts":       "torch.frexp() expects mantissa to have dtype {result} but got {out}|torch.frexp() expects exponent to have {result} dtype but got {out}",
	"places":      "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype {Out} and out_int32 flag is {small}",
	"input":       "quantile() out tensor must be same dtype as the input tensor",
	"self_result": "{op}(): self and result must have the same scalar type",
	"self_out":    "{op}(): self and out expected to have the same dtype, but got self.dtype = {Result} and out.dtype = {Out}",
	"product":     "result dtype {Out} does not match input dtype {Result}",
	"alike":       "{op} is not yet implemented for tensors with different dtypes.",
	"counts":      "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result} and hist {out}",
	"object":      "Expected object of scalar type {Result} but got scalar type {Out} for argument 'out'",
	"dotted":      "{module} expected out tensor dtype {Result} but got: {Out}",
	"chain":       "multi_dot(): expected out tensor to have dtype {result} but got {out}",
	"joined":      "{module}: Expected out of dtype{Result} but found {Out}",
	"true":        "{op}: Expected out tensor to have scalar type {Result} but got scalar type{Out}",
}

// Emitter runs or emits an operator, named without its namespace. Derivatives and decompositions use operators only through it. It
// panics with a *source.Error where the operator fails.
type Emitter interface {
	Emit(name string, args ...value.Value) []value.Value
}

// Sizer is an Emitter of programs whose sizes may be symbols.
type Sizer interface {
	// Size returns what stands for a size: an integer, or a tensor of one.
	Size(t *tensor.Tensor, dim int) value.Value
	// FixedSize returns a size, and has the program be one for this size alone.
	FixedSize(t *tensor.Tensor, dim int) int
}

// Decomposition runs an operator as other operators, and returns its results.
type Decomposition func(e Emitter, args []value.Value) []value.Value

// Has reports whether a record has a tag.
func (d *Def) Has(t Tags) bool { return d.Tags&t != 0 }

// IsElementwise reports whether the operator applies one expression to each element of its tensors, as far as its arguments let it.
func (d *Def) IsElementwise() bool {
	return d.Tags&Unfused == 0 && (d.Scalar != nil || d.Tags&Elementwise != 0)
}

// Named is the record of an overload under one of its names.
type Named struct {
	Name string // with the overload, without the namespace
	Def  *Def
}

// Flat returns the records of the overloads under each of their names; those of aliases have the name of the operator itself.
func (d *Def) Flat() []Named {
	overloads := d.Overloads
	if len(overloads) == 0 {
		overloads = []Def{{}}
	}
	var flat []Named
	for i := range overloads {
		o := d.with(&overloads[i])
		o.Name = overloaded(d.Name, overloads[i].Name)
		flat = append(flat, Named{o.Name, &o})
		for _, alias := range d.Aliases {
			flat = append(flat, Named{overloaded(alias, overloads[i].Name), &o})
		}
		for _, alias := range overloads[i].Aliases {
			flat = append(flat, Named{alias, &o})
		}
	}
	return flat
}

func overloaded(name, overload string) string {
	if overload == "" {
		return name
	}
	return name + "." + overload
}

// with returns the record of an overload.
func (d *Def) with(o *Def) Def {
	w := *d
	w.Overloads, w.Aliases = nil, nil
	w.Tags |= o.Tags
	if o.Scalar != nil {
		w.Scalar, w.Promote, w.Operands, w.Numbers, w.Refuses = o.Scalar, o.Promote, o.Operands, o.Numbers, o.Refuses
	}
	if o.Into != nil {
		w.Into = o.Into
	}
	if o.Grad != nil {
		w.Grad, w.Reads = o.Grad, o.Reads
	}
	if o.Decomp != nil {
		w.Decomp = o.Decomp
	}
	if o.Parts != nil {
		w.Parts = o.Parts
	}
	if o.Groups != NoGroups {
		w.Groups = o.Groups
	}
	if o.Reduce != kernel.NoReduce {
		w.Reduce = o.Reduce
	}
	for _, text := range []struct {
		to   *string
		from string
	}{{&w.Saving, o.Saving}, {&w.Doc, o.Doc}, {&w.Sample, o.Sample}} {
		if text.from != "" {
			*text.to = text.from
		}
	}
	return w
}

// IsFunctional reports whether the operator goes by the first of its names and writes none of its arguments.
func (o *Operator) IsFunctional() bool { return o.Record != nil && o.Name == "aten::"+o.Record.Name }

// IsElementwise reports whether an operator applies one expression to each element of its tensors, as far as its arguments let it, and writes
// none. Python's own operators, such as __and__, are no names in graphs.
func (o *Operator) IsElementwise() bool {
	return o.Def().IsElementwise() && !strings.HasPrefix(o.Name, "aten::__") && !o.Schema().IsMutable()
}

// IsView reports whether a result shares the memory of an argument.
func (o *Operator) IsView() bool {
	return slices.ContainsFunc(o.Schema().Returns, func(r schema.Argument) bool { return r.Alias != nil && !r.Alias.IsWrite })
}

// CanonicalName returns the first of the names of an operator, all with the namespace and without overload.
func CanonicalName(base string) string {
	overloads := Overloads(base)
	if len(overloads) == 0 || overloads[0].Def().Name == "" || strings.HasPrefix(base, "aten::__") {
		return base
	}
	first, _, _ := strings.Cut(overloads[0].Record.Name, ".")
	if strings.TrimPrefix(base, "aten::") == first {
		return base
	}
	name := "aten::" + first
	if writing := strings.HasSuffix(base, "_") && !strings.HasSuffix(name, "_"); writing {
		return name + "_"
	}
	return name
}
