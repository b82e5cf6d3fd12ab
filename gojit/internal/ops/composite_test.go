package ops

import "testing"

// TestCompositeNames: every name in composite.txt is that of an operator in the table.
func TestCompositeNames(t *testing.T) {
	for name := range composite() {
		o := Find(name)
		if o == nil {
			t.Errorf("there is no operator %s", name)
		} else if !o.IsComposite() {
			t.Errorf("%s is not found to be composite", name)
		}
	}
	if Find("aten::mm").IsComposite() {
		t.Error("aten::mm has a kernel of its own")
	}
}
