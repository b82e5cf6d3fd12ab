package archive

import "github.com/torchjit/torchjit/gojit/internal/archive/pickle"

// The limits on values. What a pickle refers to twice counts twice: a few hundred bytes of tuples that hold
// each other twice stand for more values than there is time for.
const (
	maxValues   = 1 << 26
	maxTypeSize = 1 << 18 // of a value's type: a tuple's has the types of all its elements
)

// size is how many values and how many types a piece of a pickle stands for.
type size struct{ values, types int }

// measurer adds up sizes.
type measurer struct {
	known map[any]size
	depth int
}

// measure fails where a pickle stands for more than the limits.
func measure(tree any) error {
	_, err := (&measurer{known: map[any]size{}}).size(tree)
	return err
}

func (m *measurer) size(x any) (size, error) {
	var children [2][]any
	sum := false // whether the type has all types of the children, not one of them
	switch x := x.(type) {
	case *pickle.Tuple:
		children[0], sum = x.Items, true
	case *pickle.List:
		children[0] = x.Items
	case *pickle.Dict:
		children = [2][]any{x.Keys, x.Values}
	case *pickle.Call:
		children[0], sum = []any{x.Args}, true
	case *pickle.Object:
		children[0], sum = []any{x.State}, false
	default:
		return size{1, 1}, nil
	}
	if s, ok := m.known[x]; ok {
		return s, nil
	}
	if m.depth++; m.depth > maxDepth {
		return size{}, archiveError("Values are nested more than %d deep", maxDepth)
	}
	defer func() { m.depth-- }()
	total := size{1, 1}
	if _, isObject := x.(*pickle.Object); isObject {
		m.known[x] = total // it may be part of its own state
	}
	for _, group := range children {
		largest := 0
		for _, child := range group {
			s, err := m.size(child)
			if err != nil {
				return s, err
			}
			total.values += s.values
			if sum {
				total.types += s.types
			}
			largest = max(largest, s.types)
			if total.values > maxValues || total.types > maxTypeSize {
				return total, archiveError("The archive stands for more than %d values or %d types in one value", maxValues, maxTypeSize)
			}
		}
		if !sum {
			total.types += largest
		}
	}
	if _, isObject := x.(*pickle.Object); isObject {
		total = size{1, 1} // an object is one wherever it stands
	}
	m.known[x] = total
	return total, nil
}
