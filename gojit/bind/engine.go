package bind

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/interp"
)

// linkOperators puts the operators into the registry; a program does this once, on first use.
var linkOperators = gojit.LinkOperators

// machine runs compiled functions. It is that of the facade, which also runs what loading an
// archive asks for.
var machine = &gojit.Machine

// lineMachine runs compiled functions as they are defined while a profile counts their lines.
var lineMachine = &interp.Machine{Lines: true}

func init() {
	machine.Runners = map[string]interp.Runner{"prim::PythonOp": pythonOp}
	lineMachine.Runners = machine.Runners
}
