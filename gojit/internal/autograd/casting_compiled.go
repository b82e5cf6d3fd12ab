package autograd

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Precision is what compiled code casts the tensors that an operator takes to, where an autocast is enabled.
type Precision uint8

const (
	AnyPrecision     Precision = iota // none
	ReducedPrecision                  // the smaller type
	FullPrecision                     // float32
	// PromotedPrecision is float32 where a tensor may be float32, as MayBeFloat32 says.
	PromotedPrecision
	// AccumulatedPrecision is float32 where the argument dtype is None.
	AccumulatedPrecision
)

// compiledPrecisions are those of PyTorch 1.13's compiler, by operators without overload. They are not those of castPolicies: what compiled code
// computes from a product, say, is float32 more often.
var compiledPrecisions = func() map[string]Precision {
	found := map[string]Precision{}
	add := func(p Precision, names string) {
		for _, name := range strings.Fields(names) {
			found["aten::"+name] = p
		}
	}
	add(ReducedPrecision, `_convolution _thnn_fused_gru_cell _thnn_fused_lstm_cell addbmm addmm addmv addr baddbmm bmm conv1d conv2d conv3d conv_tbc
		conv_transpose1d convolution cudnn_convolution cudnn_convolution_transpose gru_cell linear lstm_cell matmul mm mv prelu rnn_relu_cell rnn_tanh_cell`)
	add(FullPrecision, `acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss cosine_similarity dist erfinv exp expm1
		frobenius_norm gelu group_norm hinge_embedding_loss kl_div l1_loss layer_norm log log10 log1p log2 logsumexp margin_ranking_loss mse_loss
		multi_margin_loss multilabel_margin_loss native_layer_norm nll_loss nll_loss2d nuclear_norm pdist pow reciprocal renorm rsqrt sinh
		smooth_l1_loss soft_margin_loss softplus tan triplet_margin_loss`)
	add(PromotedPrecision, "add addcdiv addcmul atan2 bilinear cross div dot equal index_put mul sub tensordot")
	add(AccumulatedPrecision, "cumprod cumsum log_softmax prod sum")
	return found
}()

// CompiledPrecision returns what compiled code casts the tensors of an operator to; name has no overload.
func CompiledPrecision(name string) Precision { return compiledPrecisions[name] }

// Casts reports whether an autocast may cast what an operator reads although all of it is of one type.
func Casts(op *ops.Operator) bool {
	p := compiledPrecisions[op.Schema().Name]
	return p != AnyPrecision && p != PromotedPrecision || castPolicies[op.Name] == castLower || castPolicies[op.Name] == castFloat
}

// TakesCast reports whether an autocast casts an argument of an operator: a tensor that must be given.
func TakesCast(t types.Type) bool { return t.Kind() == types.KindTensor }

// MayBeFloat32 reports whether what has a static type may be a tensor of float32: its element type is that, or is not known. In traces it is known.
func MayBeFloat32(t types.Type) bool {
	if t.Kind() != types.KindTensor {
		return false
	}
	info, ok := t.(*types.TensorInfo)
	return !ok || info.DType == "" || info.DType == tensor.Float32.String()
}

// compiledCast is CompiledOperationOf for an operator that is not modal.
func compiledCast(op *ops.Operator, mayBeFloat32 bool, casts func() bool) Operation {
	precision := compiledPrecisions[op.Schema().Name]
	if precision == AnyPrecision || precision == PromotedPrecision && !mayBeFloat32 {
		return func(m *Mode, args, out []value.Value) error { return m.Run(op, args, out) }
	}
	dtype := op.Schema().ArgumentIndex("dtype")
	return func(m *Mode, args, out []value.Value) error {
		if m.casting != nil && m.casting.enabled && casts() && (precision != AccumulatedPrecision || dtype >= 0 && args[dtype].IsNone()) {
			var err error
			if args, err = m.castCompiled(op, precision, args); err != nil {
				return err
			}
		}
		return m.Run(op, args, out)
	}
}

// castCompiled returns the arguments of an operator with its tensors cast.
func (m *Mode) castCompiled(op *ops.Operator, precision Precision, args []value.Value) ([]value.Value, error) {
	c := m.casting
	m.casting = nil
	defer func() { m.casting = c }()
	to := tensor.Float32
	if precision == ReducedPrecision {
		to = c.lower
	}
	cast := slices.Clone(args)
	for i, v := range cast {
		if !v.IsTensor() || i >= len(op.Schema().Arguments) || !TakesCast(op.Schema().Arguments[i].Type) {
			continue
		}
		if to != tensor.Float32 && v.Tensor().DType() != tensor.Float32 {
			continue // only float32 becomes smaller
		}
		var err error
		if cast[i], err = c.castTensor(m, v, to); err != nil {
			return nil, err
		}
	}
	return cast, nil
}
