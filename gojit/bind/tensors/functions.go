package tensors

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() {
	abi.Register(tensorFunctions, wrapperFunctions, nameFunctions, indexFunctions, makeFunctions, dlpackFunctions, typeFunctions, gradFunctions, gradNodeFunctions, profilerFunctions, cudaFunctions,
		optimizerFunctions, safeTensorsFunctions)
}
