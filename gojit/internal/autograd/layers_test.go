package autograd

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestLayersStandInTheirOrder(t *testing.T) {
	place := map[string]int{}
	for i, l := range callLayers {
		if l.name == "" || l.run == nil {
			t.Errorf("layer %d has no name or does nothing", i)
		}
		place[l.name] = i
	}
	for _, o := range []struct{ first, then, because string }{
		{"named", "autocast", "names are those of the results of the operator that was called"},
		{"autocast", "profile", "a cast is an operator and event of its own, beside that of the operator"},
		{"autocast", "tape", "the cast is recorded: its gradient goes back to the type that was given"},
		{"profile", "expand", "the event of a composite operator covers its parts"},
		{"expand", "forward", "the parts have tangents where the whole has none"},
		{"expand", "tape", "the parts are recorded, and seen by the host"},
		{"forward", "tape", "tangents are computed by operators that are recorded"},
		{"inference", "tape", "what inference mode made must not be saved"},
		{"tape", "dispatch", "the host sees operators below autograd"},
	} {
		first, ok := place[o.first]
		then, okToo := place[o.then]
		if !ok || !okToo || first >= then {
			t.Errorf("%s must stand before %s: %s", o.first, o.then, o.because)
		}
	}
}

// TestLayersMeetOperatorsInOrder has all layers at work at once and notes the order in which they meet an operator.
func TestLayersMeetOperatorsInOrder(t *testing.T) {
	before := callLayers
	defer func() { callLayers = before }()
	var met []string
	for i := range callLayers {
		l := before[i]
		callLayers[i].run = func(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
			met = append(met, l.name)
			return m.next(rest, op, args, out)
		}
	}
	ran := false
	op := &ops.Operator{Name: "test::none", Run: func(args, out []value.Value) error { ran = true; return nil }}
	if err := (&Mode{}).next(1<<numLayers-1, op, nil, nil); err != nil || !ran {
		t.Fatal(err, ran)
	}
	if got := strings.Join(met, " "); got != "named autocast profile expand forward inference tape dispatch" {
		t.Errorf("an operator meets %s", got)
	}
}

func TestDirectCallsMeetNoLayer(t *testing.T) {
	tensor.Track()
	m := &Mode{}
	if m.Direct() {
		t.Error("a mode that records is direct")
	}
	m.SetGradEnabled(false)
	if !m.Direct() {
		t.Error("a mode that records nothing is not direct")
	}
	m.BeginCasting(CastCPU, true, tensor.BFloat16)
	if m.Direct() {
		t.Error("a mode that casts is direct")
	}
	m.EndCasting()
	if err := BeginProfile(false); err != nil {
		t.Fatal(err)
	}
	defer EndProfile()
	if m.Direct() {
		t.Error("a mode whose operators are events is direct")
	}
}
