package gojit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A profile is a way to make up arguments: the shapes of the tensors in their order, the last one for
// all that follow, and what integers that are neither dimensions nor sizes are.
type profile struct {
	shapes [][]int
	number int
}

var profiles = []profile{
	{[][]int{{3, 3}}, 1}, {[][]int{{2, 3, 4}}, 1}, {[][]int{{4}}, 2}, {[][]int{{2, 4, 6, 6}, {4, 4, 3, 3}, {4}}, 1}, {[][]int{{2, 4, 6}, {4, 4, 3}, {4}}, 1},
	{[][]int{{3, 4}, {3}}, 1}, {[][]int{{2, 2, 4, 4, 4}, {2, 2, 3, 3, 3}, {2}}, 1}, {[][]int{{3, 4}, {4, 3}, {3, 3}}, 1}, {[][]int{{3}, {3, 4}, {4}}, 1},
	{[][]int{{3, 5}, {2, 3, 4}, {2, 4, 5}}, 1}, {[][]int{{2, 3, 3}}, 2}, {[][]int{{}}, 1}, {[][]int{{5, 3}, {3}}, 2}, {[][]int{{2, 4, 6, 6}, {4}}, 2}, {[][]int{{2, 3, 4, 4, 4}}, 2},
}

// random fills a tensor with numbers of its type that depend on the seed: floating-point ones between
// 0.1 and 0.9, apart from each other.
func randomTensor(r *rand.Rand, shape []int, d tensor.DType, high int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	order := r.Perm(n)
	data := make([]float64, n)
	for i := range data {
		if d.IsFloating() || d.IsComplex() {
			data[i] = 0.1 + 0.8*(float64(order[i])+0.5)/float64(n)
		} else {
			data[i] = float64(order[i] % max(high, 1))
		}
	}
	t, err := tensor.FromSlice(data, shape...)
	if err != nil {
		panic(err)
	}
	if t, err = t.To(d); err != nil {
		panic(err)
	}
	return t
}

// sample makes up arguments for a schema; ok is false where a type has no samples.
func (p profile) sample(r *rand.Rand, s *schema.FunctionSchema, d tensor.DType) (args []value.Value, ok bool) {
	tensors := 0
	shape := func() []int {
		at := p.shapes[min(tensors, len(p.shapes)-1)]
		tensors++
		return at
	}
	for i := range s.Arguments {
		a := &s.Arguments[i]
		if a.IsOut() {
			return nil, false
		}
		if a.HasDefault {
			args = append(args, a.NewDefault())
			continue
		}
		v, ok := p.argument(r, a.Name, a.Type, a.ListSize, d, shape)
		if !ok {
			return nil, false
		}
		args = append(args, v)
	}
	return args, true
}

func (p profile) argument(r *rand.Rand, name string, t types.Type, size int, d tensor.DType, shape func() []int) (value.Value, bool) {
	switch t.Kind() {
	case types.KindTensor:
		switch {
		case strings.Contains(name, "mask") || name == "condition":
			return value.OfTensor(randomTensor(r, shape(), tensor.Bool, 2)), true
		case strings.Contains(name, "index") || strings.Contains(name, "indices") || name == "target" || name == "repeats":
			at := shape()
			if name == "index" && len(at) > 0 && len(p.shapes) > 1 {
				at = at[:1]
			}
			return value.OfTensor(randomTensor(r, at, tensor.Int64, 3)), true
		}
		return value.OfTensor(randomTensor(r, shape(), d, 9)), true
	case types.KindInt:
		switch {
		case strings.Contains(name, "dtype"):
			return value.Int(int64(tensor.Float64)), true
		case strings.HasPrefix(name, "dim"), name == "axis":
			return value.Int(int64(r.IntN(2))), true
		}
		return value.Int(int64(p.number)), true
	case types.KindFloat:
		if name == "rcond" { // below all singular values: the rank is full
			return value.Float(1e-12), true
		}
		return value.Float(0.5), true
	case types.KindNumber:
		if d.IsFloating() {
			return value.Float(0.5), true
		}
		return value.Int(2), true
	case types.KindBool:
		return value.Bool(r.IntN(2) == 1 && name != "hermitian"), true
	case types.KindString:
		return value.Str(map[string]string{"reduce": "sum", "ord": "fro", "mode": "constant", "equation": "ij,jk->ik"}[name]), true
	case types.KindOptional:
		return value.None, true
	case types.KindList:
		return p.list(r, name, t.(*types.List).Elem, size, d, shape)
	}
	return value.None, false
}

