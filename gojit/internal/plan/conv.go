package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convStep is a convolution with what is done to its result. A product with a matrix of weights is one of images of one row.
type convStep struct {
	name       string
	exact      bool
	geometry   conv.Convolution
	in         int
	weight     int
	isProduct  bool
	transposed bool // the weights of a product come with a column for each channel of the result
	bias       int  // -1: none
	normalized bool
	norm       [4]int // weight, bias, mean and variance; -1: none
	epsilon    float64
	after      []*node
	from       int // the value that after begins with
	like       int // the other value that after reads, -1: none
	out        int
	relu       bool // after is relu, or the sum with like and relu, or the sum
	residual   bool
	epilogue   *gemm.Epilogue // of everything else
	ofChannel  *gemm.Epilogue // epilogue behind the bias, for filters that have a channel each; nil where there is none

	weights *packedSet
	slot    int          // of the weights of a run
	place   atomic.Int32 // of those that the last run had
}

func (s *convStep) gives() int { return s.out }

func (s *convStep) reads() []int {
	found := []int{s.in, s.weight}
	for _, v := range append(s.norm[:], s.bias, s.like) {
		if v >= 0 {
			found = append(found, v)
		}
	}
	return found
}

// overwrites gives the other image, where each element of that is read before the one of the result is written.
func (s *convStep) overwrites() []int {
	if s.like < 0 || s.like == s.in || !s.geometry.MayOverwriteResidual(s.options()) {
		return nil
	}
	return []int{s.like}
}

// options says what its plan does beside the convolution.
func (s *convStep) options() conv.PlanOptions {
	return conv.PlanOptions{Relu: s.relu, Residual: s.residual, Epilogue: s.epilogue, Exact: s.exact}
}

func (s *convStep) text() string {
	parts := []string{s.name}
	if s.normalized {
		parts = append(parts, "batch_norm")
	}
	for _, n := range s.after {
		parts = append(parts, strings.TrimPrefix(n.op.BaseName(), "aten::"))
	}
	return strings.Join(parts, "+")
}

// convolution makes a step of a convolution, the normalization of its result and what is computed of that element by element.
func (b *builder) convolution(i int) error {
	n := &b.nodes[i]
	s := &convStep{name: "conv2d", exact: b.exact, in: b.asImage(n.refs[0]), weight: n.refs[1], bias: n.refs[2], like: -1, out: n.out, norm: [4]int{-1, -1, -1, -1}}
	if !s.read(n, b.facts[n.refs[0]].logical, b.facts[s.weight].logical) {
		return unplanned("a convolution has arguments that plans do not take")
	}
	place := i
	if u := b.onlyUser(s.out); u >= 0 && b.nodes[u].kind == normalization && b.nodes[u].refs[0] == s.out {
		m := &b.nodes[u]
		copy(s.norm[:], m.refs[1:5])
		s.normalized, s.epsilon, s.out, place = true, m.args[7].Float(), m.out, u
		b.done[u] = true
	}
	b.finish(s, place)
	return nil
}

// finish gives a step what is computed of its result element by element, and its place.
func (b *builder) finish(s *convStep, place int) {
	if chain, like := b.chain(s.out); len(chain) > 0 {
		alone := s.out
		s.from, s.like = s.out, like
		for _, u := range chain {
			s.after = append(s.after, &b.nodes[u])
			s.out = b.nodes[u].out
		}
		if s.like >= 0 {
			if b.facts[s.out].isImage {
				s.like = b.asImage(s.like)
			} else {
				s.like = b.asContiguous(s.like)
			}
		}
		if s.chooseEpilogue(like) {
			for _, u := range chain {
				b.done[u] = true
			}
			place = chain[len(chain)-1]
		} else {
			s.after, s.like, s.out = nil, -1, alone
		}
	}
	s.weights = b.cache.of(fmt.Sprintf("%d to %d: %s", s.weight, s.out, s.text()))
	b.place(place, s)
}

// chooseEpilogue finds out how the tiles do what is done to the result, other being the value that this reads beside it, or -1. It reports
// whether they can.
func (s *convStep) chooseEpilogue(other int) bool {
	rest := s.after
	if first := rest[0]; other >= 0 && first.op.Name == "aten::add.Tensor" && first.refs[0] != first.refs[1] && first.args[2].IsInt() && first.args[2].Int() == 1 {
		s.residual, rest = true, rest[1:]
	}
	if len(rest) > 0 && rest[0].op.Name == aten.Relu {
		s.relu, rest = true, rest[1:]
	}
	if len(rest) == 0 && s.residual == (other >= 0) {
		return true
	}
	s.relu, s.residual = false, false
	s.epilogue = s.makeEpilogue(true, other)
	if g := &s.geometry; other < 0 && g.Groups == g.InChannels && g.Groups == g.OutChannels && g.Groups > 1 {
		s.ofChannel = s.makeEpilogue(false, other)
	}
	return s.epilogue != nil
}

// makeEpilogue makes one kernel of the operators behind, and of the bias where that is still to be added; nil where they cannot be one.
func (s *convStep) makeEpilogue(addsBias bool, other int) *gemm.Epilogue {
	k, err := s.kernel(addsBias, other)
	if err != nil {
		return nil
	}
	e, err := gemm.NewEpilogue(k, tensor.Float32)
	if err != nil {
		return nil
	}
	return e
}

