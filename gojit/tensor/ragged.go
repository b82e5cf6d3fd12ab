package tensor

// A ragged tensor holds sequences of different lengths, padded to one length along dimension 1. It
// is what PyTorch calls a nested tensor, as far as transformer layers make and use one.

// Lengths returns how many leading indices of dimension 1 each index of dimension 0 really has; nil
// for a tensor that is not ragged.
func (t *Tensor) Lengths() []int {
	if t.lengths == nil {
		return nil
	}
	return *t.lengths
}

// WithLengths returns a ragged view of t.
func (t *Tensor) WithLengths(lengths []int) *Tensor {
	v := t.Alias()
	v.lengths = &lengths
	return v
}

// Padded returns the tensor that a ragged one is a view of.
func (t *Tensor) Padded() *Tensor {
	v := t.Alias()
	v.lengths = nil
	return v
}
