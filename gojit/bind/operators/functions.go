package operators

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() { abi.Register(operatorFunctions, defineFunctions, dispatchFunctions, decomposeFunctions) }