// kernel returns what is done to an element of the result: the sum with the bias, a row that all places share, where that is still to be
// added, and the operators behind. Its inputs are the result, the bias and the other value.
func (s *convStep) kernel(addsBias bool, other int) (*kernel.Kernel, error) {
	r := elementwise.NewRecorder()
	defer r.Close()
	var inputs []*tensor.Tensor
	for range 3 {
		t, err := r.Input(tensor.Float32, false)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, t)
		if len(inputs) == 1 && !addsBias || len(inputs) == 2 && other < 0 {
			break
		}
	}
	values := map[int]*tensor.Tensor{s.from: inputs[0]}
	var err error
	if addsBias {
		args := []value.Value{value.OfTensor(inputs[0]), value.OfTensor(inputs[1]), value.Int(1)}
		if values[s.from], err = r.Apply(ops.Find("aten::add.Tensor"), args); err != nil {
			return nil, err
		}
	}
	if other >= 0 {
		values[other] = inputs[2]
	}
	for _, n := range s.after {
		args := slices.Clone(n.args)
		for i, v := range n.refs {
			if v >= 0 {
				args[i] = value.OfTensor(values[v])
			}
		}
		if values[n.out], err = r.Apply(n.op, args); err != nil {
			return nil, err
		}
	}
	return r.Kernel(len(inputs), values[s.out])
}

// read takes the constants of a convolution's arguments, and the sizes of its image and its weights. It reports whether these fit together.
func (s *convStep) read(n *node, in, weight *tensor.Tensor) bool {
	g := &s.geometry
	one := [3]int{1, 1, 1}
	*g = conv.Convolution{Stride: one, Dilation: one, Kernel: one, In: one, Out: one, Groups: 1}
	two := func(i int) [3]int { return pairOf(n.args[i]) }
	g.Stride, g.Padding, g.Dilation = two(3), two(4), two(5)
	g.Padding[0] = 0
	groups := 6
	if n.op.BaseName() == aten.Convolution {
		groups = 8
	}
	g.Groups = int(n.args[groups].Int())
	if in.Dim() != 4 || weight.Dim() != 4 || in.Numel() == 0 || weight.Numel() == 0 || g.Groups < 1 || in.DType() != tensor.Float32 || weight.DType() != tensor.Float32 {
		return false
	}
	g.Batch, g.InChannels, g.OutChannels = in.Size(0), in.Size(1), weight.Size(0)
	if g.InChannels != weight.Size(1)*g.Groups || g.OutChannels%g.Groups != 0 {
		return false
	}
	for d := 1; d < 3; d++ {
		g.In[d], g.Kernel[d] = in.Size(d+1), weight.Size(d+1)
		reach := g.In[d] + 2*g.Padding[d] - g.Dilation[d]*(g.Kernel[d]-1) - 1
		if g.Padding[d] < 0 || g.Stride[d] < 1 || g.Dilation[d] < 1 || reach < 0 {
			return false
		}
		g.Out[d] = reach/g.Stride[d] + 1
	}
	return true
}

// pairOf returns a number or two as those of height and width, behind 1.
func pairOf(v value.Value) [3]int {
	xs, _ := intsOf(v)
	if len(xs) == 1 {
		return [3]int{1, xs[0], xs[0]}
	}
	return [3]int{1, xs[0], xs[1]}
}

func (s *convStep) run(x *frame) error {
	p, err := s.weightsOf(x)
	if err != nil {
		return err
	}
	in, out := pixels(x.values[s.in]), pixels(x.values[s.out])
	var like []float32
	if s.like >= 0 {
		like = pixels(x.values[s.like])
	}
	switch {
	case p.channels != nil:
		p.channels.Run(in, out)
	case p.few != nil:
		s.multiplyFew(p, in, like, out)
	case !p.plan.RunAhead(in, like, out, x.behind(s)):
		d, err := s.definitionFor(x, p)
		if err != nil {
			return err
		}
		d.plan.Run(in, like, out)
	}
	return nil
}

// multiplyFew multiplies few rows with weights that are packed for such.
func (s *convStep) multiplyFew(p *packed, in, like, out []float32) {
	g := &s.geometry
	rows := g.Batch * g.In[1] * g.In[2]
	a, c := gemm.Matrix[float32]{Data: in, Stride: g.InChannels}, gemm.Matrix[float32]{Data: out, Stride: g.OutChannels}
	p.few.MultiplyThen(rows, a, c, p.bias, gemm.Then[float32]{Residual: like, Relu: s.relu, Epilogue: s.epilogue})
}

// pixels returns the elements of a value that has no gaps.
func pixels(t *tensor.Tensor) []float32 {
	return unsafe.Slice((*float32)(t.DataPtr()), t.Numel())
}

// fold multiplies the filters with the factors of a normalization and moves its terms into the bias.
func fold(weight, bias []float32, norm []*tensor.Tensor, epsilon float64, filters int) (w, b []float32, ok bool) {
	for _, t := range norm {
		if t != nil && t.Numel() != filters {
			return nil, nil, false
		}
	}
	if norm[2] == nil || norm[3] == nil || filters == 0 {
		return nil, nil, false
	}
	at := func(t *tensor.Tensor, i int, otherwise float64) float64 {
		if t == nil {
			return otherwise
		}
		return float64(tensor.Data[float32](t)[i])
	}
	w, b = make([]float32, len(weight)), make([]float32, filters)
	taps := len(weight) / filters
	for f := range filters {
		factor := at(norm[0], f, 1) / math.Sqrt(at(norm[3], f, 0)+epsilon)
		for i := f * taps; i < (f+1)*taps; i++ {
			w[i] = float32(float64(weight[i]) * factor)
		}
		own := 0.0
		if bias != nil {
			own = float64(bias[f])
		}
		b[f] = float32((own-at(norm[2], f, 0))*factor + at(norm[1], f, 0))
	}
	return w, b, true
}
