package plan

import (
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
)

// expandedStep is a depthwise convolution with another one before it, one of one pixel behind it, or both, where what lies between them is larger than the
// caches: some rows of it at a time are there.
type expandedStep struct {
	all    []*convStep // in order
	shape  conv.ExpandedShape
	joined atomic.Pointer[joinedWeights]
}

// joinedWeights are what convolutions run by together.
type joinedWeights struct {
	of   [3]*packed
	plan *conv.Expanded
}

// joinExpansions makes one step of those that give a large image to the next one alone.
func (p *Plan) joinExpansions() {
	for i := 0; i+1 < len(p.steps); i++ {
		s := &expandedStep{}
		switch before, behind := p.isExpansion(i), p.isNarrowing(i+1); {
		case before && behind:
			s.take(p.steps[i : i+3])
			s.shape = conv.ExpandedShape{First: &s.all[0].geometry, Depthwise: &s.all[1].geometry, Last: &s.all[2].geometry}
		case before:
			s.take(p.steps[i : i+2])
			s.shape = conv.ExpandedShape{First: &s.all[0].geometry, Depthwise: &s.all[1].geometry}
		case p.isNarrowing(i):
			s.take(p.steps[i : i+2])
			s.shape = conv.ExpandedShape{Depthwise: &s.all[0].geometry, Last: &s.all[1].geometry}
		default:
			continue
		}
		p.steps = slices.Replace(p.steps, i, i+len(s.all), step(s))
	}
}

func (s *expandedStep) take(steps []step) {
	for _, c := range steps {
		s.all = append(s.all, c.(*convStep))
	}
}

// convolutionsAt returns step i and the next one where they are convolutions, and the second alone reads the result of the first.
func (p *Plan) convolutionsAt(i int) (first, second *convStep, ok bool) {
	if i+1 >= len(p.steps) {
		return nil, nil, false
	}
	first, isFirst := p.steps[i].(*convStep)
	second, isSecond := p.steps[i+1].(*convStep)
	if !isFirst || !isSecond || first.isProduct || second.isProduct {
		return nil, nil, false
	}
	v := first.out
	if second.in != v || second.like >= 0 && p.facts[second.like].root == v || first.like >= 0 || p.program.isOutput(v) {
		return nil, nil, false
	}
	for _, s := range p.steps[i+2:] {
		if slices.ContainsFunc(s.reads(), func(r int) bool { return p.facts[r].root == v }) {
			return nil, nil, false
		}
	}
	return first, second, true
}

// isExpansion reports whether step i and the next one can be one: a convolution and a depthwise one.
func (p *Plan) isExpansion(i int) bool {
	first, second, ok := p.convolutionsAt(i)
	return ok && second.isOfChannels() && conv.SuitsExpanded(&first.geometry, &second.geometry, first.options())
}

// isNarrowing reports whether step i and the next one can be one: a depthwise convolution and one of one pixel.
func (p *Plan) isNarrowing(i int) bool {
	first, second, ok := p.convolutionsAt(i)
	return ok && first.isOfChannels() && conv.SuitsNarrowed(&first.geometry, &second.geometry)
}

// isOfChannels reports whether a depthwise convolution has a plan of channels.
func (s *convStep) isOfChannels() bool {
	return s.like < 0 && (s.epilogue == nil || s.ofChannel != nil)
}

// convolutionsOf returns the convolutions of a step.
func convolutionsOf(s step) []*convStep {
	switch s := s.(type) {
	case *convStep:
		return []*convStep{s}
	case *expandedStep:
		return s.all
	}
	return nil
}

func (s *expandedStep) gives() int { return s.last().out }

func (s *expandedStep) last() *convStep { return s.all[len(s.all)-1] }

func (s *expandedStep) reads() (found []int) {
	for i, c := range s.all {
		for _, v := range c.reads() {
			if i == 0 || v != s.all[i-1].out {
				found = append(found, v)
			}
		}
	}
	return found
}

func (s *expandedStep) text() string {
	var parts []string
	for _, c := range s.all {
		parts = append(parts, c.text())
	}
	return strings.Join(parts, ", by rows ")
}

// bytes returns what the rows take.
func (s *expandedStep) bytes() int { return 4 * s.shape.Room() }

func (s *expandedStep) run(x *frame) error {
	var of [3]*packed
	for i, c := range s.all {
		p, err := c.weightsOf(x)
		if err != nil {
			return err
		}
		of[i] = p
	}
	both := s.joined.Load()
	if both == nil || both.of != of {
		var first, last *conv.Plan[float32]
		channels := of[0].channels
		if s.shape.First != nil {
			first, channels = of[0].plan, of[1].channels
		}
		if s.shape.Last != nil {
			last = of[len(s.all)-1].plan
		}
		plan, ok := conv.NewExpanded(s.shape, first, channels, last)
		if !ok {
			return unplanned("a convolution around one of channels runs in another way than by tiles")
		}
		both = &joinedWeights{of, plan}
		s.joined.Store(both)
	}
	room := unsafe.Slice((*float32)(x.room()), s.bytes()/4)
	var like []float32
	if v := s.last().like; v >= 0 {
		like = pixels(x.values[v])
	}
	both.plan.Run(pixels(x.values[s.all[0].in]), like, pixels(x.values[s.last().out]), room, x.behind(s.last()))
	return nil
}
