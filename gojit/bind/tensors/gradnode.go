package tensors

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gradNodeFunctions are about the nodes that made tensors, and about what they save.
var gradNodeFunctions = []abi.Function{
	{Schema: "grad_node_name(Handle node) -> str", Run: gradNodeName((*autograd.Node).Name)},
	{Schema: "grad_node_full_name(Handle node) -> str", Run: gradNodeName((*autograd.Node).FullName)},
	{Schema: "grad_node_next(Handle node) -> tuple", Run: gradNodeNext},
	{Schema: "grad_node_variable(Handle node) -> any", Run: gradNodeVariable},
	{Schema: "grad_node_output(Handle node, int index, Tensor output) -> Tensor", Run: gradNodeOutput},
	{Schema: "grad_node_register_hook(Handle node, object hook, bool before) -> function", Run: gradNodeRegisterHook},
	{Schema: "grad_node_saved(Handle node, str name) -> any", Run: gradNodeSaved},
	{Schema: "grad_node_saved_names(Handle node) -> list", Run: gradNodeSavedNames},
	{Schema: "grad_node_pack(Handle node, str name, object pack, object unpack) -> bool", Run: gradNodePack},
	{Schema: "grad_node_released(Handle node) -> bool", Run: gradNodeReleased},
	{Schema: "grad_node_metadata(Handle node, object fresh) -> object", Run: gradNodeMetadata},
	{Schema: "grad_node_context(Handle node) -> any", Run: gradNodeContext},
	{Schema: "push_saved_hooks(object pack, object unpack) -> None", Run: pushSavedHooks},
	{Schema: "pop_saved_hooks() -> None", Run: popSavedHooks},
	{Schema: "saved_hooks() -> any", Run: savedHooks},
	{Schema: "set_detect_anomaly(bool on, bool check_nan=True) -> None", Run: setDetectAnomaly},
	{Schema: "detects_anomaly() -> bool", Run: detectsAnomaly},
	{Schema: "detects_nan() -> bool", Run: detectsNaN},
}

func gradNode(w *abi.Writer, n *autograd.Node) {
	if n == nil {
		w.None()
		return
	}
	w.Handle(abi.HandleGradNode, n)
}

func argGradNode(c *abi.Call, i int) (*autograd.Node, error) {
	n, ok := c.Arg(i).Content().(*autograd.Node)
	if !ok {
		return nil, abi.TypeErrorf("expected a grad_fn, not a %s", c.Arg(i).KindName())
	}
	return n, nil
}

func gradNodeName(name func(*autograd.Node) string) func(*abi.Call) error {
	return func(c *abi.Call) error {
		n, err := argGradNode(c, 0)
		if err == nil {
			c.String(name(n))
		}
		return err
	}
}

// gradNodeNext replies pairs of the node that a gradient goes to, or None, and the number of its output.
func gradNodeNext(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	nodes, outputs := n.Next()
	c.Open(abi.KindTuple, len(nodes))
	for i, next := range nodes {
		c.Open(abi.KindTuple, 2)
		gradNode(&c.Writer, next)
		c.Int(outputs[i])
	}
	return nil
}

func gradNodeVariable(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	if leaf := n.Leaf(); leaf != nil {
		c.KeptTensor(leaf)
	} else {
		c.None()
	}
	return nil
}

func gradNodeOutput(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	t := c.ArgTensor(2)
	if t.Dispatches() { // what its class has beside it belongs to this tensor: it is a view of its own, without a history
		n.Give(c.ArgInt(1), t)
		c.KeptTensor(t)
		return nil
	}
	c.KeptTensor(n.Output(c.ArgInt(1), t))
	return nil
}

// optionalTensors writes a tuple of tensors and Nones.
func optionalTensors(w *abi.Writer, ts []*tensor.Tensor) {
	w.Open(abi.KindTuple, len(ts))
	for _, t := range ts {
		if t == nil {
			w.None()
		} else {
			w.KeptTensor(t)
		}
	}
}

