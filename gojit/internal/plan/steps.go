package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// errUnplanned says that a step cannot be done in the plan's way: the nodes run one by one, and refuse what is wrong.
var errUnplanned = source.Errorf(source.RuntimeError, source.Range{}, "the region is not planned")

// callStep runs an operator.
type callStep struct{ node *node }

func (s *callStep) gives() int { return s.node.out }

func (s *callStep) reads() []int {
	var found []int
	for _, v := range s.node.refs {
		if v >= 0 {
			found = append(found, v)
		}
	}
	return found
}

func (s *callStep) text() string { return s.node.op.Name }

func (s *callStep) run(x *execution) error {
	var room [16]value.Value
	args := append(room[:0], s.node.args...)
	for i, v := range s.node.refs {
		if v >= 0 {
			args[i] = value.OfTensor(x.values[v])
		}
	}
	var out [1]value.Value
	if err := s.node.op.Run(args, out[:]); err != nil {
		return errUnplanned
	}
	t := out[0].Tensor()
	if t.Dim() != 4 {
		return errUnplanned
	}
	if !t.IsContiguousFormat(tensor.ChannelsLast) {
		last, err := t.Clone(tensor.ChannelsLast)
		if err != nil {
			return err
		}
		t.Release()
		t = last
	}
	x.values[s.node.out] = t
	return nil
}