func (p profile) list(r *rand.Rand, name string, elem types.Type, size int, d tensor.DType, shape func() []int) (value.Value, bool) {
	first := p.shapes[0]
	switch elem.Kind() {
	case types.KindTensor:
		at := shape()
		return value.OfList(value.NewList(elem, value.OfTensor(randomTensor(r, at, d, 9)), value.OfTensor(randomTensor(r, at, d, 9)))), true
	case types.KindInt:
		switch {
		case strings.Contains(name, "size") && !strings.Contains(name, "kernel") && !strings.Contains(name, "split"), strings.Contains(name, "shape"):
			if size > 0 {
				return value.OfList(value.Ints(slices.Repeat([]int{3}, size))), true
			}
			return value.OfList(value.Ints(first)), true
		case strings.HasPrefix(name, "dim"):
			if strings.HasPrefix(name, "dims") && len(first) > 1 {
				return value.OfList(value.Ints([]int{1, 0, 2, 3, 4}[:len(first)])), true
			}
			return value.OfList(value.Ints([]int{0})), true
		case strings.Contains(name, "pad"):
			return value.OfList(value.Ints(slices.Repeat([]int{1}, 2*max(len(first)-2, 1)))), true
		case strings.Contains(name, "repeats"), strings.Contains(name, "stride") && size < 0:
			return value.OfList(value.Ints(slices.Repeat([]int{1}, len(first)))), true
		case strings.Contains(name, "split"):
			return value.OfList(value.Ints([]int{1, max(slices.Max(append([]int{1}, first...)), 1) - 1})), true
		}
		return value.OfList(value.Ints(slices.Repeat([]int{2}, max(size, 1)))), true
	}
	return value.None, false
}

// attempt runs an operator. A panic becomes an error: it is a mistake of the operator's.
func attempt(o *ops.Operator, args []value.Value) (out []value.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v in %s", errPanic, p, placeOfPanic())
		}
	}()
	out = make([]value.Value, len(o.Schema().Returns))
	return out, new(autograd.Mode).Run(o, slices.Clone(args), out)
}

var errPanic = errors.New("panic")

// placeOfPanic names the functions of the project that the panic came through.
func placeOfPanic() string {
	var places []string
	for _, line := range strings.Split(string(debug.Stack()), "\n") {
		if strings.Contains(line, "/gojit/") && !strings.Contains(line, "_test.go") && !strings.Contains(line, "source/raise.go") && strings.HasPrefix(line, "\t") {
			places = append(places, line[strings.LastIndex(line, "/gojit/")+1:])
		}
	}
	return strings.Join(places[:min(3, len(places))], ", ")
}

// copied returns the arguments with tensors of their own, laid out by layout.
func copied(args []value.Value, layout func(*tensor.Tensor) *tensor.Tensor) []value.Value {
	made := slices.Clone(args)
	for i, v := range args {
		switch {
		case v.IsTensor():
			made[i] = value.OfTensor(layout(v.Tensor()))
		case v.Kind() == value.KindList:
			items := copied(v.List().Items, layout)
			made[i] = value.OfList(value.NewList(v.List().Elem, items...))
		}
	}
	return made
}

// clone returns a contiguous copy, of a sparse tensor its elements.
func clone(t *tensor.Tensor) *tensor.Tensor {
	if t.IsSparse() {
		out := make([]value.Value, 1)
		if err := ops.Find("aten::to_dense").Run([]value.Value{value.OfTensor(t), value.None}, out); err != nil {
			panic(err)
		}
		return out[0].Tensor()
	}
	c, err := t.Clone(tensor.ContiguousFormat)
	if err != nil {
		panic(err)
	}
	return c
}

// gapped returns the same elements with others between them in memory.
func gapped(t *tensor.Tensor) *tensor.Tensor {
	if t.Dim() == 0 || t.DType().IsQuantized() {
		return clone(t)
	}
	shape, strides := slices.Clone(t.Shape()), make([]int, t.Dim())
	step := 2
	for d := range shape { // the first dimension is the innermost
		strides[d] = step
		step *= shape[d]
	}
	wide, err := tensor.EmptyStrided(shape, strides, t.DType())
	if err != nil {
		panic(err)
	}
	if err := tensor.Copy(wide, t); err != nil {
		panic(err)
	}
	return wide
}

