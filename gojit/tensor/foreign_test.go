package tensor

import "testing"

func TestWrapperHasAGeometryAndADeviceButNoElements(t *testing.T) {
	w, err := NewWrapper([]int{2, 3}, []int{1, 2}, 4, Float64, NewDevice(CPU, -1))
	if err != nil {
		t.Fatal(err)
	}
	if !w.Wraps() || w.Dispatches() || w.ShownDevice().Type != CPU || w.Device().Type != Meta || w.Offset() != 4 || w.Strides()[1] != 2 {
		t.Errorf("a wrapper of another kind: %+v", w)
	}
	view := w.Alias()
	if !view.Wraps() || view.ShownDevice().Type != CPU {
		t.Error("a view of a wrapper is no wrapper")
	}
	other, err := NewWrapper([]int{1}, nil, 0, Float64, NewDevice(CPU, -1))
	if err != nil {
		t.Fatal(err)
	}
	other.ShareWrites(w)
	if w.Bump(); other.Version() != 1 {
		t.Errorf("version %d after a write to what it is a view of", other.Version())
	}
	if _, err := NewWrapper([]int{2}, []int{1, 1}, 0, Float64, NewDevice(CPU, -1)); err == nil {
		t.Error("strides of another number of dimensions were taken")
	}
}
