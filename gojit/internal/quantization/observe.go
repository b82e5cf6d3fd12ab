package quantization

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Observe returns a copy of a module in which a method, and what it calls, gives values that are to be quantized to observers: attributes
// `_observer_N` that are copies of the module's configuration. configs has them by the path of a module; a module without one has that of
// the module it is in. It fails where a method cannot be compiled, and where values of branches or callers ask for different observers.
//
//	%y = aten::linear(%x, %w, %b)   ->   %y.1 = aten::linear(...)
//	                                     %_observer_0 = prim::GetAttr[name="_observer_0"](%self)
//	                                     %y = prim::CallMethod[name="forward"](%_observer_0, %y.1)
func Observe(module *value.Object, name string, configs map[string]*Config, o Options) (*value.Object, error) {
	before := configsOf(module, configs)
	keys := map[*value.Object]string{}
	copied, err := freeze.CloneModuleWith(module, freeze.CloneOptions{
		Mangle: o.Mangle, CopyTensors: !o.InPlace, Key: func(m *value.Object) any { return configKey(m, before, keys) },
	})
	if err != nil {
		return nil, err
	}
	ob := &observation{
		mode: o.Mode, modules: copied.Modules, configs: configsOf(copied.Root, configs),
		observers: map[*ir.Value]*value.Object{}, inner: map[*ir.Value][]*ir.Value{}, later: map[*ir.Value]*ir.Value{},
		through: map[*ir.Value][]*ir.Value{}, observed: valueSet{}, done: map[*ir.Block]bool{}, analyzed: map[*ir.Graph]bool{},
	}
	f, err := method(copied.Root, name)
	if err != nil {
		return nil, err
	}
	for _, m := range copied.Modules {
		swapLinear(m)
	}
	entry := invocation{copied.Root, f}
	if err := ob.prepare(entry, map[*ir.Graph]bool{}); err != nil {
		return nil, err
	}
	ob.analyze(entry)
	if _, err := ob.insert(f.Graph().Block(), copied.Root, valueSet{}, true, false); err != nil {
		return nil, err
	}
	return copied.Root, nil
}

// valueSet is a set of values.
type valueSet map[*ir.Value]bool

// observation is the state of one Observe. Graphs belong to classes: modules of one class have the same configuration, so that all that is
// known of the values of their graphs is the same for each.
type observation struct {
	mode      Mode
	modules   []*value.Object
	configs   map[*value.Object]*Config
	observers map[*ir.Value]*value.Object // what a value asks for by itself
	inner     map[*ir.Value][]*ir.Value   // of arguments and results of calls, and results of branches: the values inside
	later     map[*ir.Value]*ir.Value     // values of which only what an activation makes of them is observed
	through   map[*ir.Value][]*ir.Value   // see passedThrough
	observed  valueSet
	analyzed  map[*ir.Graph]bool
	done      map[*ir.Block]bool // blocks in which observers have been inserted
	next      int                // the number of the next observer
}

// configsOf gives each module in root its configuration.
func configsOf(root *value.Object, configs map[string]*Config) map[*value.Object]*Config {
	found := map[*value.Object]*Config{}
	var visit func(m *value.Object, path string, inherited *Config)
	visit = func(m *value.Object, path string, inherited *Config) {
		if own, ok := configs[path]; ok {
			inherited = own
		}
		found[m] = inherited
		for i, a := range m.Class.Attributes {
			if v := m.Slots[i]; v.Kind() == value.KindObject && v.Object().Class.IsModule {
				inside := a.Name
				if path != "" {
					inside = path + "." + a.Name
				}
				visit(v.Object(), inside, inherited)
			}
		}
	}
	visit(root, "", nil)
	return found
}

// configKey says how a module and those in it are configured.
func configKey(m *value.Object, configs map[*value.Object]*Config, known map[*value.Object]string) string {
	if key, ok := known[m]; ok {
		return key
	}
	key := fmt.Sprintf("%p(", configs[m])
	for _, v := range m.Slots {
		if v.Kind() == value.KindObject && v.Object().Class.IsModule {
			key += configKey(v.Object(), configs, known)
		}
	}
	known[m] = key + ")"
	return known[m]
}

// prepare brings a method and those that it calls into the form in which kinds.go knows their operators.
func (ob *observation) prepare(c invocation, done map[*ir.Graph]bool) error {
	g := c.method.Graph()
	for _, inside := range invocations(c.module, g) {
		if err := ob.prepare(inside, done); err != nil {
			return err
		}
	}
	if done[g] {
		return nil
	}
	done[g] = true
	passes.InlineForkWait(g)
	freeze.FuseLinear(g)
	passes.ConstantPropagation(g)
	freeze.PlainConvolutions(g)
	passes.RemoveListMutation(g)
	return nil
}

// swapLinear replaces calls of functions called linear in all methods of a module.
func swapLinear(m *value.Object) {
	for _, name := range m.Class.MethodNames() {
		if f, err := method(m, name); err == nil {
			freeze.SwapFunctionalLinear(f.Graph())
		}
	}
}

// analyze notes what is known of the values of a method and those that it calls.
func (ob *observation) analyze(c invocation) {
	g := c.method.Graph()
	for _, inside := range invocations(c.module, g) {
		ob.analyze(inside)
	}
	ob.noteCalls(c.module, g)
	if ob.analyzed[g] {
		return
	}
	ob.analyzed[g] = true
	ob.noteLater(c.module, g)
	config := ob.configs[c.module]
	note := func(vs []*ir.Value) {
		for _, v := range vs {
			if config != nil && ob.isWanted(v, config) {
				ob.observers[v] = observerFor(v, config)
			}
		}
	}
	note(g.Inputs())
	g.Block().Walk(func(n *ir.Node) { note(n.Outputs()) })
}

