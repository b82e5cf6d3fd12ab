package bind

import "github.com/torchjit/torchjit/gojit/bind/abi"

func init() { abi.Register(libraryFunctions, commandFunctions, adviceFunctions) }