// differs tells how far apart results are, or "" where they agree to rounding.
func differs(a, b []value.Value) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d results, not %d", len(b), len(a))
	}
	for i := range a {
		if a[i].Kind() != b[i].Kind() {
			return fmt.Sprintf("result %d is a %s, not a %s", i, b[i].Kind(), a[i].Kind())
		}
		switch a[i].Kind() {
		case value.KindTensor:
			if why := differentTensors(a[i].Tensor(), b[i].Tensor()); why != "" {
				return fmt.Sprintf("result %d: %s", i, why)
			}
		case value.KindList:
			if why := differs(a[i].List().Items, b[i].List().Items); why != "" {
				return why
			}
		}
	}
	return ""
}

func differentTensors(x, y *tensor.Tensor) string {
	if x.IsSparse() && y.IsSparse() {
		x, y = clone(x), clone(y)
	}
	if !tensor.SameShape(x.Shape(), y.Shape()) || x.DType() != y.DType() {
		return fmt.Sprintf("%v of %v, not %v of %v", y.Shape(), y.DType(), x.Shape(), x.DType())
	}
	if x.DType().IsQuantized() || x.Numel() == 0 {
		return ""
	}
	p, err1 := clone(x).To(tensor.Complex128)
	q, err2 := clone(y).To(tensor.Complex128)
	if err1 != nil || err2 != nil {
		return ""
	}
	for i, u := range tensor.Data[complex128](p) {
		v := tensor.Data[complex128](q)[i]
		for _, pair := range [][2]float64{{real(u), real(v)}, {imag(u), imag(v)}} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-6+1e-6*math.Abs(pair[0])) && pair[0] != pair[1] && !(math.IsNaN(pair[0]) && math.IsNaN(pair[1])) {
				return fmt.Sprintf("element %d is %v, not %v", i, v, u)
			}
		}
	}
	return ""
}

// unstable operators give memory as they find it, or draw, or factor matrices whose factors are not unique.
var unstable = map[string]bool{
	"aten::resize": true, "aten::resize_as": true, "aten::set": true, "aten::result_type": true, "aten::is_set_to": true, "aten::data_ptr": true,
	"aten::as_strided": true, "aten::as_strided_": true, "aten::as_strided_copy": true, "aten::as_strided_scatter": true,
	"aten::resize_": true, "aten::resize_as_": true, "aten::is_contiguous": true, "aten::stride": true, "aten::sizes": true, "aten::is_non_overlapping_and_dense": true,
	"aten::new_empty": true, "aten::empty_like": true, "aten::empty": true, "aten::empty_strided": true, "aten::new_empty_strided": true, "aten::linalg_eig": true, "aten::linalg_svd": true, "aten::svd": true,
	"aten::_version": true, "aten::storage_offset": true, "prim::data_ptr": true, "aten::_reshape_alias": true, "aten::_reshape_alias_copy": true, "aten::resize_output": true,
}

// ambiguous operators get indices here of which some are equal, so that it is not said which element is written last; or
// they give statistics besides, through which no gradient flows, as in PyTorch; or their gradient passes through a
// rounding, on purpose.
var ambiguous = map[string]bool{"aten::native_layer_norm": true, "aten::native_group_norm": true, "aten::native_batch_norm": true, "aten::_batch_norm_impl_index": true, "aten::put": true, "aten::max_unpool2d": true, "aten::max_unpool3d": true, "aten::index_copy": true, "aten::nanquantile": true,
	"aten::fake_quantize_per_tensor_affine": true, "aten::fake_quantize_per_tensor_affine_cachemask": true,
	"aten::_fake_quantize_learnable_per_tensor_affine": true, "aten::_fake_quantize_learnable_per_channel_affine": true,
	"aten::fake_quantize_per_channel_affine": true, "aten::fake_quantize_per_channel_affine_cachemask": true}

func skipped(o *ops.Operator) bool {
	base := o.BaseName()
	if strings.Contains(base, "dropout") || strings.Contains(base, "rrelu") {
		return true
	}
	return o.Run == nil || o.HasSideEffects() || o.IsNondeterministic() || unstable[base] || !strings.HasPrefix(base, "aten::") || strings.Contains(base, "empty")
}

