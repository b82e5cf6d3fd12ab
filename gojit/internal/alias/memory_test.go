package alias

import (
	"slices"
	"testing"
)

func TestSet(t *testing.T) {
	far := set{}
	far.add(1000)
	s := set{}
	s.union(far) // shares the words
	s.add(1001)
	s.add(3)
	s.union(set{})
	s.add(2000)
	var got []int
	s.each(func(i int) { got = append(got, i) })
	if want := []int{3, 1000, 1001, 2000}; !slices.Equal(got, want) {
		t.Errorf("set has %v, want %v", got, want)
	}
	if len(far.words) != 1 || far.words[0] != 1<<(1000%64) {
		t.Errorf("the set that was shared has become %v", far)
	}
	near := set{}
	near.add(4)
	if s.intersects(near) || !s.intersects(far) || far.intersects(near) || !s.holds(far) || far.holds(s) || !near.holds(set{}) {
		t.Error("wrong answers about common elements")
	}
}
