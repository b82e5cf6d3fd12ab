package plan

import (
	"cmp"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// layout is where the values of a plan lie in the arena of a call.
type layout struct {
	size    int   // bytes
	offsets []int // by value, in bytes; -1 for what does not lie there
	rooms   []int // by step, of what it needs while it runs; -1 where it needs nothing
}

// lineBytes is what offsets are multiples of.
const lineBytes = 64

// span is a part of the arena that is in use.
type span struct{ from, to, last int } // until behind step last

// layOut gives every value that a step makes, and that is no result, a place in the arena. Values that are not needed at the same time share it; a
// result of a step lies where an argument does that nothing reads behind it.
func (p *Plan) layOut() {
	last := p.lastReads()
	m := layout{offsets: slices.Repeat([]int{-1}, len(p.facts)), rooms: slices.Repeat([]int{-1}, len(p.steps))}
	var used []span
	take := func(bytes, until int) int {
		at := gap(used, bytes)
		used = append(used, span{at, at + bytes, until})
		m.size = max(m.size, at+bytes)
		return at
	}
	for i, s := range p.steps {
		used = slices.DeleteFunc(used, func(u span) bool { return u.last < i })
		if also, ok := s.(givesMore); ok {
			for _, v := range also.alsoGives() {
				if !p.isResultInPlace(v) {
					m.offsets[v] = take(p.bytesOf(v), max(i, last[v]))
				}
			}
		}
		v := s.gives()
		if !p.isResultInPlace(v) {
			if over := p.overwritten(s, i, last, m.offsets); over >= 0 {
				m.offsets[v] = m.offsets[over]
				for k := range used {
					if used[k].from == m.offsets[over] {
						used[k].last = last[v]
					}
				}
			} else {
				m.offsets[v] = take(p.bytesOf(v), last[v])
			}
		}
		if r, ok := s.(needsRoom); ok {
			if n := r.bytes(); n > 0 {
				m.rooms[i] = take((n+lineBytes-1)/lineBytes*lineBytes, i)
			}
		}
	}
	p.memory = m
}

// Arrange gives blocks of memory places in an arena, the largest first: those that are not needed at the same time may share theirs. It is for work whose
// blocks are known beforehand, as that of a device which was put down.
func Arrange(blocks []kernel.Life) (offsets []int, size int) {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(blocks[b].Bytes, blocks[a].Bytes) })
	offsets = make([]int, len(blocks))
	var beside []span
	for k, i := range order {
		b := &blocks[i]
		beside = beside[:0]
		for _, j := range order[:k] {
			if other := &blocks[j]; other.From <= b.Last && b.From <= other.Last {
				beside = append(beside, span{offsets[j], offsets[j] + other.Bytes, other.Last})
			}
		}
		offsets[i] = gap(beside, b.Bytes)
		size = max(size, offsets[i]+b.Bytes)
	}
	return offsets, size
}

// gap returns the lowest place that a number of bytes fit into.
func gap(used []span, bytes int) int {
	slices.SortFunc(used, func(a, b span) int { return a.from - b.from })
	at := 0
	for _, u := range used {
		if u.from-at >= bytes {
			return at
		}
		at = max(at, u.to)
	}
	return at
}

// lastReads returns the last step that reads the memory of each value, for those that are views of others: of these. Results that are copied
// at the end are read then.
func (p *Plan) lastReads() []int {
	last := slices.Repeat([]int{-1}, len(p.facts))
	for i, s := range p.steps {
		last[s.gives()] = max(last[s.gives()], i)
		for _, v := range s.reads() {
			last[p.facts[v].root] = i
		}
	}
	for _, r := range p.results {
		last[r.value] = len(p.steps)
	}
	return last
}

// overwritten returns the argument of step i that lies where its result is to lie, -1 for none: nothing reads it behind.
func (p *Plan) overwritten(s step, i int, last, offsets []int) int {
	o, ok := s.(inPlace)
	if !ok {
		return -1
	}
	for _, v := range o.overwrites() {
		f := &p.facts[v]
		if slices.ContainsFunc(s.reads(), func(r int) bool { return r != v && p.facts[r].root == f.root }) {
			continue
		}
		if f.root == v && offsets[v] >= 0 && last[v] == i && p.bytesOf(v) == p.bytesOf(s.gives()) && slices.Equal(f.physical.Strides(), p.facts[s.gives()].physical.Strides()) {
			return v
		}
	}
	return -1
}

// isResultInPlace reports whether a value is a result that its step writes to memory of its own.
func (p *Plan) isResultInPlace(v int) bool {
	return slices.ContainsFunc(p.results, func(r result) bool { return r.value == v && !r.isCopied })
}

// bytesOf returns the bytes of a value, up to a whole cache line.
func (p *Plan) bytesOf(v int) int {
	t := p.facts[v].physical
	return (t.Numel()*t.DType().Size() + lineBytes - 1) / lineBytes * lineBytes
}
