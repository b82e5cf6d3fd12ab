package tensor

import "testing"

func TestAConjugateIsAView(t *testing.T) {
	x, err := FromBytes([]byte{0, 0, 128, 63, 0, 0, 0, 64}, []int{1}, Complex64) // 1+2i
	if err != nil {
		t.Fatal(err)
	}
	c := x.WithBits(ConjugateBit)
	if !c.IsConj() || !c.SharesStorage(x) || c.ShownDevice().Type != CPU {
		t.Fatalf("bits %v on %v", c.Bits(), c.ShownDevice())
	}
	if s, err := c.Item(); err != nil || s.Complex128() != 1-2i {
		t.Fatal(s, err)
	}
	im, err := c.ImagPart()
	if err != nil || !im.IsNeg() || im.IsConj() {
		t.Fatal(im.Bits(), err)
	}
	if err := Copy(im, FromScalar(Float(5), Float32)); err != nil {
		t.Fatal(err)
	}
	if s, _ := x.Item(); s.Complex128() != 1-5i {
		t.Fatalf("%v, want 1-5i", s.Complex128())
	}
	if back := c.WithBits(0); back.Bits() != 0 || back.Device().Type != CPU {
		t.Fatal(back.Bits(), back.Device())
	}
}

func TestBitsThatATypeHasNot(t *testing.T) {
	x := FromScalar(Float(2), Float32)
	if c := x.WithBits(ConjugateBit); c.Bits() != 0 || c.Device().Type != CPU {
		t.Errorf("the conjugate of a real number has bits %v", c.Bits())
	}
	if _, err := FromScalar(Boolean(true), Bool).WithBits(NegativeBit).Resolved(); err == nil {
		t.Error("a truth value has a negative")
	}
	if _, err := x.WithBits(NegativeBit).ViewDType(Int32); err == nil {
		t.Error("the bytes of negatives are shown, which lie nowhere")
	}
}
