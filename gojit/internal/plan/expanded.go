package plan

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
)

// expandedStep is a convolution of one pixel, and a depthwise one of its result, which is larger than the caches: some rows of it at a time are there.
type expandedStep struct {
	first, second *convStep
	joined        atomic.Pointer[joinedWeights]
}

// joinedWeights are what two convolutions run by together.
type joinedWeights struct {
	first, second *packed
	plan          *conv.Expanded
}

// joinExpansions makes one step of two where the first gives a large image to a depthwise convolution alone.
func (p *Plan) joinExpansions() {
	for i := 0; i+1 < len(p.steps); i++ {
		first, isFirst := p.steps[i].(*convStep)
		second, isSecond := p.steps[i+1].(*convStep)
		if isFirst && isSecond && p.isExpansion(i, first, second) {
			p.steps = slices.Replace(p.steps, i, i+2, step(&expandedStep{first: first, second: second}))
		}
	}
}

// isExpansion reports whether step i and the next one can be one.
func (p *Plan) isExpansion(i int, first, second *convStep) bool {
	v := first.out
	if second.in != v || p.program.isOutput(v) || first.isProduct || first.like >= 0 || second.like >= 0 || second.ofChannel == nil && second.epilogue != nil {
		return false
	}
	for _, s := range p.steps[i+2:] {
		if slices.ContainsFunc(s.reads(), func(r int) bool { return p.facts[r].root == v }) {
			return false
		}
	}
	return conv.SuitsExpanded(&first.geometry, &second.geometry)
}

// convolutionsOf returns the convolutions of a step.
func convolutionsOf(s step) []*convStep {
	switch s := s.(type) {
	case *convStep:
		return []*convStep{s}
	case *expandedStep:
		return []*convStep{s.first, s.second}
	}
	return nil
}

func (s *expandedStep) gives() int { return s.second.out }

func (s *expandedStep) reads() []int {
	return append(s.first.reads(), slices.DeleteFunc(s.second.reads(), func(v int) bool { return v == s.first.out })...)
}

func (s *expandedStep) text() string { return s.first.text() + ", by rows " + s.second.text() }

// bytes returns what the rows take.
func (s *expandedStep) bytes() int { return 4 * conv.RoomOf(&s.second.geometry) }

func (s *expandedStep) run(x *frame) error {
	first, err := s.first.weightsOf(x)
	if err != nil {
		return err
	}
	second, err := s.second.weightsOf(x)
	if err != nil {
		return err
	}
	both := s.joined.Load()
	if both == nil || both.first != first || both.second != second {
		plan, ok := conv.NewExpanded(s.first.geometry, first.plan, second.channels)
		if !ok {
			return unplanned("a convolution of one pixel runs in another way than by tiles")
		}
		both = &joinedWeights{first, second, plan}
		s.joined.Store(both)
	}
	room := unsafe.Slice((*float32)(x.room()), s.bytes()/4)
	both.plan.Run(pixels(x.values[s.first.in]), pixels(x.values[s.second.out]), room)
	return nil
}
