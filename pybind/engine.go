package main

import (
	"sync"

	"torchjit/gojit/ops"
	"torchjit/gojit/ops/aten"
	"torchjit/gojit/ops/prim"
)

// linkOperators puts the operators into the registry; a program does this once, on first use.
var linkOperators = sync.OnceFunc(func() {
	if err := ops.Register(append(prim.Families(), aten.Operators())...); err != nil {
		panic(err)
	}
})
