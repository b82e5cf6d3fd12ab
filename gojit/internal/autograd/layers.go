package autograd

import (
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// callLayer is something that may have to do with an operator before the operator itself runs.
type callLayer uint8

// The layers in the order in which an operator meets them: the one list of it. What stands behind, sparse and meta tensors and memory that is
// borrowed, belongs to the operators themselves (ops/aten/entry.go).
const (
	named     callLayer = iota // above all: results of what the operator becomes below have the names that it gives them
	autocast                   // next: everything below, a profile's events too, is about the operator on cast tensors; the casts are operators of their own
	profile                    // before the operator becomes others, so that its event covers them
	expand                     // what modes and classes of the host see is the parts of composite operators; forward mode and tape have the parts too
	forward                    // above the tape: tangents are computed by operators that the tape records
	inference                  // above the tape: nothing is recorded in the mode, and outside of it what it made must not be saved
	tape                       // records; it computes by what stands below
	dispatch                   // last: below the tape, so that a mode or class of the host sees an operator once it is known how it is recorded
	numLayers
)

// callLayers says what each layer does. One that has nothing to do with the operator, or is done, goes on by Mode.next. It is filled when the program
// starts, because layers run operators themselves.
var callLayers [numLayers]struct {
	name string
	run  func(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error
}

func init() {
	callLayers[named].name, callLayers[named].run = "named", runOnNames
	callLayers[autocast].name, callLayers[autocast].run = "autocast", runCast
	callLayers[profile].name, callLayers[profile].run = "profile", runProfiled
	callLayers[expand].name, callLayers[expand].run = "expand", runExpanded
	callLayers[forward].name, callLayers[forward].run = "forward", runForward
	callLayers[inference].name, callLayers[inference].run = "inference", runInference
	callLayers[tape].name, callLayers[tape].run = "tape", runRecorded
	callLayers[dispatch].name, callLayers[dispatch].run = "dispatch", runDispatched
}

// layerSet is a set of layers.
type layerSet uint8

func (s *layerSet) add(l callLayer, wanted bool) {
	if wanted {
		*s |= 1 << l
	}
}

// active returns the layers that may have to do with an operator, whatever its arguments.
func (m *Mode) active() (s layerSet) {
	s.add(autocast, m.IsCasting())
	s.add(inference, m.inference)
	if !tensor.Tracked() {
		return s
	}
	s.add(named, !m.withoutNames && tensor.NamesInUse())
	hosted := m.dispatcher != nil || tensor.ForeignInUse()
	s.add(profile, profiling.Load() != nil)
	s.add(expand, hosted)
	s.add(forward, !m.noTangent && InForward())
	s.add(inference, tensor.InferenceInUse())
	s.add(tape, !m.off && !m.belowAutograd)
	s.add(dispatch, hosted)
	return s
}

// Run runs an operator and records it where an argument requires a gradient.
func (m *Mode) Run(op *ops.Operator, args, out []value.Value) error {
	if s := m.active(); s != 0 {
		return m.next(s, op, args, out)
	}
	return runNamed(op, args, out)
}

// runNamed runs the operator itself. An error that a device's capture cannot hold it names it.
func runNamed(op *ops.Operator, args, out []value.Value) error {
	err := op.Run(args, out)
	if err != nil {
		kernel.NameCaptured(err, op.Name)
	}
	return err
}

// Direct reports whether operators run without any layer until the mode changes: nothing is recorded, cast or seen, whatever the arguments.
func (m *Mode) Direct() bool { return m.active() == 0 && (m.off || m.belowAutograd) }

// DirectOverPlain is Direct for operators over tensors that are of no class of the host, not of inference and without named dimensions.
func (m *Mode) DirectOverPlain() bool {
	const ofTensors = layerSet(1<<named | 1<<expand | 1<<inference | 1<<dispatch) // what a mode alone does not ask for
	return m.active()&^ofTensors == 0 && m.dispatcher == nil && !m.inference && (m.off || m.belowAutograd)
}

// next takes an operator to the first of some layers, and to the operator itself behind the last.
func (m *Mode) next(s layerSet, op *ops.Operator, args, out []value.Value) error {
	if s == 0 {
		return runNamed(op, args, out)
	}
	return callLayers[bits.TrailingZeros8(uint8(s))].run(m, s&(s-1), op, args, out)
}

// runExpanded runs a composite operator as what it is made of where an autocast, a mode or a class of the host is to see that.
func runExpanded(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	if kind := castKindOf(args); m.IsCasting() && m.casting.kinds[kind].enabled && castPolicyOf(kind, op) == castInside {
		if known, err := m.takeApart(op, args, out); known {
			return err
		}
	}
	if m.dispatcher != nil || m.hasDispatching(args) {
		if known, err := m.expand(op, args, out); known {
			return err
		}
	}
	return m.next(rest, op, args, out)
}

// runInference has new results of operators become inference tensors in the mode, and looks after such tensors outside of it.
func runInference(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	if !m.inference {
		if anyInference(args) {
			if err := checkInference(m, op, args); err != nil {
				return err
			}
		}
		return m.next(rest, op, args, out)
	}
	if err := m.compute(op, args, out); err != nil {
		return err
	}
	eachTensor(out, func(t *tensor.Tensor) bool {
		if viewed(args, t) == nil {
			t.MakeInference()
		}
		return true
	})
	return nil
}

// runRecorded records an operator where an argument requires a gradient.
func runRecorded(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	if anyRequiresGrad(args) {
		return record(m, op, args, out)
	}
	if len(args) > 0 && isUnrecordedView(args[0]) && planOf(op).writes && !planOf(op).notDifferentiable {
		return errUnrecordedView
	}
	return m.next(rest, op, args, out)
}

// runDispatched asks the mode or class of the host that runs an operator, where there is one.
func runDispatched(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	return m.compute(op, args, out)
}
