package replay

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Variable is the environment's name of what switches replays off: GOJIT_CUDA_GRAPHS=0.
const Variable = "GOJIT_CUDA_GRAPHS"

// off says that the environment wants no replays.
var off = os.Getenv(Variable) == "0"

// logging says whether GOJIT_LOG asks for what is put down, and for what is not.
var logging = slices.Contains(strings.Split(os.Getenv("GOJIT_LOG"), ","), "graphs")

// ordinaryCalls is how many calls of a kind run as any: they compile kernels, and fill what operators keep.
const ordinaryCalls = 2

// mostKinds bounds the kinds of calls that are told apart: code that meets more has sizes that change from call to call.
const mostKinds = 8

// Function runs the code of a graph.
type Function struct {
	name       string
	graph      *ir.Graph
	once       sync.Once // reads the graph, when a call has a tensor on a device
	refused    string    // why no call of it is replayed, "" where some may be
	attributes []attribute
	constants  []*tensor.Tensor

	mu      sync.Mutex
	kinds   []*kind
	reasons []string // why calls of other kinds are not replayed
}

// New returns what runs the code of a graph; nil where replays are switched off.
func New(name string, g *ir.Graph) *Function {
	if off {
		return nil
	}
	return &Function{name: name, graph: g}
}

func (f *Function) tell(what, why string) {
	if logging {
		fmt.Fprintf(os.Stderr, "graphs: %s: %s one launch: %s\n", f.name, what, why)
	}
}

// Run runs the code by one launch, or has run do so for the first calls of a kind. done is false where the call is to run as any.
// It fails where somebody interrupts it.
func (f *Function) Run(m *autograd.Mode, args, out []value.Value, run func(args, out []value.Value) error) (done bool, err error) {
	if !slices.ContainsFunc(args, isOnDevice) {
		return false, nil
	}
	f.once.Do(func() {
		if f.refused = f.read(f.graph); f.refused != "" {
			f.tell("its calls are not", f.refused)
		}
	})
	if f.refused != "" {
		return false, nil
	}
	var room [64]value.Value
	c := call{mode: m, args: args, attributes: room[:0]}
	if why := f.look(&c); why != "" {
		f.note(why)
		return false, nil
	}
	capturer, lane, ok := capturerOf(c.device)
	if !ok {
		f.note("they are within a capture")
		return false, nil
	}
	c.lane, c.settings, c.dtype = lane, capturer.Settings(), tensor.DefaultDType()
	k, isNew := f.kindOf(&c)
	if k == nil {
		return false, nil
	}
	if isNew {
		k.results = make([]result, len(out))
		why, err := f.capture(capturer, k, &c, run)
		if k.finish(why); why != "" {
			f.tell("calls with "+k.String()+" are not", why)
			return false, err
		}
		f.tell("calls with "+k.String()+" are", fmt.Sprintf("%d kernels", k.launches))
	}
	return k.replay(&c, out), nil
}

// isOnDevice reports whether a value is a tensor on a device, or a list with one.
func isOnDevice(v value.Value) bool {
	switch v.Kind() {
	case value.KindTensor:
		return v.Tensor().OnDevice()
	case value.KindList:
		return slices.ContainsFunc(v.List().Items, isOnDevice)
	case value.KindTuple:
		return slices.ContainsFunc(v.Tuple().Items, isOnDevice)
	}
	return false
}

// capturerOf returns what puts down the work of a device, and the queue that the caller's work goes to. ok is false where that cannot be.
func capturerOf(d tensor.Device) (c kernel.Capturer, lane uintptr, ok bool) {
	b, err := tensor.BackendOf(d)
	if err != nil {
		return nil, 0, false
	}
	if c, ok = b.(kernel.Capturer); !ok {
		return nil, 0, false
	}
	lane, ok = c.Lane(d)
	return c, lane, ok
}

// note keeps why calls are not replayed, whatever their kind.
func (f *Function) note(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.reasons, why) && len(f.reasons) < mostKinds {
		f.reasons = append(f.reasons, why)
		f.tell("other calls are not", why)
	}
}

