package bind

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/collector"
)

func init() {
	abi.Register(libraryFunctions, commandFunctions, adviceFunctions)
	collector.Tune()
}
