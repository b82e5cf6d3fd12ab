package aten

var (
	lossFamily, embeddingFamily, rnnFamily, attentionFamily, resampleFamily, linalgFamily []definition
)
