package main

import (
	"sync"

	"torchjit/gojit/ops"
	"torchjit/gojit/ops/aten"
)

// linkOperators puts the operators into the registry; a program does this once, on first use.
var linkOperators = sync.OnceFunc(func() {
	if err := ops.Register(aten.Operators()); err != nil {
		panic(err)
	}
})