// kindOf returns the kind of a call where it is to be replayed, or is new and to be captured now, which finish ends; nil where the call is to run as any.
func (f *Function) kindOf(c *call) (k *kind, isNew bool) {
	f.mu.Lock()
	at := slices.IndexFunc(f.kinds, func(k *kind) bool { return k.matches(c) })
	if at < 0 && len(f.kinds) == mostKinds {
		f.mu.Unlock()
		f.note(fmt.Sprintf("more than %d kinds of calls were met", mostKinds))
		return nil, false
	}
	defer f.mu.Unlock()
	if at < 0 {
		f.kinds = append(f.kinds, newKind(c))
		return nil, false
	}
	switch k = f.kinds[at]; {
	case k.busy:
		return nil, false
	case !k.isOver(c): // the memory of an attribute is another
		f.kinds[at] = newKind(c)
		return nil, false
	case k.work != nil:
		return k, false
	case k.refused != "":
		return nil, false
	case k.calls < ordinaryCalls:
		k.calls++
		return nil, false
	}
	k.owner, k.busy = f, true
	return k, true
}

// finish ends the capture of a kind.
func (k *kind) finish(why string) {
	k.owner.mu.Lock()
	defer k.owner.mu.Unlock()
	k.busy, k.refused = false, why
	if why != "" && k.work != nil {
		k.work.Reset()
		k.work, k.inputs, k.outputs = nil, nil, nil
	}
}

// capture puts down the work of a call. It returns why that cannot be, "" where it is done. It fails where somebody interrupts it.
func (f *Function) capture(capturer kernel.Capturer, k *kind, c *call, run func(args, out []value.Value) error) (why string, err error) {
	args := slices.Clone(c.args)
	for i, a := range args {
		if args[i], why = k.buffered(a); why != "" {
			return why, nil
		}
	}
	watched := append(slices.Clone(k.inputs), f.constants...)
	for _, v := range c.attributes {
		if v.IsTensor() {
			watched = append(watched, v.Tensor())
		}
	}
	writes := writesOf(watched)
	results := make([]value.Value, len(k.results))
	drawn := rng.Default().State()
	k.work, k.launches, err = capturer.Capture(c.device, func() error { return run(args, results) })
	if !bytes.Equal(drawn, rng.Default().State()) {
		why = "random numbers are drawn on the processor"
		_ = rng.Default().SetState(drawn) // the call draws the same ones when it runs as any
	}
	if err != nil {
		var refused *kernel.CaptureError
		if errors.As(err, &refused) {
			return refused.Error(), nil
		}
		if why = "a run fails: " + err.Error(); source.ClassOf(err) != source.KeyboardInterrupt {
			err = nil // it fails again when it runs as any
		}
		return why, err
	}
	if why != "" {
		return why, nil
	}
	if writesOf(watched) != writes {
		return "an argument, an attribute or a constant is written", nil
	}
	seen := map[*tensor.Storage]bool{}
	for _, t := range watched {
		seen[t.Storage()] = true
	}
	for i, r := range results {
		if k.results[i], why = k.gives(r, seen); why != "" {
			return why, nil
		}
	}
	if copies := len(k.inputs) + len(k.outputs); k.launches <= 2*copies {
		return fmt.Sprintf("it is %d kernels, and its tensors would be %d copies", k.launches, copies), nil
	}
	return "", nil
}

func writesOf(tensors []*tensor.Tensor) (n uint64) {
	for _, t := range tensors {
		n += t.DeviceWrites()
	}
	return n
}

// Report tells of the kinds of calls that were met, those that are one launch and those that are not; nothing where no tensor was on a device.
func (f *Function) Report() (lines []string) {
	if f == nil {
		return nil
	}
	if f.refused != "" {
		return []string{"calls are not one launch: " + f.refused}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kinds {
		switch {
		case k.lost.Load():
			lines = append(lines, fmt.Sprintf("calls with %s are not one launch: the device has no memory left for it", k))
		case k.work != nil:
			lines = append(lines, fmt.Sprintf("calls with %s are one launch of %d kernels", k, k.launches))
		case k.refused != "":
			lines = append(lines, fmt.Sprintf("calls with %s are not one launch: %s", k, k.refused))
		}
	}
	for _, why := range f.reasons {
		lines = append(lines, "other calls are not one launch: "+why)
	}
	return lines
}
