package prim

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Lists holds the operators on lists. Those that compare elements are for elements that are no
// tensors.
var Lists = join(
	one("aten::__getitem__.t", item),
	one("aten::select.t", item),
	one("aten::_set_item.t", func(args, out []value.Value) error {
		l := args[0].List()
		i, err := position(args[1].Int(), len(l.Items), "list")
		if err != nil {
			return err
		}
		l.Items[i] = args[2]
		out[0] = args[0]
		return nil
	}),
	one("aten::Delete.t", func(args, out []value.Value) error {
		l := args[0].List()
		i, err := position(args[1].Int(), len(l.Items), "list")
		if err == nil {
			removeAt(l, i)
		}
		return err
	}),
	overloads("aten::len", func(args, out []value.Value) error {
		out[0] = value.Int(int64(len(args[0].List().Items)))
		return nil
	}, "t", "any"),
	one("aten::append.t", func(args, out []value.Value) error {
		l := args[0].List()
		if err := checkItems(l.Items, 1); err != nil {
			return err
		}
		l.Items = append(l.Items, args[1])
		out[0] = args[0]
		return nil
	}),
	one("aten::extend.t", func(args, out []value.Value) error {
		return extend(args[0].List(), args[1].List())
	}),
	one("aten::insert.t", func(args, out []value.Value) error {
		l := args[0].List()
		if err := checkItems(l.Items, 1); err != nil {
			return err
		}
		i := clampPosition(args[1].Int(), len(l.Items))
		l.Items = append(l.Items, value.None)
		copy(l.Items[i+1:], l.Items[i:])
		l.Items[i] = args[2]
		return nil
	}),
	one("aten::pop.t", func(args, out []value.Value) error {
		l := args[0].List()
		if len(l.Items) == 0 {
			return errorf("pop from empty list")
		}
		i, err := position(args[1].Int(), len(l.Items), "list")
		if err != nil {
			return err
		}
		out[0] = l.Items[i]
		removeAt(l, i)
		return nil
	}),
	one("aten::clear.t", func(args, out []value.Value) error {
		args[0].List().Items = nil
		return nil
	}),
	one("aten::reverse.t", func(args, out []value.Value) error {
		reverse(args[0].List().Items)
		return nil
	}),
	overloads("aten::copy", copyList, "t"),
	overloads("aten::list", copyList, "t"),
	one("aten::add.t", func(args, out []value.Value) error {
		a, b := args[0].List(), args[1].List()
		if err := checkItems(a.Items, int64(len(b.Items))); err != nil {
			return err
		}
		items := make([]value.Value, 0, len(a.Items)+len(b.Items))
		out[0] = value.OfList(value.NewList(a.Elem, append(append(items, a.Items...), b.Items...)...))
		return nil
	}),
	one("aten::add_.t", func(args, out []value.Value) error {
		out[0] = args[0]
		return extend(args[0].List(), args[1].List())
	}),
	one("aten::mul.left_t", func(args, out []value.Value) error {
		items, err := repeatItems(args[0].List().Items, args[1].Int())
		out[0] = value.OfList(value.NewList(args[0].List().Elem, items...))
		return err
	}),
	one("aten::mul.right_", func(args, out []value.Value) error {
		items, err := repeatItems(args[1].List().Items, args[0].Int())
		out[0] = value.OfList(value.NewList(args[1].List().Elem, items...))
		return err
	}),
	one("aten::mul_.t", func(args, out []value.Value) error {
		items, err := repeatItems(args[0].List().Items, args[1].Int())
		args[0].List().Items = items
		out[0] = args[0]
		return err
	}),
	one("aten::slice.t", func(args, out []value.Value) error {
		l := args[0].List()
		positions, err := sliceOf(len(l.Items), args, "List")
		if err != nil {
			return err
		}
		part := value.NewList(l.Elem, make([]value.Value, len(positions))...)
		for k, i := range positions {
			part.Items[k] = l.Items[i]
		}
		out[0] = value.OfList(part)
		return nil
	}),
	overloads("aten::index", func(args, out []value.Value) error {
		i := find(args[0].List(), args[1])
		if i < 0 {
			return errorf("'%s' is not in list", Display(args[1]))
		}
		out[0] = value.Int(int64(i))
		return nil
	}, "list_int", "list_float", "list_bool", "list_str"),
	overloads("aten::count", func(args, out []value.Value) error {
		n := int64(0)
		for _, v := range args[0].List().Items {
			if Equal(v, args[1]) {
				n++
			}
		}
		out[0] = value.Int(n)
		return nil
	}, "int", "float", "bool"),
	one("aten::count.str", func(args, out []value.Value) error {
		n := int64(0)
		for _, v := range args[0].List().Items {
			if v.Str() == args[1].Str() {
				n++
			}
		}
		out[0] = value.Int(n)
		return nil
	}),
	overloads("aten::remove", func(args, out []value.Value) error {
		l := args[0].List()
		i := find(l, args[1])
		if i < 0 {
			return errorf("list.remove(x): x not in list")
		}
		removeAt(l, i)
		return nil
	}, "int", "float", "bool", "str"),
	overloads("aten::__contains__", func(args, out []value.Value) error {
		out[0] = value.Bool(find(args[0].List(), args[1]) >= 0)
		return nil
	}, "int_list", "float_list", "str_list"),
	overloads("aten::sort", func(args, out []value.Value) error {
		return SortItems(args[0].List().Items, args[1].Bool(), unsortable)
	}, "int", "float", "bool", "str", "Tensor", "any"),
	overloads("aten::sorted", func(args, out []value.Value) error {
		l := args[0].List()
		s := value.NewList(l.Elem, append([]value.Value(nil), l.Items...)...)
		out[0] = value.OfList(s)
		return SortItems(s.Items, false, unsortable)
	}, "int", "float", "bool", "str", "Tensor", "any"),
)