// TestEveryOperator makes up arguments for every operator that is implemented and checks what must hold
// whatever it computes: no call panics; the layout of the arguments does not matter; the variants that
// write in place or into out= give what the plain one gives; every element type and tensors without
// elements give a result or an error; gradients agree with differences.
func TestEveryOperator(t *testing.T) {
	if testing.Short() {
		t.Skip("the operators start no goroutines of their own")
	}
	gojit.LinkOperators()
	defer tensor.BorrowFrom(tensor.BorrowFrom(0))
	covered, checked := 0, map[string]int{}
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if skipped(o) {
				continue
			}
			r := rand.New(rand.NewPCG(1, uint64(len(o.Name))))
			args, out := accepted(t, o, r)
			if args == nil {
				continue
			}
			covered++
			t.Run(o.Name, func(t *testing.T) { checkOperator(t, o, r, args, out, checked) })
		}
	}
	t.Logf("%d overloads of operators, of them %v", covered, checked)
	if covered < 600 {
		t.Errorf("only %d overloads could be called", covered)
	}
}

// accepted returns arguments that an operator takes, and what it gives for them; nil where it takes none
// that are made up.
func accepted(t *testing.T, o *ops.Operator, r *rand.Rand) (args, out []value.Value) {
	for _, d := range []tensor.DType{tensor.Float64, tensor.Int64, tensor.Bool, tensor.Complex128} {
		for _, p := range profiles {
			made, ok := p.sample(r, o.Schema(), d)
			if !ok {
				return nil, nil
			}
			out, err := attempt(o, copied(made, clone))
			if err == nil {
				return made, out
			}
			if errors.Is(err, errPanic) {
				t.Errorf("%s, %v, %v: %v", o.Name, d, p.shapes, err)
			}
		}
	}
	return nil, nil
}

func checkOperator(t *testing.T, o *ops.Operator, r *rand.Rand, args, out []value.Value, checked map[string]int) {
	if got, err := attempt(o, copied(args, gapped)); err != nil {
		t.Errorf("with gaps in memory: %v", err)
	} else if why := differs(out, got); why != "" {
		t.Errorf("with gaps in memory: %s", why)
	}
	checkTypes(t, o, r)
	if checkMeta(t, o, args, out) {
		checked["without elements"]++
	}
	s := o.Schema()
	if variant := outVariant(s); variant != nil {
		checked["out="]++
		checkOut(t, variant, args, out)
	}
	if variant := inPlaceVariant(s); variant != nil {
		written := copied(args, clone)
		if got, err := attempt(variant, written); err == nil {
			checked["in place"]++
			if len(got) == 0 { // a list of tensors that are written
				got = written[:1]
			}
			if why := differs(out, got); why != "" && !strings.Contains(why, "] of ") { // the type is the argument's
				t.Errorf("%s: %s", variant.Name, why)
			}
		}
	}
	once, twice := checkGradient(t, o, args)
	if twice {
		checked["second derivative"]++
	}
	if once {
		checked["gradient"]++
	}
}

// checkTypes runs the operator on every element type and on tensors without elements: it may refuse them,
// with an error of the program's.
func checkTypes(t *testing.T, o *ops.Operator, r *rand.Rand) {
	empty := profile{[][]int{{0, 3}}, 1}
	for d := range tensor.DType(tensor.NumDTypes) {
		if d.IsQuantized() {
			continue
		}
		for _, p := range []profile{profiles[0], empty} {
			made, ok := p.sample(r, o.Schema(), d)
			if !ok {
				continue
			}
			if _, err := attempt(o, made); errors.Is(err, errPanic) {
				t.Errorf("%v, %v: %v", d, p.shapes, err)
			}
		}
	}
}

// checkMeta runs the operator on tensors without elements: the results have none either, and are shaped as those with.
func checkMeta(t *testing.T, o *ops.Operator, args, out []value.Value) bool {
	tensors := false
	meta := copied(args, func(x *tensor.Tensor) *tensor.Tensor {
		tensors = true
		m, err := tensor.EmptyMeta(x.Shape(), x.DType())
		if err != nil {
			panic(err)
		}
		return m
	})
	if !tensors || o.Name == "aten::_shape_as_tensor" { // that one gives what elements tell
		return false
	}
	got, err := attempt(o, meta)
	if err == nil {
		if why := differentShapes(out, got); why != "" {
			t.Errorf("without elements: %s", why)
		}
		return true
	}
	var e *source.Error
	if !errors.As(err, &e) || e.Class != source.NotImplementedError && !strings.Contains(e.Text, "meta tensor") && !strings.Contains(e.Text, "singular") {
		t.Errorf("without elements: %v", err)
	}
	return false
}

