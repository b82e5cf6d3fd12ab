package aten

import "testing"

// TestWhoBorrows: packed weights have the tensor that they were packed from, which would go on as another where it had been borrowed.
func TestWhoBorrows(t *testing.T) {
	for name, want := range map[string]bool{
		"aten::mm": true, "aten::topk": true, "aten::add_.Tensor": false, "aten::t": false, "quantized::conv2d_prepack": false, "quantized::linear_prepack": false,
	} {
		if l := (&loan{name: name}); l.allowed() != want {
			t.Errorf("%s borrows: %v", name, !want)
		}
	}
}
