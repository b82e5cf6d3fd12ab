package tensor

// SetQuantizer says how the integers of a quantized tensor are read.
func (t *Tensor) SetQuantizer(q *Quantizer) { t.quantizer = q }