// differentShapes tells how results without elements are shaped in another way, or "".
func differentShapes(a, b []value.Value) string {
	for i := range a {
		switch {
		case a[i].Kind() != b[i].Kind():
			return fmt.Sprintf("result %d is a %s, not a %s", i, b[i].Kind(), a[i].Kind())
		case a[i].IsTensor():
			x, y := a[i].Tensor(), b[i].Tensor()
			if !tensor.SameShape(x.Shape(), y.Shape()) || x.DType() != y.DType() || y.Device().Type != tensor.Meta {
				return fmt.Sprintf("result %d is %v of %v on %v, not %v of %v", i, y.Shape(), y.DType(), y.Device(), x.Shape(), x.DType())
			}
		case a[i].Kind() == value.KindList:
			if len(a[i].List().Items) != len(b[i].List().Items) {
				return "lists of other lengths"
			}
			if why := differentShapes(a[i].List().Items, b[i].List().Items); why != "" {
				return why
			}
		}
	}
	return ""
}

// outVariant returns the overload that takes the same arguments and out=.
func outVariant(s *schema.FunctionSchema) *ops.Operator {
	for _, o := range ops.Overloads(s.Name) {
		v := o.Schema()
		n := len(s.Arguments)
		if o.Run == nil || len(s.Returns) == 0 || len(v.Arguments) != n+len(s.Returns) || !v.Arguments[n].IsOut() {
			continue
		}
		same := true
		for i := range n {
			same = same && v.Arguments[i].Name == s.Arguments[i].Name && types.Equal(v.Arguments[i].Type, s.Arguments[i].Type)
		}
		if same {
			return o
		}
	}
	return nil
}

func checkOut(t *testing.T, variant *ops.Operator, args, out []value.Value) {
	given := copied(args, clone)
	var written []value.Value
	for _, v := range out {
		if !v.IsTensor() {
			return
		}
		made, err := tensor.Zeros(v.Tensor().Shape(), v.Tensor().DType())
		if v.Tensor().IsSparse() {
			made, err = v.Tensor().Clone(tensor.PreserveFormat)
		}
		if err != nil {
			t.Fatal(err)
		}
		if made.IsSparse() {
			if _, err := attempt(ops.Find("aten::zero_"), []value.Value{value.OfTensor(made)}); err != nil {
				t.Fatal(err)
			}
		}
		written = append(written, value.OfTensor(made))
	}
	if _, err := attempt(variant, append(given, written...)); err != nil {
		t.Errorf("%s: %v", variant.Name, err)
	} else if why := differs(out, written); why != "" {
		t.Errorf("%s: %s", variant.Name, why)
	}
}

// inPlaceVariant returns the operator whose name ends in "_" and that takes the same arguments.
func inPlaceVariant(s *schema.FunctionSchema) *ops.Operator {
	o := ops.Find(strings.TrimSuffix(s.Name+"_."+s.Overload, "."))
	if o == nil || o.Run == nil || len(o.Schema().Arguments) != len(s.Arguments) || len(s.Returns) != 1 {
		return nil
	}
	return o
}

// checkGradient compares the derivatives of a weighted sum of the results, and those of a weighted sum of the derivatives, with
// differences. It reports whether the operator has a gradient for these arguments, and one that moves with them.
func checkGradient(t *testing.T, o *ops.Operator, args []value.Value) (once, twice bool) {
	given := copied(args, clone)
	leaves := leavesOf(given)
	if len(leaves) == 0 || o.Schema().IsMutable() || ambiguous[o.BaseName()] {
		return false, false
	}
	for _, leaf := range leaves {
		if err := leaf.SetRequiresGrad(true); err != nil {
			t.Fatal(err)
		}
	}
	total := func() *tensor.Tensor {
		out, err := attempt(o, given)
		if err != nil {
			return nil
		}
		return weightedSum(out)
	}
	if !compareGradients(t, "gradient", leaves, total) {
		return false, false
	}
	twice = compareGradients(t, "second derivative", leaves, func() *tensor.Tensor {
		sum := total()
		grads, err := new(autograd.Mode).Gradients([]*tensor.Tensor{sum}, leaves, nil, autograd.Options{AllowUnused: true, CreateGraph: true})
		if err != nil {
			t.Error(err)
			return nil
		}
		var found []value.Value
		for _, g := range grads {
			if g != nil {
				found = append(found, value.OfTensor(g))
			}
		}
		return weightedSum(found)
	})
	return true, twice
}