func observerFor(v *ir.Value, c *Config) *value.Object {
	if isWeight(v) {
		return c.Weight
	}
	return c.Activation
}

// isWanted reports whether a value is to be quantized because of what makes or uses it.
func (ob *observation) isWanted(v *ir.Value, c *Config) bool {
	if !isTensor(v) && !isTensors(v) || usedAt(v, biasPlaces) || usedAt(v, embeddingPlaces) {
		return false
	}
	n := v.Node()
	if ob.mode == Static && !weightOnly.has(n) && (computing.has(n) || propagating(n)) {
		return true
	}
	if ob.mode == Dynamic && !isWeight(v) && isHalf(c.Activation) {
		return false
	}
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool { return usesQuantized(u, ob.mode) })
}

// noteCalls connects arguments and results of calls, and results of branches, with the values inside, and values with those that they pass
// through.
func (ob *observation) noteCalls(self *value.Object, g *ir.Graph) {
	connect := func(outer, inner []*ir.Value) {
		for i, v := range inner {
			if i < len(outer) && !slices.Contains(ob.inner[outer[i]], v) {
				ob.inner[outer[i]] = append(ob.inner[outer[i]], v)
			}
		}
	}
	g.Block().Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			if from := passedThrough(v); len(from) > 0 {
				ob.through[v] = from
			}
		}
		if c, ok := invoked(self, n); ok {
			connect(n.Outputs(), c.method.Graph().Outputs())
			connect(n.Inputs(), c.method.Graph().Inputs())
		} else if f := calledFunction(n); f != nil {
			connect(n.Outputs(), f.Graph().Outputs())
			connect(n.Inputs()[1:], f.Graph().Inputs())
			ob.noteCalls(self, f.Graph())
		} else if n.Kind() == prim.If {
			for _, b := range n.Blocks() {
				connect(n.Outputs(), b.Outputs())
			}
		}
	})
}

// observerOf returns the observer that a value, or what it is elsewhere, asks for; nil where there is none.
func (ob *observation) observerOf(v *ir.Value) (*value.Object, error) {
	if o := ob.observers[v]; o != nil {
		return o, nil
	}
	var found *value.Object
	for _, inside := range ob.inner[v] {
		o, err := ob.observerOf(inside)
		if err != nil {
			return nil, err
		}
		if found != nil && o != nil && o != found {
			return nil, failf("Expecting all values in the graph only configured with one observer")
		}
		if o != nil {
			found = o
		}
	}
	return found, nil
}

// isHalf reports whether an observer is for numbers of 16 bits.
func isHalf(observer *value.Object) bool {
	v, ok := readAttribute(observer, "dtype")
	return ok && v.Kind() == value.KindInt && v.Int() == halfNumber
}

// halfNumber is the number of float16 among PyTorch's element types.
const halfNumber = 5

// readAttribute returns an attribute or a constant of a module.
func readAttribute(o *value.Object, name string) (value.Value, bool) {
	if v, ok := o.Attr(name); ok {
		return v, true
	}
	if c := o.Class.FindConstant(name); c != nil {
		v, ok := c.Value.(value.Value)
		return v, ok
	}
	return value.None, false
}

// addObserver adds a copy of an observer to a module, and to the others of its class, and gives it the value.
func (ob *observation) addObserver(v *ir.Value, self, observer *value.Object) error {
	if ob.observed[v] {
		return nil
	}
	name := ""
	for name == "" || self.Class.AttributeIndex(name) >= 0 {
		name = fmt.Sprintf("_observer_%d", ob.next)
		ob.next++
	}
	self.Class.AddAttribute(types.Attribute{Name: name, Type: observer.Class})
	for _, m := range ob.modules {
		if m.Class == self.Class {
			made, err := copyObject(observer)
			if err != nil {
				return err
			}
			m.SetAttr(name, value.OfObject(made))
		}
	}
	g := v.Node().Graph()
	after := v.Node()
	if after.Kind() == prim.Param {
		after = after.Block().ParamNode()
	}
	get := g.CreateGetAttr(g.Inputs()[0], name).InsertAfter(after)
	get.Output().SetName(name)
	call := g.Create(prim.CallMethod, []*ir.Value{get.Output(), v}, 1).SetAttr("name", "forward").InsertAfter(get)
	for _, u := range slices.Clone(v.Uses()) {
		if u.User != call {
			u.User.ReplaceInput(u.Index, call.Output())
		}
	}
	call.Output().CopyMetadata(v)
	ob.observed[call.Output()] = true
	return nil
}

// copyObject copies a module with its tensors.
func copyObject(o *value.Object) (*value.Object, error) {
	made := value.NewObject(o.Class)
	made.Slots = slices.Clone(o.Slots)
	for i, v := range made.Slots {
		switch {
		case v.IsTensor():
			t, err := v.Tensor().Clone(1)
			if err != nil {
				return nil, err
			}
			made.Slots[i] = value.OfTensor(t)
		case v.Kind() == value.KindObject && v.Object().Class.IsModule:
			inside, err := copyObject(v.Object())
			if err != nil {
				return nil, err
			}
			made.Slots[i] = value.OfObject(inside)
		}
	}
	return made, nil
}
