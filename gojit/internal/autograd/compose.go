package autograd

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// composed is the decomposition of an operator into what run records.
func composed(results func() int, run Operation) ops.Decomposition {
	return func(e Emitter, args []value.Value) []value.Value {
		out := make([]value.Value, results())
		succeed(run(e.(*emitter).mode, args, out))
		return out
	}
}

// Decompose has an operator, named without its namespace, recorded as what run records, where it has neither a derivative nor a
// decomposition of its own. It is called before anything is recorded.
func Decompose(name string, run Operation) {
	results := sync.OnceValue(func() int { return len(ops.Find("aten::" + name).Schema().Returns) })
	decompositions[name] = composed(results, run)
}

// decompositions are those that other packages give, by names without the namespace.
var decompositions = map[string]ops.Decomposition{}

// Composite has an operator that was defined at run time recorded as what run does.
func Composite(op *ops.Operator, run Operation) {
	p := *planOf(op)
	p.decompose = composed(func() int { return len(op.Schema().Returns) }, run)
	plans.Store(op, &p)
}
