package aten

var (
	matmulFamily, convFamily, normFamily, poolFamily, lossFamily, embeddingFamily, rnnFamily, attentionFamily, resampleFamily, linalgFamily []definition
)