// position converts an index that may count from the end.
func position(i int64, n int, what string) (int, error) {
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		return 0, errorf("%s index out of range", what)
	}
	return int(i), nil
}

// clampPosition converts an index that may count from the end and lie outside.
func clampPosition(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, 0), int64(n)))
}

func item(args, out []value.Value) error {
	l := args[0].List()
	i, err := position(args[1].Int(), len(l.Items), "list")
	if err != nil {
		return err
	}
	out[0] = l.Items[i]
	return nil
}

func removeAt(l *value.List, i int) {
	copy(l.Items[i:], l.Items[i+1:])
	last := len(l.Items) - 1
	l.Items[last] = value.None
	l.Items = l.Items[:last]
}

func reverse(items []value.Value) {
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
}

func copyList(args, out []value.Value) error {
	l := args[0].List()
	out[0] = value.OfList(value.NewList(l.Elem, append([]value.Value(nil), l.Items...)...))
	return nil
}

// maxItems is how many elements a list has at most: a quarter of the memory of the machine. A program that asks for more gets an error
// where the system would end the process.
var maxItems = int64(tensor.MemoryLimit()) / 4 / int64(unsafe.Sizeof(value.Value{}))

// checkItems fails where there is no room for so many elements more in a list of these.
func checkItems(items []value.Value, more int64) error {
	all := int64(len(items)) + more
	if all > maxItems {
		return errorf("the list would have more than %d elements", maxItems)
	}
	if all <= int64(cap(items)) {
		return nil
	}
	return tensor.CheckHeapRoom(int(all+all/4) * int(unsafe.Sizeof(value.Value{}))) // append takes a quarter more than is asked for
}

// extend appends the elements of one list to another, which may be the same.
func extend(l, by *value.List) error {
	if err := checkItems(l.Items, int64(len(by.Items))); err != nil {
		return err
	}
	l.Items = append(l.Items, by.Items...)
	return nil
}

func repeatItems(items []value.Value, n int64) ([]value.Value, error) {
	if n <= 0 || len(items) == 0 {
		return nil, nil
	}
	if n > maxItems/int64(len(items)) {
		return nil, checkItems(nil, maxItems+1)
	}
	if err := checkItems(nil, n*int64(len(items))); err != nil {
		return nil, err
	}
	out := make([]value.Value, 0, int(n)*len(items))
	for range n {
		out = append(out, items...)
	}
	return out, nil
}

// sliceOf returns the positions that start, end and step, args[1:4], choose of n, as Python does.
func sliceOf(n int, args []value.Value, what string) ([]int, error) {
	step := args[3].Int()
	if step == 0 {
		return nil, errorf("%s slice should have non-zero step", what)
	}
	length := int64(n)
	low, high := int64(0), length
	if step < 0 {
		low, high = -1, length-1
	}
	bound := func(v value.Value, absent int64) int64 {
		if v.IsNone() {
			return absent
		}
		i := v.Int()
		if i < 0 {
			if i += length; i < 0 {
				i = -1
			}
		}
		return min(max(i, low), high)
	}
	var start, end int64
	if step > 0 {
		start, end = bound(args[1], low), bound(args[2], high)
	} else {
		start, end = bound(args[1], high), bound(args[2], low)
	}
	var positions []int
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		positions = append(positions, int(i))
		if step > 0 && i > math.MaxInt64-step || step < 0 && i < math.MinInt64-step {
			break
		}
	}
	return positions, nil
}

func find(l *value.List, v value.Value) int {
	for i, x := range l.Items {
		if Equal(x, v) {
			return i
		}
	}
	return -1
}

