package freeze

import (
	"maps"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// keepSharedMemory keeps the attributes whose memory is also that of an attribute that stays,
// because it may be written there.
func (f *freezer) keepSharedMemory() {
	for changed := true; changed; {
		changed = false
		written := map[any]bool{}
		for s := range f.kept {
			v, _ := s.Object.Attr(s.Name)
			eachMemory(v, func(m any) { written[m] = true })
		}
		f.eachSlot(f.root, map[*value.Object]bool{}, func(s Slot) bool {
			v, _ := s.Object.Attr(s.Name)
			shares := f.kept[s]
			eachMemory(v, func(m any) { shares = shares || written[m] })
			changed = changed || shares && !f.kept[s]
			f.kept[s] = shares
			return shares
		})
		maps.DeleteFunc(f.kept, func(_ Slot, kept bool) bool { return !kept })
	}
}

// keepWrittenElements keeps the attributes whose elements one graph writes and another one reads: each would have a constant of its own,
// and what the second computes of its constant could be done before the write.
func (f *freezer) keepWrittenElements() {
	for s := range f.written {
		if len(f.used[s]) > 1 {
			f.kept[s] = true
		}
	}
}

// checkWrittenElements fails where the elements of an attribute that becomes a constant are written, and another attribute has their memory.
func (f *freezer) checkWrittenElements() error {
	for s := range f.written {
		if f.kept[s] {
			continue
		}
		memory := map[any]bool{}
		v, _ := s.Object.Attr(s.Name)
		eachMemory(v, func(m any) { memory[m] = true })
		for other := range f.used {
			if other == s || f.kept[other] {
				continue
			}
			shares := false
			o, _ := other.Object.Attr(other.Name)
			eachMemory(o, func(m any) { shares = shares || memory[m] })
			if shares {
				return source.Errorf(source.RuntimeError, source.Range{}, "module contains attributes values that overlaps: %s and %s", s.Name, other.Name)
			}
		}
	}
	return nil
}

// eachSlot calls visit for the attributes of a module and of those in it. A module in which visit
// says of one that it stays stays itself.
func (f *freezer) eachSlot(o *value.Object, seen map[*value.Object]bool, visit func(Slot) bool) (stays bool) {
	if seen[o] {
		return false
	}
	seen[o] = true
	for i, a := range o.Class.Attributes {
		s := Slot{o, a.Name}
		kept := visit(s)
		if v := o.Slots[i]; v.Kind() == value.KindObject && v.Object().Class.IsModule && f.eachSlot(v.Object(), seen, visit) {
			f.kept[s], kept = true, true
		}
		stays = stays || kept
	}
	return stays
}

// eachMemory calls visit for what can be written in a value: storages, lists and dictionaries.
func eachMemory(v value.Value, visit func(any)) {
	switch v.Kind() {
	case value.KindTensor:
		if t := v.Tensor(); t.Storage() != nil && t.Numel() > 0 {
			visit(t.Storage())
		}
	case value.KindList:
		visit(v.List())
		for _, item := range v.List().Items {
			eachMemory(item, visit)
		}
	case value.KindTuple:
		for _, item := range v.Tuple().Items {
			eachMemory(item, visit)
		}
	case value.KindDict:
		visit(v.Dict())
		for _, item := range v.Dict().All {
			eachMemory(item, visit)
		}
	}
}