// gradNodeRegisterHook has a Python callable see the gradients of a node's inputs and outputs, or those of its outputs before
// it is differentiated. Calling the reply removes it.
func gradNodeRegisterHook(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	f, before := c.ArgObject(1), c.ArgBool(2)
	c.Function(removal{n.AddHook(func(m *autograd.Mode, inputs, outputs []*tensor.Tensor) (changed []*tensor.Tensor, err error) {
		given := [][]*tensor.Tensor{inputs, outputs}
		if before {
			given = given[1:]
		}
		err = abi.InMode(m, func() error {
			return f.Invoke("", len(given), func(w *abi.Writer) {
				for _, ts := range given {
					optionalTensors(w, ts)
				}
			}, func(w *abi.Word) error {
				if w.Kind() == abi.KindNone {
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
func gradNodeSaved(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	v, ok, err := n.Saved(c.Thread.Mode, c.ArgString(1))
	if err != nil {
		return err
	}
	if !ok {
		c.None()
		return nil
	}
	return c.KeptValue(value.OfTuple(value.NewTuple(v)))
}

// gradNodeSavedNames replies the names of what PyTorch's node keeps, with "*" before those of tensors.
func gradNodeSavedNames(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err == nil {
		c.Strings(n.SavedNames())
	}
	return err
}

// gradNodePack gives a tensor that a node keeps to Python's hooks, and replies whether there is one of the name.
func gradNodePack(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	ok, err := n.PackSaved(c.Thread.Mode, c.ArgString(1), &pythonHooks(c.ArgObject(2), c.ArgObject(3)).SavedHooks)
	if err == nil {
		c.Bool(ok)
	}
	return err
}

func gradNodeReleased(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err == nil {
		c.Bool(n.Released())
	}
	return err
}

// gradNodeMetadata replies what the user keeps with a node; at first that is fresh.
func gradNodeMetadata(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	c.Object(n.Metadata(c.ArgObject(1)).(*abi.Object))
	return nil
}

// gradNodeContext replies the context of a custom function's node, None for other nodes.
func gradNodeContext(c *abi.Call) error {
	n, err := argGradNode(c, 0)
	if err != nil {
		return err
	}
	if o, ok := n.Context().(*abi.Object); ok {
		c.Object(o)
	} else {
		c.None()
	}
	return nil
}

func pushSavedHooks(c *abi.Call) error {
	h := pythonHooks(c.ArgObject(0), c.ArgObject(1))
	c.Thread.Mode.PushSavedHooks(&h.SavedHooks)
	c.Thread.Hooks = append(c.Thread.Hooks, h)
	c.None()
	return nil
}

// pythonHooks makes hooks of two functions of Python's.
func pythonHooks(pack, unpack *abi.Object) *abi.PythonSavedHooks {
	h := &abi.PythonSavedHooks{PackFunction: pack, UnpackFunction: unpack}
	h.Pack = func(m *autograd.Mode, t *tensor.Tensor) (content any, err error) {
		plain := *m
		plain.SetGradEnabled(false)
		err = abi.InMode(&plain, func() error {
			return h.PackFunction.Invoke("", 1, func(w *abi.Writer) { w.KeptTensor(t) }, func(w *abi.Word) error {
				content = w.Object()
				return nil
			})
		})
		return content, err
	}
	h.Unpack = func(m *autograd.Mode, content any) (t *tensor.Tensor, err error) {
		plain := *m
		plain.SetGradEnabled(false)
		err = abi.InMode(&plain, func() error {
			return h.UnpackFunction.Invoke("", 1, func(w *abi.Writer) { w.Object(content.(*abi.Object)) }, func(w *abi.Word) error {
				t = w.Tensor()
				w.Keep()
				return nil
			})
		})
		return t, err
	}
	return h
}

func popSavedHooks(c *abi.Call) error {
	c.Thread.Mode.PopSavedHooks()
	if n := len(c.Thread.Hooks); n > 0 {
		c.Thread.Hooks = c.Thread.Hooks[:n-1]
	}
	c.None()
	return nil
}

// savedHooks replies the hooks that are in force, pack and unpack, or None.
func savedHooks(c *abi.Call) error {
	n := len(c.Thread.Hooks)
	if n == 0 {
		c.None()
		return nil
	}
	c.Open(abi.KindTuple, 2)
	c.Object(c.Thread.Hooks[n-1].PackFunction)
	c.Object(c.Thread.Hooks[n-1].UnpackFunction)
	return nil
}

// setDetectAnomaly has nodes keep where the Python program made them, and failures of derivatives reported as warnings.
func setDetectAnomaly(c *abi.Call) error {
	c.None()
	if !c.ArgBool(0) {
		autograd.SetAnomaly(nil)
		return nil
	}
	autograd.SetAnomaly(&autograd.Anomaly{
		CheckNaN: c.ArgBool(1),
		Place: func() (place string) {
			_ = abi.Host.Invoke("anomaly_place", 0, nil, func(w *abi.Word) error {
				place = strings.Clone(w.Text())
				return nil
			})
			return place
		},
		Report: func(node, created string, induced bool) {
			_ = abi.Host.Invoke("anomaly_warn", 3, func(w *abi.Writer) {
				w.String(node)
				w.String(created)
				w.Bool(induced)
			}, nil)
		},
	})
	return nil
}

func detectsAnomaly(c *abi.Call) error {
	c.Bool(autograd.CurrentAnomaly() != nil)
	return nil
}

func detectsNaN(c *abi.Call) error {
	a := autograd.CurrentAnomaly()
	c.Bool(a == nil || a.CheckNaN)
	return nil
}
