package plan

import (
	"maps"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// weightCache has the packed weights of a region, which its plans share.
type weightCache struct {
	all *Weights // of products, for all regions
	mu  sync.Mutex
	by  map[string]*packedSet
}

// of returns the weights of steps of a name.
func (c *weightCache) of(name string) *packedSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*packedSet{}
	}
	set := c.by[name]
	if set == nil {
		set = &packedSet{all: c.all}
		c.by[name] = set
	}
	return set
}

// packedSet is the weights of a step for some geometries. Those that were made of tensors as they were before a write go when new ones come.
type packedSet struct {
	all   *Weights
	mu    sync.Mutex
	known atomic.Pointer[[]*packed]
}

// packed returns what the set has.
func (set *packedSet) packed() []*packed {
	if known := set.known.Load(); known != nil {
		return *known
	}
	return nil
}

// mostPacked bounds the geometries whose weights a set keeps.
const mostPacked = mostPlanned

// packed is a convolution for one geometry with its weights in the order in which tiles read them.
type packed struct {
	geometry conv.Convolution
	plan     *conv.Plan[float32]
	channels *conv.ChannelsPlan[float32] // of one filter for each channel
	few      *gemm.Weights[float32]      // of a product with few rows
	bias     []float32                   // beside few
	stamps   []stamp
	shared   *sharedMatrix // what plan or few have of a product's weights

	definition atomic.Pointer[packed] // the convolution by its definition, once plan has met what is not finite
}

// Weights are the packed matrices of products that all regions of an engine share: the rounds of a loop that was unrolled, for example, read one.
// It keeps none of them.
type Weights struct {
	mu sync.Mutex
	by map[matrixKey]weak.Pointer[sharedMatrix]
}

// matrixKey tells packed matrices apart. The addresses are those of others only after the matrix is gone, which keeps its tensor.
type matrixKey struct {
	storage, at       uintptr
	strides           [4]int
	numel             int
	writes            uint32
	channels, filters int
	rows              int // that they are packed for where these are few, else 0
}

// sharedMatrix is a packed matrix of weights.
type sharedMatrix struct {
	storage *tensor.Storage // that it was made of
	plan    *conv.Plan[float32]
	few     *gemm.Weights[float32]
}

