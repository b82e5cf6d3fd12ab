package bind

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gradNodeFunctions are about the nodes that made tensors, and about what they save.
var gradNodeFunctions = []function{
	{schema: "grad_node_name(Handle node) -> str", run: gradNodeName},
	{schema: "grad_node_next(Handle node) -> tuple", run: gradNodeNext},
	{schema: "grad_node_variable(Handle node) -> any", run: gradNodeVariable},
	{schema: "grad_node_output(Handle node, int index, Tensor output) -> Tensor", run: gradNodeOutput},
	{schema: "grad_node_register_hook(Handle node, object hook, bool before) -> function", run: gradNodeRegisterHook},
	{schema: "grad_node_saved(Handle node, str name) -> any", run: gradNodeSaved},
	{schema: "grad_node_released(Handle node) -> bool", run: gradNodeReleased},
	{schema: "grad_node_metadata(Handle node, object fresh) -> object", run: gradNodeMetadata},
	{schema: "grad_node_context(Handle node) -> any", run: gradNodeContext},
	{schema: "push_saved_hooks(object pack, object unpack) -> None", run: pushSavedHooks},
	{schema: "pop_saved_hooks() -> None", run: popSavedHooks},
	{schema: "saved_hooks() -> any", run: savedHooks},
	{schema: "set_detect_anomaly(bool on, bool check_nan=True) -> None", run: setDetectAnomaly},
	{schema: "detects_anomaly() -> bool", run: detectsAnomaly},
	{schema: "detects_nan() -> bool", run: detectsNaN},
}

func (w *writer) gradNode(n *autograd.Node) {
	if n == nil {
		w.none()
		return
	}
	w.handle(handleGradNode, n)
}

func (c *call) argGradNode(i int) (*autograd.Node, error) {
	n, ok := c.arg(i).content().(*autograd.Node)
	if !ok {
		return nil, typeErrorf("expected a grad_fn, not a %s", c.arg(i).kindName())
	}
	return n, nil
}

func gradNodeName(c *call) error {
	n, err := c.argGradNode(0)
	if err == nil {
		c.string(n.Name())
	}
	return err
}

// gradNodeNext replies pairs of the node that a gradient goes to, or None, and the number of its output.
func gradNodeNext(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	nodes, outputs := n.Next()
	c.open(kindTuple, len(nodes))
	for i, next := range nodes {
		c.open(kindTuple, 2)
		c.gradNode(next)
		c.int(outputs[i])
	}
	return nil
}

func gradNodeVariable(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	if leaf := n.Leaf(); leaf != nil {
		c.keptTensor(leaf)
	} else {
		c.none()
	}
	return nil
}

func gradNodeOutput(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	c.keptTensor(n.Output(c.argInt(1), c.argTensor(2)))
	return nil
}

// optionalTensors writes a tuple of tensors and Nones.
func (w *writer) optionalTensors(ts []*tensor.Tensor) {
	w.open(kindTuple, len(ts))
	for _, t := range ts {
		if t == nil {
			w.none()
		} else {
			w.keptTensor(t)
		}
	}
}

// gradNodeRegisterHook has a Python callable see the gradients of a node's inputs and outputs, or those of its outputs before
// it is differentiated. Calling the reply removes it.
func gradNodeRegisterHook(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	f, before := c.argObject(1), c.argBool(2)
	c.function(removal{n.AddHook(func(m *autograd.Mode, inputs, outputs []*tensor.Tensor) (changed []*tensor.Tensor, err error) {
		given := [][]*tensor.Tensor{inputs, outputs}
		if before {
			given = given[1:]
		}
		err = inMode(m, func() error {
			return f.invoke("", len(given), func(w *writer) {
				for _, ts := range given {
					w.optionalTensors(ts)
				}
			}, func(w *Word) error {
				if w.kind() == kindNone {
					return nil
				}
				changed, err = tensorsOrNone(w)
				return err
			})
		})
		return changed, err
	}, before)})
	return nil
}

