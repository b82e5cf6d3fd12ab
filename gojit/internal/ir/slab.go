package ir

// slab hands out elements of arrays that are made many at a time: graphs are many small objects that
// live and die together.
type slab[T any] struct{ rest []T }

// slabs are those that the parts of a graph come from.
type slabs struct {
	nodes  slab[Node]
	values slab[Value]
	refs   slab[*Value] // inputs and outputs
	uses   slab[Use]
	attrs  slab[Attribute]
}

// most is how many elements a slab makes at once, after smaller beginnings.
const most = 64

// one returns a zero element.
func (s *slab[T]) one() *T {
	return &s.many(1)[:1][0] // a zero one: nothing has been there
}

// many returns an empty slice that has room for n elements; to grow further it moves.
func (s *slab[T]) many(n int) []T {
	if n > cap(s.rest)-len(s.rest) {
		s.rest = make([]T, 0, max(n, min(most, 2*cap(s.rest)), 8))
	}
	at := len(s.rest)
	s.rest = s.rest[:at+n]
	return s.rest[at : at : at+n]
}