// leavesOf returns the tensors among values, also those in lists, that can have a gradient here.
func leavesOf(vs []value.Value) (leaves []*tensor.Tensor) {
	for _, v := range vs {
		if v.IsTensor() && v.Tensor().DType() == tensor.Float64 {
			leaves = append(leaves, v.Tensor())
		} else if v.Kind() == value.KindList {
			leaves = append(leaves, leavesOf(v.List().Items)...)
		}
	}
	return leaves
}

// compareGradients compares the gradients of total with differences at some elements of the leaves. It reports whether
// total has a gradient, and one that is implemented.
func compareGradients(t *testing.T, what string, leaves []*tensor.Tensor, total func() *tensor.Tensor) bool {
	sum := total()
	if sum == nil || !sum.RequiresGrad() {
		return false
	}
	grads, err := new(autograd.Mode).Gradients([]*tensor.Tensor{sum}, leaves, nil, autograd.Options{AllowUnused: true})
	if err != nil {
		if strings.Contains(err.Error(), "is not implemented") || strings.Contains(err.Error(), "not differentiable") {
			return false // said so
		}
		t.Errorf("%s: %v", what, err)
		return false
	}
	for i, leaf := range leaves {
		data := tensor.Data[float64](leaf)
		for _, k := range []int{0, len(data) / 2, len(data) - 1} {
			if k < 0 {
				continue
			}
			want, ok := difference(data, k, total)
			got := 0.0
			if grads[i] != nil {
				got = tensor.Data[float64](clone(grads[i]))[k]
			}
			if ok && !(math.Abs(want-got) <= 1e-4*(1+math.Abs(want))) {
				t.Errorf("the %s of tensor %d at %d is %v, a difference gives %v", what, i, k, got, want)
			}
		}
	}
	return true
}

// difference is the slope of total along an element; ok is false where the slopes of two steps differ: the
// function is not smooth there.
func difference(data []float64, k int, total func() *tensor.Tensor) (slope float64, ok bool) {
	old := data[k]
	defer func() { data[k] = old }()
	at := func(x float64) float64 {
		data[k] = x
		if sum := total(); sum != nil {
			return sum.At().Float64()
		}
		return math.NaN()
	}
	near := (at(old+1e-6) - at(old-1e-6)) / 2e-6
	far := (at(old+1e-5) - at(old-1e-5)) / 2e-5
	right := (at(old+1e-6) - at(old)) / 1e-6
	return near, math.Abs(near-far) <= 1e-4*(1+math.Abs(near)) && math.Abs(near-right) <= 1e-3*(1+math.Abs(near))
}

// weightedSum adds up the float64 results with fixed weights.
func weightedSum(out []value.Value) *tensor.Tensor {
	var sum *tensor.Tensor
	call := func(name string, args ...value.Value) *tensor.Tensor {
		o := ops.Find(name)
		for i := len(args); i < len(o.Schema().Arguments); i++ {
			args = append(args, o.Schema().Arguments[i].Default)
		}
		found, err := attempt(o, args)
		if err != nil {
			panic(err)
		}
		return found[0].Tensor()
	}
	for _, v := range out {
		if v.Kind() == value.KindList {
			if part := weightedSum(v.List().Items); part != nil {
				out = append(out, value.OfTensor(part))
			}
			continue
		}
		if !v.IsTensor() || v.Tensor().DType() != tensor.Float64 {
			continue
		}
		if v.Tensor().IsSparse() {
			v = value.OfTensor(call("aten::to_dense", v))
		}
		n := v.Tensor().Numel()
		w := make([]float64, n)
		for i := range w {
			w[i] = 1 + math.Sin(float64(3*i+1))
		}
		weights, err := tensor.FromSlice(w, v.Tensor().Shape()...)
		if err != nil {
			panic(err)
		}
		part := call("aten::sum", value.OfTensor(call("aten::mul.Tensor", v, value.OfTensor(weights))))
		if sum == nil {
			sum = part
		} else {
			sum = call("aten::add.Tensor", value.OfTensor(sum), value.OfTensor(part))
		}
	}
	return sum
}
