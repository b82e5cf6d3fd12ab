package source

import (
	"sort"
	"sync"
)

// Nowhere is the text of what was printed for no place in the program. PyTorch shows it as line 0 of a file
// without a name.
var Nowhere = &Text{}

// Origin says that the text from an offset on, up to that of the next Origin, was printed for what
// stands at Range in the text of a program. The zero Range stands for nothing.
type Origin struct {
	Offset int
	Range  Range
}

// origins are read when they are first asked for.
type origins struct {
	once sync.Once
	read func() []Origin
	list []Origin // by offset
}

// SetOrigins says that the text was printed from another; read gives the places in that, by offset. It
// is called at most once, by any goroutine.
func (t *Text) SetOrigins(read func() []Origin) { t.origins = &origins{read: read} }

// Original returns the range that the beginning of r was printed for. ok is false where the text was
// printed from no other, or is not known to be.
func (r Range) Original() (original Range, ok bool) {
	if r.Text == nil || r.Text.origins == nil {
		return Range{}, false
	}
	o := r.Text.origins
	o.once.Do(func() { o.list = o.read() })
	i := sort.Search(len(o.list), func(i int) bool { return o.list[i].Offset > r.Start })
	if i == 0 {
		return Range{}, false
	}
	return o.list[i-1].Range, true
}

// Program returns the range in the program's own text: the original one where r lies in text that was printed.
func (r Range) Program() Range {
	if original, ok := r.Original(); ok {
		return original
	}
	return r
}
