package tensor

import "testing"

func TestHollowMemoryIsMadeWhenItIsLookedAt(t *testing.T) {
	x, err := EmptyHollow([]int{2, 3}, []int{1, 2}, Float32, func(t *Tensor) { Fill(t, Float(2)) })
	if err != nil || !x.IsHollow() || x.Storage().NBytes() != 24 {
		t.Fatalf("%v, hollow %v", err, x.IsHollow())
	}
	view, _ := x.Select(1, 2)
	c, _ := view.Clone(ContiguousFormat)
	if !c.IsHollow() || !view.IsHollow() {
		t.Fatal("the copy of a hollow tensor looks at it")
	}
	if got := Data[float32](c); len(got) != 2 || got[0] != 2 || got[1] != 2 || x.IsHollow() {
		t.Errorf("%v, hollow %v; want [2 2] and the original's memory", got, x.IsHollow())
	}
	large, _ := EmptyHollow([]int{1 << 20, 1 << 20}, nil, Float32, nil)
	if large.Numel() != 1<<40 {
		t.Error("a hollow tensor takes memory")
	}
}
