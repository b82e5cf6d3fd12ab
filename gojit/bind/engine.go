package bind

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/interp"
)

// linkOperators puts the operators into the registry; a program does this once, on first use.
var linkOperators = gojit.LinkOperators

// facade loads, saves and runs programs; engine takes their graphs to code and has what Python sets.
var (
	facade = newFacade()
	engine = facade.Exec()
)

func newFacade() *gojit.Engine {
	o := gojit.FromEnvironment()
	o.Runners = map[string]interp.Runner{"prim::PythonOp": pythonOp}
	return gojit.New(o)
}

func init() { tuneCollector() }