// convStep is a convolution with what is done to its result.
type convStep struct {
	node       *node
	exact      bool
	geometry   dense.Convolution // but for sizes and channels
	in         int
	weight     int
	bias       int // -1: none
	normalized bool
	norm       [4]int // weight, bias, mean and variance; -1: none
	epsilon    float64
	after      []*node
	from       int // the value that after begins with
	like       int // the other image that after reads, -1: none
	out        int
	relu       bool // after is relu, or the sum with like and relu, or the sum
	residual   bool
	epilogue   *dense.Epilogue     // of everything else
	row        func(row []float32) // epilogue for rows of filters that have a channel each; nil where there is none

	mu    sync.Mutex
	known atomic.Pointer[[]*packed]
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

func (s *convStep) text() string {
	parts := []string{"conv2d"}
	if s.normalized {
		parts = append(parts, "batch_norm")
	}
	for _, n := range s.after {
		parts = append(parts, strings.TrimPrefix(n.op.BaseName(), "aten::"))
	}
	return strings.Join(parts, "+")
}

// finish finds out how the tiles do what is done to the result. It reports whether they can.
func (s *convStep) finish() bool {
	rest := s.after
	if len(rest) > 0 && s.like >= 0 && rest[0].op.Name == "aten::add.Tensor" && rest[0].refs[0] != rest[0].refs[1] && rest[0].args[2].IsInt() && rest[0].args[2].Int() == 1 {
		s.residual, rest = true, rest[1:]
	}
	if len(rest) > 0 && rest[0].op.Name == "aten::relu" {
		s.relu, rest = true, rest[1:]
	}
	if len(rest) == 0 && s.residual == (s.like >= 0) {
		return true
	}
	s.relu, s.residual = false, false
	s.epilogue = s.makeEpilogue()
	if s.like < 0 {
		s.row = s.makeRow()
	}
	return s.epilogue != nil
}

// makeEpilogue makes one kernel of the bias and the operators behind; nil where they cannot be one.
func (s *convStep) makeEpilogue() *dense.Epilogue {
	k, err := s.kernel(true)
	if err != nil {
		return nil
	}
	e, err := dense.NewEpilogue(k, tensor.Float32)
	if err != nil {
		return nil
	}
	return e
}

// makeRow makes a program of the operators behind, for rows of the result; nil where they cannot be one kernel.
func (s *convStep) makeRow() func(row []float32) {
	k, err := s.kernel(false)
	if err != nil {
		return nil
	}
	p, err := launch.ProgramOf(k)
	if err != nil {
		return nil
	}
	return func(row []float32) {
		r := launch.Row{Ptr: unsafe.Pointer(&row[0])}
		p.Rows(1, len(row), []launch.Row{r, r}, nil)
	}
}

// kernel returns what is done to an element of the result: the sum with the bias, a row that all places share, where that is still to be
// added, and the operators behind. Its inputs are the result, the bias and the other image.
func (s *convStep) kernel(addsBias bool) (*kernel.Kernel, error) {
	r := aten.NewRecorder()
	defer r.Close()
	var inputs []*tensor.Tensor
	for range 3 {
		t, err := r.Input(tensor.Float32, false)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, t)
		if len(inputs) == 1 && !addsBias || len(inputs) == 2 && s.like < 0 {
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
	if s.like >= 0 {
		values[s.like] = inputs[2]
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

// packed is a convolution for one geometry with its weights in the order in which tiles read them.
type packed struct {
	geometry dense.Convolution
	plan     *dense.Plan[float32]
	channels *dense.ChannelsPlan[float32] // of one filter for each channel
	stamps   []stamp
}

// stamp is a tensor that weights were made of, as it was then. Whoever has a stamp keeps the memory of the tensor.
type stamp struct {
	storage *tensor.Storage
	at      unsafe.Pointer
	strides [4]int
	numel   int
	writes  uint32
}

// stampOf returns the stamp of a tensor; ok is false where others may write it unseen, or where it is none that plans read.
func stampOf(t *tensor.Tensor) (s stamp, ok bool) {
	writes, ok := t.Storage().Writes()
	s = stamp{storage: t.Storage(), at: t.DataPtr(), numel: t.Numel(), writes: writes}
	copy(s.strides[:], t.Strides())
	return s, ok && t.DType() == tensor.Float32 && t.Dim() <= len(s.strides)
}

// sources are the tensors that weights are made of, nil where there is none.
func (s *convStep) sources(x *execution) (found [6]*tensor.Tensor) {
	for i, v := range [...]int{s.weight, s.bias, s.norm[0], s.norm[1], s.norm[2], s.norm[3]} {
		if v >= 0 {
			found[i] = x.values[v]
		}
	}
	return found
}

// isOf reports whether weights were made of tensors as they are now.
func (p *packed) isOf(sources *[6]*tensor.Tensor) bool {
	at := 0
	for _, t := range sources {
		if t == nil {
			continue
		}
		s, ok := stampOf(t)
		if !ok || at == len(p.stamps) || p.stamps[at] != s {
			return false
		}
		at++
	}
	return at == len(p.stamps)
}

// mostPacked bounds the geometries whose weights a step keeps.
const mostPacked = 16

// packedFor returns the weights for a geometry.
func (s *convStep) packedFor(x *execution, g dense.Convolution) (*packed, error) {
	sources := s.sources(x)
	if known := s.known.Load(); known != nil {
		for _, p := range *known {
			if p.geometry == g && p.isOf(&sources) {
				return p, nil
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made := s.resized(&sources, g)
	if made == nil {
		var err error
		if made, err = s.pack(sources, g); err != nil {
			return nil, err
		}
	}
	all := []*packed{made}
	if known := s.known.Load(); known != nil {
		for _, p := range *known {
			if len(all) < mostPacked && p.geometry != g && p.isOf(&sources) {
				all = append(all, p)
			}
		}
	}
	s.known.Store(&all)
	return made, nil
}

// resized returns the weights for a geometry that those of another one are, nil where there are none.
func (s *convStep) resized(sources *[6]*tensor.Tensor, g dense.Convolution) *packed {
	known := s.known.Load()
	if known == nil {
		return nil
	}
	for _, p := range *known {
		if p.plan == nil || p.geometry.InChannels != g.InChannels || !p.isOf(sources) {
			continue
		}
		if plan, ok := p.plan.Resized(g); ok {
			return &packed{geometry: g, plan: plan, stamps: p.stamps}
		}
	}
	return nil
}

// pack makes the weights for a geometry.
func (s *convStep) pack(sources [6]*tensor.Tensor, g dense.Convolution) (*packed, error) {
	p := &packed{geometry: g}
	for i, t := range sources {
		if t == nil {
			continue
		}
		mark, ok := stampOf(t)
		if !ok {
			return nil, errUnplanned
		}
		t.Retain()
		p.stamps = append(p.stamps, mark)
		whole, err := t.Contiguous()
		if err != nil {
			return nil, err
		}
		sources[i] = whole
	}
	weight, bias := tensor.Data[float32](sources[0]), []float32(nil)
	if sources[1] != nil {
		if sources[1].Numel() != g.OutChannels {
			return nil, errUnplanned
		}
		bias = tensor.Data[float32](sources[1])
	}
	if s.normalized {
		var ok bool
		if weight, bias, ok = fold(weight, bias, sources[2:], s.epsilon, g.OutChannels); !ok {
			return nil, errUnplanned
		}
	}
	if g.Groups == g.InChannels && g.InChannels == g.OutChannels && g.Groups > 1 && s.like < 0 && g.PoolsLast() {
		switch {
		case s.row != nil:
			p.channels = dense.NewDepthwisePlanThen(g, weight, bias, s.row)
			return p, nil
		case s.epilogue == nil:
			p.channels = dense.NewDepthwisePlan(g, weight, bias, s.relu)
			return p, nil
		}
	}
	p.plan = dense.NewPlan(g, weight, bias, dense.PlanOptions{Relu: s.relu, Residual: s.residual, Epilogue: s.epilogue, Exact: s.exact})
	return p, nil
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

func (s *convStep) run(x *execution) error {
	in, weight := x.values[s.in], x.values[s.weight]
	g, ok := s.sized(in, weight)
	if !ok {
		return errUnplanned
	}
	p, err := s.packedFor(x, g)
	if err != nil {
		return err
	}
	shape := []int{g.Batch, g.OutChannels, g.Out[1], g.Out[2]}
	var like []float32
	if s.like >= 0 {
		t := x.values[s.like]
		if !tensor.SameShape(t.Shape(), shape) || t.DType() != tensor.Float32 {
			return errUnplanned
		}
		like = pixels(t)
	}
	out, err := tensor.EmptyChannelsLast(shape, tensor.Float32, tensor.ChannelsLast)
	if err != nil {
		return err
	}
	if p.channels != nil {
		p.channels.Run(pixels(in), pixels(out))
	} else {
		p.plan.Run(pixels(in), like, pixels(out))
	}
	x.values[s.out] = out
	return nil
}

// sized completes the geometry by the sizes of the tensors. ok is false where the operator would refuse them, or there is nothing to do.
func (s *convStep) sized(in, weight *tensor.Tensor) (g dense.Convolution, ok bool) {
	g = s.geometry
	if in.Dim() != 4 || weight.Dim() != 4 || in.Numel() == 0 || weight.Numel() == 0 || g.Groups < 1 {
		return g, false
	}
	g.Batch, g.InChannels, g.OutChannels = in.Size(0), in.Size(1), weight.Size(0)
	if g.InChannels != weight.Size(1)*g.Groups || g.OutChannels%g.Groups != 0 {
		return g, false
	}
	for d := 1; d < 3; d++ {
		g.In[d], g.Kernel[d] = in.Size(d+1), weight.Size(d+1)
		reach := g.In[d] + 2*g.Padding[d] - g.Dilation[d]*(g.Kernel[d]-1) - 1
		if g.Padding[d] < 0 || g.Stride[d] < 1 || g.Dilation[d] < 1 || reach < 0 {
			return g, false
		}
		g.Out[d] = reach/g.Stride[d] + 1
	}
	return g, true
}

// pixels returns the elements of an image whose channels lie together.
func pixels(t *tensor.Tensor) []float32 {
	n := t.Numel()
	return unsafe.Slice((*float32)(t.DataPtr()), n)
}

// String prints the steps.
func (p *Plan) String() string {
	var b strings.Builder
	for i, s := range p.steps {
		fmt.Fprintf(&b, "%%%d = %s", s.gives(), s.text())
		for j, v := range s.reads() {
			separator := ", "
			if j == 0 {
				separator = " "
			}
			fmt.Fprintf(&b, "%s%%%d", separator, v)
		}
		if len(p.free[i]) > 0 {
			fmt.Fprintf(&b, "  # frees %v", p.free[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