// gradNodeSaved replies what a node keeps under a name in a tuple, or None where it keeps nothing of that name.
func gradNodeSaved(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	v, ok, err := n.Saved(c.thread.mode, c.argString(1))
	if err != nil {
		return err
	}
	if !ok {
		c.none()
		return nil
	}
	return c.keptValue(value.OfTuple(value.NewTuple(v)))
}

func gradNodeReleased(c *call) error {
	n, err := c.argGradNode(0)
	if err == nil {
		c.bool(n.Released())
	}
	return err
}

// gradNodeMetadata replies what the user keeps with a node; at first that is fresh.
func gradNodeMetadata(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	c.object(n.Metadata(c.argObject(1)).(*object))
	return nil
}

// gradNodeContext replies the context of a custom function's node, None for other nodes.
func gradNodeContext(c *call) error {
	n, err := c.argGradNode(0)
	if err != nil {
		return err
	}
	if o, ok := n.Context().(*object); ok {
		c.object(o)
	} else {
		c.none()
	}
	return nil
}

// pythonSavedHooks are saved-tensor hooks in Python. pack gives an object of a class of Python's.
type pythonSavedHooks struct {
	autograd.SavedHooks
	pack, unpack *object
}

func pushSavedHooks(c *call) error {
	h := &pythonSavedHooks{pack: c.argObject(0), unpack: c.argObject(1)}
	h.Pack = func(m *autograd.Mode, t *tensor.Tensor) (content any, err error) {
		plain := *m
		plain.SetGradEnabled(false)
		err = inMode(&plain, func() error {
			return h.pack.invoke("", 1, func(w *writer) { w.keptTensor(t) }, func(w *Word) error {
				content = w.object()
				return nil
			})
		})
		return content, err
	}
	h.Unpack = func(m *autograd.Mode, content any) (t *tensor.Tensor, err error) {
		plain := *m
		plain.SetGradEnabled(false)
		err = inMode(&plain, func() error {
			return h.unpack.invoke("", 1, func(w *writer) { w.object(content.(*object)) }, func(w *Word) error {
				t = w.tensor()
				w.keep()
				return nil
			})
		})
		return t, err
	}
	c.thread.mode.PushSavedHooks(&h.SavedHooks)
	c.thread.hooks = append(c.thread.hooks, h)
	c.none()
	return nil
}

func popSavedHooks(c *call) error {
	c.thread.mode.PopSavedHooks()
	if n := len(c.thread.hooks); n > 0 {
		c.thread.hooks = c.thread.hooks[:n-1]
	}
	c.none()
	return nil
}

// savedHooks replies the hooks that are in force, pack and unpack, or None.
func savedHooks(c *call) error {
	n := len(c.thread.hooks)
	if n == 0 {
		c.none()
		return nil
	}
	c.open(kindTuple, 2)
	c.object(c.thread.hooks[n-1].pack)
	c.object(c.thread.hooks[n-1].unpack)
	return nil
}

// setDetectAnomaly has nodes keep where the Python program made them, and failures of derivatives reported as warnings.
func setDetectAnomaly(c *call) error {
	c.none()
	if !c.argBool(0) {
		autograd.SetAnomaly(nil)
		return nil
	}
	autograd.SetAnomaly(&autograd.Anomaly{
		CheckNaN: c.argBool(1),
		Place: func() (place string) {
			_ = host.invoke("anomaly_place", 0, nil, func(w *Word) error {
				place = strings.Clone(w.text())
				return nil
			})
			return place
		},
		Report: func(node, created string, induced bool) {
			_ = host.invoke("anomaly_warn", 3, func(w *writer) {
				w.string(node)
				w.string(created)
				w.bool(induced)
			}, nil)
		},
	})
	return nil
}

func detectsAnomaly(c *call) error {
	c.bool(autograd.CurrentAnomaly() != nil)
	return nil
}

func detectsNaN(c *call) error {
	a := autograd.CurrentAnomaly()
	c.bool(a == nil || a.CheckNaN)
	return nil
}