// checkTuples fails where the first of the items is a tuple with an element that has no order, or items are of different types. Lists of
// one static type, which are no lists of tuples, need no such check.
func checkTuples(items []value.Value) error {
	if len(items) == 0 {
		return nil
	}
	if first := items[0]; first.Kind() == value.KindTuple && !isSortable(first) {
		return errorf("Contained elements in %s are not sortable. Only Int, Bool, Float, String, Tensor, a User Defined Class with __lt__ method defined or Tuples of aforementionted types can be sorted.", value.TypeOf(first))
	}
	for _, item := range items[1:] {
		if item.Kind() == items[0].Kind() && item.Kind() != value.KindTuple {
			continue
		}
		if t, first := value.TypeOf(item), value.TypeOf(items[0]); !types.Equal(t, first) {
			return errorf("Only values of same type can be compared. Found %s and %s", types.Repr(first), types.Repr(t))
		}
	}
	return nil
}

func isSortable(v value.Value) bool {
	switch v.Kind() {
	case value.KindInt, value.KindBool, value.KindFloat, value.KindString, value.KindTensor, value.KindObject:
		return true
	case value.KindTuple:
		return !slices.ContainsFunc(v.Tuple().Items, func(item value.Value) bool { return !isSortable(item) })
	}
	return false
}

// SortItems sorts stably. Elements are numbers, strings, tensors of one element, tuples or lists of such, or objects, which
// less compares.
func SortItems(items []value.Value, descending bool, less func(a, b value.Value) (bool, error)) (err error) {
	if err := checkTuples(items); err != nil {
		return err
	}
	o := order{less}
	sort.SliceStable(items, func(i, j int) bool {
		a, b := items[i], items[j]
		if descending {
			a, b = b, a
		}
		before, failure := o.less(a, b)
		if err == nil {
			err = failure
		}
		return before
	})
	return err
}

func unsortable(a, _ value.Value) (bool, error) {
	return false, errorf("values of type '%s' cannot be sorted", a.Kind())
}

// order compares values that are sorted.
type order struct {
	objects func(a, b value.Value) (bool, error)
}

func (o order) less(a, b value.Value) (bool, error) {
	switch k := a.Kind(); {
	case isNaN(a) || isNaN(b):
		return !isNaN(a) && isNaN(b), nil
	case k == value.KindString, isNumber(k) && k != value.KindComplex:
		return Compare(a, b) < 0, nil
	case k == value.KindTensor && b.Kind() == k:
		return lessTensor(a.Tensor(), b.Tensor())
	case k == value.KindTuple:
		return o.lessItems(a.Tuple().Items, b.Tuple().Items)
	case k == value.KindList:
		return o.lessItems(a.List().Items, b.List().Items)
	}
	return o.objects(a, b)
}

func (o order) lessItems(a, b []value.Value) (bool, error) {
	for i := range min(len(a), len(b)) {
		if !Equal(a[i], b[i]) {
			return o.less(a[i], b[i])
		}
	}
	return len(a) < len(b), nil
}

// lessTensor compares tensors of one element.
func lessTensor(a, b *tensor.Tensor) (bool, error) {
	if a.Numel() != 1 || b.Numel() != 1 {
		return false, errorf("Boolean value of Tensor with more than one value is ambiguous")
	}
	x, err := a.Item()
	if err != nil {
		return false, err
	}
	y, err := b.Item()
	if err != nil {
		return false, err
	}
	p, q := value.OfScalar(x), value.OfScalar(y)
	if p.Kind() == value.KindComplex || q.Kind() == value.KindComplex {
		return false, errorf("complex numbers cannot be sorted")
	}
	return !isNaN(p) && !isNaN(q) && Compare(p, q) < 0, nil
}

// rangeLength is the number of steps that lie in a distance above zero: where no int holds it, the largest, which no loop comes to.
func rangeLength(distance, step uint64) int64 {
	return int64(min((distance-1)/step, math.MaxInt64-1) + 1)
}

// Ranges holds what loops over ranges need.
var Ranges = join(
	one("aten::__range_length", func(args, out []value.Value) error {
		lo, hi, step := args[0].Int(), args[1].Int(), args[2].Int()
		switch {
		case step == 0:
			return errorf("range() arg 3 must not be zero")
		case step > 0 && lo < hi:
			out[0] = value.Int(rangeLength(uint64(hi)-uint64(lo), uint64(step)))
		case step < 0 && lo > hi:
			out[0] = value.Int(rangeLength(uint64(lo)-uint64(hi), -uint64(step)))
		default:
			out[0] = value.Int(0)
		}
		return nil
	}),
	one("aten::__derive_index", func(args, out []value.Value) error {
		out[0] = value.Int(args[1].Int() + args[0].Int()*args[2].Int())
		return nil
	}),
	one("prim::rangelist", func(args, out []value.Value) error {
		n := max(args[0].Int(), 0)
		if err := checkItems(nil, n); err != nil {
			return err
		}
		l := value.NewList(types.Int, make([]value.Value, n)...)
		for i := range l.Items {
			l.Items[i] = value.Int(int64(i))
		}
		out[0] = value.OfList(l)
		return nil
	}),
)