// of returns the packed matrix for a key, which is made where there is none.
func (w *Weights) of(key matrixKey, storage *tensor.Storage, pack func(*sharedMatrix)) *sharedMatrix {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.by[key].Value(); known != nil {
		return known
	}
	if w.by == nil {
		w.by = map[matrixKey]weak.Pointer[sharedMatrix]{}
	}
	maps.DeleteFunc(w.by, func(_ matrixKey, m weak.Pointer[sharedMatrix]) bool { return m.Value() == nil })
	made := &sharedMatrix{storage: storage}
	pack(made)
	w.by[key] = weak.Make(made)
	return made
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
func (s *convStep) sources(x *frame) (found [6]*tensor.Tensor) {
	for i, v := range [...]int{s.weight, s.bias, s.norm[0], s.norm[1], s.norm[2], s.norm[3]} {
		if v >= 0 {
			found[i] = x.values[v]
		}
	}
	return found
}

// weightsAreGiven reports whether calls bring all that the weights are made of.
func (s *convStep) weightsAreGiven(p *program) bool {
	for _, v := range [...]int{s.weight, s.bias, s.norm[0], s.norm[1], s.norm[2], s.norm[3]} {
		if v >= 0 && !p.isGiven(v) {
			return false
		}
	}
	return true
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

// weightsOf returns the weights of a run.
func (s *convStep) weightsOf(x *frame) (*packed, error) {
	if p := x.packed[s.slot]; p != nil {
		return p, nil
	}
	return s.packedFor(x)
}

// packedFor returns the weights for a run.
func (s *convStep) packedFor(x *frame) (*packed, error) {
	sources, set := s.sources(x), s.weights
	all := set.packed()
	if at := int(s.place.Load()); at < len(all) && all[at].geometry == s.geometry && all[at].isOf(&sources) {
		return all[at], nil
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	all = set.packed()
	for i, p := range all {
		if p.geometry == s.geometry && p.isOf(&sources) {
			s.place.Store(int32(i))
			return p, nil
		}
	}
	made := s.resized(all, &sources)
	if made == nil {
		var err error
		if made, err = s.pack(sources, s.options()); err != nil {
			return nil, err
		}
	}
	kept := []*packed{made}
	for _, p := range all {
		if len(kept) < mostPacked && p.geometry != made.geometry && p.isOf(&sources) {
			kept = append(kept, p)
		}
	}
	set.known.Store(&kept)
	s.place.Store(0)
	return made, nil
}

// resized returns weights for the geometry of the step that those for others are too, nil where there are none.
func (s *convStep) resized(all []*packed, sources *[6]*tensor.Tensor) *packed {
	for _, p := range all {
		if p.geometry.InChannels != s.geometry.InChannels || !p.isOf(sources) {
			continue
		}
		if p.few != nil && s.isFew() {
			return &packed{geometry: s.geometry, few: p.few, bias: p.bias, stamps: p.stamps, shared: p.shared}
		}
		if p.plan == nil || s.isFew() {
			continue
		}
		if plan, ok := p.plan.Resized(s.geometry); ok {
			return &packed{geometry: s.geometry, plan: plan, stamps: p.stamps, shared: p.shared}
		}
	}
	return nil
}

// fewRows is how many rows a product has at most for which its weights are packed as they are read then.
const fewRows = 4

// isFew reports whether a step is a product of few rows.
func (s *convStep) isFew() bool {
	return s.isProduct && s.geometry.Batch*s.geometry.In[1]*s.geometry.In[2] <= fewRows
}

// definitionFor returns the convolution by its definition of a run whose sums are not finite.
func (s *convStep) definitionFor(x *frame, p *packed) (*packed, error) {
	if d := p.definition.Load(); d != nil {
		return d, nil
	}
	options := s.options()
	options.ByDefinition = true
	d, err := s.pack(s.sources(x), options)
	if err != nil {
		return nil, err
	}
	p.definition.Store(d)
	return d, nil
}

// pack makes the weights for the geometry of the step.
func (s *convStep) pack(sources [6]*tensor.Tensor, options conv.PlanOptions) (*packed, error) {
	g := s.geometry
	p := &packed{geometry: g}
	for i, t := range sources {
		if t == nil {
			continue
		}
		mark, ok := stampOf(t)
		if !ok {
			return nil, unplanned("others may write the weights unseen, or they are none that plans take")
		}
		t.Retain()
		p.stamps = append(p.stamps, mark)
		if i == 0 && s.transposed {
			var err error
			if t, err = t.T(); err != nil {
				return nil, err
			}
		}
		whole, err := t.Contiguous()
		if err != nil {
			return nil, err
		}
		sources[i] = whole
	}
	weight, bias := tensor.Data[float32](sources[0]), []float32(nil)
	if sources[1] != nil {
		if sources[1].Numel() != g.OutChannels {
			return nil, unplanned("a bias has not an element for each channel")
		}
		bias = tensor.Data[float32](sources[1])
	}
	if s.normalized {
		var ok bool
		if weight, bias, ok = fold(weight, bias, sources[2:], s.epsilon, g.OutChannels); !ok {
			return nil, unplanned("a normalization has not an element for each channel")
		}
	}
	if s.isProduct {
		s.packMatrix(p, weight, bias, options)
		return p, nil
	}
	if g.Groups == g.InChannels && g.InChannels == g.OutChannels && g.Groups > 1 && s.like < 0 && g.PoolsLast() {
		switch {
		case s.ofChannel != nil:
			p.channels = conv.NewDepthwisePlanThen(g, weight, bias, s.ofChannel)
			return p, nil
		case s.epilogue == nil:
			p.channels = conv.NewDepthwisePlan(g, weight, bias, s.relu)
			return p, nil
		}
	}
	p.plan = conv.NewPlan(g, weight, bias, options)
	return p, nil
}

// packMatrix packs the weights of a product, or takes them from another region.
func (s *convStep) packMatrix(p *packed, weight, bias []float32, options conv.PlanOptions) {
	g, of := s.geometry, p.stamps[0]
	key := matrixKey{uintptr(unsafe.Pointer(of.storage)), uintptr(of.at), of.strides, of.numel, of.writes, g.InChannels, g.OutChannels, 0}
	if s.isFew() {
		key.rows = fewRows
	}
	p.shared = s.weights.all.of(key, of.storage, func(m *sharedMatrix) {
		if !s.isFew() {
			m.plan = conv.NewPlan(g, weight, nil, conv.PlanOptions{Exact: true})
			return
		}
		w := gemm.PackWeights(gemm.Matrix[float32]{Data: weight, Stride: g.InChannels, Transposed: true}, g.InChannels, g.OutChannels, fewRows,
			gemm.AlignedRoom(g.InChannels, g.OutChannels))
		m.few = &w
	})
	if !s.isFew() {
		p.plan = p.shared.plan.Sharing(g, bias, options)
		return
	}
	p.few = p.shared.few
	p.bias = append(make([]float32, 0, g.OutChannels), bias...)
	if bias == nil {
		p.bias = make([]float32, g.OutChannels)
	}
}
