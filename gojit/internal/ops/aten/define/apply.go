package define

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Unqualified returns the name of an operator without namespace and overload.
func Unqualified(name string) string {
	if len(name) > len("aten::") && name[:len("aten::")] == "aten::" {
		return name[len("aten::"):]
	}
	return name
}

// RefuseBackend fails as PyTorch does where a backend has no form of an operator.
func RefuseBackend(name, backend string) {
	source.Raise(source.NotImplementedError, "Could not run '%s' with arguments from the '%s' backend. This could be because the operator doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom build).", name, backend)
}

// Apply runs an operator of a name without its namespace, with Go values for arguments, and returns its first result.
func Apply(name string, args ...any) *tensor.Tensor {
	return ApplyAll(name, args...)[0].Tensor()
}

// ApplyAll is apply for all results. What is not given has its default.
func ApplyAll(name string, args ...any) []value.Value {
	op := ops.Find(Key(name))
	if op == nil || op.Run == nil {
		source.Raise(source.NotImplementedError, "a sparse operator needs %s, which is not implemented", Key(name))
	}
	s := op.Schema()
	values := make([]value.Value, len(s.Arguments))
	for i := range values {
		if i >= len(args) {
			values[i] = s.Arguments[i].Default
			continue
		}
		v, ok := value.From(args[i])
		if !ok {
			panic("a sparse operator calls " + name + " with a value of another type")
		}
		values[i] = v
	}
	out := make([]value.Value, len(s.Returns))
	parallel.Look()
	source.Throw(op.Run(values, out))
	return out
}
