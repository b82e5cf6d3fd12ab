package abi

import (
	"sync"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TracedData records, where a trace is being recorded, that a tensor was made of numbers.
func (h *Thread) TracedData(t *tensor.Tensor) (*tensor.Tensor, error) {
	if h.Recorder == nil || h.Recorder.Exact {
		return t, nil
	}
	no := value.Bool(false)
	v, err := h.Run(OpToDevice, value.OfTensor(t), value.OfDevice(t.Device()), value.Int(int64(t.DType())), no, no)
	if err != nil {
		return nil, err
	}
	return v.Tensor(), nil
}

// NamedOperator is an operator that this package runs by itself, found when it is first run.
type NamedOperator struct {
	name string // "aten::add.Tensor"
	once sync.Once
	op   *ops.Operator
}

// The operators that indices, copies and conversions are.
var (
	OpAlias           = &NamedOperator{name: aten.Alias}
	OpCopyInPlace     = &NamedOperator{name: aten.Copy_}
	OpDetach          = &NamedOperator{name: aten.Detach}
	OpExpand          = &NamedOperator{name: aten.Expand}
	OpFillTensor      = &NamedOperator{name: "aten::fill_.Tensor"}
	OpIndexPutInPlace = &NamedOperator{name: aten.IndexPut_}
	OpIndexTensor     = &NamedOperator{name: "aten::index.Tensor"}
	OpLiftFreshCopy   = &NamedOperator{name: aten.LiftFreshCopy}
	OpSelectInt       = &NamedOperator{name: "aten::select.int"}
	OpSliceTensor     = &NamedOperator{name: "aten::slice.Tensor"}
	OpToDevice        = &NamedOperator{name: "aten::to.device"}
	OpToDtype         = &NamedOperator{name: "aten::to.dtype"}
	OpToDtypeLayout   = &NamedOperator{name: "aten::to.dtype_layout"}
	OpUnsqueeze       = &NamedOperator{name: aten.Unsqueeze}
	OpView            = &NamedOperator{name: aten.View}
)

func (n *NamedOperator) find() {
	gojit.LinkOperators()
	n.op = ops.Find(n.name)
}

// Run runs an operator on self and args, and on its defaults for those that are missing, and returns its one result.
func (h *Thread) Run(k *NamedOperator, self value.Value, args ...value.Value) (value.Value, error) {
	return h.RunGiven(k, nil, self, args...)
}

// RunGiven is run with numbers among args that tensors gave.
func (h *Thread) RunGiven(k *NamedOperator, given []trace.Given, self value.Value, args ...value.Value) (value.Value, error) {
	k.once.Do(k.find)
	if k.op == nil || k.op.Run == nil {
		return value.None, NotImplementedErrorf("The operator '%s' is not implemented by this version of torchjit", k.name)
	}
	s, begin := k.op.Schema(), len(h.values)
	defer func() {
		clear(h.values[begin:])
		h.values = h.values[:begin]
	}()
	h.values = append(append(h.values, self), args...)
	for i := 1 + len(args); i < len(s.Arguments); i++ {
		h.values = append(h.values, s.Arguments[i].NewDefault())
	}
	for range s.Returns {
		h.values = append(h.values, value.None)
	}
	all := h.values[begin:len(h.values):len(h.values)]
	in, out := all[:len(s.Arguments)], all[len(s.Arguments):]
	in, err := h.CastTraced(k.op, in)
	if err == nil {
		err = h.Mode.Run(k.op, in, out)
	}
	if err != nil {
		return value.None, err
	}
	return out[0], h.Record(k.op, in, out, given...)
}

// CastTraced returns the arguments of an operator as an autocast has them, where a trace is being recorded: the trace has the casts.
func (h *Thread) CastTraced(op *ops.Operator, args []value.Value) ([]value.Value, error) {
	if h.Recorder == nil || !h.Mode.IsCasting() {
		return args, nil
	}
	return h.Mode.CastBy(op, args, func(v value.Value, to tensor.DType) (value.Value, error) {
		return h.Run(OpToDtype, v, value.Int(int64(to)), value.Bool(false), value.Bool(false), value.None)
	})
}
